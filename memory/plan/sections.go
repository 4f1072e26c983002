package plan

import (
	"cmp"
	"slices"

	"github.com/strata-go/strata/memory/internal/align"
)

// A problem is one component of a set of buffers: what hangs together in time, in units of
// the smallest alignment, with time reduced to its sections.
//
// A section is a stretch of time in which the set of live buffers is maximal: every other
// moment's set is contained in a section's, so no other moment constrains anything. Two
// buffers conflict if they share a section. There are at most as many sections as buffers,
// and a buffer lives in consecutive ones.
type problem struct {
	ids      []uint32 // of the buffers, as the caller numbers them
	size     []int    // units, at least 1
	align    []int    // units, a power of two
	width    []uint   // ticks of logical time
	lo, hi   []int32  // the buffer's sections: [lo, hi)
	members  [][]int32
	conflict [][]int32 // the buffers that share a section with this one
	crowd    []int     // units, by buffer: the largest sum of sizes of a section it lives in
	bound    int       // units: the largest sum of sizes of any section
}

// split cuts the buffers that occupy memory into components between which no lifetime reaches,
// in order of time.
func split(buffers []Buffer) []*problem {
	u := unit(buffers)
	order := make([]int, 0, len(buffers))
	for i, b := range buffers {
		if b.Size > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return byBirth(buffers[a], buffers[b]) })
	var parts []*problem
	for from := 0; from < len(order); {
		to, end := from, buffers[order[from]].Death
		for to < len(order) && buffers[order[to]].Birth < end {
			end = max(end, buffers[order[to]].Death)
			to++
		}
		parts = append(parts, newProblem(buffers, order[from:to], u))
		from = to
	}
	return parts
}

func newProblem(buffers []Buffer, order []int, u uintptr) *problem {
	n := len(order)
	p := &problem{
		ids: make([]uint32, n), size: make([]int, n), align: make([]int, n), width: make([]uint, n),
		lo: make([]int32, n), hi: make([]int32, n), conflict: make([][]int32, n), crowd: make([]int, n),
	}
	for k, i := range order {
		b := buffers[i]
		p.ids[k], p.size[k], p.align[k], p.width[k] = b.ID, int(align.Up(b.Size, u)/u), int(b.Align/u), lifetime(b)
		p.lo[k] = -1
	}
	p.sweep(buffers, order)
	for j, live := range p.members {
		sum := 0
		for _, k := range live {
			sum += p.size[k]
			if p.lo[k] < 0 {
				p.lo[k] = int32(j)
			}
			p.hi[k] = int32(j + 1)
		}
		for _, k := range live {
			p.crowd[k] = max(p.crowd[k], sum)
		}
		p.bound = max(p.bound, sum)
	}
	for k := range n {
		for l := range n {
			if k != l && p.lo[k] < p.hi[l] && p.lo[l] < p.hi[k] {
				p.conflict[k] = append(p.conflict[k], int32(l))
			}
		}
	}
	return p
}

// sweep collects the maximal sets: the live set is one whenever a death follows a birth.
func (p *problem) sweep(buffers []Buffer, order []int) {
	deaths := make([]int, len(order))
	for k := range deaths {
		deaths[k] = k
	}
	death := func(k int) int { return buffers[order[k]].Death }
	slices.SortStableFunc(deaths, func(a, b int) int { return cmp.Compare(death(a), death(b)) })
	var live []int32
	grown := false
	for born, dead := 0, 0; dead < len(order); {
		if born < len(order) && buffers[order[born]].Birth < death(deaths[dead]) {
			live = append(live, int32(born))
			born++
			grown = true
			continue
		}
		if grown {
			p.members = append(p.members, slices.Clone(live))
			grown = false
		}
		at := slices.Index(live, int32(deaths[dead]))
		live = slices.Delete(live, at, at+1)
		dead++
	}
}
