package meter

import "math"

// points are values at times in seconds, the newest first: the input of a judgement. A meter has one, which every
// row uses in turn.
type points struct {
	v, t [history]float64
	n    int

	low, at [history]float64 // of windows, the newest first
	peak    [history + 1]float64
	corners [history]int // of the envelope
}

// A rule says how growth is judged from points. For each scale, windows of that many points are compared by their
// minima. Growth is a run of the newest windows whose minima lie on a rising line, above all that was before.
//
// The scales make periods irrelevant: a window longer than a period contains its floor. In a shorter one the
// cycle itself rises, but no higher than the cycles before, and the falls of these are seen.
type rule struct {
	scales   []int
	shortest int     // windows of a run, at least
	points   int     // a run has at least so many points
	few      int     // and so many if it has fewer than five windows: how many steps of a leak they contain is chance
	line     float64 // slope of the line, in its standard errors; an error of 1/8 is 12 % of the rate
	short    float64 // the same for a run of three windows, which has one degree of freedom
	above    float64 // share of the rise of a run by which it must exceed all minima before it
	falls    float64 // a run must rise by so many times the second largest fall of the history
	noise    float64 // and by so many times the noise
	each     float64 // share of the slope of a run at which each of its thirds rises, at least
	idle     float64 // share of the rises of a run that may be below a quarter of its slope
	chance   float64 // of so many orders of the minima, one at most has this run by chance
	straight bool    // a straight line makes chance unlikely, too, and growth that has ended is no chance: see orders
	envelope bool    // the rate is that of the lower envelope, not of the line
}

// bySecond is the rule for minima of seconds. The figures were found by simulation; TestGrowth prints what they give.
var bySecond = rule{
	scales: []int{6, 8, 11, 16, 23, 32}, shortest: 3, points: 26, few: 64,
	line: 7, short: 20, above: 0.75, falls: 2, noise: 3, each: 0.4, idle: 0.5, chance: 200, envelope: true,
}

// byBlock is the rule for minima of blocks: windows of 40 to 88 seconds.
var byBlock = rule{
	scales: []int{10, 13, 16, 22}, shortest: 3, points: 30,
	line: 12, short: 30, above: 0.8, falls: 3, noise: 1, each: 0.5, idle: 0.5, chance: 600, straight: true, envelope: true,
}

// growth returns by how much the floor of the points rises in a second, 0 if it does not. Points that differ by
// noise are equal.
func (p *points) growth(r *rule, noise float64) float64 {
	best, rate := 0.0, 0.0
	for _, scale := range r.scales {
		if p.n < scale*r.shortest {
			break
		}
		if b, trust := p.run(r, scale, noise); trust > best {
			best, rate = trust, b
		}
	}
	return rate
}

// run judges one scale. It returns the rate and how much it can be trusted, 0 if there is no growth.
func (p *points) run(r *rule, scale int, noise float64) (rate, trust float64) {
	n := p.n / scale
	if p.window(0, scale); n > 1 {
		p.window(1, scale)
	}
	if n < 2 || p.low[0] <= p.low[1] {
		return 0, 0 // the most frequent case, and the cheapest
	}
	for k := 2; k < n; k++ {
		p.window(k, scale)
	}
	p.peak[n] = math.Inf(-1)
	for k := n - 1; k >= 0; k-- {
		p.peak[k] = max(p.peak[k+1], p.low[k])
	}
	least := max(r.falls*p.secondFall(n), r.noise*noise)
	var l line
	orders, run := 1.0, 0
	for k := range n {
		l.add(p.at[k]-p.at[0], p.low[k]-p.low[0])
		orders *= float64(n - k)
		q, rise := k+1, p.low[0]-p.low[k]
		if q < r.shortest || q*scale < r.points || q < 5 && q*scale < r.few || orders < r.chance && !r.straight || rise <= least {
			continue
		}
		if q < n && p.low[0]-p.peak[q] < r.above*rise {
			continue
		}
		slope, errors := l.slope()
		if slope <= 0 || errors < r.line || q == 3 && errors < r.short {
			continue
		}
		if r.straight {
			if orders := p.orders(q, n); orders < r.chance && orders*math.Pow(errors/r.line, float64(q-2)) < r.chance {
				continue
			}
		}
		if !p.throughout(q, r.each*slope) || !p.rises(q, slope/4, r.idle) {
			continue // a step, or growth that has ended
		}
		// A long run tells the rate better than a short one, but not if it begins before the growth.
		if t := min(errors, 30) * math.Sqrt(float64(q)); t > trust {
			rate, trust, run = slope, t, q
		}
	}
	reach := run * scale
	switch {
	case run == 0 || levelsOff(p.low[:run], p.at[:run], 1, 1):
		return 0, 0
	case r.envelope:
		if !p.goesOn(reach, rate) {
			return 0, 0
		}
		return p.envelope(reach), trust
	case levelsOff(p.v[:reach], p.t[:reach], 3, 0.8): // each is a measurement, but a cycle moves them: hence the share
		return 0, 0
	}
	return rate, trust
}

// orders returns in how many orders the minima of n windows can be, of which the newest q are the highest. A window below
// all that follow it does not count: growth that has ended leaves such windows, which no chance has ordered.
func (p *points) orders(q, n int) float64 {
	count := n
	for k, low := q+1, p.low[q]; k < n; k++ {
		if p.low[k] < low {
			low = p.low[k]
			count--
		}
	}
	orders := 1.0
	for k := range q {
		orders *= float64(count - k)
	}
	return orders
}

