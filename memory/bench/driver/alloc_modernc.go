//go:build modernc

package main

import (
	"unsafe"

	"modernc.org/memory"
)

// The malloc of modernc.org/memory. It has no aligned blocks and is not safe for concurrent use.

const (
	allocator = "modernc.org/memory"
	atOnce    = false
)

type direct struct {
	*memory.Allocator
	size uintptr
}

func openDirect(n need) direct { return direct{new(memory.Allocator), n.fixed} }

func (d direct) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	p, err := d.UintptrMalloc(int(size))
	return unsafe.Pointer(p), err
}

func (d direct) Free(p unsafe.Pointer, _ uintptr) { fail(d.UintptrFree(uintptr(p))) }

func (d direct) TryGet() unsafe.Pointer {
	p, err := d.UintptrMalloc(int(d.size))
	if err != nil {
		fail(err)
	}
	return unsafe.Pointer(p)
}

func (d direct) Put(p unsafe.Pointer)   { d.Free(p, 0) }
func (d direct) Refill() unsafe.Pointer { return nil }
func (d direct) Reset()                 {}

func (d direct) Grow(p unsafe.Pointer, _, to uintptr) (unsafe.Pointer, error) {
	q, err := d.UintptrRealloc(uintptr(p), int(to))
	return unsafe.Pointer(q), err
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (d direct) free(p unsafe.Pointer) { d.Put(p) }
func (direct) flush()                  {}
