package meter

import "slices"

// SlotCount is the number of values that a curve of the window has, for drawing.
const SlotCount = 240

const (
	perEdge   = 12                    // slots from one edge to the next: half a second of ten
	edgeCount = SlotCount/perEdge + 1 // edges that the window has
	deltas    = edgeCount - 1         // steps between them
	fewest    = 4                     // steps from which growth is judged: two seconds of ten
	coarse    = 4                     // steps that are one for what comes in bursts
)

// A series is one figure by the wall clock: the most of it in each slot of the window, for drawing,
// and what it was at the edges of half seconds, between frames by a straight line, from which growth is
// judged. It does not know how many frames a second there are.
//
// Invariants, verified in this order by check:
//
//	(1) slot < SlotCount is where the present slot is; edge < edgeCount where the next edge goes
//	(2) known <= edgeCount edges are known, the newest before edge; edges beyond are 0
type series struct {
	slots [SlotCount]float32
	edges [edgeCount]float64
	slot  int32
	edge  int32
	known int32
	now   float64
}

// cross tells that a slot has ended, when the figure was v; where it ends a half second, edge says so.
func (s *series) cross(v float64, edge bool) {
	s.slots[s.slot] = max(s.slots[s.slot], float32(v))
	s.slot = (s.slot + 1) % SlotCount
	s.slots[s.slot] = float32(v)
	if edge {
		s.edges[s.edge] = v
		s.edge = (s.edge + 1) % edgeCount
		s.known = min(s.known+1, edgeCount)
	}
}

// set takes the figure of a frame.
func (s *series) set(v float64) {
	s.now = v
	s.slots[s.slot] = max(s.slots[s.slot], float32(v))
}

// restart forgets what growth is judged from: what was before a reset is not compared with what is
// behind it.
func (s *series) restart() { s.edges, s.edge, s.known = [edgeCount]float64{}, 0, 0 }

// at returns edge i of the known ones, 0 being the oldest.
func (s *series) at(i int) float64 {
	return s.edges[(int(s.edge)-int(s.known)+i+edgeCount)%edgeCount]
}

// growth returns by how much the figure grows in a step, 0 where it does not: where most steps rise,
// also the last ones, once those at either end are left out. So neither what is filled once counts
// nor what breathes; what rises in bursts,
// and hardly falls, is seen in longer steps.
func (s *series) growth() float64 {
	n := int(s.known) - 1
	if n < fewest || s.at(n) <= s.at(n-fewest) {
		return 0
	}
	var fine, long [deltas]float64
	for i := range n {
		fine[i] = s.at(i+1) - s.at(i)
	}
	rises, falls := 0.0, 0.0
	for _, d := range fine[:n] {
		rises, falls = rises+max(d, 0), falls-min(d, 0)
	}
	if rise := steady(fine[:n]); rise > 0 || n < fewest*coarse || 4*falls > rises {
		return rise
	}
	k := n / coarse
	for i := range k { // the newest steps
		at := n - (k-i)*coarse
		long[i] = (s.at(at+coarse) - s.at(at)) / coarse
	}
	return steady(long[:k])
}

// steady returns the mean of d without a fifth, at least one, of the largest and the smallest; 0 where
// no more than half of what is left rises. It sorts d.
func steady(d []float64) float64 {
	slices.Sort(d)
	k := max(len(d)/5, 1)
	d = d[k : len(d)-k]
	sum, rising := 0.0, 0
	for _, x := range d {
		sum += x
		if x > 0 {
			rising++
		}
	}
	if 2*rising <= len(d) || sum <= 0 {
		return 0
	}
	return sum / float64(len(d))
}

// curve copies the slots, the oldest first.
func (s *series) curve(dst *[SlotCount]float32) {
	n := copy(dst[:], s.slots[s.slot+1:])
	copy(dst[n:], s.slots[:s.slot+1])
}

func (s *series) check() bool {
	if s.slot < 0 || s.slot >= SlotCount || s.edge < 0 || s.edge >= edgeCount || s.known < 0 || s.known > edgeCount {
		return false
	}
	for i := s.known; i < edgeCount; i++ {
		if s.edges[(int(s.edge)+int(i-s.known))%edgeCount] != 0 {
			return false
		}
	}
	return true
}
