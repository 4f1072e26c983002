package tiers

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/page"
)

// gogc returns GOGC. Nothing else in the tests of this package sets it at the same time.
func gogc() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

func wantGOGC(t *testing.T, when string, ok bool) {
	t.Helper()
	if !ok {
		t.Errorf("%s: GOGC is %d", when, gogc())
	}
}

func goStats(m *Manager) gcpace.Stats {
	var s Snapshot
	m.Snapshot(&s)
	return s.Go
}

// Package gcpace tests the pacing. These tests check that the manager calls it when it should.
func TestGC_TheManagerPacesFromNewToClose(t *testing.T) {
	before := gogc()
	cfg := small()
	cfg.GC = gcpace.Config{Headroom: 512 << 20, Suspend: true}
	m := newManager(t, cfg)
	wantGOGC(t, "after New", gogc() > before)
	for range 2 {
		must(t, m.BeginLevel())
		wantGOGC(t, "in a level", gogc() == -1)
		_, err := m.EndLevel()
		must(t, err)
		wantGOGC(t, "after the level", gogc() > before)
	}
	must(t, m.BeginLevel())
	must(t, m.Close())
	wantGOGC(t, "after Close in a level", gogc() == before)
	n := goStats(m).Cycles
	m.Collect()
	if got := goStats(m).Cycles; got <= n {
		t.Errorf("%d collections after Close, and %d before Collect", got, n)
	}
}

func TestGC_AConfigWithKeepLeavesGOGC(t *testing.T) {
	before := gogc()
	cfg := small()
	cfg.GC = gcpace.Config{Keep: true, Suspend: true}
	m := newManager(t, cfg)
	must(t, m.BeginLevel())
	wantGOGC(t, "in a level", gogc() == before)
}

func TestGC_ASourceThatEndsRestoresGOGC(t *testing.T) {
	before := gogc()
	mem, err := page.Default().Reserve(64 << 20)
	must(t, err)
	defer page.Default().Release(mem)
	carve, err := page.NewCarve(page.Default(), mem)
	must(t, err)
	cfg := small()
	cfg.Source = carve
	m := newManager(t, cfg)
	wantGOGC(t, "after New", gogc() > before)
	carve.Close()
	wantGOGC(t, "after the source has ended", gogc() == before)
	if err := m.BeginLevel(); err == nil {
		t.Error("the manager is open")
	}
}

func TestGC_ALevelThatAnErrorKeepsOpenCountsOn(t *testing.T) {
	m := newManager(t, small())
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // one that had begun by itself has ended then
	at := goStats(m)
	want := func(when string, cycles, inPlay uint64) {
		t.Helper()
		if s := goStats(m); s.Cycles-at.Cycles != cycles || s.InPlay != inPlay {
			t.Errorf("%s: %d collections, %d of them in play; want %d and %d", when, s.Cycles-at.Cycles, s.InPlay, cycles, inPlay)
		}
	}
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	if _, err := m.EndLevel(); err == nil {
		t.Fatal("EndLevel inside a frame")
	}
	if err := m.BeginLevel(); err == nil {
		t.Fatal("BeginLevel inside a level")
	}
	runtime.GC()
	want("a level that did not end", 1, 1)
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	if _, err := m.EndLevel(); err == nil {
		t.Fatal("EndLevel twice")
	}
	runtime.GC()
	want("a level that did", 2, 1)
}

func TestSnapshot_DoesNotAllocate(t *testing.T) {
	m := newManager(t, small())
	var s Snapshot
	m.Snapshot(&s)
	if n := testing.AllocsPerRun(100, func() { m.Snapshot(&s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The first Snapshot makes the array of its tags, at once and as large as it is needed; the others use it.
func TestSnapshot_ItsTagsAreMadeOnceAndNoLargerThanNeeded(t *testing.T) {
	const tags = 37
	m := newManager(t, tagged())
	for i := range tags {
		newTag(t, m, fmt.Sprint("tag ", i))
	}
	var s Snapshot
	if n := testing.AllocsPerRun(100, func() { s.Tags = nil; m.Snapshot(&s) }); n != 1 {
		t.Errorf("%v allocations for %d tags", n, tags)
	}
	if len(s.Tags) != tags+1 {
		t.Errorf("%d rows of %d", len(s.Tags), tags+1)
	}
	was := &s.Tags[0]
	if n := testing.AllocsPerRun(100, func() { m.Snapshot(&s) }); n != 0 || &s.Tags[0] != was {
		t.Errorf("again %v allocations", n)
	}
}
