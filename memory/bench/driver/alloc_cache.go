//go:build cache

package main

import (
	"sync"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/slab"
)

// slab.Cache: each goroutine has a cache of one slab.Central.

const (
	allocator = "slab.Cache"
	atOnce    = false
)

type direct struct {
	*slab.Cache
	central *slab.Central
	size    uintptr
}

var (
	opened  sync.Mutex
	central *slab.Central
)

// openDirect returns a cache; all caches have one Central.
func openDirect(n need) direct {
	opened.Lock()
	defer opened.Unlock()
	if central == nil {
		h, err := slab.New(nil, slabConfig(n))
		fail(err)
		central, err = slab.NewCentral(h)
		fail(err)
	}
	return direct{slab.NewCache(central), central, n.fixed}
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
func (d direct) Reset()                 {}

func (d direct) Grow(p unsafe.Pointer, size, to uintptr) (unsafe.Pointer, error) {
	return memory.Grow(d.Cache, p, size, to, 16)
}

func (d direct) outlet() outlet { return outlet{slab.NewCache(d.central)} }
func (direct) drain()           {}

type outlet struct{ *slab.Cache }

func (o outlet) free(p unsafe.Pointer) { o.FreeAny(p) }
func (outlet) flush()                  {}
