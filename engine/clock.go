package engine

import (
	"math"
	"time"
)

// TickRate is the number of ticks of the simulation per second.
const TickRate = 60

// Step is the length of a tick. Because of rounding, 60 steps are 40 ns less than a second.
const Step = time.Second / TickRate

// Delta is the length of a tick in seconds, for the simulation. Because Delta is a constant, no system needs a clock.
const Delta float32 = 1.0 / TickRate

// A Clock converts elapsed time, passed by the caller, into whole steps of [Step]. So a test or a headless run
// controls the time. A Clock is for one goroutine at a time. The zero Clock does not work: use [NewClock].
type Clock struct {
	// Invariants:
	//
	//	(1) 0 <= rest < Step
	//	(2) every step was counted in ticks; time beyond the limit was counted in dropped

	rest    time.Duration // elapsed and not yet stepped
	ticks   uint64
	dropped time.Duration
	limit   int
}

// DefaultCatchUp is the limit of ticks per frame that NewClock uses by default. If a frame takes longer than five
// ticks, the game slows down. Without a limit the next frame would take even longer.
const DefaultCatchUp = 5

// NewClock returns a clock that advances by at most catchUp steps in one call of Advance. A catchUp
// below 1 means DefaultCatchUp.
func NewClock(catchUp int) *Clock {
	if catchUp < 1 {
		catchUp = DefaultCatchUp
	}
	return &Clock{limit: catchUp}
}

// Advance adds elapsed and returns the number of ticks that the caller must simulate now: at most the catchUp of
// [NewClock]. If time remains after these ticks, the clock keeps less than a step of this time for the next call.
// Advance discards the surplus and adds it to Dropped. A negative elapsed counts as 0.
func (c *Clock) Advance(elapsed time.Duration) int {
	elapsed = max(elapsed, 0)
	n, rest := elapsed/Step, elapsed%Step+c.rest
	n, c.rest = n+rest/Step, rest%Step
	if limit := time.Duration(c.limit); n > limit {
		over := (n-limit)*Step - (Step - 1 - c.rest) // all that remains but the most that rest may be
		c.dropped += min(over, math.MaxInt64-c.dropped)
		n, c.rest = limit, Step-1
	}
	c.ticks += uint64(n)
	return int(n)
}

// Tick returns the number of ticks: the sum of all results of Advance. Loading a state sets it to the saved number.
func (c *Clock) Tick() uint64 { return c.ticks }

// Alpha returns the position between the last tick and the next one, from 0 up to but not including 1. Use Alpha for
// interpolation in drawing. The simulation must not use Alpha.
func (c *Clock) Alpha() float32 { return float32(c.rest) / float32(Step) }

// Dropped returns the sum of the times that Advance has discarded because of the limit of ticks. The sum is at most
// the largest time.Duration.
func (c *Clock) Dropped() time.Duration { return c.dropped }

// Restart discards the fraction of a step that has elapsed, for example after a pause or a level change. Tick and
// Dropped are unchanged.
func (c *Clock) Restart() { c.rest = 0 }
