package codec

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fft transforms a in place. Its length is a power of two, and roots has half as many powers of the unit's root.
func fft(a, roots []complex128) {
	n := len(a)
	shift := 64 - bits.Len(uint(n-1))
	for i := range a {
		if j := int(bits.Reverse64(uint64(i)) >> shift); i < j {
			a[i], a[j] = a[j], a[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		half, step := size/2, n/size
		for at := 0; at < n; at += size {
			lo, hi := a[at:at+half], a[at+half:at+size]
			for k := range lo {
				u, v := lo[k], hi[k]*roots[k*step]
				lo[k], hi[k] = u+v, u-v
			}
		}
	}
}

func rootsOf(n int) []complex128 {
	out := make([]complex128, n/2)
	for k := range out {
		out[k] = cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
	}
	return out
}

// A transform turns 2 hop samples into hop coefficients and back. The coefficients have the power of the samples.
type transform struct {
	hop    int
	window []float64    // the rising half of a sine
	twist  []complex128 // before and after the FFT
	roots  []complex128
	tmp    []complex128 // hop/2
}

func newTransform(hop int) *transform {
	t := &transform{hop: hop, window: make([]float64, hop), twist: make([]complex128, hop/2), roots: rootsOf(hop / 2), tmp: make([]complex128, hop/2)}
	for i := range t.window {
		t.window[i] = math.Sin(math.Pi * (float64(i) + 0.5) / float64(2*hop))
	}
	for i := range t.twist {
		t.twist[i] = cmplx.Rect(1, -math.Pi*(float64(i)+0.25)/float64(hop))
	}
	return t
}

// dct4 is the discrete cosine transform of type 4, orthonormal and its own inverse, by an FFT of half the length.
func (t *transform) dct4(x []float64) {
	h := t.hop
	for i := range t.tmp {
		t.tmp[i] = complex(x[2*i], x[h-1-2*i]) * t.twist[i]
	}
	fft(t.tmp, t.roots)
	scale := complex(math.Sqrt(2/float64(h)), 0)
	for i, v := range t.tmp {
		v *= t.twist[i] * scale
		x[2*i], x[h-1-2*i] = real(v), -imag(v)
	}
}

// forward fills out with the coefficients of 2 hop samples.
func (t *transform) forward(out, in []float64) {
	h, w := t.hop, t.window
	for i := range h / 2 {
		// The quarters a, b, c, d of the samples become -c reversed - d, a - b reversed.
		out[i] = -in[3*h/2-1-i]*w[h/2+i] - in[3*h/2+i]*w[h/2-1-i]
		out[h/2+i] = in[i]*w[i] - in[h-1-i]*w[h-1-i]
	}
	t.dct4(out)
}

// inverse destroys coefficients. It adds the first half of their samples to out, which had the second half of the
// frame before, and writes the second half to next.
func (t *transform) inverse(out, next, x []float64) {
	h, w := t.hop, t.window
	t.dct4(x)
	for i := range h / 2 {
		out[i] += x[h/2+i] * w[i]
		out[h-1-i] -= x[h/2+i] * w[h-1-i]
		next[h/2-1-i] = -x[i] * w[h/2+i]
		next[h/2+i] = -x[i] * w[h/2-1-i]
	}
}
