package tiers

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/save"
)

func TestWorker_StatsAreOfOneMomentWhoeverReads(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	var over atomic.Bool
	torn := make(chan memory.Stats, 4)
	done := make(chan bool)
	for range 2 {
		go func() {
			defer func() { done <- true }()
			for !over.Load() {
				if s := w.Stats(); s.Live != s.Allocs-s.Frees || s.InUse > s.Committed || s.InUse > s.Peak || s.InUse != 16384*s.Live {
					torn <- s
					return
				}
			}
		}()
	}
	var held []unsafe.Pointer
	for i := range 60_000 {
		if len(held) < 20 && i%3 != 2 {
			held = append(held, alloc(t, w, 16384))
		} else {
			w.Free(held[len(held)-1], 16384)
			held = held[:len(held)-1]
		}
	}
	over.Store(true)
	<-done
	<-done
	select {
	case s := <-torn:
		t.Errorf("a reader saw %+v", s)
	default:
	}
	if s := w.Stats(); s.Live != uint64(len(held)) {
		t.Errorf("at rest %d blocks live of %d", s.Live, len(held))
	}
}

// A game that looks at a worker in a call after a load does not see what the worker did before the load.
func TestWorker_StatsInACallAfterALoad(t *testing.T) {
	cfg := small()
	cfg.Tags = true
	m := newManager(t, cfg)
	w := m.Worker(0)
	tag, err := m.Tag("subject")
	var set save.Set
	if err = errors.Join(err, set.Add("memory", m), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slot := set.NewSlot(1 << 20)
	if err := set.Save(slot); err != nil {
		t.Fatal(err)
	}
	view := w.Tag(tag)
	before, ofTag := w.Stats(), view.Stats()
	alloc(t, view, 1000)
	if w.Stats() == before || view.Stats() == ofTag {
		t.Fatal("a block is not counted")
	}
	if err := set.Load(slot); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock() // as during a call
	if got := w.Stats(); got != before {
		t.Errorf("got %+v, had %+v when saved", got, before)
	}
	if got := view.Stats(); got != ofTag {
		t.Errorf("the tag: got %+v, had %+v when saved", got, ofTag)
	}
	w.mu.Unlock()
}

func TestWorker_StatsDoNotWaitForAWorkerInTheMidstOfACall(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	alloc(t, w, 1000)
	before := w.Stats()
	alloc(t, w, 1000)
	w.mu.Lock() // in the midst of a call
	if got := w.Stats(); got != before {
		t.Errorf("got %+v, want what was seen last, %+v", got, before)
	}
	w.mu.Unlock()
	if got := w.Stats(); got.Live != 2 {
		t.Errorf("at rest: %+v", got)
	}
}

func TestManager_ASizeThatNoBlockOfAWorkerHasIsRefused(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	p, q := alloc(t, w, 3000), alloc(t, w, 3000)
	must(t, m.BeginFrame())
	m.Free(p, 3000)
	waiting := m.inbox.links[0].waiting
	for _, size := range []uintptr{math.MaxUint, math.MaxUint - 2999, m.cfg.Reserve[Inbox]} { // the sum of two wraps
		memtest.Misuse(t, func() { m.Free(q, size) }, "tiers.Free", "no block of that size lies there in the worker's heap")
		memtest.Misuse(t, func() { m.Resize(q, size, 1) }, "tiers.Resize", "no block of that size lies there in the worker's heap")
	}
	if m.inbox.links[0].waiting != waiting {
		t.Errorf("%d bytes wait, %d did", m.inbox.links[0].waiting, waiting)
	}
	m.Free(q, 3000)
	must(t, m.EndFrame())
	w.Settle()
	if s := w.Stats(); s.Live != 0 {
		t.Errorf("worker: %+v", s)
	}
}

func TestManager_BlocksOfAWorkerDoNotWaitForABatchToFill(t *testing.T) {
	cfg := small()
	cfg.Workers = 1
	cfg.Reserve[Inbox], cfg.Budget[Inbox] = 5<<20, 4<<20 // beside the scratch arena
	m := newManager(t, cfg)
	w := m.Worker(0)
	free := func(n int, sized bool) {
		t.Helper()
		var all []unsafe.Pointer
		for range n {
			all = append(all, alloc(t, w, 1<<20-256)) // four fill it
		}
		for _, p := range all {
			if sized {
				m.Free(p, 1<<20-256)
			} else {
				m.FreeAny(p)
			}
		}
	}
	for range 3 { // outside of frames
		free(4, true)
		free(4, false)
	}
	must(t, m.BeginFrame())
	for range 3 { // in the midst of one
		free(4, true)
		free(4, false)
	}
	must(t, m.EndFrame())
	w.Settle()
	if s := w.Stats(); s.Live != 0 || s.Failures != 0 {
		t.Errorf("worker: %+v", s)
	}
	must(t, m.Check())
}

func TestManager_SmallBlocksOfAWorkerShareABatch(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	live := func(want uint64) {
		t.Helper()
		w.Settle()
		if got := w.Stats().Live; got != want {
			t.Errorf("%d blocks live, want %d", got, want)
		}
	}
	var all []unsafe.Pointer
	for range 20 {
		all = append(all, alloc(t, w, 1000))
	}
	must(t, m.BeginFrame())
	for _, p := range all[:7] {
		m.Free(p, 1000)
	}
	live(20)
	m.Free(all[7], 1000)
	live(12) // the batch was full
	m.Free(all[8], 1000)
	live(12)
	if got := m.inbox.links[0].waiting; got != 1000 {
		t.Errorf("%d bytes wait", got)
	}
	must(t, m.Check())
	must(t, m.EndFrame())
	live(11)
	must(t, m.BeginFrame())
	most := m.inbox.links[0].most
	if want := w.limit.Budget() / 16; most != want {
		t.Errorf("%d bytes may wait, want %d", most, want)
	}
	large, small := alloc(t, w, most), alloc(t, w, 1)
	m.Free(large, most) // the size decides when to send
	live(13)
	m.Free(small, 1)
	live(11)
	must(t, m.EndFrame())
}

func TestWorker_FreeAndAllocCheckLikeAnyHeap(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(1)
	p := alloc(t, w, 1000)
	memtest.Misuse(t, func() { w.Free(p, 999) }, "tlsf.Free", "wrong size")
	memtest.Misuse(t, func() { m.Worker(0).Free(p, 1000) }, "lies in no pool")
	w.Free(p, 1000)
	memtest.Misuse(t, func() { w.Free(p, 1000) }, "double free")
	m.FreeAny(p)
	memtest.Misuse(t, w.Settle, "remote.Drain", "double free")
	w.Settle()
	alloc(t, w, 10)
	m.FreeAny(unsafe.Add(m.base, uintptr(p)-uintptr(m.base)+512))
	memtest.Misuse(t, func() { _, _ = w.Alloc(10, 1) }, "remote.Drain")
	alloc(t, w, 10) // the lock was given back
	must(t, m.Check())
}

func TestManager_SoftMarksCoverEveryTier(t *testing.T) {
	type call struct {
		tier              Tier
		committed, budget uintptr
	}
	var calls []call
	cfg := small()
	cfg.SoftMark = 0.5
	cfg.OnSoft = func(tier Tier, c, b uintptr) { calls = append(calls, call{tier, c, b}) }
	m := newManager(t, cfg)
	expect := func(when string, tiers ...Tier) {
		t.Helper()
		ok := len(calls) == len(tiers)
		for i := 0; ok && i < len(tiers); i++ {
			ok = calls[i].tier == tiers[i] && calls[i].committed > calls[i].budget/2 && calls[i].committed <= calls[i].budget
		}
		if !ok {
			t.Errorf("%s: told %v, want %v", when, calls, tiers)
		}
		calls = nil
	}
	expect("New commits the frame buffers")
	must(t, m.BeginLevel())
	_, err := m.Declare(planOf(t, 600<<10))
	must(t, err)
	expect("Declare", Static)
	alloc(t, m.Worker(1), 3<<20)
	alloc(t, m.Worker(0), 1<<20)
	expect("a worker, before the frame")
	must(t, m.BeginFrame())
	expect("BeginFrame", Inbox)
	room := m.Frame().Available()
	alloc(t, m.Frame(), room/2)
	must(t, m.EndFrame())
	expect("a frame at its mark")
	for _, share := range []uintptr{16, 16, 0, 16} {
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), room/2+share)
		if share == 0 {
			m.Frame().Reset()
		}
		must(t, m.EndFrame())
	}
	if len(calls) > 0 && calls[0].budget != room {
		t.Errorf("a buffer has %d bytes, told %d", room, calls[0].budget)
	}
	expect("frames above it, one below, and one above", Frame, Frame)
	alloc(t, m.Level(), 3<<20)
	expect("level", Level)
	for m.Stats(Slab).Committed <= 2<<20 {
		alloc(t, m, 4000)
	}
	expect("slab", Slab)
	alloc(t, m, 5<<20)
	expect("large", Large)
	objects, err := NewPool[[3]int64](m, objectsConfigOf(5<<20/24))
	must(t, err)
	for range objects.Cap() {
		_, _, err = objects.New()
		must(t, err)
	}
	expect("pools", Pools)
	must(t, m.BeginFrame())
	must(t, m.EndFrame())
	expect("nothing new")
	must(t, m.Check())
}
