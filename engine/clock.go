package engine

import "time"

// TickRate is the number of ticks of the simulation per second.
const TickRate = 60

// Step is the length of a tick. Because of rounding, 60 steps are 40 ns less than a second.
const Step = time.Second / TickRate

// Delta is the length of a tick in seconds, for the simulation. It is a constant, so that no
// system needs a clock.
const Delta float32 = 1.0 / TickRate

// A Clock converts elapsed time into whole steps. It does not read the system's clock: the caller
// passes the elapsed time, so a test or a headless run controls it. A Clock is for one goroutine at a
// time.
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

// DefaultCatchUp is the limit of ticks per frame that NewClock uses by default. A frame that took longer than
// five ticks slows the game down. Without a limit the next frame would take even longer.
const DefaultCatchUp = 5

// NewClock returns a clock that advances by at most catchUp steps in one call of Advance. A catchUp
// below 1 means DefaultCatchUp.
func NewClock(catchUp int) *Clock {
	if catchUp < 1 {
		catchUp = DefaultCatchUp
	}
	return &Clock{limit: catchUp}
}

// Advance adds elapsed and returns how many ticks the caller must simulate now, at most the catchUp of
// NewClock. The fraction of a step is kept for the next call. Time beyond the limit is counted by Dropped and
// not simulated. A negative elapsed counts as 0.
func (c *Clock) Advance(elapsed time.Duration) int {
	most := time.Duration(c.limit+1)*Step - 1 // so that rest stays below Step after limit steps
	elapsed = max(elapsed, 0)
	if over := elapsed - (most - c.rest); over > 0 {
		c.dropped += over
		elapsed -= over
	}
	c.rest += elapsed
	n := int(c.rest / Step)
	c.rest -= time.Duration(n) * Step
	c.ticks += uint64(n)
	return n
}

// Tick returns the sum of all results of Advance.
func (c *Clock) Tick() uint64 { return c.ticks }

// Alpha returns the position between the last tick and the next one, from 0 up to but not including
// 1. It is for interpolation in drawing. The simulation must not use it.
func (c *Clock) Alpha() float32 { return float32(c.rest) / float32(Step) }

// Dropped returns the time that Advance did not turn into ticks, because it was beyond the limit.
func (c *Clock) Dropped() time.Duration { return c.dropped }

// Restart discards the fraction of a step that has elapsed, for example after a pause or a level
// change. The number of ticks is unchanged.
func (c *Clock) Restart() { c.rest = 0 }
