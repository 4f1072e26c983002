package game

import (
	"unsafe"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
)

// A Ribbon is the trail of one enemy: its last places, newest at At-1. The points are a block
// of the slab; the books are here.
type Ribbon struct {
	Points []vec
	At     int // where the next point goes, modulo len(Points)
	Count  int // points written, up to len(Points)
}

// Point returns the i-th newest point, 0 being the newest.
func (r *Ribbon) Point(i int) vec { return r.Points[(r.At-1-i+2*len(r.Points))%len(r.Points)] }

// ribbonMost bounds how many enemies trail a ribbon.
const ribbonMost = 512

type ribbons struct {
	a    memory.Allocator
	all  [ribbonMost]Ribbon
	free []uint16
}

// take starts a ribbon at p and returns 1 + its index, or 0 when there is no room.
func (rs *ribbons) take(g *Game, p vec) uint16 {
	if rs.free == nil {
		rs.free = make([]uint16, 0, ribbonMost)
		for i := range uint16(ribbonMost) {
			rs.free = append(rs.free, ribbonMost-1-i)
		}
	}
	n := 12 + g.rng.Intn(21) // no two alike, so the slab serves many lengths
	if len(rs.free) == 0 {
		return 0 // as many as anybody can tell apart
	}
	b, err := rs.a.Alloc(uintptr(n)*unsafe.Sizeof(vec{}), unsafe.Alignof(vec{}))
	if err != nil {
		g.Lost.Ribbons++
		return 0
	}
	i := rs.free[len(rs.free)-1]
	rs.free = rs.free[:len(rs.free)-1]
	rs.all[i] = Ribbon{Points: unsafe.Slice((*vec)(b), n)}
	clear(rs.all[i].Points)
	rs.push(i+1, p)
	return i + 1
}

func (rs *ribbons) push(id uint16, p vec) {
	r := &rs.all[id-1]
	r.Points[r.At] = p
	r.At = (r.At + 1) % len(r.Points)
	r.Count = min(r.Count+1, len(r.Points))
}

func (rs *ribbons) give(id uint16) {
	if id == 0 {
		return
	}
	r := &rs.all[id-1]
	rs.a.Free(unsafe.Pointer(unsafe.SliceData(r.Points)), uintptr(len(r.Points))*unsafe.Sizeof(vec{}))
	*r = Ribbon{}
	rs.free = append(rs.free, id-1)
}

func (rs *ribbons) reset() {
	for i := range rs.all {
		if rs.all[i].Points != nil {
			rs.give(uint16(i) + 1)
		}
	}
}

func (rs *ribbons) used() (n int) {
	for i := range rs.all {
		if rs.all[i].Points != nil {
			n++
		}
	}
	return n
}

// hash adds the ribbons and the order in which the free ones will be taken.
func (rs *ribbons) hash(h *engine.Hasher) {
	for i := range rs.all {
		if r := &rs.all[i]; r.Points != nil {
			h.Int(i)
			h.Int(r.At)
			h.Int(r.Count)
			hashVecs(h, r.Points)
		}
	}
	h.Int(len(rs.free))
	for _, i := range rs.free {
		h.Int(int(i))
	}
}

// Ribbon returns an enemy's trail, or nil.
func (g *Game) Ribbon(s *Seen) *Ribbon {
	if s.Ribbon == 0 {
		return nil
	}
	return &g.ribbons.all[s.Ribbon-1]
}
