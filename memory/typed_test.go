package memory_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// asked is an Allocator that notes what it is asked for, and gives dirty memory or an error.
type asked struct {
	sizes, aligns, freed []uintptr
	block                [8]uint64
	err                  error
}

func (a *asked) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	a.sizes, a.aligns = append(a.sizes, size), append(a.aligns, align)
	for i := range a.block {
		a.block[i] = math.MaxUint64
	}
	if a.err != nil {
		return nil, a.err
	}
	return unsafe.Pointer(&a.block), nil
}

func (a *asked) Free(p unsafe.Pointer, size uintptr) {
	if p != nil {
		a.freed = append(a.freed, size)
	}
}

func TestMakeSlice_AsksForWhatItNeedsAndZeroesNoMore(t *testing.T) {
	var a asked
	s, err := memory.MakeSlice[[3]uint16](&a, 4)
	if err != nil || len(s) != 4 || cap(s) != 4 || a.sizes[0] != 24 || a.aligns[0] != 2 {
		t.Fatalf("%d of %d, %v; asked for %d aligned to %d", len(s), cap(s), err, a.sizes, a.aligns)
	}
	for i, w := range a.block {
		if want := map[bool]uint64{true: 0, false: math.MaxUint64}[i < 3]; w != want {
			t.Errorf("word %d is %#x", i, w)
		}
	}
	p, err := memory.New[uint32](&a)
	if err != nil || *p != 0 || a.sizes[1] != 4 || a.aligns[1] != 4 {
		t.Errorf("New: %v, asked for %d aligned to %d", err, a.sizes, a.aligns)
	}
	memory.FreeSlice(&a, s)
	memory.Free(&a, p)
	memory.FreeSlice[uint64](&a, nil)
	memory.Free[uint64](&a, nil)
	if len(a.freed) != 2 || a.freed[0] != 24 || a.freed[1] != 4 {
		t.Errorf("freed %d", a.freed)
	}
	a.err = io.ErrUnexpectedEOF
	if p, err := memory.New[uint32](&a); p != nil || err != io.ErrUnexpectedEOF {
		t.Errorf("New of an allocator that fails: %v, %v", p, err)
	}
	if s, err := memory.MakeSlice[uint32](&a, 1); s != nil || err != io.ErrUnexpectedEOF {
		t.Errorf("MakeSlice of an allocator that fails: %v, %v", s, err)
	}
}

func TestClone_CopiesAndTakesNoMore(t *testing.T) {
	var a asked
	from := [][3]uint16{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}
	s, err := memory.Clone(&a, from[:4:4])
	if err != nil || !slices.Equal(s, from) || cap(s) != 4 || a.sizes[0] != 24 || a.aligns[0] != 2 || a.block[3] != math.MaxUint64 {
		t.Fatalf("%v of %d, %v; asked for %d aligned to %d, then %#x", s, cap(s), err, a.sizes, a.aligns, a.block[3])
	}
	if &s[0] == &from[0] {
		t.Error("the copy is the slice itself")
	}
	memory.FreeSlice(&a, s)
	if len(a.freed) != 1 || a.freed[0] != 24 {
		t.Errorf("freed %d", a.freed)
	}
	for _, nothing := range [][]uint64{nil, {}} {
		if s, err := memory.Clone(&a, nothing); err != nil || s == nil || len(s) != 0 || a.sizes[len(a.sizes)-1] != 0 {
			t.Errorf("a copy of nothing: %v, %v, asked for %d", s, err, a.sizes)
		}
	}
	n := len(a.sizes)
	if s, err := memory.Clone(&a, []string{"a"}); s != nil || !errors.As(err, new(*memory.PointerError)) || len(a.sizes) != n {
		t.Errorf("a copy of strings: %v, %v", s, err)
	}
	a.err = io.ErrUnexpectedEOF
	if s, err := memory.Clone(&a, from); s != nil || err != io.ErrUnexpectedEOF {
		t.Errorf("of an allocator that fails: %v, %v", s, err)
	}
}

func TestMakeSlice_OfNothing(t *testing.T) {
	a, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, n := range []int{0, 1, math.MaxInt} { // no bytes, however many
		s, err := memory.MakeSlice[struct{}](a, n)
		if err != nil || len(s) != n || s == nil || a.Used() != 0 {
			t.Errorf("%d empty values: %d, %v, %d bytes", n, len(s), err, a.Used())
		}
		memory.FreeSlice(a, s)
	}
	if s, err := memory.MakeSlice[uint64](a, 0); err != nil || s == nil || len(s) != 0 {
		t.Errorf("0 words: %v, %v", s, err)
	}
	for _, n := range []int{-1, math.MinInt} {
		if s, err := memory.MakeSlice[struct{}](a, n); err != memory.ErrTooLarge || s != nil {
			t.Errorf("%d empty values: %v, %v", n, s, err)
		}
	}
	memory.FreeSlice[uint64](a, nil)
	if p, err := memory.New[struct{}](a); err != nil || p == nil {
		t.Errorf("New of an empty type: %v", err)
	}
}

