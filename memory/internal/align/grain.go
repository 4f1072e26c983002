package align

import (
	"math/bits"
	"unsafe"
)

// A Grain is the unit, a power of two of bytes, in which a heap counts sizes and offsets. The
// value is its logarithm, so that the zero Grain is a byte.
type Grain uint8

// MaxGrains keeps the sum of two offsets counted in grains within 31 bits.
const MaxGrains = 1 << 30

// GrainOf returns the Grain of a power of two.
func GrainOf(bytes uintptr) Grain { return Grain(bits.TrailingZeros64(uint64(bytes))) }

// Count returns how many grains hold size bytes, at least one. It wraps for more than 32 bits
// of grains: the caller checks the size first.
func (g Grain) Count(size uintptr) uint32 { return uint32((max(size, 1)-1)>>(g&63)) + 1 }

// Bytes returns the size of n grains.
func (g Grain) Bytes(n uint32) uintptr { return uintptr(n) << (g & 63) }

// Step returns the alignment al in grains, at least one.
func (g Grain) Step(al uintptr) uint32 { return max(uint32(al>>(g&63)), 1) }

// Index returns the number of the grain that starts at p. The rotation moves what is below a
// grain to the top: an address into the middle of one, and one in front of base, are beyond
// every table.
func (g Grain) Index(base, p unsafe.Pointer) uint64 {
	return bits.RotateLeft64(uint64(uintptr(p)-uintptr(base)), -int(g))
}

// UpTo rounds the offset off, in grains, up to a multiple of the power of two step.
func UpTo(off, step uint32) uint32 { return (off + step - 1) &^ (step - 1) }
