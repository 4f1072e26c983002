package tiers

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

func TestManager_ALeakIsCountedThoughOldBlocksWereFreed(t *testing.T) {
	m := newManager(t, small())
	for _, size := range []uintptr{100, 10_000} {
		var old []unsafe.Pointer
		for range 10 {
			old = append(old, alloc(t, m, size))
		}
		must(t, m.BeginLevel())
		for _, p := range old {
			m.Free(p, size)
		}
		for range 10 { // at the same addresses
			old = append(old, alloc(t, m, size))
		}
		l, err := m.EndLevel()
		must(t, err)
		got, name := l.Tiers[Slab], "slab"
		if size > 4096 {
			got, name = l.Tiers[Large], "large"
		}
		if !invariant.Exact && name == "slab" {
			continue // two counts are all there is
		}
		if again := m.Inspect().Leaks(); again.Tiers[Slab] != l.Tiers[Slab] || again.Tiers[Large] != l.Tiers[Large] || again.Level != l.Level {
			t.Errorf("Leaks says %s, EndLevel said %s", again, l)
		}
		if got.Blocks != 10 || !l.Any() || !strings.Contains(l.String(), "10 blocks of ") || !strings.Contains(l.String(), "in "+name) {
			t.Errorf("ten blocks of %d bytes leaked: %s", size, l)
		}
	}
}

func TestManager_WhatAWorkerHasNotBackIsALeak(t *testing.T) {
	m := newManager(t, small())
	before := alloc(t, m.Worker(0), 5000)
	must(t, m.BeginLevel())
	m.Free(before, 5000)
	back := alloc(t, m.Worker(0), 5000)
	m.Free(back, 5000) // the worker has not seen it yet
	alloc(t, m.Worker(1), 7000)
	must(t, m.BeginFrame())
	last := alloc(t, m.Worker(0), 5000)
	m.Free(last, 5000)
	must(t, m.EndFrame())
	l, err := m.EndLevel()
	must(t, err)
	if (l.Tiers[Inbox] != Leak{1, 7168}) || l.Tiers[Slab].Blocks != 0 || l.Tiers[Large].Blocks != 0 || !l.Any() {
		t.Errorf("leaks %+v", l)
	}
	if got, want := l.String(), "level 1 left behind 1 block of 7168 bytes in inbox"; got != want {
		t.Errorf("%q", got)
	}
}

func TestManager_PoolsThatNoLevelResetsAreNamedWhenTheyGrow(t *testing.T) {
	m := newManager(t, small())
	books := [3]memory.Stats{{Live: 5, InUse: 500}, {Live: 3, InUse: 300}, {}}
	at := func(i int) func() memory.Stats { return func() memory.Stats { return books[i] } }
	m.AddPool("columns", &Funcs{StatsFunc: at(0)})
	m.AddPool("emptied", &Funcs{StatsFunc: at(0), ResetFunc: func() {}})
	m.AddPool("texts", &Funcs{StatsFunc: at(1)})
	must(t, m.BeginLevel())
	m.AddPool("late", &Funcs{StatsFunc: at(2)})
	books = [3]memory.Stats{{Live: 7, InUse: 900}, {Live: 2, InUse: 400}, {Live: 1, InUse: 8}}
	l, err := m.EndLevel()
	must(t, err)
	if want := "level 1 left nothing behind; pools grew: columns by 2 blocks of 400 bytes, late by 1 block of 8 bytes"; l.String() != want || l.Any() {
		t.Errorf("%q, %t; want %q", l, l.Any(), want)
	}
	must(t, m.BeginLevel())
	if l, err = m.EndLevel(); err != nil || len(l.Pools) != 0 || l.Level != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	m.pools.all = nil
}

// A heldBlock is a live block of the model, and the level that it was handed out in; 0: none.
type heldBlock struct {
	p     unsafe.Pointer
	size  uintptr
	level uint64
	tier  Tier
}

func TestManager_LeaksAreTheBlocksOfTheLevelThatLive(t *testing.T) {
	if !invariant.Exact {
		return // slab counts only
	}
	m := newManager(t, Config{Reserve: small().Reserve, GC: gcpace.Config{Keep: true}})
	r := rand.New(rand.NewPCG(3, 4))
	var live []heldBlock
	freer := m.NewFreer()
	level := uint64(0)
	for range 40 {
		for range r.IntN(200) { // between the levels: nobody's leaks
			leakStep(t, m, r, &live, 0, freer)
		}
		must(t, m.BeginLevel())
		level++
		for range r.IntN(1000) {
			leakStep(t, m, r, &live, level, freer)
		}
		must(t, freer.Flush())
		want := Leaks{Level: level}
		inLevel := map[unsafe.Pointer]bool{}
		for _, b := range live {
			if b.level != level {
				continue
			}
			switch b.tier {
			case Slab:
				want.Tiers[Slab].add(m.SizeOf(b.p))
			case Large:
				want.Tiers[Large].add((b.size + largeGranule - 1) &^ (largeGranule - 1))
			case Inbox:
				want.Tiers[Inbox].add((max(b.size, 1) + 255) &^ 255)
				continue
			}
			inLevel[b.p] = true
		}
		must(t, m.BeginFrame()) // takes in what comes home
		must(t, m.EndFrame())
		for p, size := range m.Inspect().LevelBlocks {
			if !inLevel[p] || size < m.SizeOf(p) {
				t.Fatalf("level %d: LevelBlocks yields %p with %d bytes", level, p, size)
			}
			delete(inLevel, p)
		}
		if len(inLevel) > 0 {
			t.Fatalf("level %d: LevelBlocks misses %d blocks", level, len(inLevel))
		}
		must(t, m.Check())
		got, err := m.EndLevel()
		must(t, err)
		if got.String() != want.String() {
			t.Fatalf("%s; want: %s", got, want)
		}
		must(t, m.Check())
	}
}

