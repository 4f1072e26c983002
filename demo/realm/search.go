package realm

import (
	"math/bits"

	"github.com/strata-go/strata/engine"
)

// far is the distance of a node that no path reaches.
const far = 1<<29 - 1

// buckets is above the cost of any link: 14, the dearest node's 18, and a crowd's.
const buckets = 64

// crowdMost is what a crowded node costs at most; each who stands there costs 1.
const crowdMost = 24

// An entry is a node in a search. Its way is its distance * 8 plus the link to take from it: of the links with the
// shortest path it is the first one. The others are its neighbours in a bucket's ring, -1 for none.
type entry struct {
	way        uint32
	next, prev int32
}

func (e *entry) dist() uint32 { return e.way >> 3 }

// link returns the link to take, or -1: no path leads there, or the node is the goal.
func (e *entry) link() int {
	if d := e.dist(); d == far || d == 0 {
		return -1
	}
	return int(e.way & 7)
}

// A search finds the paths from every node of a window to one: Dijkstra with buckets (Dial,
// "Algorithm 360: shortest-path forest with topological ordering", 1969). Integers only.
type search struct {
	r            *Realm
	nodes        []entry // w * h, given
	crowd        []uint8 // how many stand in a node, w * h, or nil
	x0, y0, w, h int     // the window, in nodes
	heads        [buckets]int32
	pause        func() // called now and then; nil: never
}

// run fills in the distances to the node (tx, ty), which lies in the window, and the links to take there.
func (s *search) run(tx, ty int) {
	for i := range s.nodes[:s.w*s.h] {
		s.nodes[i] = entry{far << 3, -1, -1}
	}
	for i := range s.heads {
		s.heads[i] = -1
	}
	s.put(int32((ty-s.y0)*s.w+tx-s.x0), 0)
	waiting := 1
	for dist := uint32(0); waiting > 0; dist++ {
		if s.pause != nil {
			s.pause()
		}
		for i := s.heads[dist%buckets]; i >= 0; i = s.heads[dist%buckets] {
			s.take(i)
			waiting--
			waiting += s.relax(int(i), dist)
		}
	}
}

// relax offers a node's distance to those beside it, and returns how many are new to the rings.
func (s *search) relax(i int, dist uint32) (fresh int) {
	lx, ly := i%s.w, i/s.w
	node := (s.y0+ly)*Coarse + s.x0 + lx
	// Links go in both directions, and the cost is that of the node that is left: enemies come from there.
	for edges := s.r.edges[node]; edges != 0; edges &= edges - 1 {
		d := bits.TrailingZeros8(edges) & 7
		nx, ny := lx+linkX[d], ly+linkY[d]
		if uint(nx) >= uint(s.w) || uint(ny) >= uint(s.h) {
			continue
		}
		j := int32(ny*s.w + nx)
		to := dist + linkCost[d] + uint32(s.r.costs[node+linkY[d]*Coarse+linkX[d]])
		if s.crowd != nil {
			to += min(uint32(s.crowd[j]), crowdMost)
		}
		way := to<<3 | uint32(d^4) // the link from the other end
		switch e := &s.nodes[j]; {
		case way >= e.way:
		case to == e.dist():
			e.way = way
		default:
			if e.dist() == far {
				fresh++
			} else {
				s.take(j)
			}
			s.put(j, way)
		}
	}
	return fresh
}

func (s *search) put(i int32, way uint32) {
	b := way >> 3 % buckets
	s.nodes[i] = entry{way, s.heads[b], -1}
	if h := s.heads[b]; h >= 0 {
		s.nodes[h].prev = i
	}
	s.heads[b] = i
}

func (s *search) take(i int32) {
	e := &s.nodes[i]
	if e.next >= 0 {
		s.nodes[e.next].prev = e.prev
	}
	if e.prev >= 0 {
		s.nodes[e.prev].next = e.next
	} else {
		s.heads[e.dist()%buckets] = e.next
	}
}

// Directions is the number of directions in which a path can lead. A direction is a number from 1 to Directions: 1
// points to +x, and higher numbers turn towards +y. 0 is no direction.
const Directions = 252

// Headings are the vectors of the directions, of length 1. The vectors of 0 and of numbers above Directions are zero.
var Headings = func() (h [256]vec) {
	for i := range Directions {
		h[i+1] = engine.Heading(float32(i) * (6.2831855 / Directions))
	}
	return h
}()

// towards has the direction of each offset in cells between two meeting points.
const towardsReach = 2*perNode + perNode

var towards = func() (t [2*towardsReach + 1][2*towardsReach + 1]uint8) {
	for y := range t {
		for x := range t[y] {
			t[y][x] = nearest(float32(x-towardsReach), float32(y-towardsReach))
		}
	}
	return t
}()

// nearest returns the direction that points most to (x, y); 0 for none.
func nearest(x, y float32) (d uint8) {
	best := float32(0)
	for i := 1; i <= Directions; i++ {
		if dot := float32(x*Headings[i][0]) + float32(y*Headings[i][1]); dot > best {
			best, d = dot, uint8(i)
		}
	}
	return d
}

// lead writes the direction to go, from each node's meeting point, into dirs: to that of the next
// node on the way, or of the one behind it where that can be walked in a line. It does so for the
// nodes of a rectangle, and reports whether there is any direction.
func (s *search) lead(dirs []uint8, left, top, wide, high int) (any bool) {
	for y := range high {
		if s.pause != nil {
			s.pause()
		}
		row := dirs[y*wide:][:wide]
		for x := range row {
			row[x] = s.direction(left+x, top+y)
			any = any || row[x] != 0
		}
	}
	return any
}

func (s *search) direction(lx, ly int) uint8 {
	d := s.nodes[ly*s.w+lx].link()
	if d < 0 {
		return s.escape(lx, ly)
	}
	x, y := s.x0+lx, s.y0+ly
	tx, ty := x+linkX[d], y+linkY[d]
	if e := s.nodes[(ty-s.y0)*s.w+tx-s.x0].link(); e >= 0 && s.r.walk(x, y, tx+linkX[e], ty+linkY[e]) {
		tx, ty = tx+linkX[e], ty+linkY[e]
	}
	return s.r.between(x, y, tx, ty)
}

// escape returns the direction from a node without links, such as one that is nearly all wall, to its best neighbour; 0
// if there is none, and in the goal.
func (s *search) escape(lx, ly int) uint8 {
	if s.nodes[ly*s.w+lx].dist() == 0 {
		return 0
	}
	best, way := uint32(far), -1
	for d := range 8 {
		nx, ny := lx+linkX[d], ly+linkY[d]
		if uint(nx) >= uint(s.w) || uint(ny) >= uint(s.h) {
			continue
		}
		if to := s.nodes[ny*s.w+nx].dist(); to != far && to+2*linkCost[d] < best {
			best, way = to+2*linkCost[d], d
		}
	}
	if way < 0 {
		return 0
	}
	return s.r.between(s.x0+lx, s.y0+ly, s.x0+lx+linkX[way], s.y0+ly+linkY[way])
}

// between returns the direction from one node's meeting point to another's.
func (r *Realm) between(x0, y0, x1, y1 int) uint8 {
	a, b := r.meeting(x0, y0), r.meeting(x1, y1)
	return towards[b/Cells-a/Cells+towardsReach][b%Cells-a%Cells+towardsReach]
}
