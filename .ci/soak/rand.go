package main

import "math/bits"

// golden is the odd number nearest to 2^64 divided by the golden ratio: SplitMix's step.
const golden = 0x9E3779B97F4A7C15

// A rand is SplitMix64: one addition and two multiplications a number, which a soak of 10^8
// operations notices, and the same sequence on every machine.
type rand struct{ state uint64 }

func (r *rand) uint64() uint64 {
	r.state += golden
	return mix(r.state)
}

// mix is SplitMix64's finisher: every bit of the result depends on every bit of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// n returns a number from 0 to below-1.
func (r *rand) n(below int) int {
	hi, _ := bits.Mul64(r.uint64(), uint64(below))
	return int(hi)
}

// between returns a number from lo to hi, both included.
func (r *rand) between(lo, hi uintptr) uintptr { return lo + uintptr(r.n(int(hi-lo)+1)) }

// one reports true once in n calls, on average.
func (r *rand) one(n int) bool { return r.n(n) == 0 }

// size returns a size from 0 to most whose number of bits is uniform. One in eight is a power of two, or one more or
// one less.
func (r *rand) size(most uintptr) uintptr {
	width := r.n(bits.Len64(uint64(most)) + 1)
	size := uintptr(r.uint64()) & (1<<width - 1)
	if r.one(8) {
		size = 1<<width + uintptr(r.n(3)) - 1
	}
	return min(size, most)
}

// align returns a power of two from 1 to most, 16 or less in three of four cases.
func (r *rand) align(most uintptr) uintptr {
	if !r.one(4) {
		most = min(most, 16)
	}
	return 1 << r.n(bits.Len64(uint64(most)))
}
