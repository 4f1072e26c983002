package tiers

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/strata-go/strata/memory/page"
)

// An ending is a Close under way: a list of steps, each of which runs callbacks of one kind.
//
// The first Close lets a panic through and stops at an error; the next one goes on from there. A
// forced ending, which the second Close is, goes on after each callback that fails. It repeats a step
// that panics; each callback is removed or marked before it runs, so that the repetition ends.
//
// If a step does not return, the others run in a deferred call. A goroutine for each callback was the
// alternative; it would take callbacks off the thread that they may be locked to.
type ending struct {
	m      *Manager
	forced bool
	steps  []func() // those that have not completed
	doing  string   // what the step runs, for note
	asked  int      // pools that askPools has asked
	errs   []error
	more   int // errors beyond maxErrors
}

// maxErrors bounds what a Close returns to what a person would read.
const maxErrors = 32

// run runs the steps that are left, as long as the source has not ended.
func (e *ending) run() error {
	e.runSteps()
	if e.more > 0 {
		e.errs = append(e.errs, fmt.Errorf("%d more errors", e.more))
	}
	return errors.Join(e.errs...)
}

func (e *ending) runSteps() {
	if e.forced {
		defer func() {
			if len(e.steps) > 0 { // a step did not return
				e.note(recover())
				e.runSteps()
			}
		}()
	}
	for len(e.steps) > 0 && e.m.phase != closed {
		e.steps[0]()
		if len(e.steps) > 0 { // else proceed has stopped it
			e.steps = e.steps[1:]
		}
	}
	e.steps = nil
}

// proceed ends an ending that is not forced if one of the steps before has failed.
func (e *ending) proceed() {
	if len(e.errs) > 0 && !e.forced {
		e.steps = nil
	}
}

// fail keeps an error.
func (e *ending) fail(err error) {
	switch {
	case err == nil:
	case len(e.errs) < maxErrors:
		e.errs = append(e.errs, err)
	default:
		e.more++
	}
}

// note keeps what a callback panicked with; nil means that it ended its goroutine.
func (e *ending) note(r any) {
	switch v := r.(type) {
	case nil:
		e.fail(fmt.Errorf("%s ended its goroutine%s", e.doing, panicSite()))
	case error:
		e.fail(fmt.Errorf("%s panicked%s: %w", e.doing, panicSite(), v))
	default:
		e.fail(fmt.Errorf("%s panicked%s: %v", e.doing, panicSite(), v))
	}
}

