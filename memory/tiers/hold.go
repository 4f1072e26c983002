package tiers

import (
	"slices"
	"time"
)

// The runtime begins a collection when there was none for two minutes, unless GOGC is off: a finite
// figure, however large, does not put that one off. So a manager that holds the collector has it off
// while its level lasts. Off means that nobody but the memory limit looks after the heap; hence the
// manager does, and puts the paced figure in force as soon as the level has spent its headroom.
//
// A memory limit of the manager's own would need no look, but it is the host's alone, and near
// one the collector runs without end.

// lookEvery is how often the heap is looked at while the collector is held. A look takes some
// microseconds; what is allocated between two may go beyond the headroom.
const lookEvery = 250 * time.Millisecond

// hold has the collector off from now on until release, or until the process has allocated the
// claim's headroom since then, or since the last collection.
func (p *process) hold(c *claim) {
	p.Lock()
	defer p.Unlock()
	p.read()
	c.holds, c.until = true, p.allocs+c.headroom
	// A timer for each level, which none but its own goroutine sets again: one for all would belong to the
	// testing/synctest bubble in which the first level began, and may not be touched from outside.
	var own *time.Timer
	own = time.AfterFunc(lookEvery, func() {
		p.look()
		p.Lock()
		defer p.Unlock()
		if c.holds && c.looks == own && slices.Contains(p.claims, c) {
			own.Reset(lookEvery)
		}
	})
	c.looks = own
}

// release ends a claim's hold. Whoever calls it settles next.
func (p *process) release(c *claim) {
	p.Lock()
	defer p.Unlock()
	c.holds = false
}

// holding reports whether anybody holds the collector.
func (p *process) holding() bool {
	return slices.ContainsFunc(p.claims, func(c *claim) bool { return c.holds })
}

// anew counts the headroom of those who hold from a collection that has come between: a host's own,
// one at Collect, or one that a memory limit asked for.
func (p *process) anew() {
	for _, c := range p.claims {
		c.until = p.allocs + c.headroom
	}
}

// look lets go of the collector where the headroom is spent.
// The figure in force is then the one that was meant at the level's begin, so that the collection
// which is due begins at once.
func (p *process) look() {
	p.Lock()
	defer p.Unlock()
	p.read()
	for _, c := range p.claims {
		c.holds = c.holds && p.allocs < c.until
	}
	if !p.holding() && p.heap.percent == p.set && p.set != p.spared && len(p.claims) > 0 && replace(p.set, p.spared) {
		p.set, p.heap.percent = p.spared, p.spared
	}
}
