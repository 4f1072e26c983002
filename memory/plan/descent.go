package plan

import "time"

// A descent improves the plan of a greedy. It searches the tallest component, as long as that is small enough, and
// between these searches places all buffers again.
type descent struct {
	g                  *greedy
	parts              []*climb
	unit               uintptr // bytes: the scale of the set
	target             int     // units: the capacity
	budget             *budget
	anew               *replacer
	searched, replaced int // steps
}

func newDescent(g *greedy, capacity uintptr, b *budget) *descent {
	d := &descent{g: g, unit: scale(g.set, g.unit), budget: b, anew: newReplacer(g)}
	d.target = int(capacity / d.unit)
	for _, part := range g.time.parts(g.set) {
		c := &climb{part: part, offsets: make([]uintptr, len(part.ids)), best: never, shift: 1}
		c.take(d)
		d.parts = append(d.parts, c)
	}
	return d
}

// replaceShare is the number of steps of searching for one of placing again, if both are possible. The public
// instances of a few hundred buffers need the former. Cut rectangles with holes, whose load bound leaves space, gain
// from the latter. Of 1, 3 and 8 this was the best for both.
const replaceShare = 3

// run improves the plan of the greedy as far as the budget goes, and returns the size in bytes
// below which there is no plan.
func (d *descent) run() (low uintptr) {
	floor := int(d.g.bound / d.unit) // every component may grow to that of the tightest
	for d.budget.more() {
		c := d.tallest()
		if c.best <= max(floor, d.target) {
			break
		}
		used := d.budget.used
		afford := !d.budget.counted || d.budget.left >= len(d.g.set)
		if (!afford || d.replaced*replaceShare > d.searched) && c.ready(d) {
			c.attempt(max(floor, d.target), d.unit, d.budget)
			floor = max(floor, c.low)
			d.searched += d.budget.used - used
			continue
		}
		if !afford {
			break
		}
		if d.anew.round(d.budget) {
			for _, c := range d.parts {
				c.take(d)
			}
		}
		d.replaced += max(1, d.budget.used-used)
	}
	for _, c := range d.parts {
		for k, i := range c.part.ids {
			d.g.best[i] = c.offsets[k]
		}
	}
	return uintptr(floor) * d.unit
}

// tallest returns the component that needs the most.
func (d *descent) tallest() (t *climb) {
	for _, c := range d.parts {
		if t == nil || c.best > t.best {
			t = c
		}
	}
	return t
}

// A climb improves one component by searches. Attempts at the floor alternate with attempts halfway to it, then a
// quarter, an eighth, so that something is gained if the floor cannot be reached. After 16 rounds one attempt in four
// is of the latter kind.
type climb struct {
	part    part
	search  *search   // nil until it is searched
	offsets []uintptr // bytes, by index in the part
	best    int       // units: what offsets need
	low     int       // units: proved to be needed
	round   int       // of attempts
	turn    int       // of attempts at the floor
	shift   int       // the middle target saves (best-low) >> shift
	bisect  bool      // runs come to an end: the optimum is between low and best, and near
	eased   bool      // the last run found a plan: the next goes on from there
}

// take has the component lie as in the plan of the greedy where it needs less there.
func (c *climb) take(d *descent) {
	top := uintptr(0)
	for _, i := range c.part.ids {
		top = max(top, d.g.best[i]+d.g.set[i].Size)
	}
	if best := int((top + d.unit - 1) / d.unit); best < c.best {
		c.best = best
		for k, i := range c.part.ids {
			c.offsets[k] = d.g.best[i]
		}
	}
}

// searchPairs bounds the pairs of conflicting buffers of a component that is searched: 64 MiB of
// lists.
const searchPairs = 1 << 23

// ready reports whether the component can be searched, and makes what that takes.
func (c *climb) ready(d *descent) bool {
	if c.search != nil {
		return true
	}
	const setUp = 20 * time.Nanosecond // for a pair
	if c.part.pairs > searchPairs || d.budget.timed && time.Until(d.budget.end) < time.Duration(c.part.pairs)*setUp {
		return false
	}
	c.search = newSearch(newProblem(d.g.set, d.g.time, c.part, d.g.unit, d.unit))
	c.low = c.search.bound
	return true
}

// runSteps is the length of the shortest run, for each buffer.
const runSteps = 2

// attempt runs the search once, for a total of at most target or something between that
// and the best one so far.
func (c *climb) attempt(target int, unit uintptr, b *budget) {
	target = max(target, c.low)
	c.round++
	often := 2
	if c.round > 16 {
		often = 4 // what comes easily has come
	}
	if middle := c.best - max(1, (c.best-target)>>c.shift); (c.bisect || c.eased || c.round%often == 0) && middle > target {
		target = middle
	} else {
		c.turn++
	}
	turn := max(c.turn, 1) - 1
	quota := runSteps * len(c.part.ids) * luby(turn/orders+1)
	c.eased = false
	switch c.search.run(target, turn, quota, b) {
	case solved:
		c.eased = true
		c.best = 0
		for k, off := range c.search.off {
			c.offsets[k] = uintptr(off) * unit
			c.best = max(c.best, off+c.search.size[k])
		}
		c.shift = 1
	case impossible:
		c.low = target + 1
		c.bisect = true
		c.shift = 1
	case stopped:
		c.bisect = false
		if c.round%often == 0 {
			c.shift = c.shift%6 + 1
		}
	}
}

// luby returns the i-th term, from 1, of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …
func luby(i int) int {
	for k := 1; ; k++ {
		if i == 1<<k-1 {
			return 1 << (k - 1)
		}
		if i < 1<<k-1 {
			i -= 1<<(k-1) - 1
			k = 0
		}
	}
}
