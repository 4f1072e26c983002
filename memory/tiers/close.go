package tiers

import (
	"fmt"
	"os"
	"runtime"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/page"
)

// Close ends the manager. The workers' goroutines must have ended. All pointers into the tiers are dangling afterwards.
// Close does this, in order:
//
//  1. It frees the blocks that other goroutines have sent to the game goroutine, and runs the hooks of all tiers.
//  2. It resets all pools that have a reset, newest first. It skips a pool that a failed EndLevel has reset, unless a
//     frame has begun since.
//  3. It closes all pools, newest first.
//  4. It releases all memory. If no other pacer of package gcpace is open, GOGC gets the program's own value again.
//
// Pools that are built on PoolSource and not registered are closed with the manager. If the page source is a
// [page.Watched] and is closed first, the manager is closed with it, without hooks and without the Reset and Close of
// pools. After a Close that completed, Close returns nil and changes nothing.
//
// Inside a frame or a worker's task, and from a hook or a callback, Close changes nothing and returns an error that
// wraps ErrOrder. If a pool is in use, Close changes nothing and returns an error that wraps the error of the pool: see
// [Manager.AddPool].
//
// If a callback panics in the first Close, the panic passes through. If a pool cannot be closed, the first Close
// returns the error of the pool. In both cases no memory is released. The caller may remove the cause and call Close
// again. After a failure that follows the resets, blocks of slab and large can still be allocated and freed. Calls of
// frames, levels and tasks, Declare, NewPool, AddPool, OnReset, SetBudget, Tag, Rest and saving then fail or panic as
// after Close.
//
// A second Close continues after the completed steps, and releases the memory at the end. Only an error of InUse of a
// pool stops the second Close. Other callbacks that panic, end their goroutine or return an error do not stop it. The
// error names up to 32 failed callbacks. A third Close is necessary only if a pool is in use or the page source fails
// to release the reservation.
func (m *Manager) Close() error {
	m.made("Close")
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
	if m.phase < closing && m.rewinds() {
		return m.order("Close", "from a hook of an arena", "return from it first")
	}
	return nil
}

// release releases everything for a New that fails.
func (m *Manager) release() error {
	e := ending{m: m}
	e.release()
	return e.run()
}

// watchSource closes the manager when its source is closed, for example a page.Carve: its addresses may be reused
// then. All parts are closed without touching a block. No hooks run, and no functions of pools.
func (m *Manager) watchSource() {
	w, ok := m.cfg.Source.(page.Watched)
	if !ok {
		return
	}
	m.unwatch = w.Watch(func() { m.lose(Count) })
}

// lose closes the parts of the tiers before t, the last one first, and then m. A function that watches PoolSource may
// panic: the rest is closed nevertheless.
func (m *Manager) lose(t Tier) {
	if t > 0 {
		defer m.lose(t - 1)
		m.states[t-1].lose(m)
		if part := m.parts[t-1]; part != nil {
			part.Close()
		}
		return
	}
	if !m.returnedClosed { // else a Close that did not complete has closed it
		m.returned.Reset() // what is in flight is lost with the memory
		_ = m.returned.Close()
	}
	m.closeTags()
	m.base, m.size, m.whole = nil, 0, page.Memory{}
	m.frame.cur, m.level.cur = m.frame.shut, m.level.shut
	m.phase, m.unwatch = closed, nil
	_ = m.pacer.Close() // its error is always nil
	m.rss.close()
	m.dropped.Stop()
}

// reportDropped reports a manager that was never closed.
var reportDropped = func(s string) { fmt.Fprintln(os.Stderr, s) }

// watchDrop reports, once and in debug builds, a manager that is collected without Close. Its reservation is kept,
// because there may still be pointers into it.
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
