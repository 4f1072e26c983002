package align

import (
	"math"
	"testing"
)

func TestValid_PowersOfTwoUpToMaxOnly(t *testing.T) {
	if Max != 4096 {
		t.Errorf("Max is %d; the contract says a page of 4 KiB", Max)
	}
	for a := uintptr(0); a < 3*Max; a++ {
		want := a != 0 && a <= Max && a&(a-1) == 0
		if Valid(a) != want {
			t.Errorf("Valid(%d) = %t", a, !want)
		}
	}
	if Valid(math.MaxUint) || Valid(math.MaxUint&^(math.MaxUint>>1)) {
		t.Error("a huge alignment is valid")
	}
}

func TestUpDown_RoundToMultiples(t *testing.T) {
	for n := uintptr(0); n < 300; n++ {
		for a := uintptr(1); a <= 128; a *= 2 {
			u, d := Up(n, a), Down(n, a)
			if u%a != 0 || u < n || u-n >= a || d%a != 0 || d > n || n-d >= a {
				t.Fatalf("Up(%d, %d) = %d, Down = %d", n, a, u, d)
			}
		}
	}
}

func TestMul_RefusesWhatNoSliceCanHold(t *testing.T) {
	for _, c := range []struct {
		n    int
		size uintptr
		want uintptr
		ok   bool
	}{
		{0, 0, 0, true}, {0, 8, 0, true}, {7, 8, 56, true}, {math.MaxInt, 1, math.MaxInt, true},
		{math.MaxInt, 2, 0, false}, {1, math.MaxUint, 0, false}, {1, math.MaxInt + 1, 0, false}, {-1, 1, 0, false}, {-1, 0, 0, false}, {math.MinInt, 2, 0, false}, {math.MaxInt/2 + 1, 1 << 20, 0, false},
	} {
		got, ok := Mul(c.n, c.size)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("Mul(%d, %d) = %d, %t", c.n, c.size, got, ok)
		}
	}
}

func TestCeilPow2_IsTheNextPowerOfTwoWhereThereIsOne(t *testing.T) {
	const top = math.MaxUint>>1 + 1
	for _, c := range [][2]uintptr{{0, 1}, {1, 1}, {2, 2}, {3, 4}, {4096, 4096}, {4097, 8192}, {top - 1, top}, {top, top}, {top + 1, 0}, {math.MaxUint, 0}} {
		if got := CeilPow2(c[0]); got != c[1] {
			t.Errorf("CeilPow2(%d) = %d, want %d", c[0], got, c[1])
		}
	}
}
