//go:build manager

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// tiers.Manager: its slab and large tiers, and for other goroutines its freers.

const (
	allocator = "manager"
	atOnce    = false
)

type direct struct {
	*tiers.Manager
	size uintptr
}

func openDirect(n need) direct { return direct{openManager(n), n.fixed} }

func (d direct) TryGet() unsafe.Pointer {
	p, err := d.Alloc(d.size, 16)
	if err != nil {
		fail(err)
	}
	return p
}

func (d direct) Put(p unsafe.Pointer)   { d.Free(p, d.size) }
func (d direct) Refill() unsafe.Pointer { return nil }
func (d direct) Reset()                 {}

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return memory.Grow(d.Manager, p, size, to, 16)
}

func (d direct) outlet() outlet { return outlet{d.NewFreer()} }

// drain begins the next frame, which frees what other goroutines have sent.
func (d direct) drain() { fail(d.NextFrame()) }

type outlet struct{ *remote.Freer }

func (o outlet) free(p unsafe.Pointer) { o.FreeAny(p) }
func (o outlet) flush()                { fail(o.Flush()) }
