package tiers

import (
	"fmt"

	"github.com/strata-go/strata/memory"
)

// OnReset has f run once, when what the tier holds now dies, while it is still intact: for what
// blocks of the tier own outside of it, a texture, a file, a voice. The tiers, in the order in which
// an EndLevel runs them, each newest first:
//
//	Pools   at the next EndLevel, before the pools are reset; inside a level or not
//	Level   at the EndLevel of this level, as the level arena's own hooks, of which it is one
//	Static  at the EndLevel of this level, before the buffers are given back
//	Frame   when this frame expires, Config.Frames later, as one of its arena's hooks
//
// or at Close, if that comes first. The other tiers are never reset, blocks die one by one, and
// OnReset of them panics with a *memory.Misuse; so does a nil f, Level and Static outside of a level,
// Frame outside of a frame, a call after Close, and one of a hook for the tier whose hooks are
// running.
//
// f may allocate and free in every tier, through tags, workers and pools, as far as they are not
// being reset: what it takes from the tier that is ending dies with it. It must not begin or end a
// frame or a level nor close the manager: those return an error from there, ErrOrder. A hook is
// removed before it runs. If it panics, the call that it was run in has not happened, all blocks
// stand, and the next such call runs the hooks that are left. What ends with the manager's source
// runs nothing more, and where f ends that, the call returns ErrOrder.
func (m *Manager) OnReset(t Tier, f func()) {
	bad := ""
	switch {
	case m.phase >= closing:
		bad = "the manager is closed"
	case f == nil:
		bad = "the hook is nil"
	case t == Frame && m.phase&inFrame == 0:
		bad = "outside a frame; BeginFrame first"
	case (t == Level || t == Static) && m.phase&inLevel == 0:
		bad = "outside a level; BeginLevel first"
	case t != Frame && t != Level && t != Static && t != Pools:
		bad = fmt.Sprintf("the %s tier is never reset; its blocks die one by one", t)
	case (t == Static || t == Pools) && m.hooks[t].running:
		bad = fmt.Sprintf("a hook of the %s tier is running: it may allocate and free, no more", t)
	}
	if bad != "" {
		panic(&memory.Misuse{Package: "tiers", Op: "OnReset", Reason: bad})
	}
	m.owner.Touch()
	switch t {
	case Frame:
		m.cur.OnReset(f)
	case Level:
		m.lev.OnReset(f)
	default:
		m.hooks[t].all = append(m.hooks[t].all, f)
	}
}

// hooks are those of a tier that has no arena to keep them.
type hooks struct {
	all     []func() // in order of registration
	running bool
}

// run runs the hooks, newest first. Each is removed before. One of them may end the source, and all
// the others with it.
func (h *hooks) run() {
	if len(h.all) == 0 {
		return
	}
	h.running = true
	defer func() { h.running = false }()
	for len(h.all) > 0 {
		n := len(h.all) - 1
		f := h.all[n]
		h.all[n] = nil
		h.all = h.all[:n]
		f()
	}
}

// enter begins a call at a border of frames or levels, which runs the code of others. Where that
// calls a border in turn, it is refused: half of the one is done.
func (m *Manager) enter(op string) error {
	if m.border != "" {
		return m.order(op, "from a hook or a callback in "+m.border, "return from it first")
	}
	m.border = op
	return nil
}

func (m *Manager) leave() { m.border = "" }
