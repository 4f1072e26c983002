package memtest

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// hooks registers what is to run at Reset and at Close, with one that panics in the middle:
// what has run does not run again, what has not still does, and the blocks die either way.
func hooks(t testing.TB, s Subject) {
	if s.Hook == nil {
		return
	}
	a := s.make(t, nil)
	r, canReset := a.(memory.Resetter)
	c, canClose := a.(io.Closer)
	end := map[string]func(){}
	if canReset {
		end["Reset"] = r.Reset
	}
	if canClose {
		end["Close"] = func() {
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	}
	for _, name := range []string{"Reset", "Close"} {
		if end[name] == nil {
			continue
		}
		var ran []int
		MustAlloc(t, a, s.size(100), 1)
		for i := range 5 {
			s.Hook(a, func() {
				ran = append(ran, i)
				if i == 3 || i == 1 {
					panic(ErrInjected)
				}
			})
		}
		tries := 1
		for survive(end[name]) {
			check(t, a)
			if tries++; tries > 10 {
				t.Fatalf("%s panics for the tenth time with hooks %v run", name, ran)
			}
		}
		if len(ran) != 5 || ran[0] != 4 || ran[1] != 3 || ran[2] != 2 || ran[3] != 1 || ran[4] != 0 {
			t.Errorf("%s, tried %d times, ran the hooks %v; want each once, newest first", name, tries, ran)
		}
		if st := stats(t, a); st.Live != 0 || st.InUse != 0 {
			t.Errorf("%s with hooks that panic: live %d, %d bytes in use", name, st.Live, st.InUse)
		}
		check(t, a)
	}
}

// sourceEndsFirst builds on a page.Carve that is closed, and its memory released, before the
// allocator is: from then on it is closed, and touches nothing.
func sourceEndsFirst(t testing.TB, s Subject) {
	src := NewFaulty()
	whole, err := src.Reserve(24 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(src, whole)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.New(carve)
	if err != nil {
		t.Fatalf("New on a Carve: %v", err)
	}
	if _, ok := a.(io.Closer); !ok {
		carve.Close()
		return // it closes nothing of its own
	}
	p := MustAlloc(t, a, s.size(10), 1)
	for i := range uint32(20) {
		_, _ = a.Alloc(s.size(i*977), 1)
	}
	carve.Close()
	if err := src.Release(whole); err != nil {
		t.Fatal(err)
	}
	calls, returns := src.Calls(), src.Returns()
	isClosed(t, s, a, p)
	if st := stats(t, a); s.Closed != nil && (st.Live != 0 || st.InUse != 0 || st.Committed != 0 || st.Reserved != 0 || st.LargestFree != 0 || st.Free != 0) {
		t.Errorf("its source has ended, yet the books are %+v", st)
	}
	if o, ok := a.(memory.Owner); ok && o.Owns(p) {
		t.Error("it owns memory that its source has lost")
	}
	check(t, a)
	closeIt(t, a)
	closeIt(t, a)
	if src.Calls() != calls || src.Returns() != returns {
		t.Errorf("after its source has ended it called the system %d times", src.Calls()-calls+src.Returns()-returns)
	}
	sourceEndsAfterAFailedClose(t, s)
}

// sourceEndsAfterAFailedClose ends the source of an allocator whose Close the system has refused.
func sourceEndsAfterAFailedClose(t testing.TB, s Subject) {
	mortal := NewMortal(t, nil, 24<<20)
	src := &Faulty{Source: mortal.Carve}
	a, err := s.New(src)
	if err != nil {
		t.Fatalf("New on a Carve: %v", err)
	}
	p := MustAlloc(t, a, s.size(10), 1)
	src.FailReturns = true
	_ = a.(io.Closer).Close() // nil if nothing is to be given back
	mortal.End(t)
	calls, returns := src.Calls(), src.Returns()
	isClosed(t, s, a, p)
	check(t, a)
	closeIt(t, a)
	if src.Calls() != calls || src.Returns() != returns {
		t.Errorf("after its source has ended it called the system %d times", src.Calls()-calls+src.Returns()-returns)
	}
}

// farBytes is beyond what 32 bits of offset can say.
const farBytes uint64 = 4<<30 + 256<<20

// far allocates more than 4 GiB, of which a few bytes are touched, and verifies that
// no two blocks overlap, as they do where an offset was cut short.
func far(t testing.TB, s Subject) {
	if s.Far == nil || !canGoFar {
		return
	}
	a, err := s.Far(nil)
	if errors.Is(err, memory.ErrOutOfMemory) {
		const why = "the system does not reserve as much address space"
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.FarSize != 0 {
		s.MaxSize = s.FarSize
	}
	n := int(farBytes/uint64(s.MaxSize)) + 1
	blocks := make([]uintptr, n)
	var ends []*uint64
	for i := range n {
		p := MustAlloc(t, a, s.MaxSize, 16)
		blocks[i] = uintptr(p)
		if i%(n/64+1) == 0 || i > n-8 { // a few: each is a page of real memory
			first, last := (*uint64)(p), (*uint64)(addBytes(p, s.MaxSize-8))
			*first, *last = uint64(uintptr(p)), ^uint64(uintptr(p))
			ends = append(ends, first, last)
		}
	}
	slices.Sort(blocks)
	for i, b := range blocks[1:] {
		if b-blocks[i] < s.MaxSize {
			t.Fatalf("the blocks of %d bytes at %#x and %#x overlap", s.MaxSize, blocks[i], b)
		}
	}
	for k := 0; k < len(ends); k += 2 {
		if p := uint64(uintptr(unsafe.Pointer(ends[k]))); *ends[k] != p || *ends[k+1] != ^p {
			t.Fatalf("the block at %#x is backed by memory of another: %#x ... %#x", p, *ends[k], *ends[k+1])
		}
	}
	if st := stats(t, a); st.Live != uint64(n) || st.InUse < farBytes {
		t.Errorf("%d blocks of %d bytes: the books say %+v", n, s.MaxSize, st)
	}
	check(t, a)
	closeIt(t, a)
}
