package pool_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
)

// Trim closes the slots behind the last object, which keep their generations. A load restores these, too.
func TestPool_LoadKeepsGenerationsBehindTrim(t *testing.T) {
	p, err := pool.New[uint64](nil, pool.Config{Capacity: 1000})
	set := new(save.Set)
	if err := errors.Join(err, set.Add("pool", p), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	fill := func() (handles [300]memory.Handle[uint64]) {
		for i := range handles {
			h, _, err := p.New()
			if err != nil {
				t.Fatal(err)
			}
			handles[i] = h
		}
		return handles
	}
	old := fill()
	for _, h := range old {
		p.Free(h)
	}
	slot := set.NewSlot(1 << 16)
	if err := errors.Join(p.Trim(), set.Save(slot), set.Load(slot)); err != nil {
		t.Fatal(err)
	}
	fill()
	for i, h := range old {
		if _, ok := p.Get(h); ok {
			t.Fatalf("handle %d of a freed object is valid again", i)
		}
	}
}
