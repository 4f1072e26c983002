package tiers

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// Check verifies the invariants above the Manager, and those of every tier, and reports all
// that is broken. On the game goroutine; a worker waits meanwhile. Cost: as the tiers' own.
func (m *Manager) Check() error {
	if m.phase >= closing {
		return nil
	}
	c := checker{m: m}
	for _, step := range [...]func(){c.tiers, c.pools, c.routes, c.limits, c.phase, c.counters, c.tags} {
		if step(); m.phase >= closing {
			return nil // a pool's books have ended it
		}
	}
	return errors.Join(c.errs...)
}

// checker is the state of one Check.
type checker struct {
	m    *Manager
	errs []error
}

func (c *checker) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("tiers: "+format, args...))
}

// join adds what a part says of itself.
func (c *checker) join(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) tiers() {
	m := c.m
	for _, p := range []memory.Checker{&m.static, m.frames, m.level, m.slab, m.large, m.home} {
		c.join(p.Check())
	}
	for k, w := range m.workers {
		if err := w.check(); err != nil {
			c.fail("worker %d: %w", k, err)
		}
		if k >= len(m.outbox) {
			continue // said elsewhere
		}
		if o := &m.outbox[k]; o.freer.Pending() == 0 && o.waiting != 0 || o.waiting > o.most || o.most != w.outboxMost() {
			c.fail("%d blocks of %d bytes wait for worker %d, at most %d may", o.freer.Pending(), o.waiting, k, o.most)
		}
	}
}

// check verifies a worker's heap and inbox, and that what is committed is the heap's.
func (w *Worker) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.heap.Check(), w.inbox.Check(), w.checkTags(), w.scratch.check())
	if got, want := uint64(w.limit.Committed()), w.heap.Stats().Committed+w.scratch.stats.Committed; got != want || w.limit.Committed() > w.limit.Budget() {
		err = errors.Join(err, fmt.Errorf("%d bytes are committed of a budget of %d, the heap and scratch have %d", got, w.limit.Budget(), want))
	}
	return err
}

// pools verifies the pools' books, as far as the manager can see them.
func (c *checker) pools() {
	var inUse uint64
	for _, p := range c.m.pools {
		if k, ok := p.pool.(memory.Checker); ok {
			if err := k.Check(); err != nil {
				c.fail("pool %q: %w", p.name, err)
			}
		}
		s := p.books()
		if s.Live != s.Allocs-s.Frees || s.InUse > s.Committed || s.Committed > s.Reserved || s.InUse > s.Peak {
			c.fail("pool %q reports %+v", p.name, s)
		}
		if p.ended > c.m.ending+1 {
			c.fail("pool %q was reset in ending %d, and it is %d", p.name, p.ended, c.m.ending)
		}
		inUse += s.InUse
	}
	if have := uint64(c.m.limits[Pools].Committed()); inUse > have {
		c.fail("the pools have %d bytes in use, %d are committed", inUse, have)
	}
}

// routes verifies that the ranges follow each other, each with its route and its carve.
func (c *checker) routes() {
	m := c.m
	if uintptr(len(m.route)) != m.size>>regionShift || m.size%regionBytes != 0 ||
		!m.whole.Contains(m.base) || m.size > m.whole.Size-(uintptr(m.base)-uintptr(m.whole.Base)) {
		c.fail("%d regions route %d bytes from %p, of %d from %p", len(m.route), m.size, m.base, m.whole.Size, m.whole.Base)
		return
	}
	if len(m.carves) != int(Inbox)+len(m.workers) || len(m.workers) != m.cfg.Workers || len(m.outbox) != len(m.workers) {
		c.fail("%d carves and %d ways for %d workers, %d configured", len(m.carves), len(m.outbox), len(m.workers), m.cfg.Workers)
		return
	}
	off := uintptr(0)
	for i, carve := range m.carves {
		t, route := Tier(min(i, int(Inbox))), uint8(i)
		if t == Inbox {
			route = uint8(Count + i - int(Inbox))
		}
		size := m.cfg.span(t)
		if size%regionBytes != 0 || size > m.size-off {
			c.fail("%d bytes of %s at %d are not whole regions of %d bytes", size, t, off, m.size)
			return
		}
		if want := (page.Memory{Base: unsafe.Add(m.base, off), Size: size}); carve.Memory() != want {
			c.fail("%s cuts from %+v, want %+v", t, carve.Memory(), want)
		}
		c.join(carve.Check())
		if t < Inbox {
			route = m.cfg.route(t)
		}
		for end := off + size; off < end; off += regionBytes {
			if got := m.route[off>>regionShift]; got != route {
				c.fail("region %d of %s routes to %d", off>>regionShift, t, got)
			}
		}
	}
	if off != m.size {
		c.fail("the tiers end at %d of %d bytes", off, m.size)
	}
}

