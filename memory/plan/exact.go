package plan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/strata-go/strata/memory"
)

// Limits bound a call of Exact. With Time 0 the outcome depends on the buffers and the other
// limits alone and is the same on every machine.
type Limits struct {
	// Steps is the number of places for a buffer that are tried. 0 means DefaultSteps where
	// Time is 0 as well, and no limit otherwise. What Fast does first is not counted.
	Steps int
	// Time ends everything by the clock: the checks of the set, Fast, the search and the proof
	// of the plan together take no longer than this and a tenth, and 50 ms. Where it is over before
	// the first attempt of Fast is, the rest goes on top of what has its place: then the plan may be
	// larger than that of Fast. A plan and its proof take 0.6 to 1 µs a buffer on an idle machine.
	// Whoever gives 2 µs a buffer has a plan, late where the machine is busy; with less Exact ends
	// with ErrTime once the time, the tenth and the 50 ms are over. 0 means no such limit.
	Time time.Duration
	// Capacity ends the search with the first plan of so many bytes or fewer. 0 means none.
	Capacity uintptr
}

// ErrTime says that Limits.Time was over before there was a plan that was proved.
var ErrTime = errors.New("plan: no plan in the time")

// DefaultSteps is the work of seconds to a minute for a few hundred buffers.
const DefaultSteps = 2_000_000

// A Proof says what is known about a plan that Exact made.
type Proof struct {
	// Bound is the size in bytes below which there is provably no plan: the load bound, or
	// more where the search has exhausted every plan of a smaller size. The latter rests on
	// a table of 64-bit hashes, and so on no two of its states sharing one.
	Bound uintptr
	// Optimal says that the plan's total equals Bound.
	Optimal bool
	// Steps is how many places were tried.
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

// Exact starts from Fast and improves on it until the plan meets the load bound or the
// capacity, is proved minimal, or a limit is reached; it returns the best plan found, never a
// larger one than Fast, or than FastWithin where there is a capacity, but where Limits.Time says so.
// The error says everything that is wrong with the set of buffers, or wraps ErrTime.
//
// Sets of up to some thousand buffers are searched, which proves what it finds; all are
// improved by placing them again and again, those first that end too high.
func Exact(buffers []Buffer, limits Limits) (*Plan, Proof, error) {
	begin := time.Now()
	if limits.Steps < 0 || limits.Time < 0 {
		return nil, Proof{}, fmt.Errorf("plan: limits of %d steps and %v: neither may be negative: %w", limits.Steps, limits.Time, memory.ErrConfig)
	}
	set, err := declared(buffers)
	if err != nil {
		return nil, Proof{}, err
	}
	limits.Capacity = min(limits.Capacity, maxTotal) // more than any plan needs
	b := newBudget(limits, begin, len(set))
	g := newGreedy(set, limits.Capacity, b.over, b.gone)
	if g == nil {
		return nil, Proof{Elapsed: time.Since(begin)}, b.short(limits, len(set))
	}
	b.expect(proofShare * time.Since(begin))
	g.work = 8 * fastWork // who asks for this has time
	if g.run(); g.total == nowhere {
		return nil, Proof{Elapsed: time.Since(begin)}, b.short(limits, len(set))
	}
	low := g.bound
	if g.total > g.enough && b.more() {
		low = newDescent(g, limits.Capacity, b).run()
	}
	p := newPlan(set, g.best, g.bound)
	if err = p.verify(g.time, b.gone); err == ErrTime {
		p, err = nil, b.short(limits, len(set))
	}
	if p == nil {
		return nil, Proof{Bound: low, Steps: b.used, Elapsed: time.Since(begin)}, err
	}
	proof := Proof{Bound: low, Optimal: p.total == low, Steps: b.used, Elapsed: time.Since(begin)}
	return p, proof, err
}

// A budget is what is left of the limits.
type budget struct {
	left, used     int
	counted, timed bool
	end, last      time.Time
	spent, firm    bool // firm: no plan is better than a late one
}

// proofTime is what the last step of Exact takes for each buffer, the proof of the plan, with what
// has to be done before it, on a slow machine: the clock ends the search so much earlier.
const proofTime = time.Microsecond

// firmTime for each buffer is enough for a plan.
const firmTime = 2 * time.Microsecond

// proofShare is how often as long as the checks of the set, and what else comes before the first
// attempt, the proof takes and what lies on top before it: 4 times for 100,000 buffers, 6 for 262,144.
// Where others use the machine, too, all of them take longer.
const proofShare = 7

// grace is what Exact may take beyond its time and a tenth, for a first plan and its proof, less
// what it does between two looks at the clock.
const grace = 40 * time.Millisecond

func newBudget(l Limits, begin time.Time, n int) *budget {
	if l.Steps == 0 && l.Time == 0 {
		l.Steps = DefaultSteps
	}
	return &budget{
		left: l.Steps, counted: l.Steps > 0, timed: l.Time > 0, firm: l.Time > 0 && l.Time < time.Duration(n)*firmTime,
		end: begin.Add(l.Time - time.Duration(n)*proofTime), last: begin.Add(l.Time + min(l.Time/10+grace, math.MaxInt64-l.Time)),
	}
}

// expect lets the search end so long before the time is over, if it does not so already.
func (b *budget) expect(proof time.Duration) {
	if end := b.last.Add(-grace - proof); b.timed && end.Before(b.end) {
		b.end = end
	}
}

// gone reports whether the time is over, and all that may be taken beyond it, and there was too little.
func (b *budget) gone() bool { return b.firm && !time.Now().Before(b.last) }

// short is the error of a set that the time was not enough for.
func (b *budget) short(l Limits, n int) error {
	return fmt.Errorf("%w: %v for %d buffers", ErrTime, l.Time, n)
}

// over reports whether the time is.
func (b *budget) over() bool {
	if b.timed && !b.spent && !time.Now().Before(b.end) {
		b.spent = true
	}
	return b.spent
}

// more reports whether another step is allowed.
func (b *budget) more() bool {
	if b.used%64 == 0 && b.over() {
		return false
	}
	return !b.spent && (!b.counted || b.left > 0)
}

func (b *budget) step() { b.take(1) }

func (b *budget) take(n int) {
	b.used += n
	b.left -= n
}
