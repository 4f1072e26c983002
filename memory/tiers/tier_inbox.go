package tiers

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
)

var inboxRow = row{
	Info: Info{
		Name: "inbox", Text: "heaps of worker goroutines; freed one by one, from any goroutine",
		Color: 0x4fe0c0, Reserve: 32 << 20, PerWorker: true,
	},
	state: func(m *Manager) state { return &m.inbox },
	space: func(c *Config) uintptr {
		_, each := c.scratchBytes() // builds whose expired frames rest have space for those, too
		return align.Up(c.Reserve[Inbox]+arena.RestingFrames*each, regionBytes)
	},
	most:   workerGranule << 28, // of tlsf: 2^28 granules
	tagged: true,
}

// inboxTier has the workers.
type inboxTier struct {
	basic
	noHooks
	parts   []*page.Carve // of the reservation, by worker
	workers []*Worker
	links   []link // by worker
}

// A link is how the game goroutine frees the blocks of a worker.
type link struct {
	freer   *remote.Freer
	waiting uintptr // bytes of the blocks in freer, as far as sizes are known
	most    uintptr // that may wait
}

// linkShare: at most a sixteenth of a worker's budget waits for a batch to fill.
const linkShare = 16

func (t *inboxTier) build(m *Manager) error {
	for k, part := range t.parts {
		w, err := newWorker(m, k, part)
		if err != nil {
			return fmt.Errorf("worker %d: %w", k, err)
		}
		t.workers = append(t.workers, w)
		t.links = append(t.links, link{freer: w.inbox.NewFreer(), most: w.mostWaiting()})
	}
	return nil
}

// workerOf returns the index of the worker in whose part p lies.
func (m *Manager) workerOf(p unsafe.Pointer) int {
	route, _ := m.routeOf(p)
	return int(route) - Count
}

const ofScratch = "the block lies in a worker's scratch arena; it is freed when its task ends"

// free sends the block to its worker. Whether it is live is only known there.
func (t *inboxTier) free(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) bool {
	k := t.mustFit(m, op, p, size, known)
	t.links[k].send(p, size, known && m.phase&inFrame != 0)
	return true
}

func (t *inboxTier) resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	t.mustFit(m, "Resize", p, oldSize, true)
	return newSize == oldSize, true
}

// mustFit panics if no block of size bytes of a worker's heap can start at p, and in debug builds if the newest
// block there had another size. It returns the worker.
func (t *inboxTier) mustFit(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) (worker int) {
	worker = m.workerOf(p)
	off := uintptr(p) - uintptr(t.parts[worker].Memory().Base)
	_, scratch := m.cfg.scratchBytes()
	heap := m.cfg.Reserve[Inbox] - scratch
	if off >= heap {
		panic(m.misuse(op, p, size, ofScratch))
	}
	if !known {
		return worker
	}
	if size > heap-off {
		panic(m.misuse(op, p, size, "no block of that size lies there in the worker's heap"))
	}
	if w := t.workers[worker]; invariant.Debug && w.sizes.GenerationAt(p) != 0 && w.sizes.SizeAt(p) != size {
		panic(m.misuse(op, p, size, fmt.Sprintf("wrong size: the worker's block was requested with %d bytes, not %d", w.sizes.SizeAt(p), size)))
	}
	return worker
}

// send sends a block to its worker, together with the next ones if it may wait for them.
func (l *link) send(p unsafe.Pointer, size uintptr, wait bool) {
	l.freer.FreeAny(p)
	if l.waiting += size; l.freer.Pending() == 0 {
		l.waiting = 0 // the batch was full
	}
	if !wait || l.waiting > l.most {
		_ = l.flush() // fails only if the inbox is closed, and then the block's memory is released, too
	}
}

func (l *link) flush() error {
	l.waiting = 0
	if l.freer.Pending() == 0 {
		return nil
	}
	return l.freer.Flush()
}

// flush sends what waits for the workers.
func (t *inboxTier) flush() (failed error) {
	for k := range t.links {
		if err := t.links[k].flush(); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// tellSoft calls Config.OnSoft for the workers that rose past their soft marks.
func (t *inboxTier) tellSoft(m *Manager) {
	for _, w := range t.workers {
		if n := w.soft.Load(); n != w.told && m.phase < closing {
			w.told = n // first: OnSoft may panic each time
			m.onSoft(Inbox, uintptr(w.Stats().Committed), w.limit.Budget())
		}
	}
}

func (t *inboxTier) stats(*Manager) (s stats) {
	for _, w := range t.workers {
		s = s.Add(w.Stats())
	}
	return s
}

func (t *inboxTier) check(c *checker) {
	if len(t.workers) != len(t.parts) || len(t.links) != len(t.parts) || len(t.parts) != c.m.cfg.Workers {
		c.Add("%d parts, %d workers and %d links, %d configured", len(t.parts), len(t.workers), len(t.links), c.m.cfg.Workers)
		return
	}
	for k, w := range t.workers {
		if err := w.check(); err != nil {
			c.Add("worker %d: %w", k, err)
		}
		if l := &t.links[k]; l.freer.Pending() == 0 && l.waiting != 0 || l.waiting > l.most || l.most != w.mostWaiting() {
			c.Add("%d blocks of %d bytes wait for worker %d, at most %d may", l.freer.Pending(), l.waiting, k, l.most)
		}
		if want := c.m.cfg.share(len(t.workers)); w.limit.Budget() != want {
			c.Add("worker %d has a budget of %d bytes, want %d", k, w.limit.Budget(), want)
		}
	}
}

func (t *inboxTier) beginLevel() {
	for _, w := range t.workers {
		w.beginEpoch()
	}
}

func (t *inboxTier) leaks(_ *Manager, l *Leak, byTag *[MaxTags + 1]Leak) {
	for k, w := range t.workers {
		_ = t.links[k].flush()
		w.young(l, byTag)
	}
}

func (t *inboxTier) close(e *ending, stage stage) {
	for k, w := range t.workers {
		switch stage {
		case closeArenas:
			e.add(fmt.Sprintf("the scratch arena of worker %d", k), w.closeScratch)
		case closeHeaps:
			doing := fmt.Sprintf("a block that is returned to worker %d", k)
			if k < len(t.links) {
				e.add(doing, t.links[k].freer.Close)
			}
			e.add(doing, w.close)
		}
	}
}

func (t *inboxTier) lose(*Manager) {
	for i := len(t.workers) - 1; i >= 0; i-- {
		w := t.workers[i]
		w.lose()
		if !w.over {
			w.inbox.Reset() // blocks in flight are lost with the memory
		}
		_ = w.close()
	}
}
