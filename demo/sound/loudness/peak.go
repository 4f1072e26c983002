package loudness

import "math"

const (
	oversampling = 4
	taps         = 16 // samples that a value between two is computed from
)

// between are the weights of the samples for the values at a quarter, a half and three quarters of a step behind the
// sample before the middle. They are a sinc under Kaiser's window.
var between = func() (phases [oversampling - 1][taps]float32) {
	for p := range phases {
		var w [taps]float64
		sum := 0.0
		for i := range w {
			t := float64(i-taps/2+1) - float64(p+1)/oversampling
			w[i] = math.Sin(math.Pi*t) / (math.Pi * t) * kaiser(t/(taps/2))
			sum += w[i]
		}
		for i := range w {
			phases[p][i] = float32(w[i] / sum)
		}
	}
	return phases
}()

// most is how much higher than all samples a value between them can be: the sum of the weights' sizes.
var most = func() (most float64) {
	for p := range between {
		sum := 0.0
		for _, w := range between[p] {
			sum += math.Abs(float64(w))
		}
		most = max(most, sum)
	}
	return most
}()

// kaiser is the window with a side lobe of -53 dB, from -1 to 1.
func kaiser(t float64) float64 {
	const beta = 5.0
	return bessel(beta*math.Sqrt(max(0, 1-t*t))) / bessel(beta)
}

// bessel is the modified Bessel function of the first kind and order 0.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; k < 30; k++ {
		term *= x / 2 / k * (x / 2 / k)
		sum += term
	}
	return sum
}

// peaks finds the highest value at four times the rate.
type peaks struct {
	top  float64
	past [2][2 * taps]float32 // a ring, twice, so that the last samples are in one piece
	at   int
	quit int // frames until no sample is in the ring that could make a higher peak
}

func (p *peaks) add(l, r float32) {
	p.past[0][p.at], p.past[0][p.at+taps] = l, l
	p.past[1][p.at], p.past[1][p.at+taps] = r, r
	p.at = (p.at + 1) % taps
	high := max(math.Abs(float64(l)), math.Abs(float64(r)))
	p.top = max(p.top, high)
	if high*most > p.top {
		p.quit = taps
	}
	if p.quit == 0 {
		return
	}
	p.quit--
	for c := range p.past {
		x := p.past[c][p.at : p.at+taps : p.at+taps]
		for k := range between {
			w, sum := &between[k], float32(0)
			for i, v := range x {
				sum += v * w[i]
			}
			p.top = max(p.top, math.Abs(float64(sum)))
		}
	}
}
