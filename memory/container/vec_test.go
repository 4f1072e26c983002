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

// vecProgram runs a program on a Vec beside a Go slice, in a heap that fails or panics now and
// then: what fails has changed nothing.
func vecProgram(t *testing.T, program []byte) {
	f, sp := newFlaky(t)
	var v Vec[uint32]
	var model []uint32
	next := uint32(0)
	fresh := func(n int) []uint32 {
		xs := make([]uint32, n)
		for i := range xs {
			next++
			xs[i] = next
		}
		return xs
	}
	for len(program) >= 3 {
		op, a, b := program[0], int(program[1]), int(program[2])
		program = program[3:]
		f.failAt, f.boomAt, f.neverMoves = 0, 0, op&0x10 == 0
		switch op >> 5 {
		case 1:
			f.failAt, f.forGood = f.calls+1+a%2, b%2 == 0
		case 2:
			f.boomAt = f.calls + 1 + b%2
		}
		n, was := len(model), slices.Clone(model)
		var err error
		done := survives(func() {
			switch op & 0xF {
			case 0, 1, 2:
				x := fresh(1)[0]
				if err = v.Append(sp, x); err == nil {
					model = append(model, x)
				}
			case 3:
				xs := fresh(b % 40)
				if err = v.AppendSlice(sp, xs); err == nil {
					model = append(model, xs...)
				}
			case 4:
				xs, i := fresh(b%5), a%(n+1)
				if err = v.Insert(sp, i, xs...); err == nil {
					model = slices.Insert(model, i, xs...)
				}
			case 5: // a part of itself
				lo := a % (n + 1)
				hi, i := lo+b%(n-lo+1), b%(n+1)
				xs := slices.Clone(model[lo:hi])
				if err = v.Insert(sp, i, v.Slice(sp)[lo:hi]...); err == nil {
					model = slices.Insert(model, i, xs...)
				}
			case 6:
				x, ok := v.Pop(sp)
				if ok != (n > 0) || ok && x != model[n-1] {
					t.Fatalf("Pop = %d, %t of %v", x, ok, model)
				}
				model = model[:max(n-1, 0)]
			case 7:
				lo := a % (n + 1)
				hi := lo + b%(n-lo+1)
				v.Delete(sp, lo, hi)
				model = slices.Delete(model, lo, hi)
			case 8:
				if n > 0 {
					if x := v.SwapRemove(sp, a%n); x != model[a%n] {
						t.Fatalf("SwapRemove(%d) = %d of %v", a%n, x, model)
					}
					model[a%n] = model[n-1]
					model = model[:n-1]
				}
			case 9:
				to := (a + b) % 300
				if err = v.SetLen(sp, to); err == nil {
					for len(model) < to {
						model = append(model, 0)
					}
					model = model[:to]
				}
			case 10:
				err = v.Reserve(sp, b)
				if err == nil && v.Cap()-v.Len() < b {
					t.Fatalf("Reserve(%d) left room for %d", b, v.Cap()-v.Len())
				}
			case 11:
				if err = v.Shrink(sp); err == nil && v.Cap() != v.Len() {
					t.Fatalf("after Shrink %d of %d", v.Len(), v.Cap())
				}
			case 12:
				v.Free(sp)
				model = nil
			case 13:
				v.Clear()
				model = model[:0]
			case 14:
				if n > 0 {
					v.Set(sp, a%n, uint32(b))
					model[a%n] = uint32(b)
				}
			case 15:
				var c Vec[uint32]
				if c, err = v.Clone(sp, sp); err == nil {
					if !slices.Equal(c.Slice(sp), model) {
						t.Fatal("Clone has other elements")
					}
					f.boomAt = 0
					c.Free(sp)
				}
			}
		})
		if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
			t.Fatalf("op %d: %v", op, err)
		}
		if !done {
			model = was
		}
		if !slices.Equal(v.Slice(sp), model) || v.Len() != len(model) {
			t.Fatalf("op %#x failed %v %t:\n\t%v, want\n\t%v", op, err, !done, v.Slice(sp), model)
		}
		must(t, v.Check(sp))
		if want := min(v.Cap(), 1); int(f.Stats().Live) != want {
			t.Fatalf("op %#x: %d blocks live, want %d", op, f.Stats().Live, want)
		}
	}
	f.boomAt = 0
	v.Free(sp)
	if f.Stats().Live != 0 || v != (Vec[uint32]{}) {
		t.Fatalf("Free left %d blocks", f.Stats().Live)
	}
}

