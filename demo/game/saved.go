package game

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// AddTo adds the state of the game to a Set: the tiers that rules use, the world, the particles, and the data outside
// of tiers. A state does not contain:
//
//   - the level tier, which does not change during a realm
//   - the frame tier and the static tier, which each tick fills again
//   - the contents of the soot, which no rule reads
//   - the contents of large blocks for which other returns true; other may be nil
//   - the memory of workers, except of the worker that searches the paths
//
// Call [Game.Rest] before you save or load, or the error may wrap save.ErrBusy. If Config.Heap or Config.Guard is set,
// the error of AddTo wraps memory.ErrConfig.
func (g *Game) AddTo(set *save.Set, other func(p unsafe.Pointer) bool) error {
	s, c := &g.store, &g.cast
	if !s.tiers() || s.guard != nil {
		return fmt.Errorf("game: only a game whose blocks come from the tiers, without a guard, can be saved: %w", memory.ErrConfig)
	}
	saved := tiers.Saved{Tiers: []tiers.Tier{tiers.Slab, tiers.Large, tiers.Pools}, Scratch: g.isSoot}
	if other != nil {
		saved.Scratch = func(p unsafe.Pointer) bool { return g.isSoot(p) || other(p) }
	}
	if k := s.m.Workers() - 1; k >= 0 {
		saved.Tiers, saved.Workers = append(saved.Tiers, tiers.Inbox), []int{k}
	}
	errs := []error{
		set.Add("memory", s.m.State(saved)),
		set.Add("columns", save.Metadata(c.chunks)),
		set.Add("world", c.world),
		set.Add("particles", g.fx.sys),
	}
	if g.popups.texts != nil {
		errs = append(errs, set.Add("texts", g.popups.texts))
	}
	return errors.Join(append(errs, set.Add("game", g))...)
}

// isSoot reports whether p is the block of the soot: several MiB that no rule reads.
func (g *Game) isSoot(p unsafe.Pointer) bool {
	return p != nil && p == unsafe.Pointer(unsafe.SliceData(g.soot.Cells))
}

// Rest waits until the worker of the paths is idle. Before the game is saved or loaded, call Rest outside of a frame of
// the manager. For a Set of [Game.AddTo] then also call tiers.Manager.Rest.
func (g *Game) Rest() {
	if g.horde.flow != nil {
		g.horde.flow.Rest()
	}
}

// Resting reports whether [Game.Rest] would return at once, so that saving is cheap.
func (g *Game) Resting() bool { return g.horde.flow == nil || g.horde.flow.Resting() }

// SaveState saves or loads the data outside of tiers, and the addresses of the lists in tiers. The Set of [Game.AddTo]
// calls it.
func (g *Game) SaveState(c *save.Coder) {
	base := g.store.m.Base()
	save.Typed(c, "state", &g.State)
	save.Var(c, &g.fx.ambient)
	save.List(c, &g.cast.wishes)
	c.Enter("trails")
	saveSlots(c, &g.cast.ribbons.slots)
	c.Leave()
	c.Enter("marks")
	saveSlots(c, &g.cast.marks.slots)
	c.Leave()
	c.Enter("popups")
	save.List(c, &g.popups.all)
	c.Leave()
	g.arms.saveState(c, base)
	g.scorch.saveState(c, base)
	saveSlice(c, &g.soot.Cells, base)
	save.Num(c, &g.soot.Side)
	save.Num(c, &g.soot.Unit)
	if g.horde.flow != nil {
		c.Enter("fields")
		g.horde.flow.SaveState(c, base)
		c.Leave()
	}
	if c.Loading() {
		g.sight.seen, g.sight.built = nil, true // what is drawn before the next tick looks first
	}
}

// saveState visits the sectors that are burnt, each with its number.
func (s *scorches) saveState(c *save.Coder, base unsafe.Pointer) {
	c.Enter("scorch")
	defer c.Leave()
	n := 0
	for i := 0; i < len(s.all) && c.Saving(); i++ { // otherwise the number is in the state
		if s.all[i] != nil {
			n++
		}
	}
	n = c.Count(n)
	if c.Loading() {
		clear(s.all[:])
	}
	for i, k := 0, 0; k < n && i < len(s.all); i++ {
		if c.Saving() && s.all[i] == nil {
			continue
		}
		k++
		at := c.Word(uint64(i)) % uint64(len(s.all))
		if p := (*[scorchBytes]uint8)(c.Pointer(unsafe.Pointer(s.all[at]), base)); c.Loading() {
			s.all[at] = p
		}
	}
}

func saveSlots[T any](c *save.Coder, s *slots[T]) {
	save.List(c, &s.all)
	save.List(c, &s.free)
	save.Num(c, &s.live)
}

func (a *arms) saveState(c *save.Coder, base unsafe.Pointer) {
	c.Enter("mines")
	saveSlice(c, &a.mines.v, base)
	c.Leave()
	c.Enter("fires")
	saveSlice(c, &a.fires.v, base)
	c.Leave()
	for i := range a.bolts {
		c.EnterAt("bolt", i)
		saveSlice(c, &a.bolts[i].Nodes.v, base)
		save.Var(c, &a.bolts[i].Life)
		c.Leave()
	}
}

// saveSlice visits a slice whose array is a block in the memory that begins at base.
func saveSlice[T any](c *save.Coder, s *[]T, base unsafe.Pointer) {
	p := c.Pointer(unsafe.Pointer(unsafe.SliceData(*s)), base)
	n, most := int(c.Word(uint64(len(*s)))), int(c.Word(uint64(cap(*s))))
	switch {
	case !c.Loading():
	case p == nil:
		*s = nil
	default:
		*s = unsafe.Slice((*T)(p), most)[:n]
	}
}