func TestMakeSlice_TheLargestThatIsNoOverflowReachesTheAllocator(t *testing.T) {
	a := asked{err: memory.ErrOutOfMemory}
	for _, c := range []struct {
		n    int
		want error
	}{{math.MaxInt / 8, memory.ErrOutOfMemory}, {math.MaxInt/8 + 1, memory.ErrTooLarge}, {math.MaxInt, memory.ErrTooLarge}} {
		if _, err := memory.MakeSlice[[8]byte](&a, c.n); err != c.want {
			t.Errorf("%d of 8 bytes: %v; want %v", c.n, err, c.want)
		}
	}
	if len(a.sizes) != 1 || a.sizes[0] != math.MaxInt/8*8 {
		t.Errorf("asked for %d", a.sizes)
	}
}

func TestHandle_MethodsAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		index, gen uint32
		zero       bool
		text       string
	}{{0, 0, true, "#0.0"}, {1, 0, false, "#1.0"}, {0, 1, false, "#0.1"}, {math.MaxUint32, math.MaxUint32, false, "#4294967295.4294967295"}} {
		h := memory.MakeHandle[string](c.index, c.gen)
		if h.Index() != c.index || h.Generation() != c.gen || h.IsZero() != c.zero || h.String() != c.text || h != memory.MakeHandle[string](c.index, c.gen) {
			t.Errorf("slot %d, generation %d: %v, zero %t", h.Index(), h.Generation(), h, h.IsZero())
		}
	}
}

func TestErrors_TextsAtTheEnds(t *testing.T) {
	for want, err := range map[string]error{
		"x: out of memory: need 0 bytes, have 0 of 0":            &memory.Exhausted{Op: "x"},
		"x: out of memory: need 1 bytes: EOF":                    &memory.Exhausted{Op: "x", Need: 1, Have: 2, Limit: 3, Cause: io.EOF},
		"x: out of memory: need 1 bytes, have 0 of 0; raise y":   &memory.Exhausted{Op: "x", Need: 1, Advice: "raise y"},
		"pool.Close: the allocator is closed":                    &memory.Misuse{Package: "pool", Op: "Close", Reason: "the allocator is closed"},
		"slab.Free(0x1000): double free":                         &memory.Misuse{Package: "slab", Op: "Free", Addr: 0x1000, Reason: "double free"},
		"slab.Free: a size without an address says nothing":      &memory.Misuse{Package: "slab", Op: "Free", Size: 8, Reason: "a size without an address says nothing"},
		"memory: out of memory":                                  memory.ErrOutOfMemory,
		"memory: request too large for this allocator":           memory.ErrTooLarge,
		"memory: alignment is not a power of two from 1 to 4096": memory.ErrAlign,
		"memory: allocator is closed":                            memory.ErrClosed,
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	bare := &memory.Exhausted{Op: "x"}
	if !errors.Is(bare, memory.ErrOutOfMemory) || errors.Is(bare, memory.ErrTooLarge) || errors.Is(bare, memory.ErrClosed) || errors.Unwrap(bare) != nil {
		t.Error("a bare Exhausted is the wrong kind of error")
	}
	full := error(&memory.Exhausted{Op: "tlsf: alloc", Cause: &memory.Exhausted{Op: "page: budget", Limit: 7}})
	var e *memory.Exhausted
	if !errors.As(full, &e) || e.Op != "tlsf: alloc" || !errors.As(errors.Unwrap(full), &e) || e.Limit != 7 {
		t.Errorf("%v does not unwrap", full)
	}
	var m *memory.Misuse
	if errors.As(full, &m) || errors.Is(&memory.Misuse{}, memory.ErrOutOfMemory) {
		t.Error("a Misuse is mistaken for want of memory")
	}
	_, err := memory.TypeFor[[]int]()
	if want := "memory: []int ([]int) is or contains a Go pointer, which the collector cannot see off the Go heap; store a container.Vec or a fixed-size array"; err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestStats_EveryFieldIsAddedAndSubtracted(t *testing.T) {
	a := memory.Stats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	b := memory.Stats{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120}
	if got, want := a.Add(b), (memory.Stats{11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 110, 132}); got != want || b.Add(a) != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
	if got, want := b.Sub(a), (memory.Stats{10, 20, 30, 40, 50, 54, 63, 72, 90, 100, 110, 120}); got != want {
		t.Errorf("the difference is %+v, want %+v", got, want)
	}
	if a.Add(memory.Stats{}) != a || a.Sub(memory.Stats{}) != a {
		t.Error("nothing added or subtracted changes the books")
	}
}

func TestStats_SharesStayBetween0And1(t *testing.T) {
	for _, c := range []struct {
		part, whole uint64
		want        float64
	}{{0, 0, 0}, {5, 0, 0}, {5, 5, 0}, {6, 5, 0}, {0, 5, 1}, {3, 4, 0.25}, {0, math.MaxUint64, 1}, {math.MaxUint64, math.MaxUint64, 0}} {
		s := memory.Stats{Requested: c.part, Measured: c.whole}
		r := memory.Stats{LargestFree: c.part, Free: c.whole}
		if s.Internal() != c.want || s.External() != 0 || r.External() != c.want || r.Internal() != 0 {
			t.Errorf("%d of %d: internal %v, external %v; want %v", c.part, c.whole, s.Internal(), r.External(), c.want)
		}
	}
}

func TestType_ZeroHasASizeThatNothingMeets(t *testing.T) {
	var zero memory.Type[int]
	if zero.Size() != math.MaxUint || zero.Valid() {
		t.Errorf("the zero Type has size %d, valid %t", zero.Size(), zero.Valid())
	}
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "string (string)") {
			t.Errorf("MustType panicked with %v", err)
		}
	}()
	memory.MustType[string]()
}
