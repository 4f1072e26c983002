//go:build slices || syncpool

package main

import "math/bits"

// Classes of sizes for allocators made of the Go heap's blocks: multiples of 16 bytes up to 1 KiB, and above that
// four for each doubling.
const classes = 160

func classOf(size uintptr) uint8 {
	if size <= 1024 {
		return uint8((size + 15) >> 4)
	}
	return largeClass(size)
}

//go:noinline
func largeClass(size uintptr) uint8 {
	size--
	b := bits.Len64(uint64(size)) - 1
	return uint8(65 + uintptr(b-10)<<2 + size>>(b-2)&3)
}

func sizeOf(class uint8) uintptr {
	if class <= 64 {
		return uintptr(class) * 16
	}
	k := uintptr(class) - 65
	b := 10 + k>>2
	return 1<<b + (k&3+1)<<(b-2)
}
