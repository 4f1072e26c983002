//go:build arenas && goexperiment.arenas

package main

import (
	"arena"
	"unsafe"
)

// Package arena of GOEXPERIMENT=arenas: blocks are freed with their arena only.

const (
	allocator = "GOEXPERIMENT=arenas"
	atOnce    = true
)

type direct struct {
	at   **arena.Arena
	size uintptr
}

func openDirect(n need) direct {
	a := arena.NewArena()
	return direct{&a, n.fixed}
}

func (d direct) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(arena.MakeSlice[byte](*d.at, int(size), int(size)))), nil
}

func (direct) Free(unsafe.Pointer, uintptr) {}

func (d direct) TryGet() unsafe.Pointer {
	switch d.size {
	case 48:
		return unsafe.Pointer(arena.New[[48]byte](*d.at))
	case 64:
		return unsafe.Pointer(arena.New[[64]byte](*d.at))
	}
	return unsafe.Pointer(arena.New[[256]byte](*d.at))
}

func (direct) Put(unsafe.Pointer)     {}
func (direct) Refill() unsafe.Pointer { return nil }

func (d direct) Reset() {
	(*d.at).Free()
	*d.at = arena.NewArena()
}

func (direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return growSlice(p, size, to)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (direct) free(unsafe.Pointer) {}
func (direct) flush()              {}
