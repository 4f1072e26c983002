package memtest

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Faulty is a page.Source that fails on demand. FailAt and PanicAt number the calls of
// Reserve and Commit; those of Decommit and Release, by which the system takes memory back,
// have numbers of their own.
type Faulty struct {
	Source page.Source
	// FailAt is the number, from 1, of the call that fails. 0: none.
	FailAt int
	// ForGood has every call from FailAt on fail.
	ForGood bool
	// PanicAt is the number of the call that panics with [ErrInjected] instead, as a callback on
	// a budget's mark may. Once; nothing has been done then.
	PanicAt int
	// FailReturnAt and PanicReturnAt are the same for Decommit and Release.
	FailReturnAt, PanicReturnAt int
	// FailReturns has every Decommit and Release fail.
	FailReturns bool
	// Miserly commits no more than what is needed, whatever the step.
	Miserly bool

	calls    int
	returns  int
	reserved int
	watched  int
}

// ErrInjected is what a Faulty panics with.
var ErrInjected = errors.New("memtest: injected panic")

// NewFaulty wraps the default backing.
func NewFaulty() *Faulty { return &Faulty{Source: page.Default()} }

// Calls counts Reserve and Commit so far.
func (f *Faulty) Calls() int { return f.calls }

// Returns counts Decommit and Release so far.
func (f *Faulty) Returns() int { return f.returns }

// Reserved counts the reservations that were not released: leaks, at the end of a test.
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

// Reserve fails on demand.
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

// Commit fails on demand.
func (f *Faulty) Commit(m page.Memory, off, size uintptr) error {
	if err := f.fault("commit"); err != nil {
		return err
	}
	return f.Source.Commit(m, off, size)
}

// CommitSome commits what is needed where the Faulty is miserly, and otherwise as a system
// does: all, or after a refusal what is needed.
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

// Under returns the source that does not fail.
func (f *Faulty) Under() page.Source { return f.Source }

// Watch watches the source, so that a Faulty may be backed by a page.Carve.
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

// Watched returns the number of watchers of the end of the source. Allocators that are closed do not count.
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

// Decommit fails on demand.
func (f *Faulty) Decommit(m page.Memory, off, size uintptr) error {
	if err := f.keep("decommit"); err != nil {
		return err
	}
	return f.Source.Decommit(m, off, size)
}

// Release fails on demand.
func (f *Faulty) Release(m page.Memory) error {
	if err := f.keep("release"); err != nil {
		return err
	}
	f.reserved--
	return f.Source.Release(m)
}
