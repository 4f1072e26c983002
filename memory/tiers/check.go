package tiers

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/findings"
	"github.com/strata-go/strata/memory/page"
)

// Check verifies the metadata of the manager, of every tier and of every registered pool that is a memory.Checker. It
// returns nil, or one error that joins up to 32 inconsistencies and has the number of the others. Once Close has reset
// the pools, Check returns nil. Call Check on the game goroutine. While Check verifies a worker's heap, calls that
// change the worker wait, and Worker.Stats returns its previous result. Cost: the Check of every allocator.
func (m *Manager) Check() error {
	if m.phase >= closing {
		return nil
	}
	c := checker{List: findings.List{Of: "tiers"}, m: m}
	for _, step := range [...]func(){c.tiers, c.space, c.limits, c.course, c.counters, c.tags} {
		if step(); m.phase >= closing {
			return nil // a pool's Stats has closed it
		}
	}
	return c.Err()
}

// checker is the state of one Check.
type checker struct {
	findings.List
	m *Manager
}

func (c *checker) tiers() {
	for _, s := range c.m.states {
		if s.check(c); c.m.phase >= closing {
			return
		}
	}
	c.Join(c.m.returned.Check())
	c.Join(c.m.allOpen())
}

// allOpen returns an error if the program has closed an allocator that only Close may close: its reservation is gone.
func (m *Manager) allOpen() error {
	for t := range Tier(Count) {
		if err := m.open(t); err != nil {
			return err
		}
	}
	return nil
}

// open is allOpen for one tier.
func (m *Manager) open(t Tier) error {
	if want := m.built[t]; want > 0 && m.states[t].stats(m).Reserved < want {
		return fmt.Errorf("tiers: the program has closed an allocator of the %s tier, which only Manager.Close may close: %w", t, memory.ErrClosed)
	}
	return nil
}

// check verifies a worker's heap and inbox, and that what is committed is the heap's.
func (w *Worker) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.heap.Check(), w.inbox.Check(), w.checkTags())
	if w.scratch.lost() { // the bytes of an open task are not noted
		return errors.Join(err, w.closedScratch())
	}
	err = errors.Join(err, w.scratch.check())
	if got, want := uint64(w.limit.Committed()), w.heap.Stats().Committed+w.scratch.stats.Committed; got != want || w.limit.Committed() > w.limit.Budget() {
		err = errors.Join(err, fmt.Errorf("%d bytes are committed of a budget of %d, the heap and scratch have %d", got, w.limit.Budget(), want))
	}
	return err
}

// space verifies the equations above the space.
func (c *checker) space() {
	m := c.m
	if uintptr(len(m.route)) != m.size>>regionShift || m.size%regionBytes != 0 ||
		!m.whole.Contains(m.base) || m.size > m.whole.Size-(uintptr(m.base)-uintptr(m.whole.Base)) {
		c.Add("%d regions route %d bytes from %p, of %d from %p", len(m.route), m.size, m.base, m.whole.Size, m.whole.Base)
		return
	}
	off := uintptr(0)
	for route, part := range m.eachPart {
		t := tierOfRoute[route]
		size := m.cfg.space(t)
		if size%regionBytes != 0 || size > m.size-off {
			c.Add("%d bytes of %s at %d are not whole regions of %d bytes", size, t, off, m.size)
			return
		}
		if want := (page.Memory{Base: unsafe.Add(m.base, off), Size: size}); part.Memory() != want {
			c.Add("%s has the part %+v, want %+v", t, part.Memory(), want)
		}
		c.Join(part.Check())
		for end := off + size; off < end; off += regionBytes {
			if got := m.route[off>>regionShift]; got != route {
				c.Add("region %d of %s routes to %d", off>>regionShift, t, got)
			}
		}
	}
	if off != m.size {
		c.Add("the tiers end at %d of %d bytes", off, m.size)
	}
}

// limits verifies the budgets.
func (c *checker) limits() {
	m := c.m
	for t, l := range m.limits {
		if l == nil {
			continue
		}
		if l.Committed() > l.Budget() || l.Budget() != m.cfg.Budget[t] || l.Peak() < l.Committed() {
			c.Add("%s has committed %d bytes, at most %d, of a budget of %d, configured %d", Tier(t), l.Committed(), l.Peak(), l.Budget(), m.cfg.Budget[t])
		}
		if have := m.Stats(Tier(t)).Committed; have != uint64(l.Committed()) {
			c.Add("%s has committed %d bytes, its allocator %d", Tier(t), l.Committed(), have)
		}
	}
}

// course verifies the state of frames and levels that belongs to no single tier.
func (c *checker) course() {
	m := c.m
	if m.phase&inLevel != 0 && m.level.begun == 0 || m.phase&inFrame != 0 && m.frame.begun == 0 {
		c.Add("in phase %d %d levels and %d frames have begun", m.phase, m.level.begun, m.frame.begun)
	}
	for t := range m.history {
		if at := m.history[t].at; uint(at) >= HistoryLen || at != m.history[0].at {
			c.Add("%s is at sample %d, %s at %d", Tier(t), at, Tier(0), m.history[0].at)
		}
	}
}

// counters verifies that no counter has decreased.
func (c *checker) counters() {
	m := c.m
	now := m.allStats()
	for t := range Tier(Count) {
		if table[t].recounts {
			continue
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
		c.Add("%s at %s had %+v, which is not before %+v", t, when, *then, *now)
	}
}
