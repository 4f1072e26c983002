package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"strings"
	"time"

	"github.com/strata-go/strata/memory"
)

// A model is an allocator and the expected state of it. Its methods end the segment, through segment.failf, when the
// allocator violates its contract.
type model interface {
	step()   // one random operation, some of them wrong on purpose
	check()  // the allocator's Check, and its statistics against the model's
	finish() // everything freed: the statistics return to zero, and Close works
}

// A subject is a name and a function that makes a model of it with a random configuration.
type subject struct {
	name string
	open func(*segment) model
}

// A segment is a run of operations on a new instance. Its seed follows from the run's, the subject and the number, so
// that it can be repeated alone.
type segment struct {
	rand
	family string
	seed   uint64
	op     int
	ids    uint64 // blocks filled so far: each has a pattern of its own
	log    [48]event
	noted  int // events logged so far
}

// An event is an operation in the log, formatted only when something went wrong.
type event struct {
	op      int
	what    string
	a, b, c uint64
}

// A failure is the panic that ends a segment.
type failure struct{ text string }

func (f failure) Error() string { return f.text }

// newSegment derives the seed of segment number k of a subject.
func newSegment(fam string, seed uint64, k int) *segment {
	h := fnv.New64a()
	h.Write([]byte(fam))
	s := mix(seed ^ h.Sum64() + uint64(k)*golden)
	return &segment{rand: rand{s}, family: fam, seed: s}
}

// play runs ops operations and returns how long they took, or what went wrong and when.
func (s *segment) play(open func(*segment) model, ops, every int) (took time.Duration, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = s.report(r)
		}
	}()
	began := time.Now()
	m := open(s)
	for s.op < ops {
		m.step()
		if s.op++; s.op%every == 0 {
			m.check()
		}
	}
	m.check()
	m.finish()
	return time.Since(began), nil
}

// report turns the panic that ended the segment into an error with its last operations.
func (s *segment) report(r any) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", r)
	if _, ours := r.(failure); !ours {
		fmt.Fprintf(&b, "%s\n", debug.Stack())
	}
	b.WriteString("the last operations:\n")
	for i := range s.log {
		if e := s.log[(s.noted+i)%len(s.log)]; e.what != "" {
			fmt.Fprintf(&b, "  %10d  %-24s %#x %d %d\n", e.op, e.what, e.a, e.b, e.c)
		}
	}
	return errors.New(b.String())
}

// note logs what is about to be done.
func (s *segment) note(what string, a uintptr, b, c uint64) {
	s.log[s.noted%len(s.log)] = event{s.op, what, uint64(a), b, c}
	s.noted++
}

func (s *segment) failf(format string, args ...any) {
	panic(failure{fmt.Sprintf(format, args...)})
}

// must fails on an error of something that has no reason to fail.
func (s *segment) must(what string, err error) {
	if err != nil {
		s.failf("%s: %v", what, err)
	}
}

// refused runs a wrong call, which must panic with a *memory.Misuse and leave the statistics unchanged.
func (s *segment) refused(what string, books func() memory.Stats, wrong func()) {
	before := books()
	got := caught(wrong)
	var misuse *memory.Misuse
	if err, ok := got.(error); !ok || !errors.As(err, &misuse) {
		s.failf("%s: recovered %v, want a *memory.Misuse", what, got)
	}
	if misuse.Package == "" || misuse.Op == "" || misuse.Reason == "" {
		s.failf("%s: a Misuse that does not say what happened: %+v", what, misuse)
	}
	if after := books(); after != before {
		s.failf("%s: refused with %q, yet the books went from %+v to %+v", what, misuse, before, after)
	}
}

// caught returns what f panicked with, or nil.
func caught(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}
