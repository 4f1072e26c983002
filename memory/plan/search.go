package plan

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/strata-go/strata/memory/internal/align"
)

// A search decides whether a component fits below a ceiling.
//
// Only left-justified plans count, in which every buffer lies at 0 or rests on another: any
// plan becomes one by letting its buffers drop. A state gives each buffer that is not placed
// the lowest offset that it may still have. A step takes the lowest of them all, of equal ones
// that which comes first in a given order: nothing that is not placed can lie beneath it. Either
// it lies there, or it rests on something that is not placed yet, which lifts it. Where no
// lifetime reaches any more from one section to the next, each side is decided by itself.
//
// Invariants between steps:
//
//	(1) low of a buffer that is not placed is a lower bound of its offset, at least the top of
//	    every placed buffer that it conflicts with; of a placed one it is never
//	(2) floor[j] is the least low of the members of j; total[j] is the size of those that are not
//	    placed, and floor[j] + total[j] <= ceiling
//	(3) cuts[j] is how many that are not placed live in sections j-1 and j
//	(4) hash is the sum of mix(i, low[i]) over the buffers that are not placed, and of the ceiling
//	(5) undoing the trail gives the state in which the run began
type search struct {
	*problem
	ceiling int     // units
	off     []int   // units, by buffer: where it was placed
	low     []int   // units, by buffer
	floor   []int   // units, by section
	total   []int   // units, by section
	cuts    []int32 // by section
	fails   []int   // by section: how often it was what did not fit
	rank    []int32 // the buffers in the order in which choices are made
	hash    uint64
	trail   []change
	dirty   []int32  // sections whose floor may have risen
	isDirty []bool   // by section
	pending []int32  // the buffers that the steps on the way here have to place
	failed  []uint64 // states that lead nowhere
	budget  *budget
	quota   int // steps left to this run
}

// A change is what undo needs.
type change struct {
	kind int8
	i    int32 // a buffer, or a section
	was  int   // units
}

const (
	placed  = iota // buffer i was not placed, its low was was
	lifted         // the low of buffer i was was
	floored        // the floor of section i was was
)

type outcome int

const (
	solved     outcome = iota // off holds the plan
	impossible                // there is none below the ceiling
	stopped                   // by the quota or the budget
)

// never is above every offset, and a size can be added to it without overflow.
const never = math.MaxInt >> 1

// tableShift makes the table of failed states 2 MiB; older ones give way to newer ones.
const tableShift = 64 - 18

func newSearch(p *problem) *search {
	n, m := len(p.size), len(p.members)
	return &search{
		problem: p, off: make([]int, n), low: make([]int, n), rank: make([]int32, n),
		floor: make([]int, m), total: make([]int, m), cuts: make([]int32, m), fails: make([]int, m),
		isDirty: make([]bool, m), failed: make([]uint64, 1<<(64-tableShift)),
	}
}

// run searches once, with the order of the given turn, for at most quota steps.
func (s *search) run(ceiling, turn, quota int, b *budget) outcome {
	s.ceiling, s.quota, s.budget = ceiling, quota, b
	s.order(turn)
	clear(s.low)
	clear(s.floor)
	clear(s.total)
	clear(s.cuts)
	s.hash = mix(-1, ceiling)
	for i, size := range s.size {
		s.hash += mix(int32(i), 0)
		for j := s.lo[i]; j < s.hi[i]; j++ {
			s.total[j] += size
			if j > s.lo[i] {
				s.cuts[j]++
			}
		}
	}
	s.trail, s.pending = s.trail[:0], append(s.pending[:0], s.rank...)
	r := stretch{0, len(s.rank), len(s.rank), 0, int32(len(s.members)), s.hash}
	if !s.fits(r) {
		return impossible
	}
	return s.decide(r)
}

// orders is how many orders of the buffers there are, before some change places.
const orders = 4

