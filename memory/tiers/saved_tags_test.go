package tiers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// A tag that was made after the state was saved has counted nothing in it, as the tiers have not.
func TestManager_LoadClearsLaterTags(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	memtest.MustAlloc(t, g.tag, 100, 8) // a tag that has counted nothing is not in the state
	slot := g.save()
	late, err := g.m.Tag("late")
	if err != nil {
		t.Fatal(err)
	}
	p := memtest.MustAlloc(t, late, 100, 8)
	late.Free(p, 100)
	if _, err = late.Alloc(1<<30, 8); err == nil || late.Stats().Failures != 1 {
		t.Fatalf("%v, and %d failures", err, late.Stats().Failures)
	}
	if err := g.set.Load(slot); err != nil {
		t.Fatal(err)
	}
	if s := late.Stats(); s != (memory.Stats{}) {
		t.Errorf("the tag has %+v", s)
	}
}

// A tag that was made after the state was saved, or that a worker has used since, is no part of the loaded state.
func TestManager_LaterTagsLeaveNoTrace(t *testing.T) {
	g := newSavedGame(t, tiers.Config{})
	slot, first, again := g.save(), g.set.NewCanonical(8<<20), g.set.NewCanonical(8<<20)
	if err := g.set.Save(first); err != nil {
		t.Fatal(err)
	}
	late, err := g.m.Tag("late")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []*tiers.Tag{g.tag, late} {
		memtest.MustAlloc(t, tag, 100, 8)
		memtest.MustAlloc(t, g.m.Worker(1).Tag(tag), 100, 8)
	}
	if err := errors.Join(g.set.Load(slot), g.m.Check(), g.set.Save(again)); err != nil {
		t.Fatal(err)
	}
	if d, differ, err := g.set.Diff(first, again); differ || err != nil {
		t.Errorf("the state is another one after a load: %v, %v", d, err)
	}
}

func TestManager_StateWithoutTags(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var set save.Set
	slot := set.NewSlot(1 << 20)
	p, q := memtest.MustAlloc(t, m, 100, 8), memtest.MustAlloc(t, m.Worker(0), 100, 8)
	err = errors.Join(set.Add("memory", m), set.Seal(), set.Save(slot))
	m.Free(p, 100)
	m.Worker(0).Free(q, 100)
	if err = errors.Join(err, set.Load(slot), m.Check()); err != nil || m.Stats(tiers.Slab).Live != 1 || m.Worker(0).Stats().Live != 1 {
		t.Errorf("%v, %+v, %+v", err, m.Stats(tiers.Slab), m.Worker(0).Stats())
	}
	first, again := set.NewCanonical(1<<20), set.NewCanonical(1<<20)
	err = set.Save(first)
	_, err2 := m.Tag("late")
	err = errors.Join(err, err2, set.Save(again))
	if _, differ, err2 := set.Diff(first, again); err != nil || err2 != nil || differ {
		t.Errorf("with a tag that has counted nothing: %t, %v, %v", differ, err, err2)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// The size of a block from 16 MiB on is in a list of its own.
func TestManager_LoadRestoresHugeBlocksOfTags(t *testing.T) {
	const size = 16<<20 + 100
	g := newSavedGame(t, tiers.Config{})
	var set save.Set
	slot := set.NewSlot(1 << 20)
	if invariant.Debug { // it saves the contents, too
		slot = set.NewSlot(20 << 20)
	}
	p := memtest.MustAlloc(t, g.tag, size, 8)
	cfg := tiers.Saved{Scratch: func(unsafe.Pointer) bool { return true }}
	err := errors.Join(set.Add("memory", g.m.State(cfg)), set.Seal(), set.Save(slot))
	g.tag.Free(p, size)
	if err = errors.Join(err, set.Load(slot), g.m.Check()); err != nil {
		t.Fatal(err)
	}
	if g.tag.Free(p, size); g.tag.Stats().Live != 0 {
		t.Errorf("%+v", g.tag.Stats())
	}
}

// The words behind those of the saved tags are clear, also in a chunk that the state has not begun.
func TestManager_LoadClearsManyLaterBlocksOfTags(t *testing.T) {
	for size, n := range map[uintptr]int{16: 5000, 9000: 300} {
		g := newSavedGame(t, tiers.Config{})
		blocks := func() {
			for range n {
				memtest.MustAlloc(t, g.tag, size, 8)
			}
		}
		blocks()
		slot := g.save()
		blocks()
		if err := g.set.Load(slot); err != nil {
			t.Fatal(err)
		}
		if blocks(); g.tag.Stats().Live != uint64(2*n) || g.m.Check() != nil {
			t.Errorf("size %d: %+v, %v", size, g.tag.Stats(), g.m.Check())
		}
	}
}

// A new manager that is set up as the saved one takes its place, also its tags, and goes on as that one does.
func TestManager_StateIsLoadedByNewManager(t *testing.T) {
	var set save.Set
	var games [2]*savedGame
	for i := range games {
		games[i] = newSavedGame(t, tiers.Config{})
		games[i].m.Worker(1).Tag(games[i].tag)
	}
	more, err := games[0].m.Tag("more")
	if err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, more, 100, 8)
	memtest.MustAlloc(t, games[0].m.Worker(0).Tag(more), 100, 8)
	owner := &handedOver{games[0].m}
	slot := set.NewSlot(8 << 20)
	for range 200 {
		games[0].frame()
	}
	for range 5000 {
		memtest.MustAlloc(t, games[0].tag, 16, 8)
		memtest.MustAlloc(t, games[0].m.Worker(1).Tag(games[0].tag), 16, 8)
	}
	if err := errors.Join(set.Add("memory", owner), set.Seal(), set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	owner.Manager = games[1].m
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "2 tags were made, 1 are") {
		t.Errorf("without a tag: %v, want ErrLayout", err)
	}
	if more, err = games[1].m.Tag("more"); err != nil {
		t.Fatal(err)
	}
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "worker[0]: save: the layout differs: the counts of 3 tags, 0 are") {
		t.Errorf("without a tag of a worker: %v, want ErrLayout", err)
	}
	games[1].m.Worker(0).Tag(more)
	if err := set.Scan(slot, func(save.Piece) bool { return true }); !errors.Is(err, save.ErrLayout) {
		t.Errorf("a Scan, which must not make the notes of tags longer: %v, want ErrLayout", err)
	} else if !strings.Contains(err.Error(), "words of tags") {
		t.Error(err)
	}
	if err = errors.Join(err, set.Load(slot), games[1].m.Check()); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		var at [2]uintptr
		for i, g := range games {
			at[i] = uintptr(memtest.MustAlloc(t, g.tag, 100, 8)) - uintptr(g.m.Base())
		}
		if at[0] != at[1] {
			t.Fatalf("the next block is at %d, and in the saved manager at %d", at[1], at[0])
		}
	}
	if a, b := games[0].tag.Stats(), games[1].tag.Stats(); a != b {
		t.Errorf("the tag has %+v, and in the saved manager %+v", b, a)
	}
}

