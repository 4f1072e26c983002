package main

import (
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/tlsf"
)

func fragmented(t *testing.T, mib uint) *ground {
	h, err := tlsf.New(nil, config(mib))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, h) })
	return fragment(h)
}

func (g *ground) sizes() (all []uintptr) {
	for _, b := range g.live {
		all = append(all, b.size)
	}
	return all
}

func TestRandom_IsThisSequence(t *testing.T) {
	r := seed
	if got := []uint64{r.next(), r.next(), r.next()}; !slices.Equal(got, []uint64{226735074, 1422150777, 2823156546}) {
		t.Error(got)
	}
	r = seed
	if got := []uintptr{r.size(), r.size(), r.size()}; !slices.Equal(got, []uintptr{7906, 16249, 14914}) {
		t.Error(got)
	}
	least, most := uintptr(1<<20), uintptr(0)
	for range 200_000 {
		size := r.size()
		least, most = min(least, size), max(most, size)
	}
	if least != 256 || most != 16<<10-1 {
		t.Errorf("from %d to %d bytes", least, most)
	}
}

func TestFragment_LeavesOneHoleFarLargerThanAnyOther(t *testing.T) {
	g := fragmented(t, 4)
	s := g.h.Stats()
	if s.Live != uint64(len(g.live)) || len(g.live) < 100 || s.LargestFree < 256<<10 || s.Free-s.LargestFree < 1<<20 {
		t.Errorf("%d blocks are known, %+v", len(g.live), s)
	}
	if holeBytes != 256<<10 || worstBytes != 64<<10 {
		t.Errorf("the README says 256 KiB and four times fewer, not %d and %d", holeBytes, worstBytes)
	}
	hole := g.alloc(holeBytes)
	if most := g.h.Stats().LargestFree; most >= worstBytes {
		t.Errorf("beside the hole %d bytes are free at once", most)
	}
	g.h.Free(hole, holeBytes)
	for _, b := range g.live {
		g.h.Free(b.p, b.size)
	}
	if s := g.h.Stats(); s.Live != 0 || s.InUse != 0 {
		t.Errorf("%+v", s)
	}
}

func TestFragment_EverySecondBlockLives(t *testing.T) {
	g := fragmented(t, 4)
	var want []uintptr
	for r := seed; len(want) < len(g.live); {
		r.size()
		want = append(want, r.size())
	}
	if !slices.Equal(g.sizes(), want) {
		t.Errorf("%d, want %d", g.sizes(), want)
	}
	s := g.h.Stats()
	if more := s.Frees - uint64(len(g.live)); s.Failures != 1 || s.Allocs != s.Frees+s.Live || more != 1 && more != 2 {
		t.Errorf("%d live: %+v", len(g.live), s)
	}
}

func TestMeasured_RunsAsManyPairsAsItIsTold(t *testing.T) {
	for name, f := range ops {
		g := fragmented(t, 4)
		before := g.h.Stats()
		Measured(f, g, 100)
		if s := g.h.Stats(); s.Allocs-before.Allocs != 100 || s.Frees-before.Frees != 100 || s.Live != before.Live {
			t.Errorf("%s: %+v, was %+v", name, s, before)
		}
	}
}

func TestPrepare_RunsAThousandPairsFirst(t *testing.T) {
	for op := range ops {
		before := fragmented(t, 1).h.Stats()
		g, err := prepare(nil, options{mib: 1, op: op})
		if err != nil {
			t.Fatal(err)
		}
		if s := g.h.Stats(); s.Allocs-before.Allocs != 1000 || s.Live != before.Live || s.Reserved != before.Reserved {
			t.Errorf("%s: %+v, was %+v", op, s, before)
		}
		closed(t, g.h)
	}
}

func TestChurn_ReplacesARandomBlockByOneOfAnotherSize(t *testing.T) {
	g := fragmented(t, 4)
	want, r := g.sizes(), g.rng
	for range 500 {
		i := r.next() % uint64(len(want))
		want[i] = r.size()
	}
	g.churn(500)
	if !slices.Equal(g.sizes(), want) {
		t.Errorf("%d, want %d", g.sizes(), want)
	}
	for _, b := range g.live {
		g.h.Free(b.p, b.size)
	}
	if s := g.h.Stats(); s.InUse != 0 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

func TestWorst_LeavesTheHoleAsItWas(t *testing.T) {
	g := fragmented(t, 4)
	before := g.h.Stats()
	g.worst(10)
	if s := g.h.Stats(); s.LargestFree != before.LargestFree || s.Free != before.Free || s.InUse != before.InUse {
		t.Errorf("%+v, was %+v", s, before)
	}
}

func TestAlloc_ThatFailsPanics(t *testing.T) {
	g := fragmented(t, 1)
	defer func() {
		if recover() == nil {
			t.Error("nil is handed out")
		}
	}()
	g.alloc(1 << 20)
}
