package slab

import (
	"math"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// newCaches opens caches of one Central.
func newCaches(t testing.TB, cfg Config, n int) (*Central, []*Cache) {
	t.Helper()
	central := newCentral(t, cfg)
	caches := make([]*Cache, n)
	for i := range caches {
		caches[i] = NewCache(central)
		t.Cleanup(func() { _ = caches[i].Close() })
	}
	return central, caches
}

// sound verifies the books of a Central and its caches.
func sound(t testing.TB, central *Central, caches ...*Cache) {
	t.Helper()
	memtest.MustCheck(t, central)
	for _, c := range caches {
		memtest.MustCheck(t, c)
	}
}

func stashedIn(caches ...*Cache) (n int) {
	for _, c := range caches {
		blocks, _ := c.Cached()
		n += blocks
	}
	return n
}

func TestCache_MemoryThatWasNeverCarvedIsRefused(t *testing.T) {
	central, caches := newCaches(t, Config{}, 1)
	c := caches[0]
	never := unsafe.Add(c.base, 10*largest)
	memtest.Misuse(t, func() { c.Free(never, 16) }, "slab.Free", "never allocated, or was freed")
	memtest.Misuse(t, func() { c.FreeAny(never) }, "slab.FreeAny", "never allocated, or was freed")
	last := unsafe.Add(c.base, c.span*granule-16)
	memtest.Misuse(t, func() { c.Free(last, 16) }, "never allocated, or was freed")
	memtest.Misuse(t, func() { c.FreeAny(last) }, "never allocated, or was freed")
	memtest.Misuse(t, func() { c.FreeAny(unsafe.Add(last, 16)) }, "foreign pointer")
	p := memtest.MustAlloc(t, c, 16, 16)
	if invariant.Exact {
		beyond := unsafe.Add(p, 40*16) // in the span, but only a batch is carved
		memtest.Misuse(t, func() { c.Free(beyond, 16) }, "not live", "never allocated")
		memtest.Misuse(t, func() { c.FreeAny(beyond) }, "never allocated")
		memtest.Misuse(t, func() { c.Free(unsafe.Add(p, 16), 16) }, "it lies in a cache")
	}
	memtest.Misuse(t, func() { c.Free(unsafe.Add(c.base, largest), 16) }, "never allocated, or was freed")
	if n, _ := c.Cached(); n != batchBlocks-1 {
		t.Errorf("%d blocks in the cache", n)
	}
	sound(t, central, c)
}

func TestCache_WhatIsNoBlockOfItsClassIsRefused(t *testing.T) {
	other := newCentral(t, Config{})
	central, caches := newCaches(t, Config{}, 1)
	c := caches[0]
	foreign := memtest.MustAlloc(t, other, 100, 8)
	for _, a := range []interface {
		memory.Allocator
		memory.AnyFreer
	}{c, central} {
		p := memtest.MustAlloc(t, a, 100, 8)
		before, held := central.Stats(), stashedIn(c)
		memtest.Misuse(t, func() { a.Free(foreign, 100) }, "slab.Free", "foreign pointer")
		memtest.Misuse(t, func() { a.FreeAny(foreign) }, "slab.FreeAny", "foreign pointer")
		for _, size := range []uintptr{0, 1, 96, 113, 128, 4096, 4097, math.MaxUint} {
			memtest.Misuse(t, func() { a.Free(p, size) }, "slab.Free", "wrong size", "class of 112")
		}
		memtest.Misuse(t, func() { a.Free(unsafe.Add(p, 8), 100) }, "interior pointer", "8 bytes into")
		memtest.Misuse(t, func() { a.FreeAny(unsafe.Add(p, 8)) }, "interior pointer")
		if invariant.Exact {
			memtest.Misuse(t, func() { a.Free(unsafe.Add(p, 16), 100) }, "interior pointer", "16 bytes into a block of 112")
			memtest.Misuse(t, func() { a.FreeAny(unsafe.Add(p, 96)) }, "interior pointer", "96 bytes into")
		}
		if central.Stats() != before || stashedIn(c) != held {
			t.Errorf("%T: refused frees changed the books", a)
		}
		sound(t, central, c)
		a.Free(p, 100)
	}
	wide := memtest.MustAlloc(t, c, 48, 64) // the class of 64
	memtest.Misuse(t, func() { c.Free(wide, 65) }, "wrong size", "class of 64")
	c.Free(wide, 48)
	sound(t, central, c)
}

// A block goes home the way it came, or through any other front of its Central.
func TestCentral_BlocksOfAnyFrontAreFreedThroughAny(t *testing.T) {
	h := newHeap(t, Config{})
	elder := []unsafe.Pointer{memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 64, 16)}
	central := mustCentral(h)
	if mustCentral(h) != central {
		t.Fatal("one heap has two Centrals, and so two locks")
	}
	c := NewCache(central)
	if central.SizeOf(elder[0]) != 64 {
		t.Error("the size of a block that is older than the Central")
	}
	c.Free(elder[0], 64)
	c.FreeAny(elder[1])
	central.Free(elder[2], 64)
	central.FreeAny(elder[3])
	if invariant.Exact {
		for _, p := range elder {
			memtest.Misuse(t, func() { c.Free(p, 64) }, "double free")
			memtest.Misuse(t, func() { central.FreeAny(p) }, "double free")
		}
	}
	for _, a := range []memory.Allocator{c, central} {
		for _, free := range []func(unsafe.Pointer){
			func(p unsafe.Pointer) { c.Free(p, 64) }, c.FreeAny,
			func(p unsafe.Pointer) { central.Free(p, 64) }, central.FreeAny,
		} {
			p := memtest.MustAlloc(t, a, 64, 16)
			if central.SizeOf(p) != 64 {
				t.Errorf("size of %p: %d", p, central.SizeOf(p))
			}
			free(p)
			sound(t, central, c)
		}
	}
	if err := c.Close(); err != nil || central.Stats().Live != 0 {
		t.Errorf("Close: %v, %d live", err, central.Stats().Live)
	}
}

