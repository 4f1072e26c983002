package meter

import "math"

// history is the number of minima that are stored of each kind: 256 seconds, and blocks of blockSeconds for 17 minutes.
// That is eight cycles of half a minute, and sixteen of a minute.
const (
	history      = 256
	blockSeconds = 4
)

// A floor is the minimum of a figure in each of the last seconds, and in each of the last blocks. Growth is judged from
// minima: memory that is allocated and freed in a cycle returns to its minimum, and a leak raises it.
//
// Invariants, verified in this order by check:
//
//	(1) those of the minima
//	(2) 0 <= inBlock < blockSeconds seconds of the present block have ended
type floor struct {
	seconds, blocks minima
	inBlock         int32
	block           low // of the present block
	now             low // of the present second

	last   float64 // value before
	rises  float64 // sum of the rises from one frame to the next, decaying with the history
	frames float64 // their number, decaying as well

	rate  float64 // growth in bytes a second, as judged last
	since int64   // second in which the judgement changed between growth and none
	grew  bool    // the judgement
	seen  float64 // judgements of growth, less those of none before: see fades
	named bool    // growth was judged often enough, and still is
}

// A low is a minimum, +Inf before the first value, and when it was last: in 256ths of a second, from the beginning of its
// second or block.
type low struct {
	v    float64
	when int32
}

func (l *low) dip(v float64, when int32) {
	if v <= l.v {
		l.v, l.when = v, when
	}
}

// minima are the newest minima of seconds, or of blocks.
//
// Invariants, verified in this order by check:
//
//	(1) 0 <= known <= history are stored, the newest before index next
//	(2) none is NaN or infinite
type minima struct {
	low   [history]float32
	when  [history]uint8 // 256ths of the second or block at which the figure was last at its minimum
	next  int32
	known int32
}

func newFloor() floor { return floor{now: none, block: none} }

var none = low{v: math.Inf(1)}

// set takes the value of a frame, at which 256th of the second it was read.
func (f *floor) set(v float64, when uint8) {
	if f.frames > 0 {
		f.rises += max(v-f.last, 0)
	}
	f.frames++
	f.last = v
	f.now.dip(v, int32(when))
}

// cross ends the present second, at whose end the value was v.
func (f *floor) cross(v float64) {
	f.now.dip(v, math.MaxUint8)
	f.seconds.push(f.now, 1)
	f.block.dip(f.now.v, 256*f.inBlock+f.now.when)
	if f.inBlock++; f.inBlock == blockSeconds {
		f.blocks.push(f.block, blockSeconds)
		f.inBlock, f.block = 0, none
	}
	f.now = low{v: v}
	f.rises -= f.rises / history
	f.frames -= f.frames / history
}

// restart forgets the history: what was before a reset is not compared with what comes after it.
func (f *floor) restart() { *f = newFloor() }

// noise is the mean rise from one frame to the next. A minimum between two frames is missed by about as much.
func (f *floor) noise() float64 { return f.rises / max(f.frames, 1) }

// push stores the minimum of a span that has ended, of so many seconds.
func (m *minima) push(l low, span int32) {
	m.low[m.next], m.when[m.next] = float32(l.v), uint8(l.when/span)
	m.next = (m.next + 1) % history
	m.known = min(m.known+1, history)
}

// newest copies the minima to p, the newest first. Each is of so many seconds.
func (m *minima) newest(p *points, span float64) {
	p.n = int(m.known)
	for k := range p.n {
		i := (int(m.next) - 1 - k + history) % history
		p.v[k], p.t[k] = float64(m.low[i]), (float64(m.when[i])/256-float64(k))*span
	}
}

// Growth is reported after namedAfter judgements of it, of which the last two follow each other. Each judgement of none
// takes back a part of one. Noise seldom rises for so long, and a leak under noise is judged to grow with interruptions.
// The report ends after some seconds without growth.
const (
	namedAfter   = 6
	fades        = 0.2
	clearedAfter = 3
)

// judge brings the judgement up to date. Call it about once a second; second is the present one.
func (f *floor) judge(second int64, p *points) {
	f.seconds.newest(p, 1)
	noise := f.noise()
	rate := p.growth(&bySecond, noise)
	if rate == 0 { // a cycle may be longer than the windows
		f.blocks.newest(p, blockSeconds)
		rate = p.growth(&byBlock, noise)
		// Blocks show late that growth has ended. If seconds show it, it is not reported again.
		if rate > 0 && !f.named {
			if f.seconds.newest(p, 1); !p.goesOn(p.n, rate) {
				rate = 0
			}
		}
	}
	f.report(second, rate)
}

// report brings the report up to date with the rate of the present judgement, 0 for none.
func (f *floor) report(second int64, rate float64) {
	if rate > 0 {
		f.rate = rate
	}
	if grew := rate > 0; grew != f.grew {
		f.grew, f.since = grew, second
	}
	lasted := second - f.since
	if f.grew {
		f.seen = min(f.seen+1, namedAfter)
		f.named = f.named || f.seen == namedAfter && lasted > 0
		return
	}
	f.seen = max(f.seen-fades, 0)
	if f.named && lasted >= clearedAfter {
		f.named, f.seen = false, 0
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
	return f.seconds.check() && f.blocks.check() && f.inBlock >= 0 && f.inBlock < blockSeconds
}

func (m *minima) check() bool {
	if m.known < 0 || m.known > history || m.next < 0 || m.next >= history {
		return false
	}
	for k := range m.known {
		if v := float64(m.low[(int(m.next)-1-int(k)+history)%history]); math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
