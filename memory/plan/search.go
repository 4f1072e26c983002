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
// the lowest offset that it may still have. A step picks a section whose floor no buffer in
// question reaches beneath, and tries each buffer that may lie there, then that none does:
// then they rest on something that is not placed yet, which lifts them.
//
// Invariants between steps:
//
//	(1) off of a placed buffer is final; off of another is a lower bound, at least the top
//	    of every placed buffer it conflicts with
//	(2) floor[j] is the least off of the members of j that are not placed; never if none
//	(3) level[j] <= ceiling, where level[j] is the least top of j's members, if each starts
//	    at off or later and they share nothing but the section
//	(4) hash is the sum of mix(i, off[i]) over the buffers that are not placed
//	(5) undoing the trail gives the state in which the run began
type search struct {
	*problem
	ceiling int       // units
	off     []int     // units, by buffer
	placed  []bool    // by buffer
	left    int       // buffers that are not placed
	floor   []int     // units, by section
	level   []int     // units, by section
	choices []int     // by section: how many members may lie on the floor
	weight  []float64 // by section: 1 and how often it was what failed, halved from run to run
	rank    []int     // by buffer: the order in which choices are tried
	hash    uint64
	trail   []change
	dirty   []int32 // sections to be looked at again
	isDirty []bool
	stack   []int32  // the choices of every step on the way here
	lifts   []int    // scratch
	failed  []uint64 // states that lead nowhere, hashed together with their ceiling
	budget  *budget
	quota   int // steps left to this run
}

// A change is what undo needs: the buffer was placed, or moved from off.
type change struct {
	i      int32
	placed bool
	off    int
}

type outcome int

const (
	solved     outcome = iota // off holds the plan
	impossible                // there is none below the ceiling
	stopped                   // by the quota or the budget
)

// never is above every offset, and leaves room to add a size.
const never = math.MaxInt >> 1

// tableShift makes the table of failed states 2 MiB; older ones give way to newer ones.
const tableShift = 64 - 18

func newSearch(p *problem) search {
	n, m := len(p.size), len(p.members)
	return search{
		problem: p, off: make([]int, n), placed: make([]bool, n), rank: make([]int, n),
		floor: make([]int, m), level: make([]int, m), choices: make([]int, m),
		weight: slices.Repeat([]float64{1}, m), isDirty: make([]bool, m),
	}
}

// run searches once, with the order of the given turn, for at most quota steps.
func (s *search) run(ceiling, turn, quota int, b *budget) outcome {
	if s.failed == nil {
		s.failed = make([]uint64, 1<<(64-tableShift))
	}
	s.ceiling, s.quota, s.budget = ceiling, quota, b
	s.order(turn)
	for j, w := range s.weight {
		s.weight[j] = 1 + (w-1)/2 // what the last run met counts most
	}
	clear(s.off)
	clear(s.placed)
	s.left = len(s.size)
	s.trail, s.stack = s.trail[:0], s.stack[:0]
	s.hash = mix(-1, ceiling)
	for i := range s.size {
		s.hash += mix(int32(i), 0)
	}
	for j := range s.members {
		s.touch(int32(j))
	}
	if !s.settle() {
		return impossible
	}
	return s.descend(0)
}

// order ranks the buffers by area, size, lifetime or the load around them, in turn. From the
// second turn on some change places, because a run that failed would fail again.
func (s *search) order(turn int) {
	key := [...]func(i int) float64{
		func(i int) float64 { return float64(s.size[i]) * float64(s.width[i]) },
		func(i int) float64 { return float64(s.size[i]) },
		func(i int) float64 { return float64(s.width[i]) },
		func(i int) float64 { return float64(s.crowd[i]) },
	}[(turn-1)%4]
	order := make([]int, len(s.size))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(b), key(a)) })
	if turn > 1 {
		r := rand.New(rand.NewPCG(uint64(turn), 0))
		for k := range order {
			o := min(len(order)-1, k+r.IntN(1+len(order)/12))
			order[k], order[o] = order[o], order[k]
		}
	}
	for r, i := range order {
		s.rank[i] = r
	}
}

// descend looks at one state and everything below it.
func (s *search) descend(depth int) outcome {
	if s.left == 0 {
		return solved
	}
	// A path this long consists of lifts that lead nowhere: the run ends before the
	// goroutine's stack does.
	if s.quota == 0 || depth > 4*len(s.size)+64 || !s.budget.more() {
		return stopped
	}
	s.quota--
	s.budget.step()
	state := s.hash
	if s.failed[state>>tableShift] == state {
		return impossible
	}
	from, mark := len(s.stack), len(s.trail)
	s.stack = s.atFloor(s.stack, s.pick())
	to := len(s.stack)
	slices.SortFunc(s.stack[from:], func(a, b int32) int { return s.rank[a] - s.rank[b] })
	for x := from; x <= to; x++ {
		var ok bool
		switch {
		case x == to:
			ok = s.lift(s.stack[from:to])
		case s.repeats(s.stack[from:x], s.stack[x]):
			continue
		default:
			ok = s.place(s.stack[x])
		}
		if ok {
			if r := s.descend(depth + 1); r != impossible {
				return r
			}
		}
		s.undo(mark)
	}
	s.stack = s.stack[:from]
	s.failed[state>>tableShift] = state
	return impossible
}

// pick returns the section with the fewest choices for its weight, and of those the one with
// the least room, among the ones whose choices lie flat on the floor of every section they span.
func (s *search) pick() int {
	best, bestScore := -1, math.Inf(1)
	for j, floor := range s.floor {
		if floor == never {
			continue
		}
		room := float64(s.ceiling-s.level[j]) / float64(s.ceiling)
		if score := (float64(s.choices[j]) + room) / s.weight[j]; score < bestScore && s.flat(j) {
			best, bestScore = j, score
		}
	}
	return best
}

