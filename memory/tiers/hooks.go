package tiers

import (
	"cmp"
	"fmt"

	"github.com/strata-go/strata/memory"
)

// OnReset registers the hook f, which runs once, before the blocks of the tier are freed. Use f to release a texture, a
// file or a voice that a block of the tier owns. By tier, the hook runs
//
//	Pools   at the next EndLevel; OnReset may be called inside a level or not
//	Level   at the EndLevel of this level, as one of the level arena's own hooks
//	Static  at the EndLevel of this level
//	Frame   when this frame expires, Config.Frames frames later, as one of its arena's hooks
//
// EndLevel runs the hooks of Pools, Level and Static, in this order, before it resets the first tier. Within a tier the
// newest hook runs first. If Close comes first, Close runs the remaining hooks, in the order Pools, Level, Frame,
// Static. A Rewind of the frame's or level's arena runs the hooks of Frame or Level that are newer than its Mark. If a
// save.Set loads an older state, it removes the newer hooks of the saved tiers without running them: see
// [Manager.State].
//
// OnReset panics with a *memory.Misuse in these cases: f is nil, the manager is closed, or t is none of these tiers.
// For Level and Static OnReset panics outside a level, for Frame outside a frame. For Level and Frame it also panics if
// a hook of the same tier calls it. During EndLevel and Close, OnReset panics for a tier whose hooks have begun to run.
//
// f may allocate and free, also through tags and pools, and through workers whose goroutine has ended. f can allocate
// from the frame only if a frame is open: during BeginFrame, EndLevel and Close none is. EndLevel frees the blocks that
// f allocates in Level and in pools with a reset, and reports live blocks of f in Slab, Large and Inbox as leaks. Calls
// in f that begin or end a frame or a level, declare static memory, or close the manager return an error that wraps
// ErrOrder.
//
// If a hook panics, BeginFrame has not reset the oldest frame, and EndLevel and the first Close have reset no tier. The
// same call again runs the remaining hooks. For a second Close see [Manager.Close]. After the manager's page source is
// closed no hook runs. If f closes the source, BeginFrame or EndLevel returns an error that wraps ErrOrder.
func (m *Manager) OnReset(t Tier, f func()) {
	bad := ""
	switch {
	case m.phase >= closing:
		bad = "the manager is closed"
	case f == nil:
		bad = "the hook is nil"
	case t >= Count || table[t].Hooks == Never:
		bad = fmt.Sprintf("the %s tier is never reset; its blocks are freed one by one", t)
	case table[t].hooksIn&inFrame&^m.phase != 0:
		bad = "outside a frame; NextFrame or BeginFrame first"
	case table[t].hooksIn&inLevel&^m.phase != 0:
		bad = "outside a level; BeginLevel first"
	case m.hooked[t] && m.hooking:
		bad = fmt.Sprintf("a hook of the %s tier is running: it may only allocate and free", t)
	case m.hooked[t]:
		bad = fmt.Sprintf("the hooks of the %s tier have run in this %s", t, m.running)
	}
	if bad != "" {
		panic(&memory.Misuse{Package: "tiers", Op: "OnReset", Reason: bad})
	}
	m.owner.Touch()
	m.states[t].addHook(f)
}

// runHooks runs the hooks of a tier, newest first, and resets nothing. EndLevel and Close call it for
// every tier before their first reset. So a hook finds all tiers unchanged, and its own blocks are freed or
// reported. Each hook is removed before it runs. It does nothing once the source is closed.
func (m *Manager) runHooks(t Tier) {
	if m.phase >= closing {
		return
	}
	m.hooked[t] = true
	m.hooking = true
	defer func() { m.hooking = false }()
	m.states[t].runHooks()
}

// enter begins a call of frames or levels, which runs callbacks. It refuses a call from one of these callbacks,
// because the outer call is not complete.
func (m *Manager) enter(op string) error {
	err := m.midway(op)
	if err == nil {
		m.running = op
	}
	return err
}

// midway returns an error if a call that runs callbacks is not complete.
func (m *Manager) midway(op string) error {
	if m.running != "" {
		return m.order(op, "from a hook or a callback in "+m.running, "return from it first")
	}
	if m.rewinds() {
		return m.order(op, "from a hook of an arena", "return from it first")
	}
	for _, part := range m.parts {
		if part != nil && part.Busy() {
			return m.order(op, "from a call of the page source", "return from it first")
		}
	}
	return nil
}

// rewinds reports whether a Rewind, or a Reset of an arena, runs a hook of the frame or of the level.
func (m *Manager) rewinds() bool { return m.level.arena.Busy() || m.frame.ring.Busy() }

func (m *Manager) leave() { m.running, m.hooked = "", [Count]bool{} }

// onSoft calls Config.OnSoft. Calls of frames and levels are refused meanwhile, because an allocation is running.
func (m *Manager) onSoft(t Tier, committed, budget uintptr) {
	defer func(call string) { m.running = call }(m.running)
	m.running = cmp.Or(m.running, "an allocation beyond the soft mark")
	m.cfg.OnSoft(t, committed, budget)
}