// order ranks the buffers again in every turn. It ranks by the load around them, their lifetime and their area in
// different sequence, or by how often the sections that they live in did not fit. From the fifth turn on some buffers
// change places, because a run that failed would fail again. Much later most turns are of the latter kind.
func (s *search) order(turn int) {
	kind := turn % orders
	if turn >= 64*orders && kind > 0 {
		kind = orders - 1 // what does not come by itself has to be learned
	}
	area := func(i int32) float64 { return float64(s.size[i]) * float64(s.life[i]) }
	life := func(i int32) float64 { return float64(s.life[i]) }
	crowd := func(i int32) float64 { return float64(s.crowd[i]) }
	fails := func(i int32) (sum float64) {
		for j := s.lo[i]; j < s.hi[i]; j++ {
			sum += float64(s.fails[j])
		}
		return sum
	}
	keys := [orders][3]func(int32) float64{
		{crowd, life, area}, {crowd, area, life}, {life, area, crowd}, {fails, area, crowd},
	}[kind]
	for i := range s.rank {
		s.rank[i] = int32(i)
	}
	slices.SortStableFunc(s.rank, func(a, b int32) int {
		for _, key := range keys {
			if c := cmp.Compare(key(b), key(a)); c != 0 {
				return c
			}
		}
		return 0
	})
	if turn >= orders {
		r := rand.New(rand.NewPCG(uint64(turn), 0))
		for k := range s.rank {
			o := min(len(s.rank)-1, k+r.IntN(1+len(s.rank)/12))
			s.rank[k], s.rank[o] = s.rank[o], s.rank[k]
		}
	}
}

// A stretch is a part of the component that can be decided by itself. It has the buffers of pending[from:to] in order
// of rank, all within sections [lo, hi), and their share of the hash. left is how many are not placed.
type stretch struct {
	from, to, left int
	lo, hi         int32
	hash           uint64
}

// decide looks at one state of a stretch and everything below it.
func (s *search) decide(r stretch) outcome {
	if r.left == 0 {
		return solved
	}
	state := r.hash
	if s.failed[state>>tableShift] == state {
		return impossible
	}
	top := never // the lowest: who starts there or above lies on another, or on a gap that it fits
	for _, i := range s.pending[r.from:r.to] {
		top = min(top, s.low[i]+s.size[i])
	}
	kept := len(s.pending)
	for {
		c, low := int32(-1), top
		for _, i := range s.pending[r.from:r.to] {
			if s.low[i] < low {
				c, low = i, s.low[i]
			}
		}
		if c < 0 {
			break
		}
		if s.quota == 0 || !s.budget.more() {
			return stopped
		}
		s.quota--
		s.budget.step()
		mark, hash := len(s.trail), s.hash
		if s.place(c) && s.fits(r) {
			if out := s.divide(r, c, s.hash-hash); out != impossible {
				return out
			}
		}
		s.undo(mark)
		s.pending = s.pending[:kept]
		if hash = s.hash; !s.lift(c) || !s.fits(r) {
			break
		}
		r.hash += s.hash - hash
	}
	s.failed[state>>tableShift] = state
	return impossible
}

// divide continues with the rest of a stretch after buffer c was placed, which changed its hash by change. If there
// are cuts that no lifetime crosses any more, it decides each side by itself.
func (s *search) divide(r stretch, c int32, change uint64) outcome {
	r.left--
	r.hash += change
	if !slices.Contains(s.cuts[s.lo[c]+1:s.hi[c]], 0) {
		if r.to-r.from > 2*r.left+16 {
			return s.decide(s.within(r.from, r.to, r.lo, r.hi))
		}
		return s.decide(r)
	}
	from := r.lo
	for j := s.lo[c] + 1; j <= s.hi[c]; j++ {
		until := j
		if j == s.hi[c] {
			until = r.hi
		} else if s.cuts[j] != 0 {
			continue
		}
		if out := s.decide(s.within(r.from, r.to, from, until)); out != solved {
			return out
		}
		from = until
	}
	return solved
}

// within makes a stretch of those of pending[from:to] that live in [lo, hi) and are not placed.
func (s *search) within(from, to int, lo, hi int32) stretch {
	r := stretch{from: len(s.pending), lo: lo, hi: hi, hash: mix(-1, s.ceiling)}
	for _, i := range s.pending[from:to] {
		if s.low[i] != never && s.lo[i] < hi && s.hi[i] > lo {
			s.pending = append(s.pending, i)
			r.hash += mix(i, s.low[i])
		}
	}
	r.to = len(s.pending)
	r.left = r.to - r.from
	return r
}

