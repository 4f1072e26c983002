//go:build slices

package main

import "unsafe"

// Reused slices: a stack of freed blocks for each class of sizes, written by hand and without a check. It is the floor
// of what a Go program can reach.

const (
	allocator = "reused slices"
	atOnce    = false
)

type direct struct {
	*stacks
	size uintptr
}

type stacks [classes][]unsafe.Pointer

func openDirect(n need) direct { return direct{new(stacks), n.fixed} }

func (d direct) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	s := &d.stacks[classOf(size)]
	if k := len(*s) - 1; k >= 0 {
		p := (*s)[k]
		*s = (*s)[:k]
		return p, nil
	}
	return fresh(size), nil
}

//go:noinline
func fresh(size uintptr) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]byte, sizeOf(classOf(size)))))
}

func (d direct) Free(p unsafe.Pointer, size uintptr) {
	s := &d.stacks[classOf(size)]
	*s = append(*s, p)
}

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
