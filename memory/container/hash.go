package container

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The hash is a chain of folded multiplications, as wyhash and foldhash have it: no tables, no
// start-up, the same on every machine for the same bytes and seed. It resists accidents, not an
// enemy who knows the seed. What the bytes of a key are multiplied with depends on the seed on both
// sides: a factor that a stranger can make 0 takes all the others with it.
const (
	mult1 = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio
	mult2 = 0xD6E8FEB86659FD93 // a second odd constant with as many ones as zeros
)

// fold multiplies to 128 bits and folds the halves: every bit of a and b reaches every bit.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// saltOf mixes a caller's seed with the size of a table, so that the orders of two tables of
// different size have nothing in common: or else to copy one entry by entry into a smaller one
// would fill that from one end, each insertion passing all before it.
func saltOf(seed uint64, size uint8) uint64 {
	return fold(seed^mult2, mult1+uint64(size)<<1)
}

func read64(p unsafe.Pointer) uint64     { return binary.LittleEndian.Uint64((*[8]byte)(p)[:]) }
func write64(p unsafe.Pointer, x uint64) { binary.LittleEndian.PutUint64((*[8]byte)(p)[:], x) }
func read32(p unsafe.Pointer) uint32     { return binary.LittleEndian.Uint32((*[4]byte)(p)[:]) }

// mix hashes a number. One multiplication would do for a table; the second one takes from two
// salts what their orders have in common, see saltOf.
func mix(x, salt uint64) uint64 { return fold(fold(x^salt, mult1), mult2) }

// hashKey hashes the bytes of a key. Which half it is the compiler decides.
func hashKey[K any](k *K, salt uint64) uint64 {
	if unsafe.Sizeof(*k) == 8 {
		return mix(read64(unsafe.Pointer(k)), salt)
	}
	return hashOther(k, salt)
}

func hashOther[K any](k *K, salt uint64) uint64 {
	p := unsafe.Pointer(k)
	switch unsafe.Sizeof(*k) {
	case 1:
		return mix(uint64(*(*uint8)(p)), salt)
	case 2:
		return mix(uint64(binary.LittleEndian.Uint16((*[2]byte)(p)[:])), salt)
	case 4:
		return mix(uint64(read32(p)), salt)
	}
	return hashBytes(p, unsafe.Sizeof(*k), salt)
}

// hashBytes hashes n bytes from p: 16 at a time, and the last 16, or what there is of them, as
// two halves that may overlap.
func hashBytes(p unsafe.Pointer, n uintptr, salt uint64) uint64 {
	var a, b uint64
	h, veil := salt^fold(uint64(n)^mult2, mult1), salt*mult2^mult1
	switch {
	case n > 16:
		i := uintptr(0)
		for ; n-i > 16; i += 16 {
			q := unsafe.Add(p, i)
			h = fold(read64(q)^veil, read64(unsafe.Add(q, 8))^h)
		}
		a, b = read64(unsafe.Add(p, n-16)), read64(unsafe.Add(p, n-8))
	case n >= 8:
		a, b = read64(p), read64(unsafe.Add(p, n-8))
	case n >= 4:
		a, b = uint64(read32(p)), uint64(read32(unsafe.Add(p, n-4)))
	case n > 0:
		s := unsafe.Slice((*byte)(p), n)
		a = uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
	}
	return fold(fold(a^veil, b^h), mult2)
}
