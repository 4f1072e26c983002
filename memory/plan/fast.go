package plan

import (
	"math"
	"math/bits"

	"github.com/strata-go/strata/memory/internal/align"
)

// Fast makes up to 16 plans by placing one buffer after the other, and returns the smallest of them. Smaller plans
// may exist, see [Exact]. Every machine computes the same plan for a set, whatever the order of the buffers is.
//
// The error wraps memory.ErrConfig. It lists all invalid buffers, or reports more than [Count] buffers. If an
// alignment is invalid, the error also wraps memory.ErrAlign. If the buffers are valid but need too many bytes,
// the error also wraps memory.ErrTooLarge.
//
// Inference engines place the largest buffer first, each at the lowest offset that is free during its lifetime. For up
// to two thousand buffers the plan of Fast is never larger than theirs. Fast ends when the Total of a plan is
// [Plan.Bound], or after an amount of work that depends only on the set.
func Fast(buffers []Buffer) (*Plan, error) { return FastWithin(buffers, 0) }

// FastWithin is Fast for a given capacity in bytes. It returns the first plan that is not larger than capacity. If
// FastWithin finds no such plan, it returns the plan of Fast without an error: compare the plan's Total with capacity.
// With a capacity of 0 FastWithin is Fast. The errors are those of Fast. Cost: one attempt if its plan fits, and
// otherwise at most the cost of Fast.
func FastWithin(buffers []Buffer, capacity uintptr) (*Plan, error) {
	set, err := declared(buffers)
	if err != nil {
		return nil, err
	}
	g := newGreedy(set, capacity, untimed, untimed)
	g.run()
	return newPlan(set, g.best, g.bound), nil
}

// A greedy makes plans by placing one buffer after the other.
type greedy struct {
	set     []Buffer
	unit    uintptr
	time    *timeline
	loads   []uintptr   // bytes, by section
	space   *space      // nil until the first attempt
	crowd   []uintptr   // bytes, by index: the largest load of a section that it lives in; nil until asked for
	offsets []uintptr   // bytes, by index: of the attempt that runs
	best    []uintptr   // bytes, by index: of the smallest plan so far
	total   uintptr     // bytes: what best needs; nowhere while there is none
	bound   uintptr     // bytes: the largest load of any section
	enough  uintptr     // bytes: no attempt is made once total is this small
	late    func() bool // reports that the attempts should end
	gone    func() bool // reports that the time is over: then total is nowhere, and there is no plan
	work    int         // how many strips may be searched, except in the first attempt
	first   int         // and how many in the first attempt, before the rest goes on top
	steps   int         // buffers placed
}

// untimed is the clock of calls without a time limit.
func untimed() bool { return false }

// newGreedy takes a declared set, and what says that it is late and that it is too late; it returns
// nil once it is.
func newGreedy(set []Buffer, capacity uintptr, late, gone func() bool) *greedy {
	t := newTimelineUnless(gone, set)
	if t == nil {
		return nil
	}
	g := &greedy{set: set, unit: unit(set), time: t, total: nowhere, work: fastWork, first: firstWork, late: late, gone: gone}
	g.offsets, g.best = make([]uintptr, len(set)), make([]uintptr, len(set))
	g.loads, g.bound = g.time.loads(set, g.unit)
	g.enough = max(g.bound, min(capacity, maxTotal))
	return g
}

// fastWork is how many strips may be asked before no further attempt begins or goes on, the
// first excepted: some tenths of a second.
const fastWork = 10_000_000

// firstWork is how many strips the first attempt may search: several times what a set of Count buffers needs. If
// alignments leave a gap after every buffer, each buffer searches all of these gaps.
const firstWork = 8 * fastWork

