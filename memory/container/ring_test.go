package container

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// ringProgram runs a program on a Ring beside a Go slice, as vecProgram does on a Vec.
func ringProgram(t *testing.T, program []byte) {
	f, sp := newFlaky(t)
	var r Ring[uint32]
	var model []uint32
	next := uint32(0)
	for len(program) >= 3 {
		op, a, b := program[0], int(program[1]), int(program[2])
		program = program[3:]
		f.failAt, f.boomAt, f.neverMoves = 0, 0, op&0x10 == 0
		switch op >> 5 {
		case 1:
			f.failAt, f.forGood = f.calls+1, b%2 == 0
		case 2:
			f.boomAt = f.calls + 1 + b%2
		}
		n, was := len(model), slices.Clone(model)
		var err error
		done := survives(func() {
			switch op & 0xF {
			case 0, 1, 2, 3:
				for range a%4 + 1 {
					next++
					if err = r.PushBack(sp, next); err != nil {
						break
					}
					model = append(model, next)
					was = slices.Clone(model)
				}
			case 4, 5:
				next++
				if err = r.PushFront(sp, next); err == nil {
					model = slices.Insert(model, 0, next)
				}
			case 6, 7:
				x, ok := r.PopFront(sp)
				if ok != (n > 0) || ok && x != model[0] {
					t.Fatalf("PopFront = %d, %t of %v", x, ok, model)
				}
				model = model[min(n, 1):]
			case 8:
				x, ok := r.PopBack(sp)
				if ok != (n > 0) || ok && x != model[n-1] {
					t.Fatalf("PopBack = %d, %t of %v", x, ok, model)
				}
				model = model[:max(n-1, 0)]
			case 9:
				err = r.Reserve(sp, b)
				if err == nil && r.Cap()-r.Len() < b {
					t.Fatalf("Reserve(%d) left room for %d", b, r.Cap()-r.Len())
				}
			case 10, 11:
				if err = r.Shrink(sp); err == nil && (n > 0 && r.Cap() != ceilPow2(n) || n == 0 && r.Cap() != 0) {
					t.Fatalf("after Shrink %d in %d", n, r.Cap())
				}
			case 12:
				r.Free(sp)
				model = nil
			case 13:
				r.Clear()
				model = model[:0]
			case 14:
				if n > 0 {
					r.Set(sp, a%n, uint32(b))
					model[a%n] = uint32(b)
				}
			case 15:
				front, ok := r.Front(sp)
				back, too := r.Back(sp)
				if ok != (n > 0) || ok != too || ok && (front != model[0] || back != model[n-1] || r.At(sp, n/2) != model[n/2]) {
					t.Fatalf("Front %d, Back %d of %v", front, back, model)
				}
			}
		})
		if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("op %d: %v", op, err)
		}
		if !done {
			model = was
		}
		got := slices.Collect(r.Values(sp))
		front, back := r.Slices(sp)
		if !slices.Equal(got, model) || r.Len() != len(model) || !slices.Equal(slices.Concat(front, back), model) {
			t.Fatalf("op %#x failed %v %t:\n\t%v, %v%v, want\n\t%v", op, err, !done, got, front, back, model)
		}
		must(t, r.Check(sp))
		if want := min(r.Cap(), 1); int(f.Stats().Live) != want {
			t.Fatalf("op %#x: %d blocks live, want %d", op, f.Stats().Live, want)
		}
	}
	f.boomAt = 0
	r.Free(sp)
	if f.Stats().Live != 0 || r != (Ring[uint32]{}) {
		t.Fatalf("Free left %d blocks", f.Stats().Live)
	}
}

func FuzzRing(f *testing.F) {
	f.Add(memtest.RandomProgram(1, 60))
	f.Fuzz(ringProgram)
}

func TestRing_IsAListUnderAnyProgram(t *testing.T) {
	for seed := range uint64(60) {
		ringProgram(t, memtest.RandomProgram(seed+1, 250))
	}
}

func TestRing_GrowsRoundTheEnd(t *testing.T) {
	_, sp := heap(t)
	for head := range 16 {
		var r Ring[uint32]
		must(t, r.Reserve(sp, 16))
		for range head {
			must(t, r.PushBack(sp, 0))
			r.PopFront(sp)
		}
		for i := range uint32(17) {
			must(t, r.PushBack(sp, i))
		}
		if r.Cap() != 32 || unsafe.Sizeof(r) != 24 {
			t.Fatalf("%d slots, %d bytes", r.Cap(), unsafe.Sizeof(r))
		}
		for i, x := range r.All(sp) {
			if uint32(i) != x || r.At(sp, i) != x || *r.Ptr(sp, i) != x {
				t.Fatalf("head %d: element %d is %d", head, i, x)
			}
		}
		r.Free(sp)
	}
}

