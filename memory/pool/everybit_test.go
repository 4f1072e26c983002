package pool

import (
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// furnishPool leaves slots in every state: live, vacant, retired, trimmed, never opened.
func furnishPool(t *testing.T) *Pool[enemy] {
	p := newPool(t, nil, 300)
	for range 200 {
		mustNew(t, p)
	}
	n := 0
	for h := range p.All() {
		if n++; n%3 == 0 || n > 90 {
			p.Free(h)
		}
	}
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	wear(p, 0, worn-1)
	for h := range p.All() {
		p.Free(h) // and retires slot 0
		break
	}
	mustNew(t, p)
	mustCheck(t, p)
	return p
}

func furnishSplit(t *testing.T) *Split[body, sheet] {
	p := newSplit(t, nil, 300)
	for range 200 {
		if _, _, _, err := p.New(); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for h := range p.All() {
		if n++; n%3 == 0 || n > 90 {
			p.Free(h)
		}
	}
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, p)
	return p
}

func furnishBlocks(t *testing.T, cfg BlocksConfig) *Blocks {
	b := newBlocks(t, nil, cfg)
	for i := range 200 {
		p := mustGet(t, b)
		if i%3 == 0 || i > 90 {
			defer b.Put(p)
		}
	}
	for range 5 {
		memtest.MustAlloc(t, b, 16, 16)
	}
	return b
}

// named asserts that at least this share of the flips, in percent, is called a fault.
func named(t *testing.T, f memtest.Flips, percent int) {
	t.Helper()
	if 100*f.Named < percent*f.Flipped {
		t.Errorf("of %+v only %d %% were named; want %d", f, 100*f.Named/f.Flipped, percent)
	}
}

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	b := furnishBlocks(t, BlocksConfig{Size: 96, Align: 32, Capacity: 300})
	if err := b.Trim(); err != nil {
		t.Fatal(err)
	}
	share := 55
	if !invariant.Exact { // the live bits exist, but are not used
		share = 25
	}
	named(t, memtest.EveryBit(t, b.Check, b), share)
	one := newBlocks(t, nil, BlocksConfig{Size: 4096, Align: 4096, Capacity: 1})
	mustGet(t, one)
	named(t, memtest.EveryBit(t, one.Check, one), 25)
	p := furnishPool(t)
	named(t, memtest.EveryBit(t, p.Check, p), 50)
	s := furnishSplit(t)
	named(t, memtest.EveryBit(t, s.Check, s), 50)

	r := newRegistry(t, nil)
	for range 2 {
		NewIn[enemy](r)
		NewIn[body](r)
	}
	named(t, memtest.EveryBit(t, r.Check, r), 60)
	unused := newPool(t, nil, 10)
	named(t, memtest.EveryBit(t, unused.Check, unused), 20)

	for _, closed := range []interface {
		Close() error
		Check() error
	}{furnishPool(t), furnishSplit(t), furnishBlocks(t, BlocksConfig{Capacity: 300})} {
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		named(t, memtest.EveryBit(t, closed.Check, closed), 30)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	memtest.EveryBit(t, r.Check, r)
}
