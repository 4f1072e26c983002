//go:build !chosen || collected

package main

import "unsafe"

// capacities has the capacity of the slice that grows; W13 has one.
var capacity uintptr

// growSlice grows a block as append does.
func growSlice(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	s := unsafe.Slice((*byte)(p), max(capacity, size))[:size]
	if to <= capacity && size > growFrom {
		return p, nil
	}
	s = append(s[:size:size], make([]byte, to-size)...)
	capacity = uintptr(cap(s))
	return unsafe.Pointer(unsafe.SliceData(s)), nil
}
