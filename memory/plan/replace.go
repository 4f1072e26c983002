package plan

import (
	"math/rand/v2"
	"slices"
)

// A replacer improves a plan by placing all its buffers again and again. It places them in the order of their
// offsets, except that it moves forward those that end too high, and a few that are drawn at random. In exactly the
// order of their offsets all buffers would get the same offsets or lower ones, so gains are kept. The next round
// starts from the result unless that is worse.
type replacer struct {
	g       *greedy
	order   []int32
	keys    []uint64  // by index
	current []uintptr // offsets, by index
	total   uintptr   // bytes: what current needs
	rounds  uint64
}

func newReplacer(g *greedy) *replacer {
	r := &replacer{g: g, keys: make([]uint64, len(g.set)), current: slices.Clone(g.best), total: g.total}
	for i, b := range g.set {
		if b.Size > 0 {
			r.order = append(r.order, int32(i))
		}
	}
	return r
}

// drawn is the number of buffers that are moved forward at random. More of them destroy good orders; without any,
// rounds repeat.
const drawn = 4

// round reports whether it found a smaller plan than the greedy's, and gives it to the greedy.
func (r *replacer) round(b *budget) bool {
	r.rounds++
	lots := rand.New(rand.NewPCG(r.rounds, 1))
	g := r.g
	// Too high ends what is in the topmost part of what lies above the bound: of 1/2, 1/4 … 1/64.
	over := (r.total - g.bound) >> (1 + r.rounds%6)
	chance := max(2, len(r.order)/drawn)
	for _, i := range r.order {
		key := uint64(r.current[i])
		if r.current[i]+g.set[i].Size > r.total-over || lots.IntN(chance) == 0 {
			key = lots.Uint64N(key + 1)
		}
		r.keys[i] = key
	}
	reorder(r.order, func(i int) uint64 { return r.keys[i] })
	steps := g.steps
	if g.space != nil {
		g.work = g.space.probes + fastWork // for this round
	}
	total, ok := g.attempt(r.order, r.rounds%8 == 7, r.total+1)
	b.take(g.steps - steps)
	if !ok {
		return false
	}
	copy(r.current, g.offsets)
	r.total = total
	if total >= g.total {
		return false
	}
	g.keep(total)
	return true
}
