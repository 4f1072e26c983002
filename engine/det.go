package engine

import (
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// The functions of this file give the same bits on every processor. They use addition,
// multiplication, division, square root and rounding only, each of which IEEE 754 defines to
// the bit, and write float32(x*y) or float64(x*y) wherever the compiler could fuse a product
// and a sum into one instruction, as it does on arm64, ppc64, riscv64 and s390x and not on amd64.
//
// What the simulation must avoid, and what to write instead:
//
//	avoid                              because                write
//	---------------------------------  ---------------------  -------------------------------
//	math.Sin, Cos, Exp, Pow, Atan2,    assembly or fusing on  Sin, Cos, SinCos; Turn for
//	Hypot                              some processors        steering; constants per tick
//	a.Len(), a.Normalize() of mgl32    built on math.Hypot    Length, Normalize
//	a.Add(b.Mul(t)), a.Dot(b),         may fuse, also after   MulAdd, Dot, float32(x*y) + z
//	x*y + z                            inlining
//	float -> int conversion out of     differ                 compare before converting
//	range, NaN

// Sqrt returns the square root of x, correctly rounded. If x is negative or NaN, Sqrt returns 0.
func Sqrt(x float32) float32 {
	if !(x > 0) {
		return 0
	}
	// Rounding the float64 root once more gives the float32 root exactly, since
	// 53 >= 2*24+2 bits (Figueroa, "When is double rounding innocuous?", 1995).
	return float32(math.Sqrt(float64(x)))
}

// Sin returns the sine of x, in radians. The error is at most 1e-7 for |x| up to 1e5. If x is not finite, Sin returns
// 0.
func Sin(x float32) float32 {
	s, _ := SinCos(x)
	return s
}

// Cos returns the cosine of x, in radians. The error is at most 1e-7 for |x| up to 1e5. If x is not finite, Cos returns
// 1.
func Cos(x float32) float32 {
	_, c := SinCos(x)
	return c
}

// SinCos returns Sin(x) and Cos(x). It costs as much as Sin alone.
func SinCos(x float32) (sin, cos float32) {
	if x-x != 0 { // infinite or no number
		return 0, 1
	}
	// In quarter turns the reduction is a subtraction of an integer, which is exact.
	t := float64(float64(x) * (2 / math.Pi))
	q := math.Floor(float64(t + 0.5))
	r := float64(float64(t-q) * (math.Pi / 2)) // -pi/4 to pi/4
	s, c := kernel(r)
	// float64 arithmetic finds q mod 4, as q may be beyond every integer type.
	switch int(q - float64(4*math.Floor(q/4))) {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return float32(s), float32(c)
}

// kernel evaluates the Taylor polynomials of degree 11 and 12 for |r| <= pi/4: their first
// omitted terms are below 7e-12, which is far below what float32 can show.
func kernel(r float64) (s, c float64) {
	z := float64(r * r)
	s = -1.0 / 39916800
	s = float64(s*z) + 1.0/362880
	s = float64(s*z) - 1.0/5040
	s = float64(s*z) + 1.0/120
	s = float64(s*z) - 1.0/6
	s = float64(s*z) + 1
	s = float64(s * r)
	c = 1.0 / 479001600
	c = float64(c*z) - 1.0/3628800
	c = float64(c*z) + 1.0/40320
	c = float64(c*z) - 1.0/720
	c = float64(c*z) + 1.0/24
	c = float64(c*z) - 0.5
	c = float64(c*z) + 1
	return s, c
}

// Heading returns the direction at angle a, in radians from +x towards +y. The direction has length 1, apart from
// rounding. If the angle is not finite, Heading returns +x.
func Heading(a float32) mgl32.Vec2 {
	s, c := SinCos(a)
	return mgl32.Vec2{c, s}
}

// Dot returns the inner product of a and b.
func Dot(a, b mgl32.Vec2) float32 { return float32(a[0]*b[0]) + float32(a[1]*b[1]) }

// Cross returns the z component of the cross product of a and b. The result is positive if the shorter turn from a to
// b has the direction from +x to +y, and negative if it has the other direction. If a and b are parallel, it is 0.
func Cross(a, b mgl32.Vec2) float32 { return float32(a[0]*b[1]) - float32(a[1]*b[0]) }

// Scale returns v*s.
func Scale(v mgl32.Vec2, s float32) mgl32.Vec2 {
	return mgl32.Vec2{float32(v[0] * s), float32(v[1] * s)}
}

// MulAdd returns p + v*s. The product is rounded to float32 before the sum, so all processors return the same bits. A
// step of integration is MulAdd(position, velocity, Delta), with the velocity in units per second.
func MulAdd(p, v mgl32.Vec2, s float32) mgl32.Vec2 {
	return mgl32.Vec2{p[0] + float32(v[0]*s), p[1] + float32(v[1]*s)}
}

// Lerp returns a + (b-a)*t.
func Lerp(a, b, t float32) float32 { return a + float32((b-a)*t) }

// Mix is Lerp of vectors.
func Mix(a, b mgl32.Vec2, t float32) mgl32.Vec2 { return MulAdd(a, b.Sub(a), t) }

// LengthSquared returns the squared length of v. If v is finite and the square exceeds the largest float32,
// LengthSquared returns +Inf.
func LengthSquared(v mgl32.Vec2) float32 { return Dot(v, v) }

// Length returns the length of v. For a finite v Length returns +Inf only if the length exceeds the largest float32.
func Length(v mgl32.Vec2) float32 { return float32(length(v)) }

// length squares in float64, where a product of two float32 is exact.
func length(v mgl32.Vec2) float64 {
	x, y := float64(v[0]), float64(v[1])
	return math.Sqrt(float64(x*x) + float64(y*y))
}

// Distance returns the length of b-a.
func Distance(a, b mgl32.Vec2) float32 { return Length(b.Sub(a)) }

// Normalize returns v with length 1, apart from rounding. If v is zero or not finite, Normalize returns zero.
func Normalize(v mgl32.Vec2) mgl32.Vec2 {
	l := length(v)
	if !(l > 0) || l > math.MaxFloat64 {
		return mgl32.Vec2{}
	}
	return mgl32.Vec2{float32(float64(v[0]) / l), float32(float64(v[1]) / l)}
}

// Limit returns v with a length of at most `most`, apart from rounding: a longer v is shortened. `most` must be finite
// and not negative. If v has a NaN, Limit returns v. If v is infinite, Limit returns zero.
func Limit(v mgl32.Vec2, most float32) mgl32.Vec2 {
	if length(v) > float64(most) {
		return Scale(Normalize(v), most)
	}
	return v
}

// Perp returns v turned by a quarter turn, from +x to +y.
func Perp(v mgl32.Vec2) mgl32.Vec2 { return mgl32.Vec2{-v[1], v[0]} }

// Rotate returns v turned by the angle of the direction `by`, from +x to +y. `by` must have length 1, such as the
// result of [Heading].
func Rotate(v, by mgl32.Vec2) mgl32.Vec2 {
	return mgl32.Vec2{Dot(v, mgl32.Vec2{by[0], -by[1]}), Dot(v, mgl32.Vec2{by[1], by[0]})}
}

// Turn turns the direction `from` towards the direction `to`, by at most the angle of the direction `step`. Turn needs
// no arc tangent. `step` must have length 1, and an angle from 0 to half a turn. `from` and `to` must have length 1 or
// 0, and so has the result. If `from` is zero, Turn returns `to`. If `to` is zero, Turn returns `from`. If `from` and
// `to` are opposite, Turn turns in the direction from +x to +y.
func Turn(from, to, step mgl32.Vec2) mgl32.Vec2 {
	zero := mgl32.Vec2{}
	switch {
	case from == zero:
		return to
	case to == zero:
		return from
	case Dot(from, to) >= step[0]: // the angle between them is within the step
		return to
	case Cross(from, to) < 0:
		step[1] = -step[1]
	}
	return Normalize(Rotate(from, step))
}
