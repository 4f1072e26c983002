//go:build bump

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// arena.Linear: a frame's blocks, all freed at once.

const (
	allocator = "arena"
	atOnce    = true
)

type direct struct {
	*arena.Linear
	size uintptr
}

func openDirect(n need) direct {
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 2*n.bytes + 64<<10})
	fail(err)
	return direct{l, n.fixed}
}

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
	return memory.Grow(d.Linear, p, size, to, 16)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (direct) free(unsafe.Pointer) {}
func (direct) flush()              {}