func FuzzVec(f *testing.F) {
	f.Add(memtest.RandomProgram(1, 60))
	f.Fuzz(vecProgram)
}

func TestVec_IsASliceUnderAnyProgram(t *testing.T) {
	for seed := range uint64(60) {
		vecProgram(t, memtest.RandomProgram(seed+1, 200))
	}
}

func TestVec_TheZeroVecIsEmptyAndReady(t *testing.T) {
	_, sp := heap(t)
	var v Vec[uint64]
	if v.Len() != 0 || v.Cap() != 0 || len(v.Slice(sp)) != 0 || unsafe.Sizeof(v) != 16 {
		t.Errorf("%+v of %d bytes", v, unsafe.Sizeof(v))
	}
	must(t, v.Check(sp))
	v.Free(sp)
	must(t, v.Shrink(sp))
	must(t, v.Reserve(sp, 0))
	must(t, v.AppendSlice(sp, nil))
	if v != (Vec[uint64]{}) {
		t.Errorf("nothing was asked for, yet %+v", v)
	}
	must(t, v.Append(sp, 7))
	if v.Cap() != firstBytes/8 || !v.TryAppend(sp, 8) || v.At(sp, 1) != 8 || v.At(sp, 0) != 7 || *v.Ptr(sp, 0) != 7 {
		t.Errorf("%+v", v)
	}
	must(t, v.Shrink(sp))
	if v.TryAppend(sp, 9) || v.Len() != 2 {
		t.Errorf("a full Vec took one more: %+v", v)
	}
	v.Free(sp)
}

type npc struct{ name string }

func TestVec_HoldsWhatIsPointerFree(t *testing.T) {
	h, sp := heap(t)
	var v Vec[npc]
	err := v.Append(sp, npc{"orc"})
	if e := (*memory.PointerError)(nil); !errors.As(err, &e) || e.Path != "npc.name" || v.Len() != 0 || h.Stats().Allocs != 0 {
		t.Errorf("Append of a struct with a string: %v", err)
	}
	if e := memory.PointerFree[struct {
		a Vec[int]
		b Ring[int]
		c Map[int, int]
		d Strings
	}](); e != nil {
		t.Errorf("containers may lie in memory: %v", e)
	}
}

func TestVec_IndexesPanicAsThoseOfSlices(t *testing.T) {
	_, sp := heap(t)
	var v Vec[int]
	must(t, v.AppendSlice(sp, []int{1, 2, 3}))
	defer v.Free(sp)
	s := []int{1, 2, 3}
	big, minus := 7, -1
	for name, c := range map[string][2]func(){
		"At":            {func() { v.At(sp, 3) }, func() { _ = s[len(s)] }},
		"At far":        {func() { v.At(sp, big) }, func() { _ = s[big] }},
		"At -1":         {func() { v.At(sp, minus) }, func() { _ = s[minus] }},
		"Set":           {func() { v.Set(sp, big, 1) }, func() { s[big] = 1 }},
		"Ptr":           {func() { v.Ptr(sp, minus) }, func() { _ = &s[minus] }},
		"SwapRemove":    {func() { v.SwapRemove(sp, 3) }, func() { _ = s[len(s)] }},
		"Delete":        {func() { v.Delete(sp, 2, big) }, func() { _ = s[2:big] }},
		"Delete turned": {func() { v.Delete(sp, len(s)-1, 1) }, func() { _ = s[len(s)-1 : 1 : 3][0] }},
		"Insert":        {func() { v.Insert(sp, big, 1) }, func() { _ = s[big:] }},
		"Insert none":   {func() { v.Insert(sp, minus) }, func() { _ = s[minus:] }},
	} {
		got, want := panics(c[0]), panics(c[1])
		if name == "Delete turned" {
			want = "runtime error: slice bounds out of range [2:1]"
		}
		if got == "" || got != want {
			t.Errorf("%s panics with %q, a slice with %q", name, got, want)
		}
	}
	for name, f := range map[string]func(){"SetLen": func() { v.SetLen(sp, -1) }, "Reserve": func() { v.Reserve(sp, -1) }} {
		if got := panics(f); !strings.Contains(got, "out of range") {
			t.Errorf("%s(-1) panics with %q", name, got)
		}
	}
	if !slices.Equal(v.Slice(sp), []int{1, 2, 3}) {
		t.Error("what was refused has changed something")
	}
}

