//go:build slab

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
)

// slab.Heap with its defaults. If a workload has blocks above the default MaxSize, MaxSize is its maximum, 64 KiB, and
// blocks above that are those of a tlsf.Heap.

const (
	allocator = "slab"
	atOnce    = false
)

type direct struct {
	*slab.Heap
	size uintptr
}

func openDirect(n need) direct {
	h, err := slab.New(source(n.option), slabConfig(n))
	fail(err)
	if n.option == "warm" {
		fail(h.Warm(n.bytes + n.bytes/4))
	}
	return direct{h, n.fixed}
}

// source returns the page source: the default one, or that with pages of 2 MiB that are accessed at once.
func source(option string) page.Source {
	if option == "huge" || option == "warm" {
		return page.OSWith(page.Options{HugePages: true, Prefault: true})
	}
	return nil
}

func (d direct) TryGet() unsafe.Pointer {
	p, err := d.Alloc(d.size, 16)
	if err != nil {
		fail(err)
	}
	return p
}

func (d direct) Put(p unsafe.Pointer)   { d.Free(p, d.size) }
func (d direct) Refill() unsafe.Pointer { return nil }

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return memory.Grow(d.Heap, p, size, to, 16)
}

func (d direct) outlet() outlet { return d }
func (direct) drain()           {}

type outlet = direct

func (d direct) free(p unsafe.Pointer) { d.FreeAny(p) }
func (direct) flush()                  {}
