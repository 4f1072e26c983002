package align

import (
	"math"
	"testing"
	"unsafe"
)

func TestGrain_CountsUp(t *testing.T) {
	g := GrainOf(64)
	for size, want := range map[uintptr]uint32{0: 1, 1: 1, 63: 1, 64: 1, 65: 2, 128: 2, 129: 3, 1 << 20: 1 << 14} {
		if got := g.Count(size); got != want {
			t.Errorf("Count(%d) = %d, want %d", size, got, want)
		}
	}
	if g.Bytes(3) != 192 || GrainOf(1).Bytes(3) != 3 {
		t.Errorf("3 grains are %d bytes of 64, %d of 1", g.Bytes(3), GrainOf(1).Bytes(3))
	}
	for size, want := range map[uintptr]uint32{0: 1, 1: 1, 2: 2, 3: 3} {
		if got := GrainOf(1).Count(size); got != want {
			t.Errorf("%d bytes are %d grains of 1", size, got)
		}
	}
	for al, want := range map[uintptr]uint32{1: 1, 64: 1, 128: 2, 4096: 64} {
		if got := g.Step(al); got != want {
			t.Errorf("Step(%d) = %d, want %d", al, got, want)
		}
	}
	if UpTo(9, 8) != 16 || UpTo(8, 8) != 8 || UpTo(9, 1) != 9 || UpTo(0, 8) != 0 {
		t.Error("UpTo does not round up")
	}
}

func TestGrain_OnlyStartsHaveAnIndexWithinATable(t *testing.T) {
	block := make([]byte, 4096)
	base := unsafe.Pointer(unsafe.SliceData(block))
	g := GrainOf(64)
	for off := range block {
		i := g.Index(base, unsafe.Add(base, off))
		if start := off%64 == 0; start && i != uint64(off/64) || !start && i < MaxGrains {
			t.Fatalf("offset %d has index %d", off, i)
		}
	}
	// On 32 bits a table may end where the addresses do, and an index in front lies behind that.
	next := unsafe.Add(base, 64)
	if i := g.Index(next, base); i < min(MaxGrains, uint64(-uintptr(next))/64) {
		t.Errorf("a pointer in front of base has index %d", i)
	}
	if i := g.Index(base, nil); i < MaxGrains && uintptr(base) < math.MaxUint>>1 {
		t.Errorf("nil has index %d", i)
	}
}

func TestGrain_OffsetsOfAFullTableFitTheirSums(t *testing.T) {
	if sum := uint32(2*MaxGrains - 1); sum > math.MaxInt32 || sum <= math.MaxInt32/2 || MaxGrains&(MaxGrains-1) != 0 {
		t.Errorf("two offsets sum to %d", sum)
	}
	if got := UpTo(MaxGrains-1, MaxGrains); got != MaxGrains {
		t.Errorf("rounded up to %d", got)
	}
	for _, g := range []Grain{0, 4, 5, 12} { // an odd one, too
		if n := g.Count(uintptr(1) << 20); g.Bytes(n) != 1<<20 || g.Bytes(n+1) != 1<<20+1<<g || GrainOf(1<<g) != g || g.Step(4<<g) != 4 {
			t.Errorf("grain %d: 1 MiB is %d grains", g, n)
		}
	}
}
