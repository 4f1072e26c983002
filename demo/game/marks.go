package game

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A Mark is a trace that something has left on an enemy. It moves with the enemy and fades.
type Mark struct {
	Left uint16 // ticks
	Kind MarkKind
	X, Y int8 // position from the enemy's middle, in 64ths of its radius
}

// MarkKind is a kind of mark.
type MarkKind uint8

// The kinds of marks on an enemy, and their number.
const (
	MarkShard MarkKind = iota // a shard of another enemy that burst nearby, still hot
	MarkDent                  // where a hit struck the enemy
	MarkFlame                 // of fire
	MarkFrost                 // of frost
	MarkArc                   // of lightning
	MarkCrack                 // where a hit struck the enemy's shield
	MarkKinds = iota
)

// MarkTime is the time for which each kind of mark shows, in ticks.
var MarkTime = [MarkKinds]uint16{90, 40, 144, 96, 20, 240}

const (
	markMost   = 24    // on one enemy
	markedMost = 16384 // enemies
	shardReach = 38    // units
	shardMost  = 6     // enemies that one burst marks
)

// A marked is the books of an enemy's marks, without a pointer: where they lie, by number, and
// whose they are.
type marked struct {
	off      uint64 // by number
	owner    ecs.Entity
	len, cap uint8 // cap is 0 where there are none
}

// marks are what sticks to enemies: a list for each that has any, of as many lengths as fights make,
// a block of the slab that grows by half.
type marks struct {
	blocks blocks
	slots[marked]
}

const markBytes = unsafe.Sizeof(Mark{})

func (ms *marks) of(m *marked) []Mark {
	if m.cap == 0 {
		return nil
	}
	return unsafe.Slice((*Mark)(ms.blocks.at(m.off)), m.cap)[:m.len]
}

// add puts a mark on an enemy, at an offset in units. Where there is room for no more it goes without.
func (ms *marks) add(g *Game, id ecs.Entity, e *Enemy, kind MarkKind, from vec) {
	if e.Marks == 0 && !ms.take(id, e) {
		return
	}
	m := &ms.all[e.Marks-1]
	if m.len == markMost {
		return
	}
	if m.len == m.cap && (g.store.tight || !ms.grow(m)) {
		g.Lost.Marks++
		if m.cap == 0 {
			ms.give(e)
		}
		return
	}
	k := 64 / breeds[e.Kind].radius
	at := func(v float32) int8 { return int8(clamp(mul(v, k), -64, 64)) }
	m.len++
	ms.of(m)[m.len-1] = Mark{Left: MarkTime[kind], Kind: kind, X: at(from[0]), Y: at(from[1])}
}

// take gives an enemy books, or not: as many are marked as anybody can tell apart.
func (ms *marks) take(id ecs.Entity, e *Enemy) bool {
	i, ok := ms.slots.take(markedMost)
	if ok {
		ms.all[i] = marked{owner: id}
		e.Marks = i + 1
	}
	return ok
}

// grow makes room for more: for two at first, then for half as many again.
func (ms *marks) grow(m *marked) bool {
	n := min(max(2, m.cap+(m.cap+1)/2), markMost)
	if m.cap == 0 {
		off, err := ms.blocks.take(uintptr(n)*markBytes, unsafe.Alignof(Mark{}))
		if err == nil {
			m.off, m.cap = off, n
		}
		return err == nil
	}
	p, err := ms.blocks.a.Alloc(uintptr(n)*markBytes, unsafe.Alignof(Mark{}))
	if err != nil {
		return false
	}
	copy(unsafe.Slice((*Mark)(p), n), ms.of(m))
	m.off = ms.blocks.replace(m.off, uintptr(m.cap)*markBytes, p)
	m.cap = n
	return true
}

func (ms *marks) release(m *marked) {
	if m.cap > 0 {
		ms.blocks.give(m.off, uintptr(m.cap)*markBytes)
	}
}

// give takes all marks off an enemy.
func (ms *marks) give(e *Enemy) {
	if e.Marks == 0 {
		return
	}
	ms.release(&ms.all[e.Marks-1])
	ms.slots.give(e.Marks - 1)
	e.Marks = 0
}

// fade lets all marks grow old; an enemy without any has no list.
func (ms *marks) fade(c *cast) {
	for i := range ms.all {
		m := &ms.all[i]
		if m.cap == 0 {
			continue
		}
		list, n := ms.of(m), uint8(0)
		for _, k := range list {
			if k.Left--; k.Left > 0 {
				list[n] = k
				n++
			}
		}
		if m.len = n; n > 0 {
			continue
		}
		if _, _, e, ok := c.enemies.Get(m.owner); ok {
			ms.give(e)
		}
	}
}

// reset takes back all lists, of enemies that are gone.
func (ms *marks) reset() {
	for i := range ms.all {
		ms.release(&ms.all[i])
	}
	ms.slots.reset()
}

// hash adds the marks and the order in which the free lists will be taken.
func (ms *marks) hash(h *engine.Hasher) {
	h.Int(len(ms.all))
	for i := range ms.all {
		m := &ms.all[i]
		h.Int(int(m.len))
		for _, k := range ms.of(m) {
			h.Uint64(uint64(k.Left)<<24 | uint64(k.Kind)<<16 | uint64(uint8(k.X))<<8 | uint64(uint8(k.Y)))
		}
	}
	ms.slots.hash(h)
}

// splinter throws the shards of one that burst at those beside it.
func (c *cast) splinter(g *Game, at vec) {
	left := shardMost
	for id, p := range g.horde.grid.about(at, shardReach) {
		if _, _, e, ok := c.enemies.Get(id); ok && e.HP > 0 {
			c.marks.add(g, id, e, MarkShard, engine.Scale(at.Sub(p), 0.4))
		}
		if left--; left == 0 {
			break
		}
	}
}

// mark puts a mark on somebody who may be gone.
func (c *cast) mark(g *Game, id ecs.Entity, kind MarkKind, from vec) {
	if _, _, e, ok := c.enemies.Get(id); ok {
		c.marks.add(g, id, e, kind, from)
	}
}

// flicker returns an offset on an enemy, another one each time.
func flicker(g *Game, radius float32) vec { return engine.Scale(g.rng.Disc(), radius) }

// Marks returns the marks of an enemy that the function of [Game.EachSeen] has received since the last tick. The slice
// is valid until the next tick, the load of a state or [Game.End].
func (g *Game) Marks(s *Seen) []Mark {
	if s.Marks == 0 {
		return nil
	}
	return g.cast.marks.of(&g.cast.marks.all[s.Marks-1])
}

// check verifies that every list in use is one living enemy's.
func (ms *marks) check(c *cast) error {
	used := 0
	for id, r := range c.enemyFilter.All() {
		if r.C.Marks == 0 {
			continue
		}
		if used++; int(r.C.Marks) > len(ms.all) || ms.all[r.C.Marks-1].owner != id {
			return fmt.Errorf("game: invariant 2: the marks of %v are another's", id)
		}
	}
	lists := 0
	for i := range ms.all {
		if ms.all[i].cap > 0 {
			lists++
		}
	}
	if err := ms.blocks.check(lists); err != nil {
		return err
	}
	if used != ms.live {
		return fmt.Errorf("game: invariant 2: %d lists of marks are in use by %d enemies", ms.live, used)
	}
	return nil
}
