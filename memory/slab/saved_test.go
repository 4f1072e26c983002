package slab_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
)

// newSavedHeap returns a heap, and a Set of its metadata.
func newSavedHeap(t *testing.T) (*slab.Heap, *save.Set) {
	t.Helper()
	h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("heap", save.Metadata(h)), set.Seal()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, set
}

// An epoch that began after the save, in more memory than the one before, is no part of the state that a load restores.
func TestHeap_LoadedStateHasTheSavedBytes(t *testing.T) {
	h, set := newSavedHeap(t)
	memtest.MustAlloc(t, h, 100, 8)
	h.BeginEpoch()
	for range 10 { // in more KiB than the epoch knows
		memtest.MustAlloc(t, h, 1000, 8)
	}
	state, first, again := set.NewSlot(1<<21), set.NewCanonical(1<<21), set.NewCanonical(1<<21)
	if err := errors.Join(set.Save(state), set.Save(first)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		memtest.MustAlloc(t, h, 1000, 8)
	}
	h.BeginEpoch()
	if err := errors.Join(set.Load(state), set.Save(again), h.Check()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("the state has %d bytes after a load, and had %d", len(again.Bytes()), len(first.Bytes()))
	}
	memtest.MustAlloc(t, h, 100, 8)
	if err := errors.Join(set.Load(again), h.Check()); err != nil {
		t.Error(err)
	}
}

// A state between two rounds of Sweep has nothing of the last one. The next round begins in the same way after a load.
func TestHeap_RoundAfterLoadHasTheSameBytes(t *testing.T) {
	h, set := newSavedHeap(t)
	state, first, again := set.NewSlot(1<<21), set.NewCanonical(1<<21), set.NewCanonical(1<<21)
	memtest.MustAlloc(t, h, 100, 8)
	err := set.Save(state)
	h.Sweep(1)
	if err := errors.Join(err, set.Save(first)); err != nil {
		t.Fatal(err)
	}
	var blocks []unsafe.Pointer
	for range 4000 {
		blocks = append(blocks, memtest.MustAlloc(t, h, 64, 8))
	}
	for _, p := range blocks {
		h.Free(p, 64)
	}
	for h.Sweep(1000) {
	}
	err = set.Load(state)
	h.Sweep(1)
	if err := errors.Join(err, set.Save(again), h.Check()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("the state has %d bytes after a load, and had %d", len(again.Bytes()), len(first.Bytes()))
	}
}

// A sweep has no counts of memory that came into use after its begin: they can be those of another sweep.
func TestHeap_SweepSavesItsOwnCounts(t *testing.T) {
	h, set := newSavedHeap(t)
	fill := func(blocks int) {
		var all []unsafe.Pointer
		for range blocks {
			all = append(all, memtest.MustAlloc(t, h, 64, 8))
		}
		for i, p := range all {
			if i%16 != 0 { // each span keeps a block
				h.Free(p, 64)
			}
		}
	}
	state, first, again := set.NewSlot(1<<21), set.NewCanonical(1<<21), set.NewCanonical(1<<21)
	grow := func() { // during a sweep
		h.Sweep(1)
		h.Sweep(1)
		for range 100 {
			memtest.MustAlloc(t, h, 1000, 8)
		}
	}
	fill(1000)
	err := set.Save(state)
	grow()
	err = errors.Join(err, set.Save(first), set.Load(state))
	fill(4000)
	for h.Sweep(1000) {
	}
	err = errors.Join(err, set.Load(state))
	grow()
	if err := errors.Join(err, set.Save(again), h.Check()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("the state has %d bytes after a load, and had %d", len(again.Bytes()), len(first.Bytes()))
	}
}

// One block of a span is free: a canonical slot has the others, and no byte of it or of the rest of a span.
func TestHeap_CanonicalSlotHasTheLiveBlocks(t *testing.T) {
	if invariant.Debug || !invariant.Exact {
		t.Skip("this build saves free blocks, too")
	}
	for size, blocks := range map[uintptr]int{64: 16, 960: 1} { // in the first span of 1 KiB
		h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
		set := new(save.Set)
		if err := errors.Join(err, set.Add("heap", h), set.Seal()); err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var live [][]byte
		for i := range blocks {
			live = append(live, unsafe.Slice((*byte)(memtest.MustAlloc(t, h, size, 16)), size))
			live[i][0] = byte(i)
		}
		span := unsafe.Slice((*byte)(h.Base()), 1024)
		clear(span[uintptr(blocks)*size:])
		if blocks > 1 {
			clear(live[1])
			h.Free(unsafe.Pointer(&live[1][0]), size)
		}
		first, again := set.NewCanonical(1<<16), set.NewCanonical(1<<16)
		if err := set.Save(first); err != nil {
			t.Fatal(err)
		}
		if blocks > 1 {
			live[1][0] = 99
		}
		for i := uintptr(blocks) * size; i < 1024; i++ {
			span[i] = 99
		}
		if err := set.Save(again); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("blocks of %d bytes: canonical bytes have other memory: %v", size, err)
		}
		for _, b := range live {
			b[0] = 99
		}
		if err := set.Load(first); err != nil {
			t.Fatal(err)
		}
		for i, b := range live {
			if i != 1 && b[0] != byte(i) {
				t.Errorf("blocks of %d bytes: block %d has %d after a load", size, i, b[0])
			}
		}
	}
}

