package gcpace

import (
	"slices"
	"time"
)

// The runtime begins a collection if there was none for two minutes, unless GOGC is off. No finite GOGC prevents that. So
// a pacer with Config.Suspend turns GOGC off while its level lasts. Only the memory limit bounds the heap then. Hence the
// pacer polls the heap, and sets the paced GOGC as soon as the level has used up its headroom.
//
// A memory limit of the pacer's own would need no polling. But the limit is left to the program, and near one the
// collector runs without end.

// pollEvery is how often the heap is read while the collector is suspended. A read takes some microseconds. What is
// allocated between two may exceed the headroom.
const pollEvery = 250 * time.Millisecond

// suspend turns GOGC off until resume, or until the process has allocated the claim's headroom since now or since the
// last collection. The caller calls settle next.
func (p *process) suspend(c *claim) {
	p.Lock()
	defer p.Unlock()
	p.read()
	c.suspends, c.until = true, p.allocs+c.headroom
	c.suspension++
	p.startPolling(c)
}

// startPolling polls the heap during the suspension that begins now. It makes a timer for each: one that a test has
// made in a bubble of testing/synctest must not be used outside of it.
func (p *process) startPolling(c *claim) {
	var t *time.Timer
	n := c.suspension
	t = time.AfterFunc(pollEvery, func() {
		p.Lock()
		defer p.Unlock()
		if n != c.suspension || !slices.Contains(p.claims, c) {
			return
		}
		if p.poll(); c.suspends {
			t.Reset(pollEvery)
		}
	})
}

// resume ends a claim's suspension. The caller calls settle next.
func (p *process) resume(c *claim) {
	p.Lock()
	defer p.Unlock()
	c.suspends = false
}

// suspended reports whether any claim suspends the collector.
func (p *process) suspended() bool {
	return slices.ContainsFunc(p.claims, func(c *claim) bool { return c.suspends })
}

// renew counts the headroom of suspensions from a collection that was noticed: the program's own, one of Collect, or one
// for a memory limit.
func (p *process) renew() {
	for _, c := range p.claims {
		c.until = p.allocs + c.headroom
	}
}

// poll ends suspensions whose headroom is used up. It sets the GOGC that was computed for the level's begin, so that the
// next collection begins at the goal of the level's begin.
func (p *process) poll() {
	p.read()
	for _, c := range p.claims {
		c.suspends = c.suspends && p.allocs < c.until
	}
	if !p.suspended() && p.heap.percent == p.set && p.set != p.unsuspended && len(p.claims) > 0 && replace(p.set, p.unsuspended) {
		p.set, p.heap.percent = p.unsuspended, p.unsuspended
	}
}
