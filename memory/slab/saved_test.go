package slab_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
)

// An epoch that began after the save, in more memory than the one before, is no part of the state that a load restores.
func TestHeap_LoadedStateHasTheSavedBytes(t *testing.T) {
	h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("heap", save.Metadata(h)), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
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

// Spans with few live blocks are not copied as a whole.
func TestHeap_SavedBytesOfSparseSpans(t *testing.T) {
	if invariant.Debug || !invariant.Exact {
		t.Skip("this build saves free blocks, too")
	}
	h, err := slab.New(nil, slab.Config{Reserve: 1 << 20})
	set, metadata := new(save.Set), new(save.Set)
	if err := errors.Join(err, set.Add("heap", h), set.Seal(), metadata.Add("heap", save.Metadata(h)), metadata.Seal()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	live := 0
	var blocks [1000]unsafe.Pointer
	for i := range blocks {
		blocks[i] = memtest.MustAlloc(t, h, 64, 16)
	}
	for i, p := range blocks {
		if i%4 == 0 {
			live++
		} else {
			h.Free(p, 64)
		}
	}
	n, err := set.Size()
	without, err2 := metadata.Size()
	if err := errors.Join(err, err2); err != nil || n-without > 64*live+100 {
		t.Errorf("%d live blocks of 64 bytes take %d bytes: %v", live, n-without, err)
	}
}