// limits verifies the budgets.
func (c *checker) limits() {
	m := c.m
	for t := range Inbox {
		l := m.limits[t]
		if l.Committed() > l.Budget() || l.Budget() != m.cfg.Budget[t] || l.Peak() < l.Committed() {
			c.fail("%s has committed %d bytes, at most %d, of a budget of %d, configured %d", t, l.Committed(), l.Peak(), l.Budget(), m.cfg.Budget[t])
		}
		if t == Pools {
			continue // what is not registered is committed, too
		}
		if have := m.Stats(t).Committed; have != uint64(l.Committed()) {
			c.fail("%s has committed %d bytes, its allocator %d", t, l.Committed(), have)
		}
	}
	for k, w := range m.workers {
		if want := m.cfg.share(len(m.workers)); w.limit.Budget() != want {
			c.fail("worker %d has a budget of %d bytes, want %d", k, w.limit.Budget(), want)
		}
	}
}

// phase verifies what depends on where the game is.
func (c *checker) phase() {
	m := c.m
	if m.frames.Frame() != m.frame {
		c.fail("the frame arenas are at frame %d, the manager at %d", m.frames.Frame(), m.frame)
	}
	cur, lev := m.shut.frame, m.shut.level
	if m.phase&inFrame != 0 {
		cur = m.frames.Current()
	}
	if m.phase&inLevel != 0 {
		lev = m.level
	} else if m.static.arena != nil || m.level.Used() > 0 {
		c.fail("there is no level, but its memory: %d bytes, static %v", m.level.Used(), m.static.arena != nil)
	}
	if m.cur != cur || m.lev != lev {
		c.fail("in phase %d the arena of the frame is %p, want %p, of the level %p, want %p", m.phase, m.cur, cur, m.lev, lev)
	}
	if m.phase&inLevel != 0 && m.levels == 0 || m.phase&inFrame != 0 && m.frame == 0 {
		c.fail("in phase %d %d levels and %d frames have begun", m.phase, m.levels, m.frame)
	}
	for t := range m.history {
		if at := m.history[t].at; uint(at) >= HistoryLen || at != m.history[0].at {
			c.fail("%s is at sample %d, %s at %d", Tier(t), at, Tier(0), m.history[0].at)
		}
	}
}

// counters verifies that the books run forwards.
func (c *checker) counters() {
	m := c.m
	now := m.allStats()
	for t := range Tier(Count) {
		if t == Pools {
			continue // a pool may be removed, and its counts with it
		}
		last := &now[t]
		if m.phase&inFrame != 0 {
			c.order(t, "BeginFrame", &m.atFrame[t], last)
			last = &m.atFrame[t]
		}
		if m.phase&inLevel != 0 {
			c.order(t, "BeginLevel", &m.atLevel[t], last)
		}
	}
}

func (c *checker) order(t Tier, when string, then, now *memory.Stats) {
	if then.Allocs > now.Allocs || then.Frees > now.Frees || then.Failures > now.Failures || then.Peak > now.Peak || then.Live != then.Allocs-then.Frees {
		c.fail("%s at %s had %+v, which is not before %+v", t, when, *then, *now)
	}
}
