package slab

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

var tables = []ClassTable{Geometric, PowerOfTwo, Step16, Fibonacci}

func TestLadder_AscendsInGranulesAndEndsInMaxSize(t *testing.T) {
	for _, table := range tables {
		for _, maxSize := range []uintptr{1, 8, 16, 17, 100, 128, 129, 1000, 4095, 4096} {
			sizes := table.Sizes(maxSize)
			if sizes[0] != 16 {
				t.Errorf("%v up to %d starts at %d, want 16", table, maxSize, sizes[0])
			}
			for i, s := range sizes {
				if s%granule != 0 || i > 0 && s <= sizes[i-1] {
					t.Errorf("%v up to %d: class %d of %d bytes does not ascend in granules", table, maxSize, i, s)
				}
			}
			if top := sizes[len(sizes)-1]; top < maxSize || top >= max(maxSize, 2)+granule {
				t.Errorf("%v up to %d ends in %d", table, maxSize, top)
			}
		}
	}
}

// Every request gets the smallest class that holds it and is a multiple of its alignment.
func TestLadder_ServesEveryRequestFromTheSmallestClass(t *testing.T) {
	for _, table := range tables {
		for _, maxSize := range []uintptr{1000, 4096, 65536} {
			if table == Step16 && maxSize > 4096 {
				continue
			}
			l, err := newLadder(table, maxSize)
			if err != nil {
				t.Fatal(err)
			}
			for size := uintptr(0); size <= maxSize; size++ {
				for al := uintptr(1); al <= 4096; al *= 2 {
					ci, ok := l.class(size, al)
					want := 0
					for uintptr(l.sizes[want]) < size || uintptr(l.sizes[want])%al != 0 {
						want++
					}
					if !ok || int(ci) != want {
						t.Fatalf("%v: %d bytes aligned to %d get class %d, %t; want %d", table, size, al, ci, ok, want)
					}
					if !l.serves(ci, size) {
						t.Fatalf("%v: class %d does not own up to %d bytes", table, ci, size)
					}
				}
			}
			if _, ok := l.class(uintptr(len(l.tab))*granule+1, 1); ok {
				t.Errorf("%v: a request above the ladder got a class", table)
			}
		}
	}
}

func TestLadder_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*ladder)
	}{
		{"class 5 of 97 bytes does not ascend", func(l *ladder) { l.sizes[5]++ }},
		{"class 5 of 80 bytes does not ascend", func(l *ladder) { l.sizes[5] = l.sizes[4] }},
		{"class 0 of 0 bytes", func(l *ladder) { l.sizes[0] = 0 }},
		{"requests of 48 bytes aligned to 16 are sent to class 3, the lowest for them is 2", func(l *ladder) { l.tab[2]++ }},
		{"requests of 48 bytes aligned to 16 are sent to class 1", func(l *ladder) { l.tab[2]-- }},
		{"requests of 16 bytes aligned to 64 are sent to class 0", func(l *ladder) { l.aligned[1][0] = 0 }},
		{"requests of 4096 bytes aligned to 4096 are sent to class 255", func(l *ladder) { l.aligned[7][255] = 255 }},
		{"255 of 256 sizes have a class aligned to 32", func(l *ladder) { l.aligned[0] = l.aligned[0][1:] }},
	} {
		l, err := newLadder(Geometric, 4096)
		if err != nil {
			t.Fatal(err)
		}
		c.corrupt(&l)
		if err := l.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("check = %v; want an error with %q", err, c.want)
		}
	}
}

func TestLadder_WasteIsBounded(t *testing.T) {
	waste := func(table ClassTable, from, maxSize uintptr) (ofRequest, ofBlock float64) {
		l, err := newLadder(table, maxSize)
		if err != nil {
			t.Fatal(err)
		}
		for size := from; size <= maxSize; size++ {
			ci, _ := l.class(size, 1)
			over := float64(uintptr(l.sizes[ci]) - size)
			ofRequest = max(ofRequest, over/float64(size))
			ofBlock = max(ofBlock, over/float64(l.sizes[ci]))
		}
		return ofRequest, ofBlock
	}
	if w, _ := waste(Geometric, 129, 65536); w > 0.125 {
		t.Errorf("Geometric wastes %.4f of a request above 128 bytes, promised 0.125", w)
	}
	if _, w := waste(PowerOfTwo, 17, 65536); w >= 0.5 {
		t.Errorf("PowerOfTwo wastes %.4f of a block, promised less than half", w)
	}
	if _, w := waste(Fibonacci, 33, 65536); w >= 0.4 {
		t.Errorf("Fibonacci wastes %.4f of a block, promised less than two fifths", w)
	}
	l, _ := newLadder(Step16, 4096)
	for size := uintptr(1); size <= 4096; size++ {
		if ci, _ := l.class(size, 1); uintptr(l.sizes[ci])-size > 15 {
			t.Fatalf("Step16 wastes %d bytes on %d", uintptr(l.sizes[ci])-size, size)
		}
	}
}

