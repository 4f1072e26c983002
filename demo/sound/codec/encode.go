package codec

import (
	"hash/crc32"
	"math"
)

// Encode packs samples from -1 to 1. Encode tries frames of each of the given lengths, which are powers of two from 64
// to 4096, and returns the smallest file. Long frames suit steady tones, and short ones suit attacks.
//
// The last sample of a loop continues into the first. Only lengths that divide the loop's are tried: then its last frame
// equals its first one, and the loop has no seam.
func Encode(x []float64, rate int, loop bool, hops ...int) []byte {
	var best []byte
	for _, hop := range hops {
		if loop && len(x)%hop != 0 {
			continue
		}
		if file := encode(x, rate, hop, loop); best == nil || len(file) < len(best) {
			best = file
		}
	}
	return best
}

func encode(x []float64, rate, hop int, loop bool) []byte {
	h := Header{Rate: rate, Samples: len(x), Hop: hop}
	at := func(i int) float64 {
		if loop {
			return x[((i%len(x))+len(x))%len(x)]
		}
		if i < 0 || i >= len(x) {
			return 0
		}
		return x[i]
	}
	c, m, fold, ear := newWriter(), newModel(hop, rate), newTransform(hop), newEar(rate)
	in, out, q := make([]float64, 2*hop), make([]float64, hop), make([]int, hop)
	around := make([]float64, 2*hop+earWindow)
	var steps [bands]int
	for f := range h.frames() {
		from := (f - 1) * hop
		for i := range in {
			in[i] = at(from + i)
		}
		for i := range around {
			around[i] = at(from + i - earWindow/2)
		}
		fold.forward(out, in)
		allowed := ear.masked(around)
		for b := range bands {
			lo, hi := m.edge[b], m.edge[b+1]
			if lo == hi {
				continue
			}
			// Rounding makes a twelfth of the squared step of noise in each coefficient.
			noise := allowed[b] * float64(hop) / float64(hi-lo)
			steps[b] = max(leastStep, min(int(math.Floor(2*math.Log2(12*noise))), mostStep))
			round(q[lo:hi], out[lo:hi], step(steps[b]))
		}
		m.frame(c, q, &steps)
	}
	data := c.end()
	h.Bytes, h.sum = len(data), crc32.ChecksumIEEE(data)
	return append(h.append(nil), data...)
}

// round rounds to multiples. It prefers the smaller one, which takes fewer bits.
func round(q []int, x []float64, step float64) {
	const up = 0.42
	for k, v := range x {
		n := int(min(math.Abs(v)/step+up, most))
		if v < 0 {
			n = -n
		}
		q[k] = n
	}
}

// margin is how much less noise than the masked one is allowed, in dB.
const margin = 3

// earWindow is the length of the windows in which masking is looked for, in samples. Noise before an attack is not
// masked by it, so a frame may have the noise of its most sensitive window.
const earWindow = 512

// An ear knows what a sound masks.
type ear struct {
	window  []float64
	roots   []complex128
	band    [earWindow / 2]int    // of a frequency
	spread  [bands][bands]float64 // what power in the second band masks in the first
	quiet   [bands]float64        // power that is not heard in silence
	scratch []complex128
}

func newEar(rate int) *ear {
	e := &ear{window: make([]float64, earWindow), roots: rootsOf(earWindow), scratch: make([]complex128, earWindow)}
	for i := range e.window {
		e.window[i] = math.Sqrt(8.0/3) / earWindow * (1 - math.Cos(2*math.Pi*(float64(i)+0.5)/earWindow)) / 2
	}
	for k := 1; k < len(e.band); k++ {
		for e.band[k] = e.band[k-1]; k*rate >= limit(e.band[k]+1)*earWindow; {
			e.band[k]++
		}
	}
	for b := range bands {
		for k := range bands {
			// 10 dB less for each Bark upwards, 25 dB downwards, and 14 dB or more below a tone.
			distance := float64(b-k) / 2
			db := -14 - 0.25*float64(k) - 10*distance
			if distance < 0 {
				db = -14 - 0.25*float64(k) + 25*distance
			}
			e.spread[b][k] = math.Pow(10, (db-margin)/10)
		}
		// Terhardt's threshold in quiet, with full scale at 90 dB, but no higher at the ends than small bands allow.
		f := float64(limit(b)+limit(b+1)) / 2000
		db := 3.64*math.Pow(f, -0.8) - 6.5*math.Exp(-0.6*(f-3.3)*(f-3.3)) + 0.001*math.Pow(f, 4)
		e.quiet[b] = math.Pow(10, (min(db, 25)-90-margin)/10)
	}
	return e
}

// masked returns the power of noise in each band that is not heard in any window of x.
func (e *ear) masked(x []float64) (least [bands]float64) {
	for at := 0; at+earWindow <= len(x); at += earWindow / 2 {
		for i := range e.scratch {
			e.scratch[i] = complex(x[at+i]*e.window[i], 0)
		}
		fft(e.scratch, e.roots)
		var power [bands]float64
		for k := 1; k < earWindow/2; k++ {
			v := e.scratch[k]
			power[e.band[k]] += 2 * (real(v)*real(v) + imag(v)*imag(v))
		}
		for b := range bands {
			sum := e.quiet[b]
			for k, p := range power {
				sum += p * e.spread[b][k]
			}
			if at == 0 || sum < least[b] {
				least[b] = sum
			}
		}
	}
	return least
}
