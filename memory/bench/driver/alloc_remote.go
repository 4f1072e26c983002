//go:build remote

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/slab"
)

// slab.Heap whose blocks another goroutine frees through an inbox. The owner drains the inbox before each run.

const (
	allocator = "slab and remote"
	atOnce    = false
)

type direct struct {
	*slab.Heap
	inbox *remote.Inbox
	size  uintptr
}

func openDirect(n need) direct {
	h, err := slab.New(nil, slabConfig(n))
	fail(err)
	inbox, err := remote.New(h, remote.Config{})
	fail(err)
	return direct{h, inbox, n.fixed}
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

func (d direct) outlet() outlet { return outlet{d.inbox.NewFreer()} }
func (d direct) drain()         { d.inbox.Drain() }

type outlet struct{ *remote.Freer }

func (o outlet) free(p unsafe.Pointer) { o.FreeAny(p) }
func (o outlet) flush()                { fail(o.Flush()) }