// place fixes buffer i at low[i] and lifts what conflicts with it to its top.
func (s *search) place(i int32) bool {
	low, size := s.low[i], s.size[i]
	s.trail = append(s.trail, change{placed, i, low})
	s.off[i], s.low[i] = low, never
	s.hash -= mix(i, low)
	for j := s.lo[i]; j < s.hi[i]; j++ {
		s.total[j] -= size
		if j > s.lo[i] {
			s.cuts[j]--
		}
		s.touch(j, low)
	}
	ok := true
	for _, k := range s.conflict[i] {
		if s.low[k] < low+size {
			ok = s.raise(k, low+size) && ok
		}
	}
	s.settle()
	return ok
}

// lift rules out that buffer i, the lowest, lies where it may lie now: it then rests on
// something that it conflicts with and that is not placed yet. What is just like it lies there
// no more than it does.
func (s *search) lift(i int32) bool {
	low, to := s.low[i], never
	for _, k := range s.conflict[i] {
		to = min(to, s.low[k]+s.size[k]) // never and more where it is placed
	}
	ok := s.raise(i, to)
	for _, k := range s.conflict[i] {
		if ok && s.low[k] == low && s.lo[k] == s.lo[i] && s.hi[k] == s.hi[i] && s.size[k] == s.size[i] && s.align[k] == s.align[i] {
			ok = s.raise(k, to)
		}
	}
	s.settle()
	return ok
}

// raise lets buffer i start at to or above; it reports whether it ends below the ceiling then.
func (s *search) raise(i int32, to int) bool {
	low := s.low[i]
	s.trail = append(s.trail, change{lifted, i, low})
	if a := s.align[i]; a > 1 {
		to = upTo(to, a)
	}
	s.low[i] = to
	s.hash += mix(i, to) - mix(i, low)
	for j := s.lo[i]; j < s.hi[i]; j++ {
		s.touch(j, low)
	}
	return to+s.size[i] <= s.ceiling
}

// touch marks section j, a member of which was at low.
func (s *search) touch(j int32, low int) {
	if s.floor[j] == low && !s.isDirty[j] {
		s.isDirty[j] = true
		s.dirty = append(s.dirty, j)
	}
}

// settle brings the floors of the touched sections up to date. They only rise: a member that is
// still at the floor ends the look at the others.
func (s *search) settle() {
	for _, j := range s.dirty {
		s.isDirty[j] = false
		was, floor := s.floor[j], never
		for _, i := range s.members[j] {
			if low := s.low[i]; low < floor {
				if floor = low; low == was {
					break
				}
			}
		}
		if floor != was {
			s.trail = append(s.trail, change{floored, j, was})
			s.floor[j] = floor
		}
	}
	s.dirty = s.dirty[:0]
}

// fits reports whether every section of a stretch can hold what it has to.
func (s *search) fits(r stretch) bool {
	floor, total := s.floor[r.lo:r.hi], s.total[r.lo:r.hi]
	for j, t := range total {
		if t > 0 && floor[j]+t > s.ceiling {
			s.fails[int(r.lo)+j]++
			return false
		}
	}
	return true
}

// undo goes back to when the trail was mark long.
func (s *search) undo(mark int) {
	for x := len(s.trail) - 1; x >= mark; x-- {
		i, was := s.trail[x].i, s.trail[x].was
		switch s.trail[x].kind {
		case floored:
			s.floor[i] = was
		case lifted:
			s.hash += mix(i, was) - mix(i, s.low[i])
			s.low[i] = was
		default:
			s.low[i] = was
			s.hash += mix(i, was)
			for j := s.lo[i]; j < s.hi[i]; j++ {
				s.total[j] += s.size[i]
				if j > s.lo[i] {
					s.cuts[j]++
				}
			}
		}
	}
	s.trail = s.trail[:mark]
}

// mix hashes a buffer and an offset, with the finaliser of Stafford's variant 13 of
// MurmurHash3 (2011).
func mix(i int32, off int) uint64 {
	x := uint64(uint32(i)+1)*0x9E3779B97F4A7C15 ^ uint64(off)*0xD6E8FEB86659FD93
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func upTo(n, a int) int { return int(align.Up(uintptr(n), uintptr(a))) }
