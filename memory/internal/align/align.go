// Package align has the arithmetic on sizes and alignments that all allocators share.
//
// All sizes are bytes. Every function is small enough to inline.
package align

import "math/bits"

// Max is the largest alignment in bytes that an allocator must accept.
const Max = 4096

// Valid reports whether a is a power of two from 1 to Max.
func Valid(a uintptr) bool { return a-1 < Max && a&(a-1) == 0 }

// Up rounds n up to a multiple of a, a power of two. It wraps if n > ^0-a: the caller checks the range
// first or compares the result with n.
func Up(n, a uintptr) uintptr { return (n + a - 1) &^ (a - 1) }

// Down rounds n down to a multiple of a, a power of two.
func Down(n, a uintptr) uintptr { return n &^ (a - 1) }

// Mul returns n*size, and whether n is not negative and the product fits an int. unsafe.Slice accepts no
// larger one.
func Mul(n int, size uintptr) (uintptr, bool) {
	hi, lo := bits.Mul(uint(n), uint(size))
	return uintptr(lo), n >= 0 && hi == 0 && int(lo) >= 0
}

// CeilPow2 returns the smallest power of two that is at least n. It is 1 for 0, and 0 if n is above the
// largest power of two.
func CeilPow2(n uintptr) uintptr {
	if n == 0 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
