//go:build syncpool

package main

import (
	"sync"
	"unsafe"
)

// A sync.Pool for each class of sizes.

const (
	allocator = "sync.Pool"
	atOnce    = false
)

type direct struct {
	*pools
	size uintptr
}

type pools [classes]sync.Pool

func openDirect(n need) direct {
	p := new(pools)
	for class := range p {
		size := sizeOf(uint8(class))
		p[class].New = func() any { return unsafe.Pointer(unsafe.SliceData(make([]byte, size))) }
	}
	return direct{p, n.fixed}
}

func (d direct) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return d.pools[classOf(size)].Get().(unsafe.Pointer), nil
}

func (d direct) Free(p unsafe.Pointer, size uintptr) { d.pools[classOf(size)].Put(p) }

func (d direct) TryGet() unsafe.Pointer {
	p, _ := d.Alloc(d.size, 16)
	return p
}

func (d direct) Put(p unsafe.Pointer)   { d.Free(p, d.size) }
func (d direct) Refill() unsafe.Pointer { return nil }
func (d direct) Reset()                 {}

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return growSlice(p, size, to)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (d direct) free(p unsafe.Pointer) { d.Put(p) }
func (direct) flush()                  {}
