package overlay

import (
	"time"

	"github.com/strata-go/strata/render"
)

// showing reports whether there is anything to be drawn.
func (o *Overlay) showing() bool {
	return len(o.open) > 0 || o.frozen || o.faults.on || o.note.text != "" || o.dump.wanted || o.dump.busy()
}

// seen reports whether frames are measured now.
func (o *Overlay) seen() bool { return !o.clock.standing }

// rest stops measuring.
func (o *Overlay) rest() {
	o.placed = o.placed[:0]
	if o.seen() {
		o.clock.stop()
		o.blind = true
	}
}

// compose measures and writes the quads of a frame on a screen of w × h pixels from (x, y), and reports
// whether there are any to draw.
func (o *Overlay) compose(x, y, w, h int) bool {
	o.sample()
	if o.Shown(Maps) {
		o.walk()
	}
	o.dump.poll(o)
	o.memory.pollResident(o.own != nil)
	o.sites.poll()
	o.note.expire(o.cfg.Meter.Now())
	o.scr.set(o.cfg.Scale, x, y, w, h, o.cfg.Preset)
	o.q.Begin(o.verts, o.indices, o.atlas, render.View{Scale: o.scr.scale, X: float32(x), Y: float32(y)})
	o.layout()
	for i := range o.placed {
		o.drawPart(&o.placed[i])
	}
	return o.q.Len() > 0 && !o.hidden
}

// sample takes the figures of this frame, unless the game stands still or its manager is gone.
func (o *Overlay) sample() {
	if o.closed() {
		o.clock.stop()
		return
	}
	if o.frozen && o.clock.standing && o.meter.Frames() > 0 && !o.blind {
		return
	}
	if o.clock.standing {
		o.clock.start()
	}
	if o.blind {
		o.meter.Resume()
		o.blind = false
	}
	before := o.meter.Frames()
	o.meter.Frame()
	o.settle(before == 0)
	if o.frozen { // the tick that was let through has been drawn
		o.clock.stop()
	}
}

// settles is how often a second figures change, as those of the meter do.
const settles = 4

// settle updates the displayed figures after those of the meter have changed. It takes one step in each of the
// following frames, so that no frame has all of the work. In the first frame and in long ones it takes all steps.
func (o *Overlay) settle(first bool) {
	now, steps := o.clock.read(), 1
	took := now.Sub(o.drawn)
	o.drawn = now
	if first || now.Sub(o.settled) >= time.Second/settles {
		o.settled, o.behind = now, 1+partCount
		steps = 0
	}
	if first || took > longFrame {
		steps = o.behind
	}
	for ; steps > 0 && o.behind > 0; steps-- {
		o.settleStep(1 + partCount - o.behind)
		o.behind--
	}
}

// longFrame is a frame in which a tenth of a millisecond more is not noticeable.
const longFrame = 40 * time.Millisecond

// settleStep is the first step, rates and lists, or that of the part before.
func (o *Overlay) settleStep(i int) {
	if i > 0 {
		if f := o.parts[i-1].settle; f != nil && o.at(i-1) >= 0 {
			f(o)
		}
		return
	}
	o.rates.settle(o.cfg.Meter.Now(), o.meter.Snapshot().Go.TotalObjects)
	o.heap = o.meter.Heap()
	o.cost.settle()
	if failures, last := o.m.Inspect().ReturnErr(); failures > o.told && len(o.open) > 0 {
		o.told = failures
		o.say(true, "memory not returned: "+last.Error())
	}
	n := o.rowCount()
	o.verdict.tags.pick(o.tagRows(), n)
	o.verdict.pools.pick(o.meter.Pools(), n)
}

// A clock can be stopped. It does not count the time while it is stopped.
type clock struct {
	now      func() time.Time
	lost     time.Duration
	at       time.Time // when it was stopped
	standing bool
}

func (c *clock) read() time.Time {
	if c.standing {
		return c.at.Add(-c.lost)
	}
	return c.now().Add(-c.lost)
}

func (c *clock) stop() {
	if !c.standing {
		c.at, c.standing = c.now(), true
	}
}

func (c *clock) start() {
	if c.standing {
		c.lost += max(c.now().Sub(c.at), 0)
		c.standing = false
	}
}
