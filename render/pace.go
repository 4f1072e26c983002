package render

import "time"

// Ebitengine catches up with at most five ticks in a frame, so that below twelve frames a second the game is slower
// than the clock. A browser without a graphics card draws six to ten. A pacer lets slow frames run ten ticks.
//
// Each frame is in one of two modes. In quick frames Ebitengine counts the ticks. In slow frames Ebitengine calls
// Update once, and the pacer counts. More ticks make a frame longer. If sixty of them take more than a second, no
// number of them is enough; then frames stay quick, and the game is slower than the clock.
//
// Invariants: owed is below mostTicks ticks and at least minus half a tick; only slow frames use it.
type pacer struct {
	slow     bool          // frames are slow from the next one on
	last     time.Duration // time of the frame before; 0 before the first frame
	interval time.Duration // between frames, smoothed
	cost     time.Duration // of a tick, smoothed
	owed     time.Duration // real time without ticks
}

const (
	tickTime  = time.Second / TPS
	mostTicks = TPS / 6 // of a slow frame
	// Between these intervals the mode does not change.
	slowFrames  = time.Second / 13
	quickFrames = time.Second / 15
	longestSeen = time.Second / 2 // a longer interval is a pause
)

// frame begins a frame at a time since the start. It returns the number of ticks of each call of Update.
func (p *pacer) frame(now time.Duration) (ticks int) {
	delta, first := now-p.last, p.last == 0
	p.last = now
	ticks = 1
	if first {
		return ticks
	}
	p.interval += (min(delta, longestSeen) - p.interval) / 4
	if p.slow {
		p.owed = min(p.owed+delta, mostTicks*tickTime)
		ticks = max(int((p.owed+tickTime/2)/tickTime), 1)
		p.owed = max(p.owed-time.Duration(ticks)*tickTime, -tickTime/2)
	} else {
		p.owed = 0
	}
	fits := p.cost < tickTime
	p.slow = fits && (p.interval > slowFrames || p.slow && p.interval > quickFrames)
	return ticks
}

// took notes how long a tick took.
func (p *pacer) took(d time.Duration) { p.cost += (d - p.cost) / 16 }