func TestVec_CountsThatOverflowAreErrors(t *testing.T) {
	h, sp := heap(t)
	var v Vec[[3]byte]
	must(t, v.Append(sp, [3]byte{1}))
	before := v
	for _, n := range []int{math.MaxInt, math.MaxInt32, math.MaxInt32 - 1, 1 << 26, math.MaxInt / 64} {
		for name, err := range map[string]error{"Reserve": v.Reserve(sp, n), "SetLen": v.SetLen(sp, n)} {
			if !errors.Is(err, memory.ErrTooLarge) && !errors.Is(err, memory.ErrOutOfMemory) || v != before {
				t.Errorf("%s(%d): %v, %+v", name, n, err, v)
			}
		}
	}
	if err := v.Reserve(sp, maxCount); err != memory.ErrTooLarge {
		t.Errorf("one more than 2^31-1: %v", err)
	}
	v.n, v.cap = maxCount, maxCount
	if err := v.Append(sp, [3]byte{}); err != memory.ErrTooLarge {
		t.Errorf("Append to 2^31-1 elements: %v", err)
	}
	v = before
	v.Free(sp)
	if h.Stats().Live != 0 {
		t.Error("blocks are left")
	}
	var none Vec[struct{}]
	must(t, none.SetLen(sp, maxCount))
	if err := none.Append(sp, struct{}{}); err != memory.ErrTooLarge {
		t.Errorf("Append to 2^31-1 elements without size: %v", err)
	}
	must(t, none.Check(sp))
	must(t, none.Shrink(sp))
	none.Free(sp)
	if h.Stats().Live != 0 || none.Cap() != 0 {
		t.Errorf("elements without size: %+v", none)
	}
}

func TestVec_GrowsByHalfAtLeastAndToTheElementWhenItMust(t *testing.T) {
	_, sp := heap(t)
	var v Vec[uint64]
	defer v.Free(sp)
	for _, want := range []int{8, 16, 32} {
		must(t, v.SetLen(sp, v.Cap()+1))
		if v.Cap() != want {
			t.Errorf("capacity %d, want %d", v.Cap(), want)
		}
	}
	must(t, v.SetLen(sp, 200_000)) // more than doubles: as many as asked for
	if v.Cap() != 200_000 {
		t.Errorf("capacity %d for 200,000", v.Cap())
	}
	must(t, v.Append(sp, 1))
	if v.Cap() != 300_000 {
		t.Errorf("capacity %d for 200,001", v.Cap())
	}
	must(t, v.SetLen(sp, 2_500_000)) // 20 MB of the 32
	must(t, v.Append(sp, 1))         // in place, for there is no second block of that size
	if v.Cap() != 3_750_000 && v.Cap() != 2_500_001 {
		t.Errorf("capacity %d for 2,500,001", v.Cap())
	}
	if c := nextCap(maxCount-1, 1); c != maxCount {
		t.Errorf("%d follows on all but one", c)
	}
	if a, b := nextCap(doubleBytes/8-1, 8), nextCap(doubleBytes/8, 8); a != doubleBytes/4-2 || b != doubleBytes/8*3/2 {
		t.Errorf("%d and %d follow around 1 MiB", a, b)
	}
	if a, b, c := nextCap(0, 1), nextCap(0, 65), nextCap(0, 0); a != 64 || b != 1 || c != 64 {
		t.Errorf("first %d, %d, %d", a, b, c)
	}
}

