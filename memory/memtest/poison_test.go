package memtest

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/tlsf"
)

// A kept heap fills what is freed and keeps it apart, to see whether it is written to.
type kept struct {
	*tlsf.Heap
	p     unsafe.Pointer // freed, of size bytes
	size  uintptr
	raise func(x *kept) // what a write to it leads to
	wrong func(s *memory.Stats)
	sick  error
	loses bool
}

func (x *kept) Free(p unsafe.Pointer, size uintptr) {
	x.p, x.size = p, size
	clear(unsafe.Slice((*byte)(p), size))
}

func (x *kept) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if x.p == nil || size != x.size {
		return x.Heap.Alloc(size, align)
	}
	for i, b := range unsafe.Slice((*byte)(x.p), size) {
		if b != 0 {
			*(*byte)(unsafe.Add(x.p, i)) = 0
			x.raise(x)
		}
	}
	p := x.p
	x.p = nil
	if x.loses {
		return x.Heap.Alloc(size, align)
	}
	return p, nil
}

func (x *kept) Stats() memory.Stats {
	s := x.Heap.Stats()
	if x.wrong != nil {
		x.wrong(&s)
	}
	return s
}

func (x *kept) Check() error { return x.sick }

func TestWriteIsTold_HoldsTheAllocToItsWord(t *testing.T) {
	tell := func(x *kept) {
		panic(&memory.Misuse{Package: "kept", Op: "Alloc", Addr: uintptr(x.p), Reason: "use after free: it was written"})
	}
	for name, c := range map[string]struct {
		x    kept
		want string
	}{
		"right":             {kept{raise: tell}, ""},
		"it says nothing":   {kept{raise: func(*kept) {}}, "want a panic"},
		"it says less":      {kept{raise: func(x *kept) { panic(&memory.Misuse{Package: "kept", Op: "Alloc", Addr: uintptr(x.p)}) }}, `does not contain "use after free"`},
		"it names another":  {kept{raise: func(*kept) { panic(&memory.Misuse{Package: "kept", Op: "Alloc", Addr: 8, Reason: "use after free"}) }}, "it names 0x8, the block is "},
		"the books change":  {kept{raise: func(x *kept) { x.wrong = func(s *memory.Stats) { s.Failures++ }; tell(x) }}, "it changed the books from"},
		"the books break":   {kept{raise: func(x *kept) { x.sick = errFull; tell(x) }}, "Check: full"},
		"the block is lost": {kept{raise: tell, loses: true}, "the block was lost"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			h, err := heap(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			c.x.Heap = h
			p := MustAlloc(tb, &c.x, 64, 16)
			c.x.Free(p, 64)
			WriteIsTold(tb, &c.x, p, 64, 16, 63, "kept.Alloc")
		})
	}
}

// An overrun heap has one block of 256 bytes and sees what its owner wrote behind it.
type overrun struct {
	*tlsf.Heap
	raise func(x *overrun, at int, b byte) bool // what Resize returns then
	stuck bool
	wrong uint64
	sick  error
}

func (x *overrun) Resize(p unsafe.Pointer, oldSize, newSize uintptr) bool {
	behind := unsafe.Slice((*byte)(unsafe.Add(p, oldSize)), newSize-oldSize)
	for i, b := range behind {
		if b != 0 {
			behind[i] = 0
			return x.raise(x, i, b)
		}
	}
	return !x.stuck && x.Heap.Resize(p, oldSize, newSize)
}

func (x *overrun) Stats() memory.Stats {
	s := x.Heap.Stats()
	s.Failures += x.wrong
	return s
}

func (x *overrun) Check() error { return x.sick }

