package meter

import "math"

// history is the number of seconds from which growth is judged: eight cycles of half a minute.
const history = 256

// A floor is the minimum of a figure in each of the last seconds. Growth is judged from minima: memory that is
// allocated and freed in a cycle returns to its minimum, and a leak raises it.
//
// Invariants, verified in this order by check:
//
//	(1) 0 <= known <= history seconds are stored, the newest before index next
//	(2) no stored minimum is NaN or infinite
type floor struct {
	low   [history]float32
	when  [history]uint8 // 256ths of the second at which the figure was last at its minimum
	next  int32
	known int32

	now     float64 // minimum of the present second; +Inf before its first value
	nowWhen uint8
	last    float64 // value before
	rises   float64 // sum of the rises from one frame to the next, decaying with the history
	frames  float64 // their number, decaying as well

	rate  float64 // growth in bytes a second, as judged last
	since int64   // second in which the judgement changed between growth and none
	grew  bool    // the judgement
	named bool    // the judgement, once it has lasted
}

func newFloor() floor { return floor{now: math.Inf(1)} }

// set takes the value of a frame, at which 256th of the second it was read.
func (f *floor) set(v float64, when uint8) {
	if f.frames > 0 {
		f.rises += max(v-f.last, 0)
	}
	f.frames++
	f.last = v
	f.dip(v, when)
}

// dip lowers the minimum of the present second to v.
func (f *floor) dip(v float64, when uint8) {
	if v <= f.now {
		f.now, f.nowWhen = v, when
	}
}

// cross ends the present second, at whose end the value was v.
func (f *floor) cross(v float64) {
	f.dip(v, math.MaxUint8)
	f.low[f.next], f.when[f.next] = float32(f.now), f.nowWhen
	f.next = (f.next + 1) % history
	f.known = min(f.known+1, history)
	f.now, f.nowWhen = v, 0
	f.rises -= f.rises / history
	f.frames -= f.frames / history
}

// restart forgets the history: what was before a reset is not compared with what comes after it.
func (f *floor) restart() { *f = newFloor() }

// noise is the mean rise from one frame to the next. A minimum between two frames is missed by about as much.
func (f *floor) noise() float64 { return f.rises / max(f.frames, 1) }

// newest copies the minima to p, the newest first.
func (f *floor) newest(p *points) {
	p.n = int(f.known)
	for k := range p.n {
		i := (int(f.next) - 1 - k + history) % history
		p.v[k], p.t[k] = float64(f.low[i]), float64(f.when[i])/256-float64(k)
	}
}

// How many seconds a judgement must last before it is reported. Noise seldom rises for so long.
const (
	namedAfter   = 5
	clearedAfter = 3
)

// judge brings the judgement up to date. Call it about once a second; second is the present one.
func (f *floor) judge(second int64, p *points) {
	f.newest(p)
	rate := p.growth(&bySecond, f.noise())
	if rate > 0 {
		f.rate = rate
	}
	if grew := rate > 0; grew != f.grew {
		f.grew, f.since = grew, second
	}
	switch lasted := second - f.since; {
	case f.grew && lasted >= namedAfter:
		f.named = true
	case !f.grew && lasted >= clearedAfter:
		f.named = false
	}
}

// growth returns by how many bytes a second the floor rises, 0 if it does not.
func (f *floor) growth() float64 {
	if !f.named {
		return 0
	}
	return f.rate
}

func (f *floor) check() bool {
	if f.known < 0 || f.known > history || f.next < 0 || f.next >= history {
		return false
	}
	for k := range f.known {
		if v := float64(f.low[(int(f.next)-1-int(k)+history)%history]); math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
