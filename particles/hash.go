package particles

import (
	"math"
	"math/bits"
)

// Hash mixes all particles and the state of the random numbers into h, and returns the result. The result depends on the
// order of the rows. If two Systems have the same seed, Capacity and calls, and no source refused memory, Hash returns
// the same result for the same h, on every architecture. Cost: see the package documentation.
func (s *System) Hash(h uint64) uint64 {
	h = mix(mix(h, uint64(s.n)), uint64(s.rng))
	for i := range s.n {
		h = mix(h, pack(s.x[i], s.y[i]))
		h = mix(h, pack(s.vx[i], s.vy[i]))
		b := &s.birth[i]
		h = mix(h, pack(s.left[i], b.inv))
		h = mix(h, pack(b.size, b.rot))
		h = mix(h, pack(b.spin, 0)|uint64(s.kind[i])<<8|uint64(s.tint[i]))
	}
	return h
}

func pack(a, b float32) uint64 { return uint64(word(a))<<32 | uint64(word(b)) }

// word gives every NaN the same bits: architectures make different ones.
func word(v float32) uint32 {
	if v != v {
		return 0x7FC00000
	}
	return math.Float32bits(v)
}

// mix folds v into h: a full 128-bit product, so that every bit of v reaches every bit of h.
func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}
