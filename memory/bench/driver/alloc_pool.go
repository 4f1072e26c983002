//go:build pool

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/pool"
)

// pool.Blocks: blocks of one size.

const (
	allocator = "pool"
	atOnce    = false
)

type direct struct{ *pool.Blocks }

func openDirect(n need) direct {
	b, err := pool.NewBlocks(nil, pool.BlocksConfig{Size: n.fixed})
	fail(err)
	return direct{b}
}

func (d direct) Refill() unsafe.Pointer {
	p, err := d.Get()
	fail(err)
	return p
}

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return memory.Grow(d.Blocks, p, size, to, 16)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (d direct) free(p unsafe.Pointer) { d.Put(p) }
func (direct) flush()                  {}
