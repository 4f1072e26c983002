package tiers

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// holder is a manager that has the collector off while its levels last.
func holder(t *testing.T, headroom int64) *Manager {
	t.Helper()
	cfg := small()
	cfg.GoHeadroom, cfg.HoldGC = headroom, true
	return newManager(t, cfg)
}

func ended(t *testing.T, m *Manager) {
	t.Helper()
	_, err := m.EndLevel()
	must(t, err)
}

// The runtime's own collection of every two minutes is begun unless GOGC is off: runtime's
// gcTrigger.test has it so. A run of three minutes is among the nightly ones.
func TestHold_GOGCIsOffInALevelAndPacedOutsideOne(t *testing.T) {
	host(t, 70)
	limit := debug.SetMemoryLimit(-1)
	m := holder(t, 64<<20)
	for range 3 {
		wantPaced(t, "outside a level", 64<<20)
		must(t, m.BeginLevel())
		wantGOGC(t, "in a level", off)
		litter(1 << 20)
		m.Collect()
		wantGOGC(t, "after Collect", off)
		runtime.GC()
		pacing.follow()
		wantGOGC(t, "after a collection of the host's", off)
		look()
		wantGOGC(t, "after a look", off)
		ended(t, m)
	}
	must(t, m.BeginLevel())
	must(t, m.Close())
	wantGOGC(t, "closed in a level", 70)
	if l := debug.SetMemoryLimit(-1); l != limit {
		t.Errorf("the memory limit is %d, was %d", l, limit)
	}
}

func TestHold_ALevelThatSpendsItsHeadroomIsCollected(t *testing.T) {
	host(t, 100)
	m := holder(t, 32<<20)
	must(t, m.BeginLevel())
	litter(24 << 20)
	look()
	wantGOGC(t, "with three quarters of the headroom spent", off)
	eventually(t, "a collection in play", func() bool {
		litter(4 << 20)
		return goStats(m).InPlay > 0
	})
	if p := gogc(); p == off {
		t.Error("GOGC is off although the headroom is spent")
	}
	ended(t, m)
	must(t, m.BeginLevel())
	wantGOGC(t, "in the next level", off)
	ended(t, m)
	must(t, m.Close())
	wantGOGC(t, "after Close", 100)
}

// The headroom counts from the last collection, whoever asked for it.
func TestHold_ACollectionBetweenGivesTheHeadroomAnew(t *testing.T) {
	host(t, 100)
	m := holder(t, 32<<20)
	must(t, m.BeginLevel())
	for range 4 {
		litter(20 << 20)
		m.Collect()
		look()
		wantGOGC(t, "after 20 MiB and Collect", off)
	}
	if n := goStats(m).InPlay; n != 0 {
		t.Errorf("%d collections in play", n)
	}
	ended(t, m)
}

func TestHold_AHostsGCPercentSetMeanwhileIsKept(t *testing.T) {
	for _, own := range []int{50, 100, 400, 0} {
		host(t, 70)
		m := holder(t, 16<<20)
		must(t, m.BeginLevel())
		if ours := debug.SetGCPercent(own); ours != off {
			t.Errorf("GOGC was %d in the level", ours)
		}
		litter(24 << 20)
		look()
		wantGOGC(t, "with the headroom spent", own)
		ended(t, m)
		wantGOGC(t, "after EndLevel", own)
		must(t, m.BeginLevel())
		wantGOGC(t, "in the next level", own)
		ended(t, m)
		must(t, m.Close())
		wantGOGC(t, "after Close", own)
	}
}

func TestHold_OffBeforeNewStaysOff(t *testing.T) {
	host(t, off)
	m := holder(t, 1<<20)
	must(t, m.BeginLevel())
	litter(4 << 20)
	look()
	wantGOGC(t, "with the headroom spent", off)
	ended(t, m)
	must(t, m.Close())
	wantGOGC(t, "after Close", off)
}

func TestHold_WithAnotherManagerItLastsAsLongAsTheLevel(t *testing.T) {
	host(t, 90)
	a, b := holder(t, 64<<20), paced(t, 128<<20)
	must(t, a.BeginLevel())
	must(t, b.BeginLevel())
	wantGOGC(t, "in both levels", off)
	ended(t, b)
	wantGOGC(t, "in the holder's level", off)
	must(t, b.Close())
	wantGOGC(t, "with the other one closed", off)
	b = paced(t, 128<<20)
	wantGOGC(t, "with a new one", off)
	ended(t, a)
	wantPaced(t, "after the level", 128<<20)
	must(t, a.Close())
	wantPaced(t, "with the other one", 128<<20)
	must(t, b.Close())
	wantGOGC(t, "after both", 90)
}

func TestHold_TheMemoryLimitIsHonoured(t *testing.T) {
	host(t, 100)
	debug.FreeOSMemory()
	debug.SetMemoryLimit(int64(metric("/memory/classes/total:bytes")-metric("/memory/classes/heap/released:bytes")) + 48<<20)
	m := holder(t, 0)
	must(t, m.BeginLevel())
	litter(200 << 20)
	eventually(t, "a collection, of 200 MiB of garbage with a limit 48 MiB above what there was", func() bool { return goStats(m).InPlay > 0 })
	ended(t, m)
}

func TestHold_KeepGCLeavesTheCollectorAlone(t *testing.T) {
	host(t, 85)
	cfg := small()
	cfg.KeepGC, cfg.HoldGC = true, true
	m := newManager(t, cfg)
	must(t, m.BeginLevel())
	wantGOGC(t, "in a level", 85)
	ended(t, m)
}

//go:noinline
func dropHolder(t *testing.T) {
	cfg := small()
	cfg.HoldGC = true
	m, err := New(cfg)
	must(t, err)
	must(t, m.BeginLevel())
}

func TestHold_ADroppedManagerLetsGo(t *testing.T) {
	host(t, 80)
	dropHolder(t)
	wantGOGC(t, "in the level of a manager that nobody knows", off)
	eventually(t, "the dropped manager lets go", func() bool {
		runtime.GC()
		return gogc() == 80
	})
}

func TestHold_ALookAllocatesNothing(t *testing.T) {
	host(t, 100)
	m := holder(t, 0)
	must(t, m.BeginLevel())
	if n := testing.AllocsPerRun(100, look); n != 0 {
		t.Errorf("%v allocations a look", n)
	}
	ended(t, m)
}

func look() {
	pacing.Lock()
	defer pacing.Unlock()
	pacing.look()
}

// A test in a bubble leaves nothing behind that managers outside of it would touch, nor the other way round.
func TestHold_InABubbleOfSynctestAndOutside(t *testing.T) {
	level := func(t *testing.T) {
		m := holder(t, 64<<20)
		for range 2 {
			must(t, m.BeginLevel())
			time.Sleep(2 * lookEvery) // it is looked at
			ended(t, m)
		}
	}
	level(t)
	synctest.Test(t, level)
	level(t)
	synctest.Test(t, level)
}
