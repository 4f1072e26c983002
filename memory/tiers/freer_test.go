package tiers

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/remote"
)

// What is full by items or by bytes is sent at once, in both directions, and nothing is refused.
func TestFreer_WhatWaitsIsBoundedByItemsAndByBytes(t *testing.T) {
	for _, c := range []struct {
		items            int
		bytes            uintptr
		toGame, toWorker int // blocks that wait at most, less one
		sized            int // blocks of 1000 bytes that are sent together
	}{
		{0, 0, 32, 8, 0}, {5, 0, 5, 5, 0}, {64, 4000, 64, 64, 4}, {1, 0, 1, 1, 1},
	} {
		cfg := tagged()
		cfg.FreeItems, cfg.FreeBytes, cfg.Tags = c.items, c.bytes, false
		m := newManager(t, cfg)
		w := m.Worker(0)
		for _, to := range []struct {
			a     memory.Allocator
			f     *remote.Freer
			most  int
			come  func() remote.Stats
			drain func()
		}{
			{m, m.NewFreer(), c.toGame, m.Inspect().RemoteFrees, func() { m.returned.Drain() }},
			{w, w.NewFreer(), c.toWorker, w.RemoteFrees, w.Settle},
		} {
			var live []unsafe.Pointer
			for range 200 {
				live = append(live, alloc(t, to.a, 1000))
			}
			for i, p := range live[:100] {
				to.f.FreeAny(p)
				if want := (i + 1) % to.most; to.f.Pending() != want || to.come().InFlight != uint64(i+1-want) {
					t.Fatalf("%+v: %d blocks wait after %d, %+v", c, to.f.Pending(), i+1, to.come())
				}
			}
			must(t, to.f.Flush())
			for i, p := range live[100:] {
				to.f.Free(p, 1000)
				if most := c.sized; most > 0 && to.f.Pending() != (i+1)%most {
					t.Fatalf("%+v: %d blocks wait after %d of 1000 bytes", c, to.f.Pending(), i+1)
				}
			}
			must(t, to.f.Close())
			if s := to.come(); s.InFlight != 200 || s.Drained != 0 {
				t.Errorf("%+v", s)
			}
			to.drain()
			if s := to.come(); s.InFlight != 0 || s.Drained != 200 {
				t.Errorf("%+v", s)
			}
		}
		if a, b := m.Stats(Slab).Live, w.Stats().Live; a != 0 || b != 0 {
			t.Errorf("%d and %d blocks are live", a, b)
		}
		must(t, m.Check())
	}
	for _, n := range []int{-1, 65} {
		cfg := small()
		cfg.FreeItems = n
		if _, err := New(cfg); err == nil || err.Error() != fmt.Sprintf("tiers: FreeItems %d: want 1 to 64, or 0 for 32 and 8: memory: invalid configuration", n) {
			t.Errorf("%v", err)
		}
	}
}