func TestOverflowIsToldByResize_HoldsTheResizeToItsWord(t *testing.T) {
	if invariant.Debug {
		return // the heap below tells it, too
	}
	tell := func(_ *overrun, at int, b byte) bool {
		panic(&memory.Misuse{Package: "overrun", Op: "Resize", Reason: fmt.Sprintf("byte %d of 768 free bytes was written, with %#x", at, b)})
	}
	for name, c := range map[string]struct {
		x    overrun
		want string
	}{
		"right":           {overrun{raise: tell}, ""},
		"it says nothing": {overrun{raise: func(*overrun, int, byte) bool { return false }}, "want a panic"},
		"another byte":    {overrun{raise: func(x *overrun, at int, b byte) bool { return tell(x, at+1, b) }}, `does not contain "byte 44 of 768 free bytes was written, with 0x7"`},
		"the books change": {overrun{raise: func(x *overrun, at int, b byte) bool { x.wrong++; return tell(x, at, b) }},
			"it changed the books from"},
		"the books break":  {overrun{raise: func(x *overrun, at int, b byte) bool { x.sick = errFull; return tell(x, at, b) }}, "Check: full"},
		"it gives up then": {overrun{raise: tell, stuck: true}, "the block does not grow any more"},
	} {
		saysOnly(t, name, c.want, func(tb testing.TB) {
			h, err := heap(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			c.x.Heap = h
			OverflowIsToldByResize(tb, &c.x, "overrun.Resize")
		})
	}
}

func TestPoisoned_AsksAfterEveryStepWhateverItWas(t *testing.T) {
	done := map[string]int{}
	asked := 0
	x := &tampered{
		alloc: func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
			done["Alloc"]++
			return x.Heap.Alloc(size, align)
		},
		free: func(x *tampered, p unsafe.Pointer, size uintptr) { done["Free"]++; x.Heap.Free(p, size) },
		resize: func(x *tampered, p unsafe.Pointer, o, n uintptr) bool {
			done["Resize"]++
			return x.Heap.Resize(p, o, n)
		},
		trim:  func(x *tampered) error { done["Trim"]++; return x.Heap.Trim() },
		reset: func(x *tampered) { done["Reset"]++; x.Heap.Reset() },
	}
	fresh := func() *tampered {
		h, err := heap(nil)
		x.Heap = Opened(t, h, err)
		return x
	}
	saysOnly(t, "right", "", func(tb testing.TB) { Poisoned(tb, fresh(), func() error { asked++; return nil }) })
	if asked != 2000 || done["Alloc"] < 900 || done["Free"] < 500 || done["Resize"] < 300 || done["Trim"] != 20 || done["Reset"] != 2 {
		t.Errorf("asked %d times; %v", asked, done)
	}
	asked = 0
	saysOnly(t, "a fault", "step 41: full", func(tb testing.TB) {
		Poisoned(tb, fresh(), func() error {
			if asked++; asked == 42 {
				return errFull
			}
			return nil
		})
	})
	x.trim = func(*tampered) error { return errFull }
	saysOnly(t, "a Trim that fails", "full", func(tb testing.TB) { Poisoned(tb, fresh(), func() error { return nil }) })
	if invariant.Debug {
		return // the heap below may notice what follows before the shadow does
	}
	x.trim, x.resize = nil, func(x *tampered, p unsafe.Pointer, o, n uintptr) bool { return x.Heap.Resize(p, o, min(o, n)) }
	saysOnly(t, "a Resize that grants what it has not", "overlaps the live block", func(tb testing.TB) { Poisoned(tb, fresh(), func() error { return nil }) })
	x.resize, x.free = nil, func(x *tampered, p unsafe.Pointer, size uintptr) {
		x.Heap.Free(p, size)
		if x.last != nil && x.Heap.Owns(x.last) {
			*(*byte)(x.last) ^= 0xFF
		}
		x.last = nil
	}
	x.alloc = func(x *tampered, size, align uintptr) (unsafe.Pointer, error) {
		p, err := x.Heap.Alloc(size, align)
		if err == nil && size > 0 {
			x.last = p
		}
		return p, err
	}
	saysOnly(t, "a Free that writes elsewhere", "of the live block", func(tb testing.TB) { Poisoned(tb, fresh(), func() error { return nil }) })
}

type owned struct{ invariant.Owner }

type holds struct {
	N int
	O struct{ O owned }
}

func TestCopiesAreNamed_LooksIntoFields(t *testing.T) {
	saysOnly(t, "owned", "", func(tb testing.TB) { CopiesAreNamed(tb, reflect.TypeFor[owned](), reflect.TypeFor[holds]()) })
	saysOnly(t, "bare", "a copy of struct { N int } hands out the same bytes", func(tb testing.TB) {
		CopiesAreNamed(tb, reflect.TypeFor[owned](), reflect.TypeFor[struct{ N int }]())
	})
	saysOnly(t, "a number", "a copy of int hands out", func(tb testing.TB) { CopiesAreNamed(tb, reflect.TypeFor[int]()) })
}