// A handedOver is the State of the newest of several managers.
type handedOver struct{ *tiers.Manager }

// What tags have counted in tiers that are not saved stays, as these tiers do.
func TestManager_LoadOfSomeTiersKeepsTagsOfOthers(t *testing.T) {
	for _, saved := range []tiers.Tier{tiers.Level, tiers.Slab, tiers.Large} {
		m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Tags: true})
		if err != nil {
			t.Fatal(err)
		}
		early, err := m.Tag("early")
		var set save.Set
		if err := errors.Join(err, m.BeginLevel(), set.Add("memory", m.State(tiers.Saved{Tiers: []tiers.Tier{saved}}))); err != nil {
			t.Fatal(err)
		}
		block := func(tag *tiers.Tag, size uintptr) func() {
			p := memtest.MustAlloc(t, tag, size, 8)
			return func() { tag.Free(p, size) }
		}
		past, err := m.Tag("past")
		if err != nil {
			t.Fatal(err)
		}
		block(past, 30_000)()
		free := block(early, 1000)
		large := block(early, 9000)
		memtest.MustAlloc(t, early.Level(), 100, 8)
		slot := set.NewSlot(1 << 20)
		if err := errors.Join(set.Seal(), set.Save(slot)); err != nil {
			t.Fatal(err)
		}
		switch saved {
		case tiers.Slab:
			free()
		case tiers.Large:
			large()
		}
		late, err := m.Tag("late")
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range []*tiers.Tag{early, late} {
			if saved == tiers.Slab { // with the block of the slot it has more than ever before
				block(tag, 12000)
			} else {
				block(tag, 4000)
			}
			if _, err := tag.Alloc(1<<30, 8); err == nil {
				t.Fatal("there is memory for 1 GiB")
			}
			memtest.MustAlloc(t, tag.Level(), 100, 8)
		}
		if err := errors.Join(set.Load(slot), m.Check()); err != nil {
			t.Errorf("%v: %v", saved, err)
		}
		if s := past.Stats(); s.Peak < 30_000 {
			t.Errorf("%v: the tag that had 30,000 bytes has %+v", saved, s)
		}
		for i, tag := range []*tiers.Tag{early, late} {
			blocks, failures := uint64(2-i), uint64(1)
			switch saved {
			case tiers.Level:
				blocks--
			case tiers.Large:
				failures = 0
			}
			if s := tag.Stats(); s.Peak < s.InUse || s.Failures != failures || tag.Level().Taken().Blocks != blocks {
				t.Errorf("%v: tag %d has %+v, %+v", saved, i, s, tag.Level().Taken())
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A failure of a tag goes back with the tier that refused the request, and with no other.
func TestTag_FailuresGoBackWithTheirTier(t *testing.T) {
	cfg := tiers.Config{GC: gcpace.Config{Keep: true}, Tags: true}
	cfg.Budget[tiers.Slab] = 64 << 10
	for _, saved := range [][]tiers.Tier{{tiers.Level}, {tiers.Slab}, {tiers.Large}, {tiers.Slab, tiers.Large}} {
		m, err := tiers.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		tag, err := m.Tag("subject")
		var set save.Set
		if err = errors.Join(err, set.Add("memory", m.State(tiers.Saved{Tiers: saved})), set.Seal()); err != nil {
			t.Fatal(err)
		}
		slot := set.NewSlot(1 << 18)
		if err := set.Save(slot); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := tag.Alloc(1<<30, 8); err == nil {
				t.Fatal("there is memory for 1 GiB")
			}
		}
		for err == nil {
			_, err = tag.Alloc(4096, 8)
		}
		if tag.Stats().Failures != 4 {
			t.Fatalf("%d failures, want 4", tag.Stats().Failures)
		}
		if err := errors.Join(set.Load(slot), m.Check()); err != nil {
			t.Fatal(err)
		}
		want := uint64(4)
		if slices.Contains(saved, tiers.Slab) {
			want--
		}
		if slices.Contains(saved, tiers.Large) {
			want -= 3
		}
		if got := tag.Stats().Failures; got != want {
			t.Errorf("%v: %d failures after the load, want %d", saved, got, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
