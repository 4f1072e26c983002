package memtest

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// A suite is worth what it catches: each of these allocators breaks one promise, and the
// interpreter must end with the words that name it.

// recorder is a testing.TB that remembers why it was ended and ends the goroutine.
type recorder struct {
	testing.TB // nil: only what is overridden is used
	said       string
}

func (r *recorder) Helper()        {}
func (r *recorder) Cleanup(func()) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said += fmt.Sprintf(format, args...) + "\n"
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// interpret runs a program against s and returns what the suite complained of.
func interpret(s Subject, program []byte) string {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Interpret(r, s, program)
	}()
	<-done
	return r.said
}

// broken is a good heap with one fault built in.
type broken struct {
	*tlsf.Heap
	fault string
	last  unsafe.Pointer
	n     int
}

func (b *broken) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	b.n++
	p, err := b.Heap.Alloc(size+64, align)
	if err != nil {
		if b.fault == "foreign error" {
			return nil, errors.New("full")
		}
		return p, err
	}
	if b.n%20 == 0 && size > 0 {
		switch b.fault {
		case "overlap":
			if b.last != nil {
				return b.last, nil
			}
		case "misaligned":
			return unsafe.Add(p, 1), nil
		case "nil":
			return nil, nil
		case "pointer with error":
			return p, memory.ErrOutOfMemory
		case "scribble":
			*(*byte)(b.last) ^= 0xFF
		}
	}
	if size > 0 {
		b.last = p
	}
	return p, nil
}

func (b *broken) Free(p unsafe.Pointer, size uintptr) {
	if b.fault == "leak" && b.n%20 == 0 {
		return
	}
	if p == b.last {
		b.last = nil
	}
	b.Heap.FreeAny(p)
}

func (b *broken) Stats() memory.Stats {
	s := b.Heap.Stats()
	switch b.fault {
	case "miscount":
		s.Live++
		s.Allocs++
	case "too little in use":
		s.InUse /= 4
	case "in use above committed":
		s.InUse = s.Committed + 1
	case "no peak":
		s.Peak = 0
	}
	return s
}

func (b *broken) Check() error {
	if b.fault == "check" && b.n > 50 {
		return errors.New("rotten")
	}
	return b.Heap.Check()
}

// Resize and FreeAny are hidden, so that every block goes through the methods above.
type plainBroken struct{ b *broken }

func (p plainBroken) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return p.b.Alloc(size, align)
}
func (p plainBroken) Free(q unsafe.Pointer, size uintptr) { p.b.Free(q, size) }
func (p plainBroken) Stats() memory.Stats                 { return p.b.Stats() }
func (p plainBroken) Check() error                        { return p.b.Check() }
func (p plainBroken) Close() error                        { return p.b.Close() }

func brokenSubject(fault string) Subject {
	return Subject{New: func(src page.Source) (memory.Allocator, error) {
		h, err := tlsf.New(src, tlsf.Config{Reserve: 128 << 10, Granule: 16})
		return plainBroken{&broken{Heap: h, fault: fault}}, err
	}}
}

func TestInterpret_CatchesWhatItIsFor(t *testing.T) {
	program := RandomProgram(1, 900)
	if said := interpret(brokenSubject("none"), program); said != "" {
		t.Fatalf("a good allocator fails: %s", said)
	}
	for fault, want := range map[string]string{
		"overlap":                "overlaps the live block",
		"misaligned":             "is not aligned",
		"nil":                    "returned nil without an error",
		"pointer with error":     "out of memory",
		"scribble":               "of the live block",
		"leak":                   "Stats.Live is",
		"miscount":               "Stats.Live is",
		"too little in use":      "Stats.InUse is",
		"in use above committed": "are not in order",
		"no peak":                "is above the peak",
		"check":                  "rotten",
		"foreign error":          "full",
	} {
		if said := interpret(brokenSubject(fault), program); !strings.Contains(said, want) {
			t.Errorf("%s: the suite says %q; want %q", fault, said, want)
		}
	}
}

func TestMisuse_WantsAMisuseWithItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"no panic":    {func() {}, "want a panic with a *memory.Misuse"},
		"other panic": {func() { panic("oops") }, "recovered oops"},
		"other words": {func() { panic(&memory.Misuse{Package: "x", Op: "Free", Reason: "double free"}) }, `does not contain "foreign"`},
	} {
		r := &recorder{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Misuse(r, c.f, "foreign")
		}()
		<-done
		if !strings.Contains(r.said, c.want) {
			t.Errorf("%s: said %q; want %q", name, r.said, c.want)
		}
	}
}

func TestFaulty_FailsTheCallItIsTold(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		src := NewFaulty()
		src.FailAt, src.ForGood = 2, forGood
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Commit(m, 0, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("call 2: %v", err)
		}
		if err := src.Commit(m, 0, page.Granule); (err != nil) != forGood {
			t.Errorf("call 3 with ForGood %t: %v", forGood, err)
		}
		if src.Calls() != 3 || src.Reserved() != 1 {
			t.Errorf("%d calls, %d reservations", src.Calls(), src.Reserved())
		}
		src.FailReturns = true
		if src.Decommit(m, 0, page.Granule) == nil || src.Release(m) == nil || src.Reserved() != 1 {
			t.Error("memory was returned in spite of FailReturns")
		}
		src.FailReturns = false
		if err := src.Release(m); err != nil || src.Reserved() != 0 {
			t.Errorf("Release: %v, %d left", err, src.Reserved())
		}
	}
}
