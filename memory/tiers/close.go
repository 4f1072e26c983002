package tiers

import (
	"fmt"
	"os"
	"runtime"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// Close ends the manager: all hooks of all tiers run, pools are reset, then closed, newest first, all
// memory is released, and GOGC is as the program wants it, once no other manager paces. The
// workers' goroutines must have ended, and no pointer into any tier may be used any more. What was
// built on PoolSource and never registered is closed with it: it answers as a closed allocator does
// from then on, and touches nothing. A manager whose source ends first is closed with it in the same
// way. A Close after one that completed does nothing.
//
// Inside a frame or a worker's task, and from a hook or a callback, Close returns an error that wraps
// ErrOrder and changes nothing. So it does while a pool is in use: see [Manager.AddPool].
//
// If a callback panics in the first Close, the panic passes through. If a pool cannot be closed, the
// error says so. Nothing is released then, what has run is not run again, and the caller may remove
// the reason. The second Close completes, whatever callbacks do: it runs those that are left, goes on
// after one that panics, ends its goroutine or returns an error, releases the memory, and returns an
// error that names each of them. Only a page source that fails to release the reservation makes a
// third Close necessary.
func (m *Manager) Close() error {
	switch {
	case m.phase&closed != 0:
		return nil
	case m.phase&inFrame != 0:
		return m.order("Close", "inside a frame", "EndFrame first")
	}
	if err := m.idle(); err != nil {
		return err
	}
	if err := m.enter("Close"); err != nil {
		return err
	}
	defer m.leave()
	e := ending{m: m, forced: m.tried}
	e.runCallbacks()
	e.release()
	if err := e.run(); err != nil {
		return fmt.Errorf("tiers: close: %w", err)
	}
	return nil
}

// idle returns an error if the source is working for a worker, a worker is in a task, or a hook of an
// arena is running.
func (m *Manager) idle() error {
	for k, w := range m.inbox.workers {
		if w.part.Busy() { // its lock is held
			return m.order("Close", fmt.Sprintf("from a call of the page source for worker %d", k), "return from it first")
		}
		if w.inTask() {
			return m.order("Close", fmt.Sprintf("inside a task of worker %d", k), "EndTask first")
		}
	}
	if m.phase < closing && (m.level.arena.Busy() || m.frame.ring.Busy()) {
		return m.order("Close", "from a hook of an arena", "return from it first")
	}
	return nil
}

// release gives everything back for a New that fails.
func (m *Manager) release() error {
	e := ending{m: m}
	e.release()
	return e.run()
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
		for t := range backwards {
			m.states[t].lose(m)
			if part := m.parts[t]; part != nil {
				part.Close()
			}
		}
		if !m.returnedClosed { // else a Close that did not complete has closed it
			m.returned.Reset() // what is in flight is lost with the memory
			_ = m.returned.Close()
		}
		m.closeTags()
		m.base, m.size, m.whole = nil, 0, page.Memory{}
		m.frame.cur, m.level.cur = m.frame.shut, m.level.shut
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
