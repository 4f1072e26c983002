//go:build tlsf

package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

// tlsf.Heap with its defaults, or with the option quick and up to 64 MiB of freed blocks that wait for a request of
// their size.

const (
	allocator = "tlsf"
	atOnce    = false
)

type direct struct {
	*tlsf.Heap
	size uintptr
}

func openDirect(n need) direct {
	cfg := tlsf.Config{Reserve: n.reserve()}
	if n.option == "quick" {
		cfg.QuickBytes = 64 << 20
	}
	h, err := tlsf.New(nil, cfg)
	fail(err)
	return direct{h, n.fixed}
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
