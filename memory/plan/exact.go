package plan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/strata-go/strata/memory"
)

// Limits bounds a call of Exact. If Time is 0, every machine computes the same plan for the same buffers and limits.
type Limits struct {
	// Steps is the largest number of steps of the search. A step tries one place for one buffer. If Steps and Time are
	// both 0, the limit is DefaultSteps. If Steps is 0 and Time is not, any number of steps is allowed. The work of
	// Fast, which comes first, does not count.
	Steps int
	// Time limits the duration of Exact: the checks of the set, Fast, the search and the verification. Exact may take
	// 1.1 times Time plus 50 ms, and longer on a busy machine. 0 means no limit.
	//
	// If Time is at least 2 µs times the number of buffers, Exact returns a plan, even if Exact takes longer than Time.
	// If Time is shorter, and ends before a plan is verified, the error wraps ErrTime. If Time ends while Exact runs
	// Fast, the plan may be larger than the plan of Fast.
	Time time.Duration
	// Capacity, in bytes, ends the search with the first plan whose Total is not larger. 0 means no capacity.
	Capacity uintptr
}

// ErrTime means that Limits.Time was over before Exact had a verified plan.
var ErrTime = errors.New("plan: no plan in the time")

// DefaultSteps is the limit of steps if Limits.Steps and Limits.Time are 0. With this limit the search takes seconds
// to a minute for a few hundred buffers.
const DefaultSteps = 2_000_000

// A Proof describes the plan that [Exact] returned with it, and the work of the search.
type Proof struct {
	// Bound is a size in bytes: no plan can have a smaller Total. It is [Plan.Bound], or a larger size if the search
	// has excluded all smaller plans. The search assumes that no two of its states have the same 64-bit hash.
	Bound uintptr
	// Optimal reports whether the plan's Total equals Bound.
	Optimal bool
	// Steps is the number of steps of the search: see [Limits].
	Steps int
	// Elapsed is the duration of the call.
	Elapsed time.Duration
}

// String returns the proof in one line, without Elapsed.
func (p Proof) String() string {
	word := "not proved minimal"
	if p.Optimal {
		word = "minimal"
	}
	return fmt.Sprintf("%s, no plan below %d bytes, %d steps", word, p.Bound, p.Steps)
}

// Exact improves the plan of Fast until the plan is proved minimal, until its Total is at most Limits.Capacity, or
// until a limit is reached. It returns the smallest plan found, already verified. A plan whose Total is [Plan.Bound] is
// minimal. For sets of more than some thousand buffers Exact is often unable to prove that a larger plan is minimal.
//
// The plan is not larger than the plan of Fast, or of [FastWithin] if there is a Capacity. There is one exception:
// Limits.Time may end Fast early.
//
// If Steps or Time is negative, the error wraps memory.ErrConfig. If the set is invalid, the error is that of [Fast].
// If Time is too short for a verified plan, the error wraps ErrTime: see [Limits]. With an error the plan is nil, and
// the Proof has the results so far.
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
	g.work = 8 * fastWork // Exact has more time than Fast
	if g.run(); g.total == nowhere {
		return nil, Proof{Elapsed: time.Since(begin)}, b.short(limits, len(set))
	}
	low := g.bound
	if g.total > g.enough && b.more() {
		low = newDescent(g, limits.Capacity, b).run()
	}
	p := newPlan(set, g.best, g.bound)
	if err = p.verify(g.time, b.gone); err == ErrTime {
		err = b.short(limits, len(set))
	}
	proof := Proof{Bound: low, Steps: b.used, Elapsed: time.Since(begin)}
	if err != nil {
		return nil, proof, err
	}
	proof.Optimal = p.total == low
	return p, proof, nil
}

// A budget is the rest of the limits.
type budget struct {
	left, used     int
	counted, timed bool
	end, last      time.Time
	spent, firm    bool // firm: no plan is better than a late one
}

// proofTime is the time for each buffer of the last steps of Exact, the verification included, on a slow machine. The
// search ends that much earlier.
const proofTime = time.Microsecond

// firmTime for each buffer is enough for a plan.
const firmTime = 2 * time.Microsecond

// proofShare compares the verification, and placing the rest on top, with all that comes before the first attempt. It
// takes 4 times as long for 100,000 buffers, and 6 times for 262,144. On a busy machine all of them take longer.
const proofShare = 7

// grace is the time that Exact may take beyond its time and a tenth, for a first plan and its verification, less the
// time between two readings of the clock.
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

// expect lets the search end at least that long before the time is over.
func (b *budget) expect(proof time.Duration) {
	if end := b.last.Add(-grace - proof); b.timed && end.Before(b.end) {
		b.end = end
	}
}

// gone reports whether Time was too little for a plan, and is over with all that is allowed beyond it.
func (b *budget) gone() bool { return b.firm && !time.Now().Before(b.last) }

// short is the error of a set that the time was not enough for.
func (b *budget) short(l Limits, n int) error {
	return fmt.Errorf("%w: %v for %d buffers", ErrTime, l.Time, n)
}

// over reports whether the time for the search is over.
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
