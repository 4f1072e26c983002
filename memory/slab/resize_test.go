package slab

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

type resizer interface {
	memory.Allocator
	memory.AnyFreer
	memory.Resizer
}

// What a class serves, by the rule in words: the lowest rung of at least size bytes that is a
// multiple of the alignment, at any alignment. A block is resized to exactly what its class
// serves, and is then freed with that size.
func TestResize_IsTrueForTheSizesOfTheClassAndNoOther(t *testing.T) {
	const maxSize = 208
	for _, table := range tables {
		h := newHeap(t, Config{MaxSize: maxSize, Classes: table})
		central, caches := newCaches(t, Config{MaxSize: maxSize, Classes: table}, 1)
		served := servedBy(table, maxSize)
		for _, a := range []resizer{h, central, caches[0]} {
			for class, sizes := range served {
				for size := range uintptr(maxSize + 40) {
					p, asked := ofClass(t, a, class, sizes)
					*(*uint64)(p) = 0xFEED
					var old uintptr
					for old = range sizes {
						break
					}
					old = unlessDebug(old, asked)
					before := statsOf(a)
					if got := a.Resize(p, old, size); got != sizes[size] {
						t.Fatalf("%v, %T: a block of %d from %d to %d bytes: %t", table, a, class, old, size, got)
					}
					if *(*uint64)(p) != 0xFEED || statsOf(a) != before {
						t.Fatalf("%v, %T: a Resize changed the block or the books", table, a)
					}
					if sizes[size] {
						old = size
					}
					a.Free(p, old)
				}
			}
		}
		memtest.MustCheck(t, h)
		sound(t, central, caches...)
	}
}

func statsOf(a any) memory.Stats {
	if c, ok := a.(*Cache); ok {
		a = c.central
	}
	return a.(memory.StatsReporter).Stats()
}

// servedBy returns, by class, the sizes that it serves at some alignment.
func servedBy(table ClassTable, maxSize uintptr) map[uintptr]map[uintptr]bool {
	served := map[uintptr]map[uintptr]bool{}
	sizes := append(table.Sizes(maxSize), 4096)
	for size := uintptr(0); size <= maxSize; size++ {
		for al := uintptr(1); al <= 4096; al *= 2 {
			for _, class := range sizes {
				if class >= size && class%al == 0 {
					if served[class] == nil {
						served[class] = map[uintptr]bool{}
					}
					served[class][size] = true
					break
				}
			}
		}
	}
	return served
}

func TestResize_RefusesWhatFreeRefuses(t *testing.T) {
	h, other := newHeap(t, Config{}), newHeap(t, Config{})
	central, caches := newCaches(t, Config{}, 1)
	foreign := memtest.MustAlloc(t, other, 100, 8)
	for _, a := range []resizer{h, central, caches[0]} {
		p := memtest.MustAlloc(t, a, 100, 8)
		before := statsOf(a)
		refused := func(q unsafe.Pointer, size uintptr, want ...string) {
			t.Helper()
			m := memtest.Misuse(t, func() { a.Resize(q, size, 100) }, append(want, "slab.Resize")...)
			if m.Addr != uintptr(q) || m.Size != size {
				t.Errorf("it names %#x with %d bytes; asked was %p with %d", m.Addr, m.Size, q, size)
			}
		}
		refused(foreign, 100, "foreign pointer")
		refused(nil, 100, "foreign pointer")
		refused(nil, 5000, "foreign pointer")
		refused(p, 96, "wrong size: no request of 96 bytes is served from the class of 112")
		refused(p, 113, "wrong size")
		refused(p, 0, "wrong size")
		refused(p, 5000, "wrong size")
		refused(unsafe.Add(p, 8), 100, "interior pointer", "8 bytes into a block of 112")
		refused(unsafe.Add(p, 20*largest), 100, "never allocated, or was freed")
		if invariant.Exact {
			refused(unsafe.Add(p, 16), 100, "interior pointer", "16 bytes into")
			a.Free(p, 100)
			refused(p, 100, "the block of 112 bytes is not live: double free")
			p = memtest.MustAlloc(t, a, 100, 8)
		}
		if after := statsOf(a); after.Live != before.Live || after.InUse != before.InUse {
			t.Errorf("%T: refused calls changed the books from %+v to %+v", a, before, after)
		}
		a.Free(p, unlessDebug(112, 100))
	}
	sound(t, central, caches...)
	memtest.MustCheck(t, h)
}

