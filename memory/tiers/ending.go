package tiers

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
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

// askPools asks the pools whether they are in use, newest first, before anything changes. One that is in use stops
// the ending. One that panics counts as a try, and a forced ending skips it.
func (e *ending) askPools() {
	m, answered := e.m, false
	defer func() { m.tried = m.tried || !answered }()
	for ; e.asked < len(m.pools.all); e.asked++ {
		p := m.pools.all[len(m.pools.all)-1-e.asked]
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

// A stage is a part of Close. All tiers pass a stage before the next one begins.
type stage int

const (
	resetPools  stage = iota // the manager is still open
	closeArenas              // their hooks may use all heaps
	closePools               // as may the pools
	closeHeaps
)

// add appends a step.
func (e *ending) add(doing string, close func() error) {
	e.steps = append(e.steps, func() { e.doing = doing; e.fail(close()) })
}

// stage appends the steps of all tiers, the last one first.
func (e *ending) stage(s stage) {
	for t := range backwards {
		if state := e.m.states[t]; state != nil {
			state.close(e, s)
		}
	}
}

// runCallbacks appends the steps that ask the pools, run the hooks of all tiers and reset the pools,
// while the manager is open.
func (e *ending) runCallbacks() {
	m := e.m
	e.steps = append(e.steps, e.askPools, func() {
		if e.doing = "a block that was freed on another goroutine"; m.phase < closing && m.level.begun+m.frame.begun > 0 {
			m.returned.Drain() // what was freed before Close was live until now
		}
	})
	for t := range backwards {
		if table[t].Hooks != Never {
			e.steps = append(e.steps, func() {
				e.doing = fmt.Sprintf("a hook of the %s tier", t)
				m.runHooks(t)
			})
		}
	}
	e.stage(resetPools)
	e.steps = append(e.steps, func() {
		m.phase = closing
		m.frame.cur, m.level.cur = m.frame.shut, m.level.shut
		_ = m.pacer.Close() // its error is always nil
		m.rss.close()
	})
}

// release appends the steps that close what exists and release the reservation: first what runs callbacks,
// while all heaps can be used, then the inboxes, then the heaps. A step that was done before does nothing.
func (e *ending) release() {
	m := e.m
	e.steps = append(e.steps, func() { m.src.releasing = true })
	e.stage(closeArenas)
	e.stage(closePools)
	e.steps = append(e.steps, e.proceed)
	if m.returned != nil {
		e.add("a block that was freed on another goroutine", m.closeReturned)
	}
	e.stage(closeHeaps)
	e.steps = append(e.steps, e.proceed, m.closeTags)
	for _, part := range m.eachPart {
		if part != nil {
			e.steps = append(e.steps, func() { e.doing = "what is built on PoolSource"; part.Close() })
		}
	}
	asked := false
	e.steps = append(e.steps, func() {
		if e.doing = "the page source"; !asked {
			asked = true
			e.fail(m.giveBack())
		}
	})
}

// closeReturned closes the inbox of the game goroutine.
func (m *Manager) closeReturned() error {
	err := m.returned.Close()
	m.returnedClosed = true
	return err
}

// giveBack releases the reservation.
func (m *Manager) giveBack() error {
	if err := m.space.close(); err != nil {
		return err
	}
	m.phase = closed
	m.dropped.Stop()
	if unwatch := m.unwatch; unwatch != nil {
		m.unwatch = nil
		unwatch()
	}
	return nil
}
