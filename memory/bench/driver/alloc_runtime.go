//go:build !chosen

package main

import "unsafe"

// The Go runtime: make and new, and the collector frees.

const (
	allocator = "Go runtime"
	atOnce    = false
)

type direct struct{ size uintptr }

func openDirect(n need) direct { return direct{n.fixed} }

func (direct) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([]byte, size))), nil
}

func (direct) Free(unsafe.Pointer, uintptr) {}

// TryGet allocates a type of constant size, as new does in a program.
func (d direct) TryGet() unsafe.Pointer {
	switch d.size {
	case 48:
		return unsafe.Pointer(new([48]byte))
	case 64:
		return unsafe.Pointer(new([64]byte))
	}
	return unsafe.Pointer(new([256]byte))
}

func (direct) Put(unsafe.Pointer)     {}
func (direct) Refill() unsafe.Pointer { return nil }
func (direct) Reset()                 {}

func (direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return growSlice(p, size, to)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (direct) free(unsafe.Pointer) {}
func (direct) flush()              {}