// flat holds for the lowest section at least: nothing in question reaches beneath its floor.
func (s *search) flat(j int) bool {
	for _, i := range s.members[j] {
		if s.placed[i] || s.off[i] != s.floor[j] {
			break // members are in order of off, the placed ones last
		}
		for _, f := range s.floor[s.lo[i]:s.hi[i]] {
			if f != s.floor[j] {
				return false
			}
		}
	}
	return true
}

// atFloor appends the members of j that may lie on its floor.
func (s *search) atFloor(to []int32, j int) []int32 {
	return append(to, s.members[j][:s.choices[j]]...)
}

// repeats reports whether a buffer just like i was tried before it.
func (s *search) repeats(tried []int32, i int32) bool {
	for _, k := range tried {
		if s.size[k] == s.size[i] && s.align[k] == s.align[i] && s.lo[k] == s.lo[i] && s.hi[k] == s.hi[i] {
			return true
		}
	}
	return false
}

// place fixes buffer i at off[i] and lifts what conflicts with it to its top.
func (s *search) place(i int32) bool {
	s.trail = append(s.trail, change{i: i, placed: true})
	s.hash -= mix(i, s.off[i])
	s.placed[i] = true
	s.left--
	s.touchSpan(i)
	top := s.off[i] + s.size[i]
	for _, k := range s.conflict[i] {
		if !s.placed[k] && s.off[k] < top {
			s.move(k, upTo(top, s.align[k]))
		}
	}
	return s.settle()
}

// lift rules out that any of the given buffers, the choices of one section, lies where it may
// lie now: each then rests on something it conflicts with that is not placed yet, or on one of
// the others, once that is lifted itself.
func (s *search) lift(choices []int32) bool {
	s.lifts = s.lifts[:0]
	for _, i := range choices {
		v := never
		for _, k := range s.conflict[i] {
			if !s.placed[k] && s.off[k]+s.size[k] < v && !slices.Contains(choices, k) {
				v = s.off[k] + s.size[k]
			}
		}
		s.lifts = append(s.lifts, upTo(v, s.align[i]))
	}
	for again := true; again; {
		again = false
		for x, i := range choices {
			for y, k := range choices {
				if v := upTo(s.lifts[y]+s.size[k], s.align[i]); x != y && v < s.lifts[x] {
					s.lifts[x], again = v, true
				}
			}
		}
	}
	for x, i := range choices {
		if s.lifts[x]+s.size[i] > s.ceiling {
			return false
		}
	}
	for x, i := range choices {
		s.move(i, s.lifts[x])
	}
	return s.settle()
}

func (s *search) move(i int32, off int) {
	s.trail = append(s.trail, change{i: i, off: s.off[i]})
	s.hash += mix(i, off) - mix(i, s.off[i])
	s.off[i] = off
	s.touchSpan(i)
}

// undo goes back to when the trail was mark long. What it touches is looked at with the next
// change.
func (s *search) undo(mark int) {
	for _, c := range slices.Backward(s.trail[mark:]) {
		if c.placed {
			s.placed[c.i] = false
			s.left++
			s.hash += mix(c.i, s.off[c.i])
		} else {
			s.hash += mix(c.i, c.off) - mix(c.i, s.off[c.i])
			s.off[c.i] = c.off
		}
		s.touchSpan(c.i)
	}
	s.trail = s.trail[:mark]
}

func (s *search) touchSpan(i int32) {
	for j := s.lo[i]; j < s.hi[i]; j++ {
		s.touch(j)
	}
}

func (s *search) touch(j int32) {
	if !s.isDirty[j] {
		s.isDirty[j] = true
		s.dirty = append(s.dirty, j)
	}
}

// settle brings the touched sections up to date, until one does not fit; the rest stay
// touched.
func (s *search) settle() bool {
	for len(s.dirty) > 0 {
		j := s.dirty[len(s.dirty)-1]
		if !s.survey(j) {
			s.weight[j]++
			return false
		}
		s.dirty = s.dirty[:len(s.dirty)-1]
		s.isDirty[j] = false
	}
	return true
}

// survey computes floor, level and choices of a section, which is scheduling on one machine
// with release times: taking them in that order is optimal. Members are nearly in order
// from the last time, so insertion sorts them in almost linear time.
func (s *search) survey(j int32) bool {
	members := s.members[j]
	for a := 1; a < len(members); a++ {
		x := members[a]
		off, b := s.release(x), a
		for ; b > 0 && s.release(members[b-1]) > off; b-- {
			members[b] = members[b-1]
		}
		members[b] = x
	}
	floor, level, choices := s.release(members[0]), 0, 0
	for _, i := range members {
		if s.placed[i] {
			break
		}
		if s.off[i] == floor {
			choices++
		}
		level = max(level, s.off[i]) + s.size[i]
	}
	s.floor[j], s.level[j], s.choices[j] = floor, level, choices
	return level <= s.ceiling
}

func (s *search) release(i int32) int {
	if s.placed[i] {
		return never
	}
	return s.off[i]
}

// mix hashes a buffer and an offset, with the finaliser of Stafford's variant 13 of
// MurmurHash3 (2011).
func mix(i int32, off int) uint64 {
	x := uint64(uint32(i))*0x9E3779B97F4A7C15 ^ uint64(off)*0xD6E8FEB86659FD93
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func upTo(n, a int) int { return int(align.Up(uintptr(n), uintptr(a))) }