func leakStep(t *testing.T, m *Manager, r *rand.Rand, live *[]heldBlock, level uint64, freer memory.AnyFreer) {
	if len(*live) > 0 && r.IntN(100) < 50 {
		i := r.IntN(len(*live))
		b := (*live)[i]
		(*live)[i] = (*live)[len(*live)-1]
		*live = (*live)[:len(*live)-1]
		switch r.IntN(3) {
		case 0:
			m.Free(b.p, b.size)
		case 1:
			m.FreeAny(b.p)
		default:
			freer.FreeAny(b.p)
		}
		return
	}
	b := heldBlock{level: level, tier: []Tier{Slab, Slab, Large, Inbox}[r.IntN(4)]}
	a := memory.Allocator(m)
	switch b.tier {
	case Slab:
		b.size = uintptr(r.IntN(400))
	case Large:
		b.size = 4097 + uintptr(r.IntN(10_000))
	case Inbox:
		b.size, a = uintptr(r.IntN(10_000)), m.Worker(r.IntN(2))
	}
	b.p = alloc(t, a, b.size)
	*live = append(*live, b)
}

func TestManager_LevelBlocksStopsWhenToldAndKnowsNoLevel(t *testing.T) {
	m := newManager(t, small())
	alloc(t, m, 100)
	for range m.Inspect().LevelBlocks {
		t.Error("there is no level")
	}
	must(t, m.BeginLevel())
	for _, size := range []uintptr{100, 100, 10_000, 10_000} {
		alloc(t, m, size)
	}
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range m.Inspect().LevelBlocks {
			if n++; n == stop {
				break
			}
		}
		if n != stop && invariant.Exact {
			t.Errorf("%d blocks before the break at %d", n, stop)
		}
	}
}

// Between levels no block is older than another, so that none is slower to free.
func TestManager_OutsideOfALevelTheSlabTellsNoAges(t *testing.T) {
	if !invariant.Exact {
		return // such builds never do
	}
	m := newManager(t, small())
	young := func(want ...unsafe.Pointer) {
		t.Helper()
		var got []unsafe.Pointer
		for p := range m.Slab().Young {
			got = append(got, p)
		}
		if !slices.Equal(got, want) {
			t.Errorf("young are %v, want %v", got, want)
		}
	}
	p := alloc(t, m, 100)
	must(t, m.BeginLevel())
	young()
	_, err := m.EndLevel()
	must(t, err)
	young(p)
}

func TestManager_EveryTierGetsWhatWasAsked(t *testing.T) {
	cfg := Config{GC: gcpace.Config{Keep: true}, Workers: 3, Reserve: [Count]uintptr{Static: 3 << 20, Frame: 5 << 20, Level: 7 << 20, Pools: 9 << 20, Slab: 11 << 20, Large: 13 << 20, Inbox: 2 << 20}}
	m := newManager(t, cfg)
	for tier, n := range cfg.Reserve {
		if n == 0 {
			continue // a tier that this test does not configure
		}
		part := m.parts[tier]
		if part == nil {
			part = m.inbox.parts[2]
		}
		more := uintptr(0) // for a block of no bytes at the end
		if Tier(tier) == Level {
			more = 1 << 20
		}
		if got := part.Memory().Size; got != n+more && (Tier(tier) != Frame && Tier(tier) != Inbox || got < n || arena.RestingFrames == 0) {
			t.Errorf("%v: %d bytes of %d", Tier(tier), got, n)
		}
	}
	_, scratch := m.cfg.scratchBytes()
	for want, got := range map[uint64]uint64{
		7 << 20: m.level.arena.Stats().Reserved, 11 << 20: m.slab.heap.Stats().Reserved, 13 << 20: m.large.heap.Stats().Reserved, 2<<20 - uint64(scratch): m.Worker(2).heap.Stats().Reserved,
	} {
		if got != want {
			t.Errorf("an allocator has %d bytes of %d", got, want)
		}
	}
	if got := m.Stats(Inbox).Reserved; got != 6<<20 {
		t.Errorf("the workers have %d bytes", got)
	}
	must(t, m.BeginFrame())
	if n := 2 * m.Frame().Available(); n < 4<<20 || n > 5<<20 {
		t.Errorf("the frames have %d bytes of 5 MiB", n)
	}
	must(t, m.EndFrame())
	if n := uint64(m.parts[Static].Left()); n != 3<<20 || page.Granule > n {
		t.Errorf("static has %d bytes left", n)
	}
}