// panicSite returns " at file:line" of the statement that panicked or ended the goroutine. It is
// called by a function that a deferred function calls.
func panicSite() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for inside := false; ; {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") {
			inside = true
		} else if inside {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// askPools asks the pools whether they are in use, newest first, before anything changes. One that
// says so stops the ending; one that panics counts as a try, and a forced ending passes over it.
func (e *ending) askPools() {
	m, answered := e.m, false
	defer func() { m.tried = m.tried || !answered }()
	for ; e.asked < len(m.pools); e.asked++ {
		p := m.pools[len(m.pools)-1-e.asked]
		u, ok := p.pool.(interface{ InUse() error })
		if !ok {
			continue
		}
		e.doing = fmt.Sprintf("InUse of pool %q", p.name)
		e.asked++ // should it panic
		err := u.InUse()
		if e.asked--; err != nil {
			e.fail(fmt.Errorf("pool %q: %w", p.name, err))
			e.steps, answered = nil, true
			return
		}
	}
	m.tried, answered = true, true
}

// callbackSteps ask the pools, run the hooks of all tiers and then reset the pools, while the manager
// is open.
func (m *Manager) callbackSteps(e *ending) []func() {
	steps := []func(){e.askPools, func() {
		if e.doing = "a block that was freed on another goroutine"; m.phase < closing && m.levels+m.frame > 0 {
			m.home.Drain() // what was freed in the time of the level and the frames was live
		}
	}}
	for _, t := range [...]Tier{Pools, Level, Frame, Static} {
		steps = append(steps, func() {
			e.doing = fmt.Sprintf("a hook of the %s tier", t)
			m.runHooks(t)
		})
	}
	return append(steps, e.resetPools, func() {
		m.phase = closing
		m.cur, m.lev = m.shut.frame, m.shut.level
		m.pacer.stop()
		m.rss.close()
	})
}

// resetPools resets the pools that a failed EndLevel or Close has not reset, newest first.
func (e *ending) resetPools() {
	m := e.m
	m.walking = true
	defer func() { m.walking = false }()
	for i := len(m.pools) - 1; i >= 0 && m.phase < closing; i-- {
		p := m.pools[i]
		if p.reset == nil || p.ended == m.ending+1 {
			continue
		}
		e.doing = fmt.Sprintf("the reset of pool %q", p.name)
		if e.forced {
			p.ended = m.ending + 1
		}
		p.reset()
		p.ended = m.ending + 1
	}
}

// closePools closes the pools, newest first, and forgets each that has closed.
func (e *ending) closePools() {
	m := e.m
	m.walking = true
	defer func() { m.walking = false }()
	for i := len(m.pools) - 1; i >= 0 && m.phase != closed; i-- {
		p, others := m.pools[i], append(m.pools[:i:i], m.pools[i+1:]...)
		if e.forced {
			m.pools = others
		}
		if p.close != nil {
			e.doing = fmt.Sprintf("the close of pool %q", p.name)
			if err := p.close(); err != nil {
				e.fail(fmt.Errorf("pool %q: %w", p.name, err))
				continue
			}
		}
		m.pools = others
	}
}

// releaseSteps close what has been made and give the reservation back: first what runs callbacks,
// while all heaps can still be used, then the inboxes, then the heaps. Each step finds nothing to do
// if it was done before.
func (m *Manager) releaseSteps(e *ending) []func() {
	steps := []func(){func() { m.src.going = true }}
	add := func(doing string, there bool, close func() error) {
		if there {
			steps = append(steps, func() { e.doing = doing; e.fail(close()) })
		}
	}
	add("a hook of the level's arena", m.level != nil, m.level.Close)
	add("a hook of a frame's arena", m.frames != nil, m.frames.Close)
	for k, w := range m.workers {
		add(fmt.Sprintf("the scratch arena of worker %d", k), true, w.closeScratch)
	}
	add("the static buffers", true, m.static.end)
	steps = append(steps, e.closePools, e.proceed)
	add("a block that was freed on another goroutine", m.home != nil, m.closeHome)
	for k, w := range m.workers {
		doing := fmt.Sprintf("a block that comes home to worker %d", k)
		if k < len(m.outbox) {
			add(doing, true, m.outbox[k].freer.Close)
		}
		add(doing, true, w.close)
	}
	add("the slab", m.slab != nil, m.slab.Close)
	add("the large heap", m.large != nil, m.large.Close)
	steps = append(steps, e.proceed, m.tags.close)
	for _, c := range m.carves {
		steps = append(steps, func() { e.doing = "what is built on PoolSource"; c.Close() })
	}
	asked := false
	return append(steps, func() {
		if e.doing = "the page source"; !asked {
			asked = true
			e.fail(m.giveBack())
		}
	})
}

// closeHome closes the inbox of the game goroutine.
func (m *Manager) closeHome() error {
	err := m.home.Close()
	m.homeClosed = true
	return err
}

// giveBack releases the reservation.
func (m *Manager) giveBack() error {
	m.base, m.size = nil, 0
	if m.whole.Base != nil {
		if err := m.src.Release(m.whole); err != nil {
			return err
		}
		m.whole = page.Memory{}
	}
	m.phase = closed
	m.dropped.Stop()
	if unwatch := m.unwatch; unwatch != nil {
		m.unwatch = nil
		unwatch()
	}
	return nil
}