func TestVec_Iterates(t *testing.T) {
	_, sp := heap(t)
	var v Vec[int]
	defer v.Free(sp)
	must(t, v.AppendSlice(sp, []int{5, 6, 7, 8}))
	var got []int
	for i, x := range v.All(sp) {
		if got = append(got, i, x); i == 2 {
			break
		}
	}
	for x := range v.Values(sp) {
		if got = append(got, x); x == 6 {
			break
		}
	}
	for i, x := range v.Backward(sp) {
		if got = append(got, i, x); i == 1 {
			break
		}
	}
	if want := []int{0, 5, 1, 6, 2, 7, 5, 6, 3, 8, 2, 7, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i, x := range v.Backward(sp) {
		if x%2 == 0 {
			v.SwapRemove(sp, i)
		}
	}
	if want := []int{5, 7}; !slices.Equal(v.Slice(sp), want) {
		t.Errorf("odd ones: %v", v.Slice(sp))
	}
	for i := range v.Backward(sp) {
		v.Clear()
		if i != 1 {
			t.Errorf("index %d of an empty Vec", i)
		}
	}
	if v.SetLen(sp, 2); !slices.Equal(v.Slice(sp), []int{0, 0}) {
		t.Errorf("SetLen leaves what was there: %v", v.Slice(sp))
	}
}

func TestVec_WhatLiesInItsBlockGoesInWhereverItLies(t *testing.T) {
	_, sp := heap(t)
	for _, room := range []int{0, 20} { // with growth and without
		for n := range 7 {
			for i := range n + 1 {
				for from := range 6 {
					for to := from; to <= 6; to++ {
						var v Vec[int]
						must(t, v.AppendSlice(sp, []int{0, 1, 2, 3, 4, 5}))
						must(t, v.Shrink(sp))
						must(t, v.Reserve(sp, room))
						s := v.Slice(sp)
						want := slices.Insert(slices.Clone(s[:n]), i, slices.Clone(s[from:to])...)
						must(t, v.SetLen(sp, n))
						must(t, v.Insert(sp, i, s[from:to]...))
						if got := v.Slice(sp); !slices.Equal(got, want) {
							t.Fatalf("[%d:%d] of 6 into %d at %d: %v, want %v", from, to, n, i, got, want)
						}
						must(t, v.Check(sp))
						v.Free(sp)
					}
				}
			}
		}
	}
}

func TestVec_CheckNamesWhatIsBroken(t *testing.T) {
	_, sp := heap(t)
	var v Vec[uint64]
	must(t, v.SetLen(sp, 10))
	defer v.Free(sp)
	for want, corrupt := range map[string]func(){
		"11 in use of 10":                     func() { v.n = 11 },
		"not within 2147483647":               func() { v.cap = maxCount + 1 },
		"are not within the 33554432 bytes":   func() { v.off = 32 << 20 },
		"the block there has 80 bytes":        func() { v.cap = 11 },
		"tlsf.SizeOf":                         func() { v.off += 16 },
		"is not aligned to":                   func() { v.off += 2 },
		"but there is no block":               func() { v.n, v.cap = 0, 0; v.off = 8 },
		"8 bytes, 2147483647 times":           func() { v.cap = maxCount },
		"elements: 8 bytes, 10 times, at off": func() { v.off = math.MaxUint64 - 7 },
	} {
		restore := memtest.Keep(&v)
		corrupt()
		if err := v.Check(sp); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "container: Vec: elements: ") {
			t.Errorf("Check says %v; want %q", err, want)
		}
		restore()
	}
	must(t, v.Check(sp))
	var none Vec[struct{}]
	none.cap = 5
	if err := none.Check(sp); err == nil {
		t.Error("5 slots for elements without size")
	}
}
