package memtest

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Faulty is a page.Source that fails or panics on demand. FailAt and PanicAt number the calls of Reserve and
// Commit. The calls of Decommit and Release, which return memory to the system, have numbers of their own. One
// goroutine at a time.
type Faulty struct {
	// Source is the source that serves all other calls.
	Source page.Source
	// FailAt is the number, from 1, of the call that fails with a *memory.Exhausted, once. 0 means none.
	FailAt int
	// ForGood makes every call from FailAt on fail.
	ForGood bool
	// PanicAt is the number, from 1, of the call that panics with [ErrInjected], once, before it does anything. A
	// function of page.Limit.OnSoft may panic like that. 0 means none.
	PanicAt int
	// FailReturnAt and PanicReturnAt are FailAt and PanicAt for the calls of Decommit and Release.
	FailReturnAt, PanicReturnAt int
	// FailReturns makes every Decommit and Release fail.
	FailReturns bool
	// Miserly makes CommitSome commit no more than the least.
	Miserly bool

	calls    int
	returns  int
	reserved int
	watched  int
}

// ErrInjected is the value that a [Faulty] panics with.
var ErrInjected = errors.New("memtest: injected panic")

// NewFaulty returns a Faulty on page.Default() that never fails; the caller sets the fields.
func NewFaulty() *Faulty { return &Faulty{Source: page.Default()} }

// Calls returns the number of calls of Reserve and Commit so far, failed ones included.
func (f *Faulty) Calls() int { return f.calls }

// Returns returns the number of calls of Decommit and Release so far, failed ones included.
func (f *Faulty) Returns() int { return f.returns }

// Reserved returns the number of reservations that were not released. At the end of a test they are leaks.
func (f *Faulty) Reserved() int { return f.reserved }

func (f *Faulty) fault(op string) error {
	f.calls++
	if f.calls == f.PanicAt {
		panic(ErrInjected)
	}
	if f.FailAt != 0 && (f.calls == f.FailAt || f.ForGood && f.calls > f.FailAt) {
		return &memory.Exhausted{Op: "memtest: injected " + op, Need: 1, Cause: fmt.Errorf("call %d", f.calls)}
	}
	return nil
}

// Reserve counts a call, and reserves from Source unless the call fails or panics on demand.
func (f *Faulty) Reserve(size uintptr) (page.Memory, error) {
	if err := f.fault("reserve"); err != nil {
		return page.Memory{}, err
	}
	m, err := f.Source.Reserve(size)
	if err == nil {
		f.reserved++
	}
	return m, err
}

// Commit counts a call, and commits from Source unless the call fails or panics on demand.
func (f *Faulty) Commit(m page.Memory, off, size uintptr) error {
	if err := f.fault("commit"); err != nil {
		return err
	}
	return f.Source.Commit(m, off, size)
}

// CommitSome tries to commit want bytes, and then least bytes; if the Faulty is Miserly, only least. Each attempt is
// a call of Commit. It returns the bytes that it committed, or the error of the last attempt.
func (f *Faulty) CommitSome(m page.Memory, off, least, want uintptr) (uintptr, error) {
	if f.Miserly {
		want = least
	}
	err := f.Commit(m, off, want)
	if err != nil && want > least {
		want = least
		err = f.Commit(m, off, want)
	}
	if err != nil {
		return 0, err
	}
	return want, nil
}

// Under returns Source.
func (f *Faulty) Under() page.Source { return f.Source }

// Watch registers lost with Source if that can end, as a page.Carve. Otherwise lost is never called. Watch returns
// nil if Source has ended.
func (f *Faulty) Watch(lost func()) (unwatch func()) {
	under := func() {}
	if w, ok := f.Source.(page.Watched); ok {
		if under = w.Watch(lost); under == nil {
			return nil
		}
	}
	f.watched++
	return func() { f.watched--; under() }
}

// Watched returns the number of functions that Watch has registered and that were not removed. Allocators that are
// closed must not count.
func (f *Faulty) Watched() int { return f.watched }

func (f *Faulty) keep(op string) error {
	f.returns++
	if f.returns == f.PanicReturnAt {
		panic(ErrInjected)
	}
	if f.FailReturns || f.returns == f.FailReturnAt {
		return fmt.Errorf("memtest: injected %s failure, call %d", op, f.returns)
	}
	return nil
}

// Decommit counts a call, and decommits at Source unless the call fails or panics on demand.
func (f *Faulty) Decommit(m page.Memory, off, size uintptr) error {
	if err := f.keep("decommit"); err != nil {
		return err
	}
	return f.Source.Decommit(m, off, size)
}

// Release counts a call, and releases at Source unless the call fails or panics on demand.
func (f *Faulty) Release(m page.Memory) error {
	if err := f.keep("release"); err != nil {
		return err
	}
	f.reserved--
	return f.Source.Release(m)
}
