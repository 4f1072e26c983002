package tiers

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// Close ends the manager: pools are reset, arenas run their hooks, pools are closed, newest
// first, all memory is released, and GOGC is as the program wants it, once no other manager
// paces. The workers' goroutines must have ended, and no pointer into any tier may be used any
// more. What was built on PoolSource and never registered is closed with it: it answers as a closed
// allocator does from then on, and touches nothing. A manager whose source ends first is closed
// with it in the same way.
//
// It fails inside a frame, and nothing has changed. If a pool cannot be closed, a callback or
// a hook panics, or the system keeps the memory, Close may be called again and goes on from
// there; nothing else may by then. A Close after one that succeeded does nothing.
func (m *Manager) Close() error {
	switch {
	case m.phase&closed != 0:
		return nil
	case m.phase&inFrame != 0:
		return m.order("Close", "inside a frame", "EndFrame first")
	}
	if err := m.enter("Close"); err != nil {
		return err
	}
	defer m.leave()
	if m.phase < closing && m.levels+m.frame > 0 {
		m.home.Drain() // what was freed in the time of the level and the frames was live
	}
	m.hooks[Pools].run()
	m.resetPools()
	if m.phase == closed {
		return nil // its source has ended
	}
	m.phase = closing
	m.cur, m.lev = m.shut.frame, m.shut.level
	m.pacer.stop()
	m.rss.close()
	if err := m.release(); err != nil {
		return fmt.Errorf("tiers: close: %w", err)
	}
	m.phase = closed
	m.dropped.Stop()
	return nil
}

// release closes what has been made and gives the reservation back: first what runs somebody
// else's code, while all tiers can still be used, then the ways home, then the heaps. Each
// step finds nothing to do where it was done before.
func (m *Manager) release() error {
	m.src.going = true
	var errs []error
	if m.level != nil {
		errs = append(errs, m.level.Close())
	}
	if m.frames != nil {
		errs = append(errs, m.frames.Close())
	}
	for _, w := range m.workers {
		errs = append(errs, w.closeScratch())
	}
	m.hooks[Static].run()
	errs = append(errs, m.static.end(), m.closePools())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if m.home != nil {
		errs = append(errs, m.home.Close())
	}
	for k, w := range m.workers {
		errs = append(errs, m.outbox[k].freer.Close(), w.close())
	}
	if m.slab != nil {
		errs = append(errs, m.slab.Close())
	}
	if m.large != nil {
		errs = append(errs, m.large.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	m.tags.close()
	for _, c := range m.carves {
		c.Close() // tells what was built on PoolSource and is still open
	}
	m.base, m.size = nil, 0
	if m.whole.Base == nil {
		return nil
	}
	if err := m.src.Release(m.whole); err != nil {
		return err
	}
	m.whole = page.Memory{}
	if m.unwatch != nil {
		m.unwatch()
		m.unwatch = nil
	}
	return nil
}

// watchSource has the manager end with its source, as one does that was made on a page.Carve:
// the addresses are somebody else's then. Everything on it is told, and touches no block; hooks
// and pools run nothing.
func (m *Manager) watchSource() {
	w, ok := m.cfg.Source.(page.Watched)
	if !ok {
		return
	}
	m.unwatch = w.Watch(func() {
		for i := len(m.workers) - 1; i >= 0; i-- {
			m.workers[i].lose()
		}
		for i := Inbox; i > 0; i-- {
			m.carves[i-1].Close()
		}
		m.home.Reset() // what is on its way belongs to nobody
		_ = m.home.Close()
		for _, w := range m.workers {
			w.inbox.Reset()
			_ = w.close()
		}
		m.tags.close()
		m.hooks = [Count]hooks{}
		m.base, m.size, m.whole = nil, 0, page.Memory{}
		m.cur, m.lev = m.shut.frame, m.shut.level
		m.phase, m.unwatch = closed, nil
		m.pacer.stop()
		m.rss.close()
		m.dropped.Stop()
	})
}

// dropped tells of a manager that was never closed.
var reportDropped = func(s string) { fmt.Fprintln(os.Stderr, s) }

// watchDrop has debug builds say so, once, when a manager is collected that was never closed.
// Its reservation is kept: somebody may still hold a pointer into it.
func (m *Manager) watchDrop() {
	if !invariant.Debug {
		return
	}
	at := "an unknown place"
	if _, file, line, ok := runtime.Caller(2); ok {
		at = fmt.Sprintf("%s:%d", file, line)
	}
	size := m.size
	m.dropped = runtime.AddCleanup(m, func(at string) {
		reportDropped(fmt.Sprintf("tiers: the Manager made at %s was dropped without Close: %d bytes of address space stay reserved", at, size))
	}, at)
}