// A block that the Central or a Cache handed out is not the heap's to resize; one that is older
// than the Central is everybody's.
func TestResize_AcrossTheFrontsOfACentral(t *testing.T) {
	h := newHeap(t, Config{})
	elder := memtest.MustAlloc(t, h, 100, 8)
	central := mustCentral(h)
	a, b := NewCache(central), NewCache(central)
	for _, r := range []resizer{h, central, a, b} {
		if !r.Resize(elder, 100, 112) || !r.Resize(elder, 112, 100) || r.Resize(elder, 100, 113) {
			t.Errorf("%T: a block that is older than the Central", r)
		}
	}
	p := memtest.MustAlloc(t, a, 100, 8)
	for _, r := range []resizer{central, a, b} {
		if !r.Resize(p, 100, 112) || !r.Resize(p, 112, 100) || r.Resize(p, 100, 96) {
			t.Errorf("%T: a block of a cache", r)
		}
	}
	if invariant.Exact {
		memtest.Misuse(t, func() { h.Resize(p, 100, 100) }, "slab.Resize", "handed out by the heap's Central or a Cache", "use those")
		memtest.Misuse(t, func() { h.Resize(p, 90, 100) }, "slab.Resize", "wrong size")
	}
	b.Free(p, 100)
	a.FreeAny(elder)
	sound(t, central, a, b)
	for _, c := range []*Cache{a, b} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	memtest.Misuse(t, func() { a.Resize(p, 100, 100) }, "slab.Resize", "the cache is closed")
	if err := central.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []resizer{h, central} {
		memtest.Misuse(t, func() { r.Resize(p, 100, 100) }, "slab.Resize", "the heap is closed")
		memtest.Misuse(t, func() { r.Resize(p, 5000, 100) }, "slab.Resize", "the heap is closed")
	}
}

func TestResize_VacantSlabsHoldNoBlocks(t *testing.T) {
	h := newHeap(t, Config{Reserve: 1 << 20})
	blocks := fill(t, h, 4096)
	for _, p := range blocks[:96] {
		h.Free(p, 4096)
	}
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { h.Resize(blocks[0], 4096, 4096) }, "slab.Resize", "recycled")
}

// stretchy is a Large that resizes, and remembers what it was asked.
type stretchy struct {
	fakeLarge
	asked []string
}

func (s *stretchy) Resize(_ unsafe.Pointer, oldSize, newSize uintptr) bool {
	s.asked = append(s.asked, fmt.Sprint(oldSize, " to ", newSize))
	return newSize < 8000
}

func TestResize_PassesLargeBlocksOn(t *testing.T) {
	large := new(stretchy)
	h := newHeap(t, Config{MaxSize: 1000, Large: large})
	p := memtest.MustAlloc(t, h, 5000, 16)
	for _, c := range []struct {
		size uintptr
		want bool
		said string
	}{
		{6000, true, "5000 to 6000"},
		{9000, false, "5000 to 9000"},
		{1009, true, "5000 to 1009"},
		{1008, false, "5000 to 5000"}, // is served here, and so is freed here: only verified
		{0, false, "5000 to 5000"},
	} {
		large.asked = nil
		if got := h.Resize(p, 5000, c.size); got != c.want || len(large.asked) != 1 || large.asked[0] != c.said {
			t.Errorf("from 5000 to %d: %t, Large was asked %q; want %t and %q", c.size, got, large.asked, c.want, c.said)
		}
	}
	large.asked = nil
	q := memtest.MustAlloc(t, h, 1000, 16)
	if h.Resize(q, 1000, 5000) || !h.Resize(q, 1000, 1008) || large.asked != nil {
		t.Errorf("a block of the heap: Large was asked %q", large.asked)
	}
	if mute := newHeap(t, Config{Large: mute{new(fakeLarge)}}); mute.Resize(memtest.MustAlloc(t, mute, 5000, 16), 5000, 5001) {
		t.Error("a Large that cannot resize did")
	}
}
