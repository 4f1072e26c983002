package slab

import (
	"math/bits"
	"unsafe"
)

// FreeRun frees the blocks at base+offs[0], base+offs[1] and so on, and returns the number of freed blocks. It
// implements remote.RunFreer. FreeRun looks up the class once for consecutive blocks of the same KiB.
//
// FreeRun checks every address as [Heap.FreeAny] does. Instead of a panic it stops at the first address that fails a
// check, for example after a double free. It also stops at a block of Config.Large. Except in memfast builds it stops
// at a block of a Central, and at a block that is older than the last BeginEpoch. The caller must then pass this
// address to FreeAny, which frees the block or panics. On a closed heap FreeRun returns 0.
func (h *Heap) FreeRun(base unsafe.Pointer, offs []uintptr) int {
	// Keeping the depth of the stack in a register over a run gained 3 %: too little.
	const perUnit = unitShift - granuleShift
	front := uintptr(base) - uintptr(h.base)
	for i := 0; i < len(offs); {
		off := uintptr(bits.RotateLeft(uint(front+offs[i]), -granuleShift))
		if off >= h.limit {
			return i
		}
		unit, c := off>>perUnit, &h.classes[*h.owner8(off)]
		for off>>perUnit == unit { // an address inside a granule is in no unit
			if !h.push(c, off) {
				return i
			}
			if i++; i == len(offs) {
				break
			}
			off = uintptr(bits.RotateLeft(uint(front+offs[i]), -granuleShift))
		}
	}
	return len(offs)
}
