package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

var poolsRow = row{
	Info: Info{
		Name: "pools", Text: "typed pools and component columns; freed by object, and at EndLevel",
		Color: 0xffd166, Reserve: 128 << 20, Freed: LevelEnd, Hooks: LevelEnd,
	},
	state:    func(m *Manager) state { return &m.pools },
	tagged:   true,
	shared:   true,
	recounts: true, // a pool that is removed takes its counts out of the sum
}

// poolsTier has the pools that are registered.
type poolsTier struct {
	basic
	hookList
	all        []*poolEntry // in order of registration; its array never changes, as a pool's Stats may remove others
	registered uint64       // pools so far, without those that loads have discarded
	serial     uint64       // pools so far
	busy       bool         // pools are being reset or closed
	undone     uint64       // failures of the limit that loads have taken back
	ending     uint64       // number of the EndLevel or Close that is next or under way, less 1; see poolEntry.ended
}

const ofPool = "the block belongs to a pool; free it through its pool's handle"

// build does nothing: pools are built on PoolSource.
func (t *poolsTier) build(*Manager) error { return nil }

func (t *poolsTier) free(m *Manager, op string, p unsafe.Pointer, size uintptr, _ bool) bool {
	panic(m.misuse(op, p, size, ofPool))
}

func (t *poolsTier) resize(m *Manager, p unsafe.Pointer, oldSize, _ uintptr) (ok, live bool) {
	panic(m.misuse("Resize", p, oldSize, ofPool))
}

// stats adds up the pools. Commits that the budget refused count as failures of the tier: a pool may
// have handled one without a failure of its own.
func (t *poolsTier) stats(m *Manager) (s stats) {
	for _, p := range t.all {
		now := p.read()
		p.touched = max(now.InUse, min(p.touched, now.Committed))
		s = s.Add(now)
	}
	l := m.limits[Pools]
	if s.Committed = 0; m.size > 0 {
		s.Committed = uint64(l.Committed())
	}
	s.Failures = max(s.Failures, t.refused(l))
	return s
}

// touched returns the sum of what the pools are taken to have resident. A pool that shrinks keeps pages that one that
// grows cannot use.
func (t *poolsTier) touched(uint64) (sum uint64) {
	for _, p := range t.all {
		sum += p.touched
	}
	return sum
}

// refused returns how many commits the limit has refused.
func (t *poolsTier) refused(l *page.Limit) uint64 { return l.Failures() - t.undone }

// check verifies the pools' statistics, as far as the manager can read them.
func (t *poolsTier) check(c *checker) {
	var inUse uint64
	for _, p := range t.all {
		if err := p.open(); err != nil {
			c.Add("%w", err)
		}
		if k, ok := p.pool.(memory.Checker); ok {
			if err := k.Check(); err != nil {
				c.Add("pool %q: %w", p.name, err)
			}
		}
		s := p.read()
		if s.Live != s.Allocs-s.Frees || s.InUse > s.Committed || s.Committed > s.Reserved || s.InUse > s.Peak {
			c.Add("pool %q reports %+v", p.name, s)
		}
		if p.ended > t.ending+1 {
			c.Add("pool %q was reset in ending %d, and it is %d", p.name, p.ended, t.ending)
		}
		inUse += s.InUse
	}
	if have := uint64(c.m.limits[Pools].Committed()); inUse > have {
		c.Add("the pools have %d bytes in use, %d are committed", inUse, have)
	}
}

// noteLevel records what the pools without a reset contain when a level begins.
func (t *poolsTier) noteLevel() {
	for _, p := range t.all {
		if p.reset == nil {
			p.atLevel = p.read()
		}
	}
}

// end resets the pools, newest first. It skips a pool that a failed EndLevel has reset, unless that has
// handed out objects since. If a reset ends the page source, the other pools have ended.
func (t *poolsTier) end(m *Manager) error {
	t.busy = true
	defer func() { t.busy = false }()
	for i := len(t.all) - 1; i >= 0 && m.phase < closing; i-- {
		p := t.all[i]
		if p.reset == nil || p.ended == t.ending+1 && p.read().Live <= p.kept.Live {
			continue
		}
		if err := p.open(); err != nil {
			return fmt.Errorf("tiers: %w", err)
		}
		p.reset()
		p.ended = t.ending + 1
		if m.phase < closing {
			p.kept = p.read()
		}
	}
	return nil
}

// grown returns a row for each pool that contains more than it should when the level ends.
func (t *poolsTier) grown() (rows []PoolLeak) {
	for _, p := range t.all {
		row, before := PoolLeak{Pool: p.name, AfterReset: p.reset != nil}, &p.atLevel
		if row.AfterReset {
			before = &p.kept
		}
		if row.since(*before, p.read()); row.Blocks > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func (t *poolsTier) close(e *ending, stage stage) {
	switch stage {
	case resetPools:
		e.steps = append(e.steps, func() { t.resetAll(e) })
	case closePools:
		e.steps = append(e.steps, func() { t.closeAll(e) })
	}
}

// resetAll resets the pools that a failed EndLevel or Close has not reset, newest first.
func (t *poolsTier) resetAll(e *ending) {
	t.busy = true
	defer func() { t.busy = false }()
	for i := len(t.all) - 1; i >= 0 && e.m.phase < closing; i-- {
		p := t.all[i]
		if p.reset == nil || p.ended == t.ending+1 || closedPool(p.pool) {
			continue
		}
		e.doing = fmt.Sprintf("the reset of pool %q", p.name)
		if e.forced {
			p.ended = t.ending + 1
		}
		p.reset()
		p.ended = t.ending + 1
	}
}

// closeAll closes the pools, newest first, and removes each that has closed.
func (t *poolsTier) closeAll(e *ending) {
	t.busy = true
	defer func() { t.busy = false }()
	for i := len(t.all) - 1; i >= 0 && e.m.phase != closed; i-- {
		p, others := t.all[i], append(t.all[:i:i], t.all[i+1:]...)
		if e.forced {
			t.all = others
		}
		e.doing = fmt.Sprintf("the close of pool %q", p.name)
		if err := p.pool.Close(); err != nil {
			e.fail(fmt.Errorf("pool %q: %w", p.name, err))
			continue
		}
		t.all = others
	}
}

func (t *poolsTier) lose(*Manager) { t.hooks = nil }
