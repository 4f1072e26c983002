package engine

import "time"

// TickRate is how many ticks of the simulation make a second.
const TickRate = 60

// Step is the length of a tick. 60 steps are 40 ns short of a second; Clock keeps the rest.
const Step = time.Second / TickRate

// Delta is the length of a tick in seconds, for the simulation: a constant, so that no
// system needs a clock.
const Delta float32 = 1.0 / TickRate

// A Clock turns elapsed wall time into whole steps. It reads no clock itself: its driver
// tells it what has passed, so a test or a headless run decides how time goes.
//
// Invariants:
//
//	(1) 0 <= rest < Step
//	(2) every step was counted in ticks; time beyond the cap was counted in dropped
type Clock struct {
	rest    time.Duration // elapsed and not yet stepped
	ticks   uint64
	dropped time.Duration
	limit   int
}

// DefaultCatchUp is the most steps in one Advance, where nothing else is asked for: a frame
// that took longer than five ticks slows the game down instead of making the next frame longer.
const DefaultCatchUp = 5

// NewClock makes a clock that steps at most catchUp times in one Advance; a catchUp below 1
// means DefaultCatchUp.
func NewClock(catchUp int) *Clock {
	if catchUp < 1 {
		catchUp = DefaultCatchUp
	}
	return &Clock{limit: catchUp}
}

// Advance adds elapsed and returns how many ticks to simulate now. Time beyond the cap is
// dropped, see Dropped; a negative elapsed, as a clock set back gives it, counts as 0.
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

// Tick returns how many ticks were handed out.
func (c *Clock) Tick() uint64 { return c.ticks }

// Alpha returns how far the present is between the last tick and the next, from 0 up to 1.
// It is for drawing between two states and must not reach the simulation.
func (c *Clock) Alpha() float32 { return float32(c.rest) / float32(Step) }

// Dropped returns the time that was not simulated because a frame took too long.
func (c *Clock) Dropped() time.Duration { return c.dropped }

// Restart forgets the time elapsed since the last step, as after a pause or a level change.
// Ticks go on counting.
func (c *Clock) Restart() { c.rest = 0 }
