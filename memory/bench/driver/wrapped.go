//go:build wrapped

package main

import "unsafe"

// A heap calls the allocator through functions of one line that are never inlined.
type heap struct{ in direct }

func open(n need) heap { return heap{openDirect(n)} }

//go:noinline
func (h heap) Alloc(size, align uintptr) (unsafe.Pointer, error) { return h.in.Alloc(size, align) }

//go:noinline
func (h heap) Free(p unsafe.Pointer, size uintptr) { h.in.Free(p, size) }

//go:noinline
func (h heap) TryGet() unsafe.Pointer { return h.in.TryGet() }

//go:noinline
func (h heap) Put(p unsafe.Pointer) { h.in.Put(p) }

//go:noinline
func (h heap) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return h.in.Grow(p, size, to)
}

func (h heap) Refill() unsafe.Pointer { return h.in.Refill() }
func (h heap) Reset()                 { h.in.Reset() }
func (h heap) drain()                 { h.in.drain() }
func (h heap) outlet() outlet         { return h.in.outlet() }
