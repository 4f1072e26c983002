package plan

import "github.com/strata-go/strata/memory/internal/align"

// A problem is one component of a set of buffers: what hangs together in time, in units that
// divide every size.
type problem struct {
	ids      []int32 // of the buffers, as indices in the set
	size     []int   // units, at least 1
	align    []int   // units, a power of two; 1 where every offset is a multiple anyway
	life     []uint  // ticks of logical time
	lo, hi   []int32 // the buffer's sections: [lo, hi)
	members  [][]int32
	conflict [][]int32 // the buffers that share a section with this one
	crowd    []int     // units, by buffer: the largest sum of sizes of a section it lives in
	bound    int       // units: the largest sum of sizes of any section
}

// A part is a stretch of sections that no buffer lives across.
type part struct {
	ids   []int32 // indices in the set, in order of their first sections
	from  int32   // the first section
	until int32   // the section behind the last
	pairs int     // of buffers that share a section
	cells int     // of buffers and sections they live in
}

// parts cuts a timeline where no lifetime reaches from one section to the next, in order of
// time. Cost: O(n log n).
func (t *timeline) parts(set []Buffer) (parts []part) {
	order := make([]int32, 0, len(set))
	for i, b := range set {
		if b.Size > 0 {
			order = append(order, int32(i))
		}
	}
	reorder(order, func(i int) uint64 { return uint64(t.lo[i]) })
	dead := make([]int, t.sections+1) // by section: how many live only before it
	for _, i := range order {
		dead[t.hi[i]]++
	}
	for j := range t.sections {
		dead[j+1] += dead[j]
	}
	for from := 0; from < len(order); {
		p := part{from: t.lo[order[from]]}
		to := from
		for p.until = p.from + 1; to < len(order) && t.lo[order[to]] < p.until; to++ {
			i := order[to]
			p.until = max(p.until, t.hi[i])
			p.cells += int(t.hi[i] - t.lo[i])
			p.pairs += to - dead[t.lo[i]] // those born before it that live when it is born
		}
		p.ids = order[from:to:to]
		parts = append(parts, p)
		from = to
	}
	return parts
}

// scale returns the number of bytes, a multiple of u, of which every size, rounded up to u, is a
// multiple, and so every offset on which something may rest.
func scale(set []Buffer, u uintptr) uintptr {
	g := uintptr(0)
	for _, b := range set {
		g = gcd(g, align.Up(b.Size, u))
	}
	for _, b := range set {
		if b.Size > 0 && g%b.Align != 0 {
			g = gcd(g, b.Align)
		}
	}
	return max(g, 1)
}

func gcd(a, b uintptr) uintptr {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// newProblem takes a part, the smallest alignment and the scale of the set.
func newProblem(set []Buffer, t *timeline, part part, u, unit uintptr) *problem {
	n, m := len(part.ids), int(part.until-part.from)
	p := &problem{
		ids: part.ids, size: make([]int, n), align: make([]int, n), life: make([]uint, n),
		lo: make([]int32, n), hi: make([]int32, n), crowd: make([]int, n),
		members: make([][]int32, m), conflict: make([][]int32, n),
	}
	cells := make([]int32, 0, part.cells)
	count, sums := make([]int, m), make([]int, m)
	for k, i := range part.ids {
		b := set[i]
		p.size[k], p.align[k], p.life[k] = int(align.Up(b.Size, u)/unit), max(1, int(b.Align/unit)), lifetime(b)
		p.lo[k], p.hi[k] = t.lo[i]-part.from, t.hi[i]-part.from
		for j := p.lo[k]; j < p.hi[k]; j++ {
			count[j]++
			sums[j] += p.size[k]
		}
	}
	for j, c := range count {
		p.members[j], cells = cells[len(cells):len(cells):len(cells)+c], cells[:len(cells)+c]
		p.bound = max(p.bound, sums[j])
	}
	for k := range n {
		for j := p.lo[k]; j < p.hi[k]; j++ {
			p.members[j] = append(p.members[j], int32(k))
			p.crowd[k] = max(p.crowd[k], sums[j])
		}
	}
	p.meet(part.pairs)
	return p
}

// meet fills conflict. Those that share a section with a buffer were born no later than it and live
// in its first section, or are born while it lives.
func (p *problem) meet(pairs int) {
	all := make([]int32, 0, 2*pairs)
	for k := range p.lo {
		from := len(all)
		for _, l := range p.members[p.lo[k]] {
			if int(l) != k {
				all = append(all, l)
			}
		}
		// ids are in order of lo: the members of a first section end with those born in it.
		for l := k + 1; l < len(p.lo) && p.lo[l] < p.hi[k]; l++ {
			if p.lo[l] > p.lo[k] {
				all = append(all, int32(l))
			}
		}
		p.conflict[k] = all[from:len(all):len(all)]
	}
}
