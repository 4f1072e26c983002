package align

import (
	"math/bits"
	"unsafe"
)

// A Grain is the unit in which a heap counts sizes and offsets, a power of two of bytes. Its value is the
// logarithm, so the zero Grain is one byte.
type Grain uint8

// MaxGrains is the largest offset in grains, so that the sum of two fits 31 bits.
const MaxGrains = 1 << 30

// GrainOf returns the Grain of a power of two.
func GrainOf(bytes uintptr) Grain { return Grain(bits.TrailingZeros64(uint64(bytes))) }

// Count returns the number of grains that contain size bytes, at least one. It wraps if that exceeds 32
// bits: the caller checks the size first.
func (g Grain) Count(size uintptr) uint32 { return uint32((max(size, 1)-1)>>(g&63)) + 1 }

// Bytes returns the size in bytes of n grains.
func (g Grain) Bytes(n uint32) uintptr { return uintptr(n) << (g & 63) }

// Step returns the alignment al, a power of two of bytes, in grains: at least one.
func (g Grain) Step(al uintptr) uint32 { return max(uint32(al>>(g&63)), 1) }

// Index returns the number of the grain that starts at p, counted from base. If p is not the start of a
// grain or lies below base, the index is beyond any table: the rotation moves the low bits to the top.
func (g Grain) Index(base, p unsafe.Pointer) uint64 {
	return bits.RotateLeft64(uint64(uintptr(p)-uintptr(base)), -int(g))
}

// UpTo rounds the offset off, in grains, up to a multiple of the power of two step.
func UpTo(off, step uint32) uint32 { return (off + step - 1) &^ (step - 1) }
