package memtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Faulty is a page.Source that fails on demand. Only Reserve and Commit fail: the system
// may refuse memory, it does not refuse to take it back (that has a switch of its own).
type Faulty struct {
	Source page.Source
	// FailAt is the number, from 1, of the call that fails. 0: none.
	FailAt int
	// ForGood has every call from FailAt on fail.
	ForGood bool
	// FailReturns has Decommit and Release fail.
	FailReturns bool

	calls    int
	reserved int
}

// NewFaulty wraps the default backing.
func NewFaulty() *Faulty { return &Faulty{Source: page.Default()} }

// Calls counts Reserve and Commit so far.
func (f *Faulty) Calls() int { return f.calls }

// Reserved counts the reservations that were not released: leaks, at the end of a test.
func (f *Faulty) Reserved() int { return f.reserved }

func (f *Faulty) fault(op string) error {
	f.calls++
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

// Decommit fails while FailReturns is set.
func (f *Faulty) Decommit(m page.Memory, off, size uintptr) error {
	if f.FailReturns {
		return errors.New("memtest: injected decommit failure")
	}
	return f.Source.Decommit(m, off, size)
}

// Release fails while FailReturns is set.
func (f *Faulty) Release(m page.Memory) error {
	if f.FailReturns {
		return errors.New("memtest: injected release failure")
	}
	f.reserved--
	return f.Source.Release(m)
}

// Faults runs a program once for every call that it makes to the system, with that call
// failing: once, and then for good. Each refusal must be a typed error that changed nothing,
// everything after it must work, and nothing may leak.
func Faults(t *testing.T, s Subject) {
	s = s.withDefaults()
	for _, forGood := range []bool{false, true} {
		t.Run(fmt.Sprintf("forGood=%t", forGood), func(t *testing.T) {
			for call := 1; call < 1000; call++ {
				src := NewFaulty()
				src.FailAt, src.ForGood = call, forGood
				runWithFault(t, s, src)
				if t.Failed() || src.Calls() < call {
					return
				}
			}
		})
	}
}

func runWithFault(t *testing.T, s Subject, src *Faulty) {
	t.Helper()
	a, err := s.New(src)
	if err != nil {
		if !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("New with call %d failing: %v; want ErrOutOfMemory", src.FailAt, err)
		}
		if src.Reserved() != 0 {
			t.Errorf("New with call %d failing leaks %d reservations", src.FailAt, src.Reserved())
		}
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t)}
	m.run(RandomProgram(uint64(src.FailAt)+100, 400))
	m.finish()
	if src.Calls() >= src.FailAt && !src.ForGood {
		m.alloc(s.size(32), 8) // the next call works
		if len(m.shadow.Live()) == 0 {
			t.Errorf("after call %d failed once, allocation still fails", src.FailAt)
		}
		m.finish()
	}
	closeIt(t, a)
	if src.Reserved() != 0 {
		t.Errorf("with call %d failing, Close leaves %d reservations", src.FailAt, src.Reserved())
	}
}