// run makes the attempts, until one is enough.
func (g *greedy) run() {
	all := make([]int32, 0, len(g.set))
	for i, b := range g.set {
		if b.Size > 0 {
			all = append(all, int32(i))
		}
	}
	if len(all) == 0 {
		g.total = 0
		return
	}
	if g.late() {
		// The longest first: in order of birth each would lie on the one before, like stairs.
		reorder(all, func(i int) uint64 { return ^uint64(lifetime(g.set[i])) })
		g.keep(g.onTop(0, all, 0))
		return
	}
	order := append([]int32(nil), all...)
	for _, tight := range []bool{false, true} { // the first rule is ten times as fast
		for _, keys := range g.keys() {
			if g.total <= g.enough || g.total != nowhere && (g.space.probes >= g.work || g.late()) || g.total == nowhere && g.gone() {
				return
			}
			copy(order, all)
			for _, key := range keys {
				reorder(order, func(i int) uint64 { return ^key(i) })
			}
			if total, ok := g.attempt(order, tight, g.total); ok {
				g.keep(total)
			}
		}
	}
}

// keys are what the buffers are ordered by, the largest first: of each list the last decides,
// then the one before it, then the ID.
func (g *greedy) keys() [][]func(i int) uint64 {
	size := func(i int) uint64 { return uint64(g.set[i].Size) }
	life := func(i int) uint64 { return uint64(lifetime(g.set[i])) }
	area := func(i int) uint64 { return product(size(i), life(i)) }
	crowd := func(i int) uint64 { return uint64(g.crowdOf(i)) }
	early := func(i int) uint64 { return ^moment(g.set[i].Birth) }
	late := func(i int) uint64 { return moment(g.set[i].Death) }
	return [][]func(i int) uint64{
		{life, size}, {size, life, crowd}, {life, size, crowd}, {size, life}, {size, area}, {area, crowd},
		{size, early}, {size, late},
	}
}

func (g *greedy) crowdOf(i int) uintptr {
	if g.crowd == nil {
		most := newTops(g.time.sections)
		for j, l := range g.loads {
			most.raise(int32(j), int32(j+1), l)
		}
		g.crowd = make([]uintptr, len(g.set))
		for i := range g.set {
			g.crowd[i] = most.over(g.time.lo[i], g.time.hi[i])
		}
	}
	return g.crowd[i]
}

// product is the largest number where a times b is more.
func product(a, b uint64) uint64 {
	if hi, lo := bits.Mul64(a, b); hi == 0 {
		return lo
	}
	return math.MaxUint64
}

// attempt places the buffers in this order and by one of the two rules, and returns the bytes that the plan needs. It
// stops when that reaches below, when it is late, or when the work is done. The first plan is always completed: once
// it is late or first is done, the remaining buffers are placed above the others.
func (g *greedy) attempt(order []int32, tight bool, below uintptr) (total uintptr, ok bool) {
	if g.space == nil {
		g.space = newSpace(g.time.sections)
	}
	g.space.clear()
	for x, i := range order {
		if x%64 == 63 && (g.late() || g.total != nowhere && g.space.probes >= g.work || g.space.probes >= g.first && g.total == nowhere) {
			if g.total != nowhere {
				return 0, false
			}
			total = g.onTop(x, order, total)
			return total, total != nowhere
		}
		b, lo, hi := &g.set[i], g.time.lo[i], g.time.hi[i]
		size := align.Up(b.Size, g.unit)
		g.space.watch(lo, hi)
		off := uintptr(0)
		if tight {
			off = g.space.tightest(size, b.Align)
		} else {
			off = g.space.lowest(0, size, b.Align)
		}
		g.offsets[i] = off
		g.steps++
		if total = max(total, off+size); total >= below {
			return 0, false
		}
		g.space.occupy(lo, hi, off, off+size)
	}
	return total, true
}

// onTop places the buffers of an order, from the one at x on, above all that live with them, which is cheap. Those
// before x have their places and need total bytes. It returns the bytes that all need, or nowhere if the time is
// over.
func (g *greedy) onTop(x int, order []int32, total uintptr) uintptr {
	tops := newTops(g.time.sections)
	for y, i := range order {
		if y%1024 == 1023 && g.gone() {
			return nowhere
		}
		b, lo, hi := &g.set[i], g.time.lo[i], g.time.hi[i]
		if y >= x {
			g.offsets[i] = align.Up(tops.over(lo, hi), b.Align)
		}
		top := g.offsets[i] + align.Up(b.Size, g.unit)
		tops.raise(lo, hi, top)
		total = max(total, top)
	}
	return total
}

// keep makes the attempt just made the best.
func (g *greedy) keep(total uintptr) {
	g.total = total
	g.best, g.offsets = g.offsets, g.best
}
