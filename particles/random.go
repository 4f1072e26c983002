package particles

// random is xorshift64*: 64 bits a draw, of which two floats and a byte are taken.
type random uint64

// defaultSeed is the state of a System whose Config names none. The generator has no way
// out of 0, so 0 is no seed.
const defaultSeed = 0x9E3779B97F4A7C15

func (r *random) next() uint64 {
	s := *r
	s ^= s >> 12
	s ^= s << 25
	s ^= s >> 27
	*r = s
	return uint64(s) * 0x2545F4914F6CDD1D
}

// pair returns two numbers from [0, 1) with 24 bits each, and 8 bits more.
func (r *random) pair() (a, b float32, spare uint8) {
	const unit = 1.0 / (1 << 24)
	u := r.next()
	return float32(float32(u>>40) * unit), float32(float32(u>>16&(1<<24-1)) * unit), uint8(u >> 8)
}

// A Range is an interval from which values are drawn with a uniform distribution. Max may be
// less than Min.
type Range struct{ Min, Max float32 }

// Just returns the range whose only value is v.
func Just(v float32) Range { return Range{v, v} }

func (r Range) at(u float32) float32 { return r.Min + float32((r.Max-r.Min)*u) }

const (
	tau     = 6.28318530717958647692
	perTurn = 1 / tau
)

// sincos has the same bits everywhere: every product is rounded by itself, so no compiler
// may fuse it with a sum, which package math allows. It is good to 2e-6 for |a| up to 1e4;
// beyond, and for NaN, it answers as for 0.
func sincos(a float32) (sin, cos float32) {
	const (
		twoOverPi = 0.636619772367581343076
		halfPiHi  = 1.5703125                // 8 bits, so that n*halfPiHi is exact
		halfPiLo  = 4.8382679489661923132e-4 // the rest
		bias      = 1 << 14                  // above 1e4 * 2/pi: the sum is positive, and truncating rounds it
	)
	if !(a > -1e4 && a < 1e4) {
		return 0, 1
	}
	n := int32(float32(a*twoOverPi)+bias+0.5) - bias
	f := float32(n)
	x := a - float32(f*halfPiHi) - float32(f*halfPiLo)
	q := float32(x * x)
	s := float32(x * (1 - float32(q*(1.0/6-float32(q*(1.0/120-float32(q*(1.0/5040))))))))
	c := 1 - float32(q*(0.5-float32(q*(1.0/24-float32(q*(1.0/720-float32(q*(1.0/40320))))))))
	switch n & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}

// direction is a unit vector.
type direction struct{ cos, sin float32 }

const circleSteps = 1024 // a third of a degree: half a pixel at the corner of a 180 pixel quad

// circle holds the directions of the rotated quads.
var circle = func() (c [circleSteps]direction) {
	for i := range c {
		c[i].sin, c[i].cos = sincos(float32(i) * (tau / circleSteps))
	}
	return c
}()
