package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

func near(got, want time.Duration) bool {
	return math.Abs(float64(got)-float64(want)) <= 0.0323*float64(want)
}

func TestDurations_QuantilesAreThoseOfTheSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 10, 100, 4096} {
		var h, part Durations
		list := make([]time.Duration, n)
		for i := range list {
			list[i] = time.Duration(math.Exp(r.Float64() * 28)) // up to 24 minutes
			if i%3 == 0 {
				part.Add(list[i])
			} else {
				h.Add(list[i])
			}
		}
		h.AddAll(&part)
		h.AddAll(new(Durations))
		slices.Sort(list)
		for i, want := range list {
			if got := h.Nth(uint64(i)); !near(got, want) {
				t.Fatalf("%d of %d: %v, want %v", i, n, got, want)
			}
		}
		for q, i := range map[float64]int{0: 0, 0.5: (n+1)/2 - 1, 1: n - 1} {
			if got := h.Quantile(q); !near(got, list[i]) {
				t.Errorf("%g of %d: %v, want %v", q, n, got, list[i])
			}
		}
		if h.Count() != uint64(n) || h.Max() != list[n-1] || h.Nth(uint64(n)) != h.Max() {
			t.Errorf("%d, at most %v; want %d, %v", h.Count(), h.Max(), n, list[n-1])
		}
	}
}

func TestDurations_EmptyNegativeAndLongest(t *testing.T) {
	var h Durations
	if h.Quantile(0.5) != 0 || h.Max() != 0 || h.Count() != 0 {
		t.Errorf("%v, %v, %d of nothing", h.Quantile(0.5), h.Max(), h.Count())
	}
	h.Add(-time.Hour)
	if h.Quantile(1) != 0 || h.Max() != 0 {
		t.Errorf("%v, %v of less than nothing", h.Quantile(1), h.Max())
	}
	h.Add(math.MaxInt64)
	if h.Max() != math.MaxInt64 || h.Quantile(1) < 70*time.Minute {
		t.Errorf("%v, %v of the longest", h.Quantile(1), h.Max())
	}
	if size := unsafe.Sizeof(h); size > 5<<9 {
		t.Errorf("%d bytes", size)
	}
}

func TestClassOf_ClassesAreInOrderAndHaveTheirMiddle(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < 2*time.Hour; d += 1 + d/99 {
		c := classOf(d)
		if c < last || c > last+1 && d < 71*time.Minute {
			t.Fatalf("%v is of class %d, after %d", d, c, last)
		}
		if last = c; c < classes-1 && (classOf(middle(c)) != c || !near(middle(c), d)) {
			t.Fatalf("%v is of class %d, whose middle is %v", d, c, middle(c))
		}
	}
	if last != classes-1 || classOf(math.MaxInt64) != last || classOf(time.Hour) == last {
		t.Errorf("the last class is %d of %d", last, classes)
	}
}