func TestCentral_IsNotResetOrClosedUnderItsCaches(t *testing.T) {
	central, caches := newCaches(t, Config{}, 2)
	h := central.heap
	p := memtest.MustAlloc(t, caches[0], 64, 16)
	before := central.Stats()
	memtest.Misuse(t, central.Reset, "slab.Reset", "2 caches of the heap are open", "close them first")
	memtest.Misuse(t, h.Reset, "slab.Reset", "2 caches of the heap are open")
	for _, err := range []error{central.Close(), h.Close()} {
		if err == nil || err.Error() != "slab: close: 2 caches are still open" {
			t.Errorf("Close: %v", err)
		}
	}
	if err := h.Trim(); err != nil {
		t.Error(err)
	}
	if after := central.Stats(); after.Live != before.Live || after.InUse != before.InUse {
		t.Errorf("books are %+v, were %+v", after, before)
	}
	sound(t, central, caches...)
	caches[0].Free(p, 64)
	for _, c := range caches {
		for range 2 {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	q := memtest.MustAlloc(t, central, 64, 16)
	central.Reset()
	memtest.Misuse(t, func() { central.Free(q, 64) }, "not live")
	if st := central.Stats(); st.Live != 0 {
		t.Errorf("%d blocks live after Reset", st.Live)
	}
	c := NewCache(central)
	memtest.Misuse(t, func() { c.Free(q, 64) }, "not live")
	c.Free(memtest.MustAlloc(t, c, 64, 16), 64)
	sound(t, central, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if c.base != nil {
		t.Error("a closed cache keeps a pointer into memory that may be unmapped")
	}
	if err := central.Close(); err != nil {
		t.Fatal(err)
	}
}

// Trim takes empty slabs away and leaves those with blocks in a cache.
func TestCentral_TrimLeavesTheSlabsOfCaches(t *testing.T) {
	central, caches := newCaches(t, Config{Reserve: 1 << 20}, 1)
	c, h := caches[0], central.heap
	p, q := memtest.MustAlloc(t, c, 64, 16), memtest.MustAlloc(t, c, 4096, 16)
	c.Free(p, 64)
	c.Free(q, 4096)
	if err := central.Trim(); err != nil || h.limit != 8*unitGranules {
		t.Errorf("Trim: %v, limit %d granules", err, h.limit)
	}
	sound(t, central, c)
	c.Flush()
	if err := central.Trim(); err != nil || h.limit != 0 || c.lent.at(0) != nil {
		t.Errorf("Trim after Flush: %v, limit %d granules", err, h.limit)
	}
	memtest.Misuse(t, func() { c.Free(p, 64) }, "not live")
	memtest.Misuse(t, func() { c.FreeAny(q) }, "not live")
	sound(t, central, c)
}

func TestCache_OfAClosedHeap(t *testing.T) {
	h := newHeap(t, Config{})
	p := memtest.MustAlloc(t, h, 64, 16)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	central := mustCentral(h)
	c := NewCache(central)
	for _, a := range []memory.Allocator{central, c} {
		if _, err := a.Alloc(64, 16); err != memory.ErrClosed {
			t.Errorf("Alloc: %v", err)
		}
		memtest.Misuse(t, func() { a.Free(p, 64) }, "slab.Free", "closed")
		memtest.Misuse(t, func() { a.(memory.AnyFreer).FreeAny(p) }, "slab.FreeAny", "closed")
	}
	memtest.Misuse(t, c.Flush, "slab.Flush", "closed")
	memtest.Misuse(t, central.Reset, "slab.Reset", "closed")
	memtest.Misuse(t, func() { central.SizeOf(p) }, "slab.SizeOf", "closed")
	if err := central.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim: %v", err)
	}
	if err := c.Close(); err != nil || central.Close() != nil || central.caches != 0 {
		t.Errorf("Close: %v, %d caches", err, central.caches)
	}
	if n, b := c.Cached(); n != 0 || b != 0 {
		t.Errorf("%d blocks cached", n)
	}
	if f := central.Stats().Failures; f != 0 {
		t.Errorf("a closed heap counts %d failures", f)
	}
	sound(t, central, c)
}
