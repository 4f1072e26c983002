package gcpace

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func suspending(t *testing.T, headroom int64) *Pacer {
	t.Helper()
	return open(t, Config{Headroom: headroom, Suspend: true})
}

// The runtime's own collection of every two minutes is begun unless GOGC is off: runtime's
// gcTrigger.test has it so. A run of three minutes is among the nightly ones.
func TestSuspend_GOGCIsOffInALevelAndPacedOutsideOne(t *testing.T) {
	host(t, 70)
	limit := debug.SetMemoryLimit(-1)
	m := suspending(t, 64<<20)
	for range 3 {
		wantPaced(t, "outside a level", 64<<20)
		m.BeginLevel()
		wantGOGC(t, "in a level", off)
		litter(1 << 20)
		m.Collect()
		wantGOGC(t, "after Collect", off)
		runtime.GC()
		pacing.follow()
		wantGOGC(t, "after a collection of the host's", off)
		poll()
		wantGOGC(t, "after a look", off)
		m.EndLevel()
	}
	m.BeginLevel()
	must(t, m.Close())
	wantGOGC(t, "closed in a level", 70)
	if l := debug.SetMemoryLimit(-1); l != limit {
		t.Errorf("the memory limit is %d, was %d", l, limit)
	}
}

func TestSuspend_ALevelThatSpendsItsHeadroomIsCollected(t *testing.T) {
	host(t, 100)
	m := suspending(t, 32<<20)
	m.BeginLevel()
	litter(24 << 20)
	poll()
	wantGOGC(t, "with three quarters of the headroom spent", off)
	eventually(t, "a collection in play", func() bool {
		litter(4 << 20)
		return m.Stats().InPlay > 0
	})
	if p := gogc(); p == off {
		t.Error("GOGC is off although the headroom is spent")
	}
	m.EndLevel()
	m.BeginLevel()
	wantGOGC(t, "in the next level", off)
	m.EndLevel()
	must(t, m.Close())
	wantGOGC(t, "after Close", 100)
}

// The headroom counts from the last collection, whatever required it.
func TestSuspend_ACollectionBetweenGivesTheHeadroomAnew(t *testing.T) {
	host(t, 100)
	m := suspending(t, 32<<20)
	m.BeginLevel()
	for range 4 {
		litter(20 << 20)
		m.Collect()
		poll()
		wantGOGC(t, "after 20 MiB and Collect", off)
	}
	if n := m.Stats().InPlay; n != 0 {
		t.Errorf("%d collections in play", n)
	}
	m.EndLevel()
}

func TestSuspend_AHostsGCPercentSetMeanwhileIsKept(t *testing.T) {
	for _, own := range []int{50, 100, 400, 0} {
		host(t, 70)
		m := suspending(t, 16<<20)
		m.BeginLevel()
		if ours := debug.SetGCPercent(own); ours != off {
			t.Errorf("GOGC was %d in the level", ours)
		}
		litter(24 << 20)
		poll()
		wantGOGC(t, "with the headroom spent", own)
		m.EndLevel()
		wantGOGC(t, "after EndLevel", own)
		m.BeginLevel()
		wantGOGC(t, "in the next level", own)
		m.EndLevel()
		must(t, m.Close())
		wantGOGC(t, "after Close", own)
	}
}

func TestSuspend_OffBeforeNewStaysOff(t *testing.T) {
	host(t, off)
	m := suspending(t, 1<<20)
	m.BeginLevel()
	litter(4 << 20)
	poll()
	wantGOGC(t, "with the headroom spent", off)
	m.EndLevel()
	must(t, m.Close())
	wantGOGC(t, "after Close", off)
}

func TestSuspend_WithAnotherPacerItLastsAsLongAsTheLevel(t *testing.T) {
	host(t, 90)
	a, b := suspending(t, 64<<20), paced(t, 128<<20)
	a.BeginLevel()
	b.BeginLevel()
	wantGOGC(t, "in both levels", off)
	b.EndLevel()
	wantGOGC(t, "in the level of the other", off)
	must(t, b.Close())
	wantGOGC(t, "with the other one closed", off)
	b = paced(t, 128<<20)
	wantGOGC(t, "with a new one", off)
	a.EndLevel()
	wantPaced(t, "after the level", 128<<20)
	must(t, a.Close())
	wantPaced(t, "with the other one", 128<<20)
	must(t, b.Close())
	wantGOGC(t, "after both", 90)
}

func TestSuspend_TheMemoryLimitIsHonoured(t *testing.T) {
	host(t, 100)
	debug.FreeOSMemory()
	debug.SetMemoryLimit(int64(metric("/memory/classes/total:bytes")-metric("/memory/classes/heap/released:bytes")) + 48<<20)
	m := suspending(t, 0)
	m.BeginLevel()
	litter(200 << 20)
	eventually(t, "a collection, of 200 MiB of garbage with a limit 48 MiB above what there was", func() bool { return m.Stats().InPlay > 0 })
	m.EndLevel()
}

func TestSuspend_KeepLeavesTheCollectorAlone(t *testing.T) {
	host(t, 85)
	m := open(t, Config{Keep: true, Suspend: true})
	m.BeginLevel()
	wantGOGC(t, "in a level", 85)
	m.EndLevel()
}

//go:noinline
func dropSuspending(t *testing.T) {
	m, err := New(Config{Suspend: true})
	must(t, err)
	m.BeginLevel()
}

func TestSuspend_ADroppedPacerRestoresGOGC(t *testing.T) {
	host(t, 80)
	dropSuspending(t)
	wantGOGC(t, "in the level of a pacer that is dropped", off)
	eventually(t, "the dropped pacer restores GOGC", func() bool {
		runtime.GC()
		return gogc() == 80
	})
}

func TestSuspend_APollAllocatesNothing(t *testing.T) {
	host(t, 100)
	m := suspending(t, 0)
	m.BeginLevel()
	if n := testing.AllocsPerRun(100, poll); n != 0 {
		t.Errorf("%v allocations a look", n)
	}
	m.EndLevel()
}

func poll() {
	pacing.Lock()
	defer pacing.Unlock()
	pacing.poll()
}

// A test in a bubble leaves no timer that pacers outside of it use, nor the other way round.
func TestSuspend_InABubbleOfSynctestAndOutside(t *testing.T) {
	level := func(t *testing.T) {
		m := suspending(t, 64<<20)
		for range 2 {
			m.BeginLevel()
			time.Sleep(2 * pollEvery) // it is looked at
			m.EndLevel()
		}
	}
	level(t)
	synctest.Test(t, level)
	level(t)
	synctest.Test(t, level)
}
