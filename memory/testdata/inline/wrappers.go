package main

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// One-line wrappers, as programs write them: inline.txt says which of them inline.

func linearAlloc(l *arena.Linear, size uintptr) (unsafe.Pointer, error) { return l.Alloc(size, 8) }

func growingTryAlloc(g *arena.Growing, size uintptr) unsafe.Pointer { return g.TryAlloc(size, 8) }

func growingAlloc(g *arena.Growing, size uintptr) (unsafe.Pointer, error) { return g.Alloc(size, 8) }

func newHot(l *arena.Linear, t memory.Type[hot]) (*hot, error) { return arena.New(l, t) }

func frameAlloc(m *tiers.Manager, size uintptr) (unsafe.Pointer, error) {
	return m.Frame().Alloc(size, 8)
}

func blocksTryGet(b *pool.Blocks) unsafe.Pointer { return b.TryGet() }

func blocksGet(b *pool.Blocks) (unsafe.Pointer, error) { return b.Get() }

func blocksPut(b *pool.Blocks, p unsafe.Pointer) { b.Put(p) }

func poolGet(p *pool.Pool[hot], h memory.Handle[hot]) (*hot, bool) { return p.Get(h) }

func poolNew(p *pool.Pool[hot]) (memory.Handle[hot], *hot, error) { return p.New() }

func slabAlloc(h *slab.Heap, size uintptr) (unsafe.Pointer, error) { return h.Alloc(size, 8) }

func slabFree(h *slab.Heap, p unsafe.Pointer, size uintptr) { h.Free(p, size) }

func tlsfAlloc(h *tlsf.Heap, size uintptr) (unsafe.Pointer, error) { return h.Alloc(size, 8) }

func tlsfFree(h *tlsf.Heap, p unsafe.Pointer, size uintptr) { h.Free(p, size) }

func managerAlloc(m *tiers.Manager, size uintptr) (unsafe.Pointer, error) { return m.Alloc(size, 8) }

func managerFree(m *tiers.Manager, p unsafe.Pointer, size uintptr) { m.Free(p, size) }

func vecAt(sp *container.Space, v *container.Vec[hot], i int) hot { return v.At(sp, i) }

func vecTryAppend(sp *container.Space, v *container.Vec[hot], x hot) bool { return v.TryAppend(sp, x) }
