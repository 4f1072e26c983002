//go:build noop

package main

import "unsafe"

// An allocator that does nothing: each call returns the same block, and is a call as those of an allocator are. Its
// time is that of the loop alone.

const (
	allocator = "nothing"
	atOnce    = false
)

type direct struct{ block unsafe.Pointer }

func openDirect(n need) direct {
	return direct{unsafe.Pointer(unsafe.SliceData(table(int(n.largest)/4 + 4)))}
}

//go:noinline
func (d direct) Alloc(_, _ uintptr) (unsafe.Pointer, error) { return d.block, nil }

//go:noinline
func (d direct) Free(unsafe.Pointer, uintptr) {}

//go:noinline
func (d direct) Grow(p unsafe.Pointer, _, _ uintptr) (unsafe.Pointer, error) { return p, nil }

func (d direct) TryGet() unsafe.Pointer { return d.block }
func (d direct) Put(unsafe.Pointer)     {}
func (d direct) Refill() unsafe.Pointer { return nil }
func (d direct) Reset()                 {}
func (d direct) outlet() outlet         { return d }
func (direct) drain()                   {}

type outlet = direct

func (direct) free(unsafe.Pointer) {}
func (direct) flush()              {}
