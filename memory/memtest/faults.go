package memtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Faults runs a program three times for each of the first 999 calls that reserve or commit memory. In the first run the
// call fails, in the second run the call and all later calls fail, in the third run the call panics. Each of the first
// 999 calls of Decommit and Release fails in one run and panics in another run. In a last run each CommitSome of the
// source commits only its parameter least. With -short, and if STRATA_TEST is neither full nor night, some of the calls
// are skipped. Each refusal must be a typed error that changes nothing, all later operations must work, and nothing may
// leak.
func Faults(t *testing.T, s Subject) {
	s = s.withDefaults()
	runAll(t, s, faults)
}

var faults = []promise{
	{"EachCallFailsOnce", func(t testing.TB, s Subject) {
		everyCall(t, s, func(f *Faulty, n int) { f.FailAt = n }, (*Faulty).Calls)
	}},
	{"EachCallFailsForGood", func(t testing.TB, s Subject) {
		everyCall(t, s, func(f *Faulty, n int) { f.FailAt, f.ForGood = n, true }, (*Faulty).Calls)
	}},
	{"EachCallPanics", func(t testing.TB, s Subject) {
		everyCall(t, s, func(f *Faulty, n int) { f.PanicAt = n }, (*Faulty).Calls)
	}},
	{"EachReturnFails", func(t testing.TB, s Subject) {
		everyCall(t, s, func(f *Faulty, n int) { f.FailReturnAt = n }, (*Faulty).Returns)
	}},
	{"EachReturnPanics", func(t testing.TB, s Subject) {
		everyCall(t, s, func(f *Faulty, n int) { f.PanicReturnAt = n }, (*Faulty).Returns)
	}},
	{"StepsAreRefused", func(t testing.TB, s Subject) {
		src := NewFaulty()
		src.Miserly = true
		runWithFault(t, s, src)
	}},
}

// everyCall runs the program with call 1 at fault, then call 2, and so on until the program
// makes no such call any more. Brief tests skip more and more of the calls behind the 4th.
func everyCall(t testing.TB, s Subject, arm func(f *Faulty, n int), made func(*Faulty) int) {
	t.Helper()
	for call, step := 1, 1; call < 1000; call += step {
		if testenv.Brief() {
			step = 1 + call/4
		}
		if brief() {
			step = max(1, call/2)
		}
		src := NewFaulty()
		arm(src, call)
		runWithFault(t, s, src)
		if t.Failed() || made(src) < call {
			return
		}
	}
}

// runWithFault runs a program on an allocator whose source fails or panics somewhere.
func runWithFault(t testing.TB, s Subject, src *Faulty) {
	t.Helper()
	var a memory.Allocator
	var err error
	if survive(func() { a, err = s.New(src) }) {
		if src.Reserved() != 0 { // half a constructor has nobody who could close it
			t.Errorf("New with %s leaks %d reservations", src, src.Reserved())
		}
		return
	}
	if err != nil {
		if !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("New with %s: %v; want ErrOutOfMemory", src, err)
		}
		if src.Reserved() != 0 && src.FailReturnAt == 0 {
			t.Errorf("New with %s leaks %d reservations", src, src.Reserved())
		}
		return
	}
	m := &machine{tb: t, s: s, a: a, shadow: NewShadow(t), faulty: true}
	length := 400
	if brief() {
		length = 150
	}
	m.run(RandomProgram(uint64(src.FailAt)+100, length))
	m.finish()
	if !src.ForGood && src.Calls() >= max(src.FailAt, src.PanicAt) {
		m.alloc(s.size(32), 8) // the next call works
		if len(m.shadow.Live()) == 0 {
			t.Errorf("after %s, allocation still fails", src)
		}
		m.finish()
	}
	closeInTheEnd(t, a, src)
	if src.Reserved() != 0 {
		t.Errorf("with %s, Close leaves %d reservations", src, src.Reserved())
	}
}

// closeInTheEnd closes a; a first attempt may meet the fault, a second may not.
func closeInTheEnd(t testing.TB, a memory.Allocator, src *Faulty) {
	t.Helper()
	var err error
	c, ok := a.(interface{ Close() error })
	if !ok {
		return
	}
	if survive(func() { err = c.Close() }) || err != nil {
		check(t, a)
		if err = c.Close(); err != nil {
			t.Errorf("with %s, the second Close: %v", src, err)
		}
	}
	check(t, a)
}

// survive runs f and reports whether it panicked with [ErrInjected]; other panics pass through.
func survive(f func()) (injected bool) {
	defer func() {
		if r := recover(); r == any(ErrInjected) {
			injected = true
		} else if r != nil {
			panic(r)
		}
	}()
	f()
	return false
}

// String names one of the configured faults, for messages of tests. It does not name FailReturns.
func (f *Faulty) String() string {
	switch {
	case f.FailAt != 0 && f.ForGood:
		return fmt.Sprintf("every call from %d on failing", f.FailAt)
	case f.FailAt != 0:
		return fmt.Sprintf("call %d failing", f.FailAt)
	case f.PanicAt != 0:
		return fmt.Sprintf("call %d panicking", f.PanicAt)
	case f.FailReturnAt != 0:
		return fmt.Sprintf("return %d failing", f.FailReturnAt)
	case f.PanicReturnAt != 0:
		return fmt.Sprintf("return %d panicking", f.PanicReturnAt)
	case f.Miserly:
		return "steps refused"
	}
	return "no fault"
}