// A heap of which two-thirds are live is saved by one copy, with its free spans. That takes no longer than to visit
// each span.
func TestHeap_DenseHeapIsSavedAsAWhole(t *testing.T) {
	if invariant.Debug {
		t.Skip("this build saves all memory")
	}
	for _, c := range []struct{ live, free int }{{256, 64}, {256, 256}} { // blocks of 1 KiB, and of 960 bytes
		h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
		set := new(save.Set)
		if err := errors.Join(err, set.Add("heap", h), set.Seal()); err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		var live, free []*byte
		for i := range c.live {
			live = append(live, (*byte)(memtest.MustAlloc(t, h, 1024, 16)))
			*live[i] = byte(i)
		}
		for i := range c.free {
			free = append(free, (*byte)(memtest.MustAlloc(t, h, 960, 16)))
			*free[i] = 1
		}
		for _, p := range free {
			h.Free(unsafe.Pointer(p), 960)
		}
		slot, contents := set.NewSlot(1<<20), 0
		if err := set.Save(slot); err != nil {
			t.Fatal(err)
		}
		if err := set.Scan(slot, func(p save.Piece) bool {
			if p.Contents {
				contents += p.Size
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		whole := 3*c.live >= 2*(c.live+c.free)
		if all := contents >= (c.live+c.free)<<10; invariant.Exact && all != whole {
			t.Errorf("%d KiB live and %d KiB free are saved in %d bytes", c.live, c.free, contents)
		}
		for _, p := range append(live, free...) {
			*p = 99
		}
		if err := errors.Join(set.Load(slot), h.Check()); err != nil {
			t.Fatal(err)
		}
		for i, p := range live {
			if *p != byte(i) {
				t.Errorf("block %d has %d after a load", i, *p)
			}
		}
		for i, p := range free {
			if whole && *p != 1 {
				t.Errorf("free block %d has %d after a load", i, *p)
			}
		}
	}
}

// A state between two rounds of Sweep has nothing of them, and a load ends a round that has begun since.
func TestHeap_StateBetweenSweepsLacksThem(t *testing.T) {
	h, set := newSavedHeap(t)
	var blocks []unsafe.Pointer
	for range 200 {
		blocks = append(blocks, memtest.MustAlloc(t, h, 1024, 16))
	}
	for _, p := range blocks {
		h.Free(p, 1024)
	}
	size := func() int {
		n, err := set.Size()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	between, within := set.NewSlot(1<<20), set.NewSlot(1<<20)
	rest := func() (steps int) {
		for h.Sweep(10) {
			steps++
		}
		return steps
	}
	if err := set.Save(between); err != nil {
		t.Fatal(err)
	}
	least := size()
	for range 5 {
		h.Sweep(10)
	}
	if err := set.Save(within); err != nil || size() <= least {
		t.Fatalf("%v; the state has %d bytes within a round, and %d before it", err, size(), least)
	}
	if n := size() - least; n < 46*13 && !invariant.Debug {
		t.Errorf("a round takes %d bytes", n)
	}
	first := rest()
	for range 2 {
		if err := errors.Join(set.Load(between), h.Check()); err != nil || size() != least {
			t.Fatalf("%v; %d bytes after a load, want %d", err, size(), least)
		}
		if n := rest(); n != first+5 {
			t.Errorf("a round takes %d steps after a load, want %d", n, first+5)
		}
		if err := errors.Join(set.Load(within), h.Check()); err != nil {
			t.Fatal(err)
		}
		if n := rest(); n != first {
			t.Errorf("the rest of a round takes %d steps after a load, want %d", n, first)
		}
	}
}

// Of spans of which less than two-thirds are live, only the live blocks are saved.
func TestHeap_SavedBytesAreAtMostHalfAgainTheLive(t *testing.T) {
	if invariant.Debug || !invariant.Exact {
		t.Skip("this build saves free blocks, too")
	}
	for _, size := range []uintptr{16, 48, 64, 208, 1024, 4096} {
		for _, percent := range []int{1, 25, 55, 66, 67, 80, 100} {
			h, err := slab.New(nil, slab.Config{Reserve: 8 << 20})
			set, metadata := new(save.Set), new(save.Set)
			if err := errors.Join(err, set.Add("heap", h), set.Seal(), metadata.Add("heap", save.Metadata(h)), metadata.Seal()); err != nil {
				t.Fatal(err)
			}
			live, rng := uintptr(0), rand.New(rand.NewPCG(uint64(size), uint64(percent)))
			var blocks [1000]unsafe.Pointer
			for i := range blocks {
				blocks[i] = memtest.MustAlloc(t, h, size, 16)
			}
			for _, p := range blocks {
				if rng.IntN(100) < percent {
					live += size
				} else {
					h.Free(p, size)
				}
			}
			n, err := set.Size()
			without, err2 := metadata.Size()
			if err := errors.Join(err, err2, h.Close()); err != nil || uintptr(n-without) > live+live/2+100 {
				t.Errorf("%d bytes in blocks of %d, %d %% of them, take %d, and metadata %d: %v", live, size, percent, n-without, without, err)
			}
		}
	}
}