// What NewFreer says of refusals: what lies outside is refused at once, the rest when it is freed.
func TestManager_NewFreerRefusesAsItSays(t *testing.T) {
	m := newManager(t, small())
	objects, err := NewPool[[3]int64](m, objectsConfig)
	must(t, err)
	_, object, err := objects.New()
	must(t, err)
	p, q := alloc(t, m, 100), alloc(t, m, 100)
	f := m.NewFreer()
	var outside int64
	for name, at := range map[string]unsafe.Pointer{"Go": unsafe.Pointer(&outside), "behind": unsafe.Add(m.Base(), m.Extent())} {
		if err := protect(func() error { f.FreeAny(at); return nil }); !isMisuse(err) || f.Pending() != 0 {
			t.Errorf("%s: %v, and %d blocks wait", name, err, f.Pending())
		}
	}
	f.FreeAny(p)
	f.Free(unsafe.Pointer(object), unsafe.Sizeof(*object))
	f.FreeAny(q)
	must(t, f.Flush())
	memtest.Misuse(t, func() { _ = m.BeginFrame() }, "remote.Drain", ofPool)
	must(t, errors.Join(m.BeginFrame(), m.EndFrame()))
	if n := m.Stats(Slab).Live; n != 0 {
		t.Errorf("%d blocks are live", n)
	}
	base := m.Base()
	must(t, m.Close())
	late := m.NewFreer()
	late.FreeAny(base)
	f.FreeAny(base)
	for _, err := range []error{f.Flush(), f.Close(), late.Flush(), late.Close()} {
		if !errors.Is(err, memory.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	memtest.Misuse(t, func() { late.FreeAny(base) }, "remote.Free", "the Freer is closed")
}

// Inside a frame the game's own frees of a worker's blocks wait for each other, as far as the
// configured bytes reach.
func TestManager_FreeOfAWorkersBlocksKeepsToTheBytesThatMayWait(t *testing.T) {
	cfg := small()
	cfg.FreeBytes = 3000
	m := newManager(t, cfg)
	w := m.Worker(0)
	var live []unsafe.Pointer
	for range 8 {
		live = append(live, alloc(t, w, 1000))
	}
	must(t, m.BeginFrame())
	for i, p := range live {
		m.Free(p, 1000)
		if want := (i + 1) / 4 * 4; w.RemoteFrees().Pushed != uint64(want) {
			t.Errorf("%d of %d blocks were sent, want %d", w.RemoteFrees().Pushed, i+1, want)
		}
		must(t, m.Check())
	}
	must(t, m.EndFrame())
	w.Settle()
	if s := w.Stats(); s.Live != 0 {
		t.Errorf("%+v", s)
	}
}

func TestWorker_FreerRefusesOtherBlocksAndOutlivesTheManager(t *testing.T) {
	m := newManager(t, tagged())
	w, tag := m.Worker(0), newTag(t, m, "a")
	f := w.NewFreer()
	s, err := w.BeginTask()
	must(t, err)
	for name, p := range map[string]unsafe.Pointer{"the game's": alloc(t, m, 100), "another worker's": alloc(t, m.Worker(1), 100), "scratch": alloc(t, s, 100)} {
		if err := protect(func() error { f.FreeAny(p); return nil }); !errors.As(err, new(*memory.Misuse)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.FreeAny(nil)
	must(t, w.EndTask())
	p := alloc(t, w.Tag(tag), 100)
	f.FreeAny(p)
	must(t, f.Flush())
	w.Settle()
	if s := tag.Stats(); s.Live != 0 || s.Frees != 1 {
		t.Errorf("%+v", s)
	}
	q := alloc(t, w.Tag(tag), 100)
	f.FreeAny(q)
	f.FreeAny(q)
	must(t, f.Flush())
	memtest.Misuse(t, w.Settle, "remote.Drain", "double free")
	w.Settle()
	must(t, m.Check())
	r := alloc(t, w, 100)
	must(t, m.Close())
	f.FreeAny(r)
	if err := f.Close(); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v", err)
	}
	if s := w.RemoteFrees(); s.Abandoned != 1 {
		t.Errorf("%+v", s)
	}
}

// Two workers and the game free each other's blocks, all at once.
func TestFreer_BothDirectionsAtOnce(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Inbox], cfg.FreeItems = 16<<20, 16
	m := newManager(t, cfg)
	tag := newTag(t, m, "a")
	const n = 2000
	toWorker := [2]chan unsafe.Pointer{make(chan unsafe.Pointer, 64), make(chan unsafe.Pointer, 64)}
	toGame := make(chan unsafe.Pointer, 64)
	var all sync.WaitGroup
	for k := range 2 {
		all.Go(func() { // allocates for the other one, and frees what that and the game have made
			w := m.Worker(k)
			v, other, game := w.Tag(tag), m.Worker(1-k).NewFreer(), m.NewFreer()
			for range n {
				p, err := v.Alloc(500, 16)
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case toWorker[1-k] <- p:
				case q := <-toWorker[k]:
					other.Free(q, 500)
					v.Free(p, 500)
				case q := <-toGame:
					game.Free(q, 700)
					v.Free(p, 500)
				default:
					v.Free(p, 500)
				}
			}
			if err := errors.Join(other.Close(), game.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range n / 4 {
		must(t, m.BeginFrame())
		select {
		case toGame <- alloc(t, tag, 700):
		default:
			if i%50 == 0 {
				must(t, m.EndFrame())
				must(t, m.Check())
				must(t, m.BeginFrame())
			}
			select {
			case p := <-toGame:
				m.Free(p, 700)
			default:
			}
		}
		must(t, m.EndFrame())
	}
	all.Wait()
	for k := range 2 {
		close(toWorker[k])
		for p := range toWorker[k] {
			m.Free(p, 500)
		}
	}
	close(toGame)
	for p := range toGame {
		m.FreeAny(p)
	}
	must(t, m.BeginFrame())
	must(t, m.EndFrame())
	m.Worker(0).Settle()
	m.Worker(1).Settle()
	must(t, m.Check())
	if a, b := m.Stats(Inbox), tag.Stats(); a.Live != 0 || b.Allocs-b.Frees != m.Stats(Slab).Live {
		t.Errorf("workers %+v, the tag %+v", a, b)
	}
}
