package compose_test

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/slab"
)

// sink keeps the Go heap's blocks from the stack.
var sink unsafe.Pointer

// BenchmarkPair is W2 at depth 1: a block of 64 bytes is allocated, written and freed.
func BenchmarkPair(b *testing.B) {
	newHeap := func() *slab.Heap { return must(slab.New(nil, slab.Config{Reserve: 4 << 20})) }
	full := newOwning(0)
	b.Run("slab", func(b *testing.B) {
		h := newHeap()
		defer h.Close()
		for b.Loop() {
			p, _ := h.Alloc(64, 8)
			*(*uint64)(p) = 1
			h.Free(p, 64)
		}
	})
	for _, c := range []struct {
		name string
		make func() memory.Allocator
	}{
		{"interface", func() memory.Allocator { return newHeap() }},
		{"BySize", func() memory.Allocator { return must(compose.NewBySize(4096, newHeap(), must(newTLSF(1<<20)(nil)))) }},
		{"Fallback/first", func() memory.Allocator { return must(compose.NewFallback(newHeap(), must(newTLSF(1<<20)(nil)))) }},
		{"Fallback/second", func() memory.Allocator { return must(compose.NewFallback(full, newHeap())) }},
		{"Locked", func() memory.Allocator { return must(compose.NewLocked(newHeap(), nil)) }},
		{"Counted", func() memory.Allocator { return must(compose.NewCounted(newHeap(), compose.CountedConfig{})) }},
		{"nested", func() memory.Allocator {
			by := must(compose.NewBySize(8192, must(newTLSF(1<<20)(nil)), must(newTLSF(1<<20)(nil))))
			return must(compose.NewLocked(must(compose.NewFallback(newHeap(), by)), nil))
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := c.make()
			for b.Loop() {
				p, _ := a.Alloc(64, 8)
				*(*uint64)(p) = 1
				a.Free(p, 64)
			}
		})
	}
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			p := new([64]byte)
			p[0] = 1
			sink = unsafe.Pointer(p)
		}
	})
}