// throughout reports whether the newest q minima rise by so much a second in each third.
func (p *points) throughout(q int, slope float64) bool {
	from := 0
	for i := 1; i <= 3; i++ {
		to := (i*(q-1) + 1) / 3
		if p.low[from]-p.low[to] < slope*(p.at[from]-p.at[to]) {
			return false
		}
		from = to
	}
	return true
}

// rises reports whether the newest q minima rise by so much a second, each above the one before, but for a share of them.
func (p *points) rises(q int, slope, idle float64) bool {
	n := 0
	for k := range q - 1 {
		if p.low[k]-p.low[k+1] < slope*(p.at[k]-p.at[k+1]) {
			n++
		}
	}
	return float64(n) <= idle*float64(q-1)
}

// levelsOff reports whether a line that ends level fits values, the newest first, better than one that goes on. The sum of
// the squares of the distances is then less than that share of the other. Value k and all newer ones are level, at least.
func levelsOff(v, at []float64, k int, share float64) bool {
	var all, from line
	n := len(v)
	for i := range n {
		all.add(at[i]-at[0], v[i]-v[0])
	}
	rest := math.Inf(1)
	for i := n - 1; i >= k; i-- {
		t, newer := at[i]-at[0], float64(i)
		from.add(t, v[i]-v[0])
		if i > min(n*2/3, n-2) {
			continue
		}
		bent := all // the line that is level from value i on: as if the newer ones were at the same time
		bent.t, bent.tt, bent.tv = from.t+newer*t, from.tt+newer*t*t, from.tv+t*(all.v-from.v)
		rest = min(rest, bent.rest())
	}
	return rest < share*all.rest()
}

// goesOn reports whether growth by slope, found in the newest n points, has not ended. Their floor is the minimum from a
// point on. Under a cycle it rises by steps, one for each. If it has not risen for a while, and for half as long again as
// between any of its older steps, growth has ended.
func (p *points) goesOn(n int, slope float64) bool {
	const while = 20
	n = min(n, p.n)
	low, step, from := p.v[0], p.v[0], p.t[0]
	newest, older := 0.0, 0.0
	for k := 1; k < n; k++ {
		low = min(low, p.v[k])
		span := from - p.t[k]
		if low == step || step-low < slope/4*span {
			continue
		}
		if span > while && span > p.t[0]-from && newest == 0 {
			newest = span
		} else {
			older = max(older, span)
		}
		step, from = low, p.t[k]
	}
	return newest <= 1.5*older
}

// envelope returns the slope of the lower envelope of the newest n points in their middle third. The envelope is the
// convex curve below all of them: it touches the floor of each cycle and leaves out what lies above.
func (p *points) envelope(n int) float64 {
	n = min(n, p.n)
	corners := p.corners[:0]
	for i := range n {
		for len(corners) > 1 {
			a, b := corners[len(corners)-2], corners[len(corners)-1]
			if (p.v[b]-p.v[a])*(p.t[a]-p.t[i]) < (p.v[i]-p.v[a])*(p.t[a]-p.t[b]) {
				break
			}
			corners = corners[:len(corners)-1] // it lies on the line from a to i, or above
		}
		corners = append(corners, i)
	}
	at := func(t float64) float64 {
		k := 1
		for k < len(corners)-1 && p.t[corners[k]] > t {
			k++
		}
		i, j := corners[k-1], corners[k]
		return p.v[j] + (p.v[i]-p.v[j])/(p.t[i]-p.t[j])*(t-p.t[j])
	}
	third := (p.t[0] - p.t[n-1]) / 3
	return (at(p.t[0]-third) - at(p.t[n-1]+third)) / third
}

// window finds the minimum of window k, and where it was last.
func (p *points) window(k, scale int) {
	i := k * scale
	low, at := p.v[i], p.t[i]
	for i++; i < (k+1)*scale; i++ {
		if p.v[i] < low {
			low, at = p.v[i], p.t[i]
		}
	}
	p.low[k], p.at[k] = low, at
}

// secondFall returns the second largest fall of the n minima, apart from the largest: memory that is freed once is
// no cycle.
func (p *points) secondFall(n int) float64 {
	most, from, to := p.fall(0, n)
	if most == 0 {
		return 0
	}
	after, _, _ := p.fall(0, to+1)
	before, _, _ := p.fall(from, n)
	return max(after, before)
}

// fall returns the largest fall within windows i to j, and where it begins and ends.
func (p *points) fall(i, j int) (most float64, from, to int) {
	top := j - 1
	for k := j - 1; k >= i; k-- {
		if p.low[k] > p.low[top] {
			top = k
		}
		if d := p.low[top] - p.low[k]; d > most {
			most, from, to = d, top, k
		}
	}
	return most, from, to
}

// A line is fitted to points by least squares.
type line struct{ n, t, v, tt, tv, vv float64 }

func (l *line) add(t, v float64) {
	l.n++
	l.t, l.v = l.t+t, l.v+v
	l.tt, l.tv, l.vv = l.tt+t*t, l.tv+t*v, l.vv+v*v
}

// slope returns the slope of the line, and how many of its standard errors that is.
func (l *line) slope() (slope, errors float64) {
	tt, tv := l.tt-l.t*l.t/l.n, l.tv-l.t*l.v/l.n
	if l.n < 3 || tt <= 0 {
		return 0, 0
	}
	slope = tv / tt
	return slope, slope / max(math.Sqrt(l.rest()/(l.n-2)/tt), 1e-3)
}

// rest returns the sum of the squares of the distances from the line.
func (l *line) rest() float64 {
	tt, tv, vv := l.tt-l.t*l.t/l.n, l.tv-l.t*l.v/l.n, l.vv-l.v*l.v/l.n
	return max(vv-tv*tv/tt, 0)
}
