package game

import (
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
)

// patience is how long somebody who wants a file that has failed waits until it is tried again: five seconds, then twice
// as long each time, up to a minute and a half.
type patience struct{ left, next uint16 } // ticks

// probeWait is the longest that the sector waits which is seen the soonest of those that could not be read, in ticks.
// It finds out whether files come again, while a server is away, and one is little to ask.
const probeWait = 10 * 60

// again is asked once a tick, and reports whether it is time.
func (p *patience) again(s stream.State) bool {
	const first, most = 5 * 60, 80 * 60
	switch {
	case s == stream.Loaded:
		*p = patience{}
	case s != stream.Failed:
	case p.left > 0:
		p.left--
		return p.left == 0
	default:
		p.next = min(max(2*p.next, first), most)
		p.left = p.next
	}
	return false
}

// failed reports whether the file has failed and did not come since.
func (p *patience) failed() bool { return p.next != 0 }

// miss counts a sector that is wanted and could not be read. The first of them does not wait for long.
func (g *scenery) miss(i int) {
	r := &g.rest[i]
	if !r.failed() {
		return
	}
	if g.missing++; g.missing == 1 {
		r.left = min(r.left, probeWait)
	}
}

// came notes that a sector is there. Where it could not be read before, so may be all others now, and nobody waits any
// longer; a file that stays broken does not come, and hurries nobody.
func (g *scenery) came(s ground.Sector) {
	i := sectorIndex(s)
	if !g.rest[i].failed() {
		return
	}
	g.rest[i] = patience{}
	for k := range g.rest {
		g.rest[k].left = min(g.rest[k].left, 1)
	}
}

// GroundMissing returns how many sectors are wanted, in view or soon, whose files could not be read and are tried
// again; zero where nobody looks. It is as of the last tick. Game goroutine.
func (s *Session) GroundMissing() int {
	if s.scenery == nil {
		return 0
	}
	return s.scenery.missing
}
