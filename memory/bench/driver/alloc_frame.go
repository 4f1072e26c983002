//go:build frame

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/tiers"
)

// The frame tier of tiers.Manager: each batch is a frame.

const (
	allocator = "manager's frames"
	atOnce    = true
)

type direct struct {
	*arena.Frames
	m    *tiers.Manager
	size uintptr
}

func openDirect(n need) direct {
	m := openManager(n)
	return direct{m.Frames(), m, n.fixed}
}

func (d direct) Reset() { fail(d.m.NextFrame()) }

func (d direct) TryGet() unsafe.Pointer {
	p, err := d.Alloc(d.size, 16)
	if err != nil {
		fail(err)
	}
	return p
}

func (direct) Put(unsafe.Pointer)     {}
func (direct) Refill() unsafe.Pointer { return nil }

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return memory.Grow(d.Frames, p, size, to, 16)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (direct) free(unsafe.Pointer) {}
func (direct) flush()              {}
