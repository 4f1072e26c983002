package sound

// ceiling is what no sample exceeds: -2.2 dBFS. What lies between two samples of this game's sounds is at most a
// decibel higher, so that the true peak stays below -1 dBTP.
const ceiling = 0.78

const (
	ahead       = 32   // frames that the output is late: 0.7 ms, in which the gain falls before a peak comes
	releaseTime = 0.16 // seconds until the gain has risen by two thirds of what it lacks
)

// A limiter keeps the output below the ceiling by a gain that falls before a peak and rises slowly after it. Below
// the ceiling it changes nothing but the time.
type limiter struct {
	gain float32
	out  late
	stem late
}

// A late is a delay by ahead frames.
type late [2 * ahead]float32

// shift replaces x, at most a block, by what came ahead frames before it, and returns both in order.
func (l *late) shift(x []float32, all *[2 * (ahead + block)]float32) []float32 {
	n := copy(all[:], l[:])
	n += copy(all[n:], x)
	copy(l[:], all[n-len(l):n])
	copy(x, all[:])
	return all[:n]
}

// limit delays and limits frames, at most a block, and what is in stem by the same gain. stem may be empty.
func (l *limiter) limit(out, stem []float32) {
	var all [2 * (ahead + block)]float32
	l.stem.shift(stem, &all)
	known := l.out.shift(out, &all)
	top, first := float32(0), len(known)/2-1 // the highest sample, and the first frame that is too high at this gain
	for i := len(known) - 1; i >= 0; i-- {
		x := abs(known[i])
		top = max(top, x)
		if x*l.gain > ceiling {
			first = i / 2
		}
	}
	want := ceiling / max(top, ceiling)
	fall := (want - l.gain) / float32(first+1)
	for i := 0; i < len(out)-1; i += 2 {
		if l.gain > want {
			l.gain = max(l.gain+fall, want)
		} else {
			l.gain += (want - l.gain) * (1 / (Rate * releaseTime))
		}
		out[i], out[i+1] = out[i]*l.gain, out[i+1]*l.gain
		if i < len(stem)-1 {
			stem[i], stem[i+1] = stem[i]*l.gain, stem[i+1]*l.gain
		}
	}
}
