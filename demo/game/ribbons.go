package game

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/engine"
)

// A Ribbon is the trail of one enemy: a ring of its last positions.
type Ribbon struct {
	Points []vec
	At     int // index of the next point, modulo len(Points); the newest point is before it
	Count  int // points written, up to len(Points)
}

// Point returns the i-th newest point, from 0 for the newest to Count-1.
func (r *Ribbon) Point(i int) vec { return r.Points[(r.At-1-i+2*len(r.Points))%len(r.Points)] }

// ribbonMost bounds how many enemies trail a ribbon.
const ribbonMost = 1 << 15

// trailMost is above the points of each trail, and lets a number of them grow by half in a byte.
const trailMost = 128

// A trail is a ribbon's books, without a pointer, so that in the tiers the collector has nothing to
// follow.
type trail struct {
	off                  uint64 // where its points lie, by number
	len, at, count, most uint8  // len is 0 where there is none, and grows to most
}

// ribbons are the trails of all enemies: their points are blocks of the slab, of many lengths.
type ribbons struct {
	blocks blocks
	slots[trail]
}

// errTight says that the slab tier is kept for more important lists.
var errTight = errors.New("game: the slab tier is tight")

const vecBytes = unsafe.Sizeof(vec{})

func (rs *ribbons) points(t *trail) []vec {
	return unsafe.Slice((*vec)(rs.blocks.at(t.off)), t.len)
}

// trailLeast is how many points a trail begins with: it grows as it is flown.
const trailLeast = 2

// take starts a ribbon at p that grows to n points, and returns 1 + its index, or 0 when there is no room.
func (rs *ribbons) take(g *Game, p vec, n int) uint16 {
	i, ok := rs.slots.take(ribbonMost)
	if !ok {
		return 0 // as many as can be told apart
	}
	var off uint64
	err := errTight
	if !g.store.tight {
		off, err = rs.blocks.take(trailLeast*vecBytes, unsafe.Alignof(vec{}))
	}
	if err != nil {
		rs.slots.give(i)
		g.Lost.Ribbons++
		return 0
	}
	rs.all[i] = trail{off: off, len: trailLeast, most: uint8(max(n, trailLeast))}
	rs.push(g, i+1, p)
	return i + 1
}

// push adds a point. A trail that is full grows by half; where there is no room it stays as long as
// it is.
func (rs *ribbons) push(g *Game, id uint16, p vec) {
	t := &rs.all[id-1]
	if t.count == t.len && t.len < t.most {
		rs.grow(g, t)
	}
	rs.points(t)[t.at] = p
	if t.at++; t.at == t.len {
		t.at = 0
	}
	t.count = min(t.count+1, t.len)
}

func (rs *ribbons) grow(g *Game, t *trail) {
	n := min(t.len+t.len/2+1, t.most)
	var p unsafe.Pointer
	err := errTight
	if !g.store.tight {
		p, err = rs.blocks.a.Alloc(uintptr(n)*vecBytes, unsafe.Alignof(vec{}))
	}
	if err != nil {
		g.Lost.Ribbons++
		t.most = t.len
		return
	}
	old, points := rs.points(t), unsafe.Slice((*vec)(p), n)
	k := copy(points, old[t.at:]) // the oldest first
	copy(points[k:], old[:t.at])
	t.off = rs.blocks.replace(t.off, uintptr(t.len)*vecBytes, p)
	t.at, t.len = t.len, n
}

// cut lets a trail begin anew at p, as short as the first: nobody sees it any more.
func (rs *ribbons) cut(g *Game, id uint16, p vec) {
	t := &rs.all[id-1]
	if t.len > trailLeast {
		p, err := rs.blocks.a.Alloc(trailLeast*vecBytes, unsafe.Alignof(vec{}))
		if err != nil {
			g.Lost.Ribbons++
			return
		}
		t.off = rs.blocks.replace(t.off, uintptr(t.len)*vecBytes, p)
		t.len = trailLeast
	}
	t.at, t.count = 0, 0
	rs.push(g, id, p)
}

func (rs *ribbons) give(id uint16) {
	if id == 0 {
		return
	}
	t := &rs.all[id-1]
	rs.blocks.give(t.off, uintptr(t.len)*vecBytes)
	rs.slots.give(id - 1)
}

func (rs *ribbons) reset() {
	for i := range rs.all {
		if rs.all[i].len != 0 {
			rs.give(uint16(i) + 1)
		}
	}
	rs.slots.reset()
}

// hash adds the ribbons and the order in which the free ones will be taken.
func (rs *ribbons) hash(h *engine.Hasher) {
	h.Int(len(rs.all))
	for i := range rs.all {
		if t := &rs.all[i]; t.len != 0 {
			h.Uint64(uint64(i)<<32 | uint64(t.most)<<24 | uint64(t.len)<<16 | uint64(t.at)<<8 | uint64(t.count))
			hashVecs(h, rs.points(t)[:min(t.count, t.len)])
		}
	}
	rs.slots.hash(h)
}

// Ribbon returns the trail of an enemy that the function of [Game.EachSeen] has received since the last tick. If the
// enemy has no trail, Count is 0. The points are valid until the next tick, the load of a state or [Game.End].
func (g *Game) Ribbon(s *Seen) (r Ribbon) {
	if s.Ribbon != 0 {
		t := &g.cast.ribbons.all[s.Ribbon-1]
		r = Ribbon{Points: g.cast.ribbons.points(t), At: int(t.at), Count: int(t.count)}
	}
	return r
}