func TestRing_TheZeroRingIsEmptyAndReady(t *testing.T) {
	h, sp := heap(t)
	var r Ring[int]
	if front, back := r.Slices(sp); len(front)+len(back) != 0 || r.Len() != 0 || r.Cap() != 0 {
		t.Errorf("%v, %v", front, back)
	}
	must(t, r.Check(sp))
	must(t, r.Shrink(sp))
	must(t, r.Reserve(sp, 0))
	r.Free(sp)
	if h.Stats().Allocs != 0 || r != (Ring[int]{}) {
		t.Errorf("nothing was asked for, yet %+v", r)
	}
	var small Ring[uint8]
	var big Ring[[100]byte]
	var eight Ring[uint64]
	must(t, small.PushBack(sp, 1))
	must(t, big.PushBack(sp, [100]byte{}))
	must(t, eight.PushBack(sp, 1))
	if small.Cap() != 4 || big.Cap() != 1 || eight.Cap() != 4 {
		t.Errorf("first capacities %d, %d, %d", small.Cap(), big.Cap(), eight.Cap())
	}
	if err := (&Ring[*int]{}).PushBack(sp, nil); !errors.As(err, new(*memory.PointerError)) {
		t.Errorf("pointers: %v", err)
	}
	var none Ring[struct{}]
	must(t, none.PushBack(sp, struct{}{}))
	must(t, none.PushFront(sp, struct{}{}))
	must(t, none.Check(sp))
	must(t, none.Shrink(sp))
	if _, ok := none.PopBack(sp); !ok || none.Len() != 1 {
		t.Error("elements without size are not counted")
	}
	none.Free(sp)
}

func TestRing_StopsWhenToldTo(t *testing.T) {
	_, sp := heap(t)
	var r Ring[int]
	defer r.Free(sp)
	for i := range 5 {
		must(t, r.PushBack(sp, i))
	}
	var got []int
	for i, x := range r.All(sp) {
		if got = append(got, i+x); i == 1 {
			break
		}
	}
	for x := range r.Values(sp) {
		if got = append(got, x); x == 2 {
			break
		}
	}
	if !slices.Equal(got, []int{0, 2, 0, 1, 2}) {
		t.Error(got)
	}
	for _, i := range []int{5, -1, math.MaxInt} {
		want := panics(func() { _ = make([]int, 5)[i] })
		for name, f := range map[string]func(){"At": func() { r.At(sp, i) }, "Set": func() { r.Set(sp, i, 1) }, "Ptr": func() { r.Ptr(sp, i) }} {
			if got := panics(f); got != want || got == "" {
				t.Errorf("%s(%d) panics with %q, a slice with %q", name, i, got, want)
			}
		}
	}
	if got := panics(func() { r.Reserve(sp, -1) }); !strings.Contains(got, "out of range") {
		t.Errorf("Reserve(-1) panics with %q", got)
	}
}

func TestRing_CountsThatOverflowAreErrors(t *testing.T) {
	_, sp := heap(t)
	var r Ring[uint64]
	must(t, r.PushBack(sp, 1))
	before := r
	for _, n := range []int{math.MaxInt, maxRing, maxRing - 1, 1 << 29} {
		if err := r.Reserve(sp, n); !errors.Is(err, memory.ErrTooLarge) && !errors.Is(err, memory.ErrOutOfMemory) || r != before {
			t.Errorf("Reserve(%d): %v, %+v", n, err, r)
		}
	}
	if err := r.Reserve(sp, maxRing); err != memory.ErrTooLarge {
		t.Errorf("one more than 2^30: %v", err)
	}
	r.n, r.cap = maxRing, maxRing
	if err := r.PushBack(sp, 1); err != memory.ErrTooLarge {
		t.Errorf("PushBack to 2^30 elements: %v", err)
	}
	if err := r.PushFront(sp, 1); err != memory.ErrTooLarge {
		t.Errorf("PushFront to 2^30 elements: %v", err)
	}
	r = before
	r.Free(sp)
}

func TestRing_CheckNamesWhatIsBroken(t *testing.T) {
	_, sp := heap(t)
	var r Ring[uint64]
	must(t, r.Reserve(sp, 8))
	must(t, r.PushBack(sp, 1))
	defer r.Free(sp)
	for want, corrupt := range map[string]func(){
		"7 slots: want 0 or a power of two up to 1073741824": func() { r.cap = 7 },
		"2147483648 slots":                      func() { r.cap = 1 << 31 },
		"9 elements in 8 slots":                 func() { r.n = 9 },
		"offset 16 and 0 slots":                 func() { r.n, r.cap, r.off = 0, 0, 16 },
		"the first element is in slot 8 of 8":   func() { r.head = 8 },
		"the first element is in slot 1 of 0":   func() { r = Ring[uint64]{head: 1} },
		"the block there has 64 bytes":          func() { r.cap = 16 },
		"elements: offset 2 is not aligned":     func() { r.off = 2 },
		"elements: 8 bytes, 1073741824 times, ": func() { r.cap = maxRing },
	} {
		restore := memtest.Keep(&r)
		corrupt()
		if err := r.Check(sp); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "container: Ring: ") {
			t.Errorf("Check says %v; want %q", err, want)
		}
		restore()
	}
	none := Ring[struct{}]{cap: 8}
	if err := none.Check(sp); err == nil || !strings.Contains(err.Error(), "no block") {
		t.Errorf("8 slots for elements without size: %v", err)
	}
}
