//go:build !memfast || memdebug || race

package slab

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

func TestCache_ADoubleFreeIsRefusedAtOnce(t *testing.T) {
	central, caches := newCaches(t, Config{}, 2)
	a, b := caches[0], caches[1]
	const size = 100
	frees := map[string]func(unsafe.Pointer){
		"the same cache":    func(p unsafe.Pointer) { a.Free(p, size) },
		"another cache":     func(p unsafe.Pointer) { b.Free(p, size) },
		"another by any":    func(p unsafe.Pointer) { b.FreeAny(p) },
		"the Central":       func(p unsafe.Pointer) { central.Free(p, size) },
		"the Central, any":  func(p unsafe.Pointer) { central.FreeAny(p) },
		"an asker for size": func(p unsafe.Pointer) { central.SizeOf(p) },
	}
	for first, free := range frees {
		if first == "an asker for size" {
			continue
		}
		for second, again := range frees {
			p := memtest.MustAlloc(t, a, size, 8)
			free(p)
			before, held := central.Stats(), stashedIn(a, b)
			memtest.Misuse(t, func() { again(p) }, "slab.", "of 112 bytes is not live: double free")
			if central.Stats() != before || stashedIn(a, b) != held {
				t.Errorf("%s, then %s: the refused free changed the books", first, second)
			}
			sound(t, central, a, b)
			seen := map[unsafe.Pointer]bool{}
			for i := range 200 {
				q := memtest.MustAlloc(t, caches[i%2], size, 8)
				if seen[q] {
					t.Fatalf("%s, then %s: block %p was handed out twice", first, second, q)
				}
				seen[q] = true
			}
			for q := range seen {
				b.Free(q, size)
			}
		}
	}
}

// The heap is the Central's: what the Central or a cache has cannot be freed behind its back.
func TestHeap_BlocksThatAreLentAreRefused(t *testing.T) {
	central, caches := newCaches(t, Config{}, 1)
	c, h := caches[0], central.heap
	p, q := memtest.MustAlloc(t, c, 64, 16), memtest.MustAlloc(t, central, 64, 16)
	for _, lent := range []unsafe.Pointer{p, q} {
		memtest.Misuse(t, func() { h.Free(lent, 64) }, "slab.Free", "handed out by the heap's Central or a Cache", "use those")
		memtest.Misuse(t, func() { h.FreeAny(lent) }, "slab.FreeAny", "use those")
		memtest.Misuse(t, func() { h.SizeOf(lent) }, "slab.SizeOf", "use those")
		memtest.Misuse(t, func() { h.Free(lent, 80) }, "wrong size")
	}
	c.Free(p, 64)
	memtest.Misuse(t, func() { h.Free(p, 64) }, "double free, it lies in a cache")
	memtest.Misuse(t, func() { h.FreeAny(p) }, "it lies in a cache")
	memtest.Misuse(t, func() { h.SizeOf(p) }, "it lies in a cache")
	sound(t, central, c)
	central.Free(q, 64)
}

// A canonical state has the blocks that callers of Caches have, and nothing of those that they freed.
func TestCentral_CanonicalStatesHaveNoFreeBlocks(t *testing.T) {
	state := func(freed byte) []byte {
		central, caches := newCaches(t, Config{}, 1)
		c := caches[0]
		var blocks [64]unsafe.Pointer
		for i := range blocks {
			blocks[i] = memtest.MustAlloc(t, c, 64, 16)
			fill := byte(i)
			if i%3 == 0 {
				fill = freed
			}
			clear(unsafe.Slice((*byte)(blocks[i]), 64))
			*(*byte)(unsafe.Add(blocks[i], 40)) = fill
		}
		for i := 0; i < len(blocks); i += 3 {
			c.Free(blocks[i], 64)
		}
		c.Flush()
		set := new(save.Set)
		if err := errors.Join(set.Add("central", central), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot := set.NewCanonical(1 << 20)
		if err := set.Save(slot); err != nil {
			t.Fatal(err)
		}
		clear(unsafe.Slice((*byte)(blocks[1]), 64))
		if err := set.Load(slot); err != nil || *(*byte)(unsafe.Add(blocks[1], 40)) != 1 {
			t.Errorf("loaded: %v, %d in a block of a caller", err, *(*byte)(unsafe.Add(blocks[1], 40)))
		}
		sound(t, central, c)
		for i, p := range blocks {
			if i%3 != 0 {
				c.Free(p, 64)
			}
		}
		return slot.Bytes()
	}
	if !bytes.Equal(state(5), state(6)) {
		t.Error("equal states differ in what was freed")
	}
}

// The notes of 64 KiB cost a sixteenth of it, and only where blocks went through a Central.
func TestCentral_NotesCostASixteenthOfTheMemoryInUse(t *testing.T) {
	if n := unsafe.Sizeof(notes{}); n*16 != noteGranules*granule {
		t.Errorf("notes of %d bytes for %d", n, noteGranules*granule)
	}
	central, caches := newCaches(t, Config{}, 1)
	memtest.MustAlloc(t, caches[0], 64, 16)
	for range 160 << 10 / 128 {
		memtest.MustAlloc(t, central.heap, 128, 16)
	}
	for range 64 << 10 / 4096 {
		memtest.MustAlloc(t, central, 4096, 16)
	}
	noted := 0
	for i := range central.lent {
		if central.lent[i].Load() != nil {
			noted++
		}
	}
	if noted != 3 || central.lent[1].Load() != nil {
		t.Errorf("%d times 64 KiB have notes, want the first and the two behind what was not lent", noted)
	}
}
