package loudness

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// window is the length of the pieces that a Spectrum averages: bins of 11 Hz at 44,100 frames a second.
const window = 4096

// A Spectrum is the power of a sound at multiples of a 4096th of its rate. NewSpectrum makes one.
type Spectrum struct {
	rate  float64
	power [window/2 + 1]float64
	fill  []float64
	hann  [window]float64
}

// NewSpectrum returns an empty spectrum for the given rate in frames a second.
func NewSpectrum(rate int) *Spectrum {
	s := &Spectrum{rate: float64(rate), fill: make([]float64, 0, window)}
	for i := range s.hann {
		s.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window)
	}
	return s
}

// Add adds further frames to the spectrum. The slice interleaves the left and the right channel, and Add takes the mean
// of the two. If the length is odd, the last sample is ignored. Up to 4,095 of the last frames do not count before
// further calls of Add or [Spectrum.End].
func (s *Spectrum) Add(frames []float32) {
	for i := 0; i < len(frames)-1; i += 2 {
		s.fill = append(s.fill, float64(frames[i]+frames[i+1])/2)
		if len(s.fill) == window {
			s.measure()
			s.fill = append(s.fill[:0], s.fill[window/2:]...)
		}
	}
}

// End counts the frames that Add has not counted yet, as if silence followed. Call End once, after the last Add. Windows
// of 4,096 frames are measured, and overlap by half. So End may count up to 2,048 frames again that Add has counted.
func (s *Spectrum) End() {
	for len(s.fill) < window {
		s.fill = append(s.fill, 0)
	}
	s.measure()
	s.fill = s.fill[:0]
}

func (s *Spectrum) measure() {
	var x [window]complex128
	for i, v := range s.fill {
		x[i] = complex(v*s.hann[i], 0)
	}
	transform(x[:])
	for i := range s.power {
		a := cmplx.Abs(x[i])
		s.power[i] += a * a
	}
}

// transform is a Fourier transform in place, of a length that is a power of two (Cooley and Tukey).
func transform(x []complex128) {
	n := len(x)
	shift := bits.UintSize - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse(uint(i)) >> shift); i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		turn := cmplx.Rect(1, -2*math.Pi/float64(size))
		for at := 0; at < n; at += size {
			w := complex(1, 0)
			for i := range size / 2 {
				a, b := x[at+i], x[at+i+size/2]*w
				x[at+i], x[at+i+size/2] = a+b, a-b
				w *= turn
			}
		}
	}
}

// Share returns the power at frequencies f with from <= f < to, in dB relative to all power. Both bounds are in Hz.
// If there is no power in this range, Share returns -Inf. If there is no power at all, it returns NaN.
func (s *Spectrum) Share(from, to float64) float64 {
	part, all := 0.0, 0.0
	for i, p := range s.power {
		all += p
		if hz := float64(i) * s.rate / window; hz >= from && hz < to {
			part += p
		}
	}
	return 10 * math.Log10(part/all)
}

// Center returns the mean frequency, weighted by power, in Hz. Without power it returns NaN.
func (s *Spectrum) Center() float64 {
	sum, all := 0.0, 0.0
	for i, p := range s.power {
		all += p
		sum += p * float64(i) * s.rate / window
	}
	return sum / all
}
