package plan

import (
	"fmt"
	"time"
)

// Limits bound a call of Exact. With Time 0 the outcome depends on the buffers and Steps
// alone and is the same on every machine.
type Limits struct {
	// Steps is the number of states that are looked at. 0 means DefaultSteps where Time is
	// 0 as well, and no limit otherwise.
	Steps int
	// Time ends the search by the clock. 0 means no such limit.
	Time time.Duration
}

// DefaultSteps is the work of seconds to a minute or so for a few hundred buffers.
const DefaultSteps = 2_000_000

// A Proof says what is known about a plan that Exact made.
type Proof struct {
	// Bound is the size in bytes below which there is provably no plan: the load bound, or
	// more where the search has exhausted every plan of a smaller size. The latter rests on
	// a table of 64-bit hashes, and so on no two of its states sharing one.
	Bound uintptr
	// Optimal says that the plan's total equals Bound.
	Optimal bool
	// Steps is how many states were looked at.
	Steps int
	// Elapsed is how long it took.
	Elapsed time.Duration
}

func (p Proof) String() string {
	word := "not proved minimal"
	if p.Optimal {
		word = "minimal"
	}
	return fmt.Sprintf("%s, no plan below %d bytes, %d steps", word, p.Bound, p.Steps)
}

// Exact starts from Fast and improves on it until the plan meets the load bound, is proved
// minimal, or a limit is reached; it returns the best plan found, never a larger one than
// Fast. The error says everything that is wrong with the set of buffers.
func Exact(buffers []Buffer, limits Limits) (*Plan, Proof, error) {
	begin := time.Now()
	set, err := declared(buffers)
	if err != nil {
		return nil, Proof{}, err
	}
	if limits.Steps < 0 || limits.Time < 0 {
		return nil, Proof{}, fmt.Errorf("plan: limits of %d steps and %v: neither may be negative", limits.Steps, limits.Time)
	}
	if limits.Steps == 0 && limits.Time == 0 {
		limits.Steps = DefaultSteps
	}
	budget := &budget{left: limits.Steps, counted: limits.Steps > 0, timed: limits.Time > 0, end: begin.Add(limits.Time)}
	u := unit(set)
	offsets := largestFirst(set)
	low := 0 // units; every component may grow to the floor of the tightest
	var parts []*climb
	for _, p := range split(set) {
		parts = append(parts, newClimb(p, offsets, u))
		low = max(low, p.bound)
	}
	for {
		c := worst(parts)
		if c == nil || c.best <= low || !budget.more() {
			break
		}
		c.attempt(low, budget)
		low = max(low, c.low)
	}
	for _, c := range parts {
		c.store(offsets, u)
	}
	p := newPlan(set, offsets)
	proof := Proof{Bound: uintptr(low) * u, Steps: budget.used, Elapsed: time.Since(begin)}
	proof.Optimal = p.Total() == proof.Bound
	return p, proof, p.Verify()
}

// worst returns the tallest component that may still be improved.
func worst(parts []*climb) (w *climb) {
	for _, c := range parts {
		if w == nil || c.best > w.best {
			w = c
		}
	}
	return w
}

// A budget is what is left of the limits.
type budget struct {
	left, used     int
	counted, timed bool
	end            time.Time
	spent          bool
}

// more reports whether another step is allowed.
func (b *budget) more() bool {
	if b.timed && b.used%64 == 0 && !time.Now().Before(b.end) {
		b.spent = true
	}
	return !b.spent && (!b.counted || b.left > 0)
}

func (b *budget) step() {
	b.used++
	b.left--
}

// A climb brings one component down: attempts at the floor alternate with attempts halfway to
// it, then a quarter, an eighth, so that something is gained where the floor is out of reach.
// After 16 rounds one in four is of the latter kind.
type climb struct {
	search
	offsets []int // units, by index in the problem
	best    int   // units: what offsets need
	low     int   // units: proved to be needed
	round   int   // of attempts
	turn    int   // of attempts at the floor
	shift   int   // the middle target saves (best-low) >> shift
	bisect  bool  // runs come to an end: the optimum is between low and best, and near
}

// newClimb starts from the offsets of a valid plan.
func newClimb(p *problem, offsets []uintptr, u uintptr) *climb {
	c := &climb{search: newSearch(p), offsets: make([]int, len(p.ids)), low: p.bound, shift: 1}
	for i, id := range p.ids {
		c.offsets[i] = int(offsets[id] / u)
		c.best = max(c.best, c.offsets[i]+p.size[i])
	}
	return c
}

// runSteps is the length of the shortest run: enough to place a few hundred buffers, and little
// lost on an order that leads nowhere.
const runSteps = 500

// attempt runs the search once, for a total of at most target or something between that
// and the best one so far.
func (c *climb) attempt(target int, b *budget) {
	target = max(target, c.low)
	c.round++
	often := 2
	if c.round > 16 {
		often = 4 // what comes easily has come
	}
	if middle := c.best - max(1, (c.best-target)>>c.shift); (c.bisect || c.round%often == 0) && middle > target {
		target = middle
	} else {
		c.turn++
	}
	switch c.run(target, c.turn, runSteps*luby(c.turn), b) {
	case solved:
		copy(c.offsets, c.off)
		c.best = 0
		for i, off := range c.offsets {
			c.best = max(c.best, off+c.size[i])
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

func (c *climb) store(offsets []uintptr, u uintptr) {
	for i, id := range c.ids {
		offsets[id] = uintptr(c.offsets[i]) * u
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
