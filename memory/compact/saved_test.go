package compact

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// A state with a move under way is loaded while other blocks are on the move.
func TestHeap_SavedStatesAreRestored(t *testing.T) {
	h, err := New(nil, Config{Reserve: 1 << 20, Step: 16 << 10})
	set := new(save.Set)
	if err = errors.Join(err, set.Add("heap", h), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	type text struct {
		h Handle
		b []byte
	}
	var texts, was []text
	change := func() {
		switch n := rng.IntN(20); {
		case n < 8 || len(texts) == 0:
			b := make([]byte, rng.IntN(3000))
			for i := range b {
				b[i] = byte(rng.IntN(256))
			}
			if x, err := h.Alloc(uintptr(len(b))); err == nil {
				kept, _ := h.Bytes(x)
				copy(kept, b)
				texts = append(texts, text{x, b})
			}
		case n < 14:
			i := rng.IntN(len(texts))
			h.Free(texts[i].h)
			texts = slices.Delete(texts, i, i+1)
		case n < 19:
			h.Compact(Budget{Bytes: 700})
		default:
			err = errors.Join(err, h.Trim())
		}
	}
	moving := 0
	for range 300 {
		for range rng.IntN(30) {
			change()
		}
		n, err2 := set.Size()
		slot := set.NewSlot(n)
		err = errors.Join(err, err2, set.Save(slot))
		if was = slices.Clone(texts); h.moving.record != 0 {
			moving++
		}
		for range rng.IntN(30) {
			change()
		}
		before := h.version()
		if err = errors.Join(err, set.Load(slot), h.Check()); err != nil {
			t.Fatal(err)
		}
		if h.version() <= before && before>>63 == 0 && h.version()>>63 == 0 {
			t.Fatalf("version %d after %d", h.version(), before)
		}
		for _, x := range was {
			if got, ok := h.Bytes(x.h); !ok || !slices.Equal(got, x.b) {
				t.Fatalf("block %v of %d bytes is not as it was saved", x.h, len(x.b))
			}
		}
		texts = was
	}
	if moving == 0 {
		t.Error("no state had a block on the move")
	}
}

// If the source keeps memory that a load returns, this memory belongs to the last gap, also while the last block moves.
// The contents that are loaded do not depend on it: the second block ends with the committed memory.
func TestHeap_LoadKeepsRefusedMemoryUsable(t *testing.T) {
	src, set := memtest.NewFaulty(), new(save.Set)
	h := newHeap(t, src, Config{Reserve: 1 << 20, Step: 16 << 10})
	if err := errors.Join(set.Add("heap", h), set.Seal()); err != nil {
		t.Fatal(err)
	}
	first, err := h.Alloc(3000)
	_, err2 := h.Alloc(7*page.Granule - 3008)
	h.Free(first)
	h.Compact(Budget{Bytes: 700})
	slot := set.NewSlot(1 << 20)
	err = errors.Join(err, err2, set.Save(slot))
	if h.moving.record == 0 {
		t.Error("no block moves")
	}
	_, err2 = h.Alloc(200_000)
	src.FailReturns = true
	err = errors.Join(err, err2, set.Load(slot), h.Check())
	src.FailReturns = false
	if _, done := h.Compact(Budget{}); err != nil || !done {
		t.Fatal(err, done)
	}
	if s := h.Stats(); s.LargestFree != s.Free || h.Check() != nil {
		t.Errorf("%+v, %v", s, h.Check())
	}
}

// The gap that a moving block crosses is free memory, which is no part of a canonical state.
func TestHeap_CanonicalStateOfMoveHasNoGap(t *testing.T) {
	h, set := newHeap(t, nil, Config{Reserve: 1 << 20}), new(save.Set)
	first, err := h.Alloc(3000)
	_, err2 := h.Alloc(1000)
	h.Free(first)
	if moved, _ := h.Compact(Budget{Bytes: 700}); moved == 0 || moved >= 1000 {
		t.Fatalf("%d bytes were moved", moved)
	}
	a, b := set.NewCanonical(1<<20), set.NewCanonical(1<<20)
	err = errors.Join(err, err2, set.Add("heap", h), set.Seal(), set.Save(a))
	*(*byte)(h.at(2000))++
	if err = errors.Join(err, set.Save(b)); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := set.Diff(a, b); differ != invariant.Debug || err != nil {
		t.Errorf("%v, %t, %v", d, differ, err)
	}
}
