package engine

import (
	"math/bits"

	"github.com/go-gl/mathgl/mgl32"
)

// A Rand is a generator of random numbers for the simulation: PCG-XSH-RR with 64 bits of state and 32 bits of output.
// There are 2^63 streams, each with a period of 2^64. The same seed and stream give the same numbers on every
// processor. A Rand has 16 bytes without pointers. It may be stored off the Go heap, copied and compared. A copy
// returns the same numbers as the original. The zero Rand is ready for use. Every zero Rand has the same sequence.
type Rand struct {
	state uint64
	inc   uint64 // odd where it came from NewRand: selects the stream
}

// pcgMultiplier is the multiplier of the reference implementation.
const pcgMultiplier = 6364136223846793005

// NewRand returns the generator of a seed and a stream. The highest bit of stream is ignored. Each stream of a seed is
// a sequence of its own. With one stream for each system, a change of one system does not change the numbers of the
// others.
func NewRand(seed, stream uint64) Rand {
	r := Rand{inc: stream<<1 | 1}
	r.Uint32()
	r.state += seed
	r.Uint32()
	return r
}

// Uint32 returns 32 random bits.
func (r *Rand) Uint32() uint32 {
	old := r.state
	r.state = old*pcgMultiplier + (r.inc | 1)
	return bits.RotateLeft32(uint32((old>>18^old)>>27), -int(old>>59))
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	hi := uint64(r.Uint32())
	return hi<<32 | uint64(r.Uint32())
}

// Intn returns a number from 0 to n-1, each equally likely. If n is below 1, Intn returns 0 and draws no number. An n
// above 2^31-1 counts as 2^31-1.
func (r *Rand) Intn(n int) int {
	if n < 1 {
		return 0
	}
	m := uint32(min(int64(n), 1<<31-1))
	product := uint64(r.Uint32()) * uint64(m)
	if low := uint32(product); low < m {
		for reject := -m % m; low < reject; low = uint32(product) {
			product = uint64(r.Uint32()) * uint64(m)
		}
	}
	return int(product >> 32)
}

// Float32 returns a number from 0 up to but not including 1: a multiple of 2^-24.
func (r *Rand) Float32() float32 { return float32(float32(r.Uint32()>>8) * (1.0 / (1 << 24))) }

// Range returns a number from lo to hi. Because of rounding Range may return hi. hi-lo must be finite.
func (r *Rand) Range(lo, hi float32) float32 { return Lerp(lo, hi, r.Float32()) }

// Chance returns true with probability p: never if p is 0 or less, always if it is 1 or more. Chance draws one number
// in any case.
func (r *Rand) Chance(p float32) bool { return r.Float32() < p }

// Sign returns -1 or 1, each equally likely.
func (r *Rand) Sign() float32 { return float32(int32(r.Uint32()>>31)*2 - 1) }

// Circle returns a random direction: a vector of length 1, apart from rounding, each direction equally likely.
func (r *Rand) Circle() mgl32.Vec2 {
	for {
		// A point too near the centre has too few bits of direction.
		if v := r.square(); LengthSquared(v) <= 1 && LengthSquared(v) > 1.0/4096 {
			return Normalize(v)
		}
	}
}

// Disc returns a vector of length at most 1, each point of the disc equally likely. Disc takes 4/pi tries on average,
// and draws two numbers for each try.
func (r *Rand) Disc() mgl32.Vec2 {
	for {
		if v := r.square(); LengthSquared(v) <= 1 {
			return v
		}
	}
}

func (r *Rand) square() mgl32.Vec2 {
	x := r.Range(-1, 1)
	return mgl32.Vec2{x, r.Range(-1, 1)}
}

// Split returns a new generator. Its seed and stream are drawn from r, as four numbers of 32 bits.
func (r *Rand) Split() Rand {
	seed := r.Uint64()
	return NewRand(seed, r.Uint64())
}

// State returns the state of the generator, for Restore.
func (r *Rand) State() (state, inc uint64) { return r.state, r.inc }

// Restore sets the state to the values that State returned.
func (r *Rand) Restore(state, inc uint64) { r.state, r.inc = state, inc }

// Hash adds the state of the generator to h.
func (r *Rand) Hash(h *Hasher) {
	h.Uint64(r.state)
	h.Uint64(r.inc)
}
