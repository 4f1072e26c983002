package overlay

import "time"

// rates are how often things happen, over the last second or so, by the wall clock.
type rates struct {
	draws, ticks uint64
	marks        [settles + 1]rateMark // the newest at at
	at, n        int

	fps, tps, objects float64 // objects: of the Go heap, a frame
}

type rateMark struct {
	when                  time.Time
	draws, ticks, objects uint64
}

// settle changes the figures that stand.
func (r *rates) settle(now time.Time, objects uint64) {
	r.at = (r.at + 1) % len(r.marks)
	r.marks[r.at] = rateMark{now, r.draws, r.ticks, objects}
	r.n = min(r.n+1, len(r.marks))
	last, first := &r.marks[r.at], &r.marks[(r.at-r.n+1+len(r.marks))%len(r.marks)]
	span := last.when.Sub(first.when).Seconds()
	if span <= 0 {
		return
	}
	r.fps, r.tps = float64(last.draws-first.draws)/span, float64(last.ticks-first.ticks)/span
	if n := last.draws - first.draws; n > 0 {
		r.objects = float64(last.objects-first.objects) / float64(n)
	}
}

// A cost is what the overlay itself takes: measuring, writing quads and handing them over.
type cost struct {
	sum, most  time.Duration // since the last change of figures
	n          int
	mean, peak time.Duration
}

func (c *cost) add(d time.Duration) {
	c.sum, c.most, c.n = c.sum+d, max(c.most, d), c.n+1
}

func (c *cost) settle() {
	if c.n > 0 {
		c.mean, c.peak = c.sum/time.Duration(c.n), c.most
	}
	c.sum, c.most, c.n = 0, 0, 0
}
