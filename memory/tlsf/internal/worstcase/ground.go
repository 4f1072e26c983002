package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory/tlsf"
)

// A ground is a heap in pieces, and the blocks that live on it.
type ground struct {
	h    *tlsf.Heap
	live []block
	rng  random
}

type block struct {
	p    unsafe.Pointer
	size uintptr
}

const (
	holeBytes  = 256 << 10
	worstBytes = holeBytes / 4 // more than fits anywhere else
)

// fragment fills the heap with blocks from 256 B to 16 KiB and frees every second one.
// In front of them lies one hole of 256 KiB, by far the largest.
func fragment(h *tlsf.Heap) *ground {
	g := &ground{h: h, rng: seed}
	hole := g.alloc(holeBytes)
	defer h.Free(hole, holeBytes)
	var all []block
	for {
		size := g.rng.size()
		p, err := h.Alloc(size, 16)
		if err != nil {
			break
		}
		all = append(all, block{p, size})
	}
	for i, b := range all {
		if i%2 == 0 {
			h.Free(b.p, b.size)
		} else {
			g.live = append(g.live, b)
		}
	}
	return g
}

// churn replaces a random block by one of another size, n times.
func (g *ground) churn(n int) {
	for range n {
		b := &g.live[g.rng.next()%uint64(len(g.live))]
		g.h.Free(b.p, b.size)
		b.size = g.rng.size()
		b.p = g.alloc(b.size)
	}
}

// worst runs n pairs on the longest path: only the hole is large enough, so both Allocs go
// through both bitmaps, empty a list, split and link the rest, and the second Free takes both
// neighbours off their lists and merges with them.
func (g *ground) worst(n int) {
	for range n / 2 {
		a, b := g.alloc(worstBytes), g.alloc(worstBytes)
		g.h.Free(a, worstBytes)
		g.h.Free(b, worstBytes)
	}
}

// alloc is for blocks that the heap has room for.
func (g *ground) alloc(size uintptr) unsafe.Pointer {
	p, err := g.h.Alloc(size, 16)
	if err != nil {
		panic(err)
	}
	return p
}

// A random is the state of xorshift64*.
type random uint64

const seed random = 0x9E3779B97F4A7C15

func (r *random) next() uint64 {
	*r ^= *r >> 12
	*r ^= *r << 25
	*r ^= *r >> 27
	return uint64(*r) * 0x2545F4914F6CDD1D >> 32
}

// size is at least 256 B and less than 16 KiB.
func (r *random) size() uintptr { return 256 + uintptr(r.next()%(16<<10-256)) }
