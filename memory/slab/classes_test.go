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

func TestSpanSlabs_WasteAnEighthAtMost(t *testing.T) {
	for size := uintptr(16); size <= slabBytes; size += 16 {
		n := spanSlabs(size)
		if n > maxSpan {
			t.Fatalf("%d bytes take a span of %d slabs", size, n)
		}
		if rest := n * slabBytes % size; rest*8 > n*slabBytes {
			t.Fatalf("%d bytes in %d slabs waste %d bytes", size, n, rest)
		}
	}
}

func TestNew_BadConfigurationSaysWhatIsAllowed(t *testing.T) {
	memtest.Refuses(t, New, map[string]Config{
		"MaxSize 65537 is above the 65536":            {MaxSize: 65537},
		"at most 256":                                 {Classes: Step16, MaxSize: 4097},
		"ClassTable(9) is none of Geometric":          {Classes: 9},
		"Reserve 1000 is not between 65536":           {Reserve: 1000},
		"Reserve 131072 is not between":               {Reserve: 128 << 10, MaxSize: 65536},
		fmt.Sprintf("Reserve %d is not", ^uintptr(0)): {Reserve: ^uintptr(0)},
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