func TestLadder_CountsAreAsDocumented(t *testing.T) {
	for table, want := range map[ClassTable]int{Geometric: 48, PowerOfTwo: 9, Step16: 256, Fibonacci: 13} {
		if got := len(table.Sizes(4096)); got != want {
			t.Errorf("%v has %d classes up to 4096, documented %d", table, got, want)
		}
	}
}

func TestSpans_WasteAnEighthAtMostAndFitTheirBooks(t *testing.T) {
	for size := uintptr(granule); size <= largest; size += granule {
		least, step := leastUnits(size), spanStep(size)
		if least*unitBytes < size || (least-1)*unitBytes >= size {
			t.Fatalf("%d units hold a block of %d bytes", least, size)
		}
		for al := uintptr(granule); al <= 4096 && size%al == 0; al *= 2 {
			if step*unitBytes%al != 0 {
				t.Fatalf("spans of %d bytes start at multiples of %d units, blocks are aligned to %d", size, step, al)
			}
		}
		for n := uintptr(0); n <= largestUnits; n++ {
			fair, share := fairUnits(size, n), uintptr(8)
			if n == 0 {
				share = 4
			}
			if fair < n || fair < least || fair >= maxSpan || fair*unitBytes%size*share > fair*unitBytes {
				t.Fatalf("%d units or more for %d bytes: %d, with %d bytes left over", n, size, fair, fair*unitBytes%size)
			}
			for k := max(n, least); k < fair; k++ {
				if fair*unitBytes%size != 0 && k*unitBytes%size*share <= k*unitBytes {
					t.Fatalf("%d units or more for %d bytes: %d, and %d would do", n, size, fair, k)
				}
			}
			if n < least {
				continue
			}
			fit := fitUnits(size, n)
			if fit > n || fit < least || fit > least && fit*unitBytes%size*4 > fit*unitBytes {
				t.Fatalf("%d units or fewer for %d bytes: %d", n, size, fit)
			}
			if fair == n && fit != n {
				t.Fatalf("%d units or fewer for %d bytes: %d, and all of them would do", n, size, fit)
			}
		}
	}
	if maxSpan >= absent {
		t.Errorf("a span of %d units has a place that is %d, vacant", maxSpan, vacant)
	}
}

// The first span of a class is as small as can be, and the next ones are an eighth of what the
// class has: what is not used of them is bounded by that.
func TestSpans_GrowWithTheirClass(t *testing.T) {
	for _, size := range []uintptr{16, 64, 576, 2304, 3328, 4096, 36 << 10} {
		h := newHeap(t, Config{MaxSize: 64 << 10})
		ci, _ := h.ladder.class(size, 1)
		s := &h.shapes[ci]
		live := uintptr(0)
		for s.units < 2000 {
			had := uintptr(s.units)
			memtest.MustAlloc(t, h, size, 16)
			live++
			got := uintptr(s.units) - had
			switch {
			case got == 0:
			case had == 0 && got != leastUnits(size):
				t.Fatalf("%d bytes: the first span has %d units", size, got)
			case got > max(fairUnits(size, had/8), fairUnits(size, 1)) || got > fairUnits(size, largestUnits):
				t.Fatalf("%d bytes: a span of %d units after %d", size, got, had)
			}
			if most := live*size*9/7 + 2*fairUnits(size, 1)*unitBytes; uintptr(s.units)*unitBytes > most {
				t.Fatalf("%d bytes: %d units for %d blocks", size, s.units, live)
			}
		}
		memtest.MustCheck(t, h)
	}
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	memtest.Refuses(t, New, map[string]Config{
		"MaxSize 65537: want at most 65536":          {MaxSize: 65537},
		"at most 256":                                {Classes: Step16, MaxSize: 4097},
		"ClassTable(9): want Geometric":              {Classes: 9},
		"Reserve 1000: want 65536":                   {Reserve: 1000},
		fmt.Sprintf("Reserve %d: want", ^uintptr(0)): {Reserve: ^uintptr(0)},
	})
}

func TestHeap_HotHalfStaysOnOneLine(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return // addresses of 4 bytes: there is less of everything, and no figure to hold
	}
	if s := unsafe.Sizeof(class{}); s != 32 {
		t.Errorf("a class is %d bytes, want 32", s)
	}
	if off := unsafe.Offsetof(Heap{}.classes); off%64 != 0 {
		t.Errorf("the classes start at byte %d of Heap, not on a line", off)
	}
}

func TestSizes_AboveTheLargestClassThereAreNone(t *testing.T) {
	for _, table := range []ClassTable{Geometric, PowerOfTwo, Step16, Fibonacci} {
		if n := len(table.Sizes(largest)); n == 0 || table.Sizes(largest)[n-1] != largest {
			t.Errorf("%v: %d classes do not end at %d bytes", table, n, uintptr(largest))
		}
		if sizes := table.Sizes(largest + 1); sizes != nil {
			t.Errorf("%v: %d classes for more than the largest", table, len(sizes))
		}
	}
	if ClassTable(Fibonacci+1).Sizes(100) != nil {
		t.Error("an unknown ladder has classes")
	}
}
