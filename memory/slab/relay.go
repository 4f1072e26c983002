package slab

import "unsafe"

// NewRelay returns a Heap without memory whose Alloc calls f and returns its results, for an owner that must see every
// request. All other methods work as on a closed Heap. Alloc inlines as on every Heap.
func NewRelay(f func(size, align uintptr) (unsafe.Pointer, error)) *Heap { return &Heap{relay: f} }
