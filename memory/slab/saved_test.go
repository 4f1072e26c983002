package slab_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
)

// An epoch that began after the save, in more memory than the one before, is no part of the state that a load restores.
func TestHeap_LoadedStateHasTheSavedBytes(t *testing.T) {
	if invariant.Debug {
		t.Skip("this build saves free blocks, too")
	}
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
