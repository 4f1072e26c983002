package tiers

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

// OnReset registers f to run once, when the tier ends, while every tier is still intact. It is for
// what blocks of the tier own outside of it: a texture, a file, a voice. EndLevel runs the hooks of
// all tiers before it resets the first one, in this order, each tier's newest first:
//
//	Pools   at the next EndLevel; OnReset may be called inside a level or not
//	Level   at the EndLevel of this level, as one of the level arena's own hooks
//	Static  at the EndLevel of this level
//	Frame   when this frame expires, Config.Frames later, as one of its arena's hooks
//
// or at Close, if that comes first: in the order Pools, Level, Frame, Static. The other tiers are
// never reset, and OnReset of them panics with a *memory.Misuse. So does a nil f, Level and Static
// outside of a level, Frame outside of a frame, and a call after Close. During EndLevel and Close a
// tier is refused once its hooks have begun to run.
//
// f may allocate and free in every tier, through tags, workers and pools. EndLevel then frees what
// f took from the tiers that it resets, and reports what f took from the others. f must not begin or
// end a frame or a level, declare static memory, nor close the manager: those return an error that
// wraps ErrOrder. A hook is removed before it runs. If it panics, the call has reset nothing, and
// the next such call runs the hooks that are left. After the manager's source has ended no hook
// runs; if f ends the source, the call returns ErrOrder.
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
		bad = "outside a frame; BeginFrame first"
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
// every tier before their first reset: a hook finds every tier as play left it, and what it takes is
// freed or reported. Each hook is removed before it runs. It does nothing once the source has ended.
func (m *Manager) runHooks(t Tier) {
	if m.phase >= closing {
		return
	}
	m.hooked[t] = true
	m.hooking = true
	defer func() { m.hooking = false }()
	m.states[t].runHooks()
}

// enter begins a call at a call of frames or levels, which runs callbacks. A call that is called
// from one of them is refused: the other one is half done.
func (m *Manager) enter(op string) error {
	if m.running != "" {
		return m.order(op, "from a hook or a callback in "+m.running, "return from it first")
	}
	for _, part := range m.parts {
		if part != nil && part.Busy() {
			return m.order(op, "from a call of the page source", "return from it first")
		}
	}
	m.running = op
	return nil
}

func (m *Manager) leave() { m.running, m.hooked = "", [Count]bool{} }

// onSoft calls Config.OnSoft. Borders are refused meanwhile: an allocation is under way.
func (m *Manager) onSoft(t Tier, committed, budget uintptr) {
	defer func(call string) { m.running = call }(m.running)
	if m.running == "" {
		m.running = "an allocation beyond the soft mark"
	}
	m.cfg.OnSoft(t, committed, budget)
}
