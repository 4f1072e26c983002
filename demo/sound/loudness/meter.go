// Package loudness measures sound as ears hear it: loudness by ITU-R BS.1770-4 with its gates, the true peak between
// samples, and the spectrum.
//
// # Source
//
// ITU-R BS.1770-4, "Algorithms to measure audio programme loudness and true-peak audio level" (2015). The tests play
// the signals of EBU Tech 3341 that have two channels. On four recordings of the game libebur128 1.2.6 printed the same
// figures, to a hundredth.
package loudness

import (
	"fmt"
	"math"
)

// A Meter measures the loudness of stereo sound. Its zero value is invalid: see New.
type Meter struct {
	rate  int
	ears  [2]ear
	step  int       // frames of a tenth of a second, by which blocks of four overlap
	n     int       // frames of the step that is measured
	sum   float64   // of its squares, of both channels
	steps []float64 // of the steps before: squares a frame
	peaks peaks
}

// New returns a meter for the given rate in frames a second. If rate is no multiple of 10 from 8,000 to 192,000, New
// fails.
func New(rate int) (*Meter, error) {
	if rate < 8000 || rate > 192_000 || rate%10 != 0 {
		return nil, fmt.Errorf("loudness: %d frames a second; allowed are multiples of 10 from 8000 to 192000", rate)
	}
	m := &Meter{rate: rate, step: rate / 10}
	for i := range m.ears {
		m.ears[i].k = weighting(float64(rate))
	}
	return m, nil
}

// Add measures further frames. The slice interleaves the left and the right channel. If its length is odd, the last
// sample is ignored.
func (m *Meter) Add(frames []float32) {
	for i := 0; i < len(frames)-1; i += 2 {
		l, r := frames[i], frames[i+1]
		m.peaks.add(l, r)
		a, b := m.ears[0].hear(float64(l)), m.ears[1].hear(float64(r))
		m.sum += a*a + b*b
		if m.n++; m.n == m.step {
			m.steps = append(m.steps, m.sum/float64(m.step))
			m.n, m.sum = 0, 0
		}
	}
}

// Seconds returns the length of the measured sound in seconds, rounded down to a multiple of 0.1.
func (m *Meter) Seconds() float64 { return float64(len(m.steps)) / 10 }

// The blocks of BS.1770 and of EBU Tech 3341, in steps.
const (
	momentary = 4
	shortTerm = 30
)

// The gates, in LUFS and in LU below the loudness of what passes the first.
const (
	silence  = -70.0
	relative = -10.0
)

// Integrated returns the gated loudness of the first [Meter.Seconds] of the sound, in LUFS. If the sound is shorter
// than 0.4 seconds, or no block of 0.4 seconds is louder than -70 LUFS, it is -Inf.
func (m *Meter) Integrated() float64 {
	passed := m.above(silence)
	return lufs(m.above(max(lufs(passed)+relative, silence)))
}

// above returns the mean of the blocks that are louder than a gate.
func (m *Meter) above(gate float64) float64 {
	sum, n := 0.0, 0
	for _, p := range m.blocks(momentary) {
		if lufs(p) > gate {
			sum, n = sum+p, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// blocks returns the power of every block of so many steps.
func (m *Meter) blocks(long int) (powers []float64) {
	for i := long; i <= len(m.steps); i++ {
		sum := 0.0
		for _, p := range m.steps[i-long : i] {
			sum += p
		}
		powers = append(powers, sum/float64(long))
	}
	return powers
}

// Momentary returns the loudness of the loudest 400 ms that begin at a whole tenth of a second, in LUFS. A shorter
// sound counts as if silence followed.
func (m *Meter) Momentary() float64 { return m.loudest(momentary) }

// ShortTerm returns the loudness of the loudest three seconds that begin at a whole tenth of a second, in LUFS. A
// shorter sound counts as if silence followed.
func (m *Meter) ShortTerm() float64 { return m.loudest(shortTerm) }

func (m *Meter) loudest(long int) float64 {
	best := 0.0
	if len(m.steps) < long {
		sum := m.sum / float64(m.step)
		for _, p := range m.steps {
			sum += p
		}
		best = sum / float64(long)
	}
	for _, p := range m.blocks(long) {
		best = max(best, p)
	}
	return lufs(best)
}

// TruePeak returns the highest peak, at or between samples, in dBTP. Without sound it returns -Inf.
func (m *Meter) TruePeak() float64 { return 20 * math.Log10(m.peaks.top) }

// lufs is the loudness of the sum of both channels' powers.
func lufs(power float64) float64 { return -0.691 + 10*math.Log10(power) }

// An ear weights a channel: treble is louder in front of a head, and bass is hardly heard.
type ear struct {
	k    [2]biquad
	z    [2][2]float64
	calm int // frames since the filters were asked whether they are silent
}

// A biquad is a filter of the second order, in the transposed direct form II.
type biquad struct{ b0, b1, b2, a1, a2 float64 }

func (e *ear) hear(x float64) float64 {
	for i := range e.k {
		f, z := &e.k[i], &e.z[i]
		y := f.b0*x + z[0]
		z[0] = f.b1*x - f.a1*y + z[1]
		z[1] = f.b2*x - f.a2*y
		x = y
	}
	if e.calm++; e.calm == 1024 { // no denormal numbers, which are slow
		e.calm = 0
		for i := range e.z {
			if math.Abs(e.z[i][0])+math.Abs(e.z[i][1]) < 1e-20 {
				e.z[i] = [2]float64{}
			}
		}
	}
	return x
}

// weighting returns the two filters of BS.1770 for a rate: the shelf and the high-pass, as analog filters that give
// the coefficients of the standard at 48,000.
func weighting(rate float64) [2]biquad {
	const gain = 3.999843853973347
	k := math.Tan(math.Pi * 1681.974450955533 / rate)
	q := k / 0.7071752369554196
	high := math.Pow(10, gain/20)
	band := math.Pow(high, 0.4996667741545416)
	a := 1 + q + k*k
	shelf := biquad{(high + band*q + k*k) / a, 2 * (k*k - high) / a, (high - band*q + k*k) / a, 2 * (k*k - 1) / a, (1 - q + k*k) / a}
	k = math.Tan(math.Pi * 38.13547087602444 / rate)
	q = k / 0.5003270373238773
	a = 1 + q + k*k
	return [2]biquad{shelf, {1, -2, 1, 2 * (k*k - 1) / a, (1 - q + k*k) / a}}
}
