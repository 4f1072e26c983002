package memtest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Faulty is a page.Source that fails or panics on demand. It numbers the calls of Reserve and Commit together, from
// 1. It numbers the calls of Decommit and Release together, from 1 again. A Faulty belongs to one goroutine at a time.
type Faulty struct {
	// Source serves all calls that do not fail or panic.
	Source page.Source
	// FailAt is the number of the call of Reserve or Commit that fails with a *memory.Exhausted. If FailAt is 0, none
	// fails.
	FailAt int
	// ForGood makes call number FailAt and all later calls of Reserve and Commit fail. If FailAt is 0, it has no effect.
	ForGood bool
	// PanicAt is the number of the call of Reserve or Commit that panics with [ErrInjected] before it does anything. If
	// PanicAt is 0, none panics.
	PanicAt int
	// FailReturnAt and PanicReturnAt are FailAt and PanicAt for the calls of Decommit and Release. The error of such
	// a call wraps no other error.
	FailReturnAt, PanicReturnAt int
	// FailReturns makes every Decommit and Release fail.
	FailReturns bool
	// Miserly makes [Faulty.CommitSome] commit only as many bytes as its parameter `least`.
	Miserly bool

	calls    int
	returns  int
	reserved int
	watched  int
}

// ErrInjected is the value that a [Faulty] panics with.
var ErrInjected = errors.New("memtest: injected panic")

// NewFaulty returns a Faulty on page.Default() without faults. The caller sets the fields.
func NewFaulty() *Faulty { return &Faulty{Source: page.Default()} }

// Calls returns the number of calls of Reserve and Commit so far, including calls that failed or panicked.
func (f *Faulty) Calls() int { return f.calls }

// Returns returns the number of calls of Decommit and Release so far, including calls that failed or panicked.
func (f *Faulty) Returns() int { return f.returns }

// Reserved returns the number of reservations that were not released.
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

// Reserve counts a call. If the fields of f do not make the call fail or panic, Reserve passes it to Source.
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

// Commit counts a call. If the fields of f do not make the call fail or panic, Commit passes it to Source.
func (f *Faulty) Commit(m page.Memory, off, size uintptr) error {
	if err := f.fault("commit"); err != nil {
		return err
	}
	return f.Source.Commit(m, off, size)
}

// CommitSome tries to commit `want` bytes. If the first attempt fails and want is above least, it tries `least`
// bytes. If the Faulty is Miserly, it tries only `least` bytes. Each attempt is a call of Commit. CommitSome returns
// the number of committed bytes, or 0 and the error of the last attempt.
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

// Watch registers the function `lost`, to be called when Source ends. If Source has ended already, Watch returns nil.
// If Source is not a page.Watched, it cannot end: Watch returns a function, and `lost` is never called.
func (f *Faulty) Watch(lost func()) (unwatch func()) {
	under := func() {}
	if w, ok := f.Source.(page.Watched); ok {
		if under = w.Watch(lost); under == nil {
			return nil
		}
	}
	f.watched++
	var once sync.Once
	return func() { once.Do(func() { f.watched--; under() }) }
}

// Watched returns the number of functions that Watch has registered and that were not removed. A closed allocator
// must have removed its function.
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

// Decommit counts a call. If the fields of f do not make the call fail or panic, Decommit passes it to Source.
func (f *Faulty) Decommit(m page.Memory, off, size uintptr) error {
	if err := f.keep("decommit"); err != nil {
		return err
	}
	return f.Source.Decommit(m, off, size)
}

// Release counts a call. If the fields of f do not make the call fail or panic, Release passes it to Source.
func (f *Faulty) Release(m page.Memory) error {
	if err := f.keep("release"); err != nil {
		return err
	}
	err := f.Source.Release(m)
	if err == nil {
		f.reserved--
	}
	return err
}
