package engine

import (
	"math"
	"testing"
)

// The first numbers of the reference implementation's demonstration, seed 42, stream 54.
func TestRand_IsPCG32(t *testing.T) {
	r := NewRand(42, 54)
	for i, want := range []uint32{0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e} {
		if got := r.Uint32(); got != want {
			t.Errorf("number %d: %#x, want %#x", i, got, want)
		}
	}
}

func TestRand_StreamsAndCopies(t *testing.T) {
	a, b := NewRand(1, 1), NewRand(1, 2)
	same := 0
	for range 1000 {
		if a.Uint32() == b.Uint32() {
			same++
		}
	}
	if same > 2 {
		t.Errorf("two streams agree %d times in 1000", same)
	}
	c := a
	var d Rand
	d.Restore(a.State())
	for range 10 {
		if x := a.Uint64(); c.Uint64() != x || d.Uint64() != x {
			t.Fatal("a copy goes another way")
		}
	}
	s := a.Split()
	if s == a || s.Uint64() == a.Uint64() {
		t.Error("Split returns the same source")
	}
}

func TestRand_ZeroIsUsable(t *testing.T) {
	var r Rand
	seen := map[uint32]bool{}
	for range 100 {
		seen[r.Uint32()] = true
	}
	if len(seen) < 98 {
		t.Errorf("%d different numbers of 100", len(seen))
	}
}

func TestRand_IntnIsInRangeAndEven(t *testing.T) {
	r := NewRand(3, 3)
	var counts [7]int
	for range 70000 {
		counts[r.Intn(7)]++
	}
	for i, n := range counts {
		if n < 9500 || n > 10500 {
			t.Errorf("%d came %d times of 70000", i, n)
		}
	}
	for _, n := range []int{0, -5, 1} {
		if got := r.Intn(n); got != 0 {
			t.Errorf("Intn(%d) = %d", n, got)
		}
	}
	const most = 1<<31 - 1
	for range 1000 {
		if got := r.Intn(most); got < 0 || got >= most {
			t.Fatalf("Intn(%d) = %d", most, got)
		}
	}
}

func TestRand_Ranges(t *testing.T) {
	r := NewRand(4, 4)
	heads, signs, sum := 0, float32(0), 0.0
	for range 10000 {
		f, g := r.Float32(), r.Range(-3, 5)
		if f < 0 || f >= 1 || g < -3 || g > 5 {
			t.Fatalf("Float32 %v, Range %v", f, g)
		}
		if l := Length(r.Disc()); l > 1.000001 {
			t.Fatalf("Disc has length %v", l)
		}
		if l := Length(r.Circle()); math.Abs(float64(l)-1) > 1e-6 {
			t.Fatalf("Circle has length %v", l)
		}
		if r.Chance(0.25) {
			heads++
		}
		signs += r.Sign()
		sum += float64(f)
	}
	if heads < 2300 || heads > 2700 || signs < -400 || signs > 400 || sum < 4850 || sum > 5150 {
		t.Errorf("chance 0.25 came %d times, signs sum to %v, the mean is %v", heads, signs, sum/10000)
	}
}
