package memory_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// must returns v, or ends the test.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newSlab returns a slab with a Large behind it.
func newSlab(t testing.TB) *slab.Heap {
	large := must[*tlsf.Heap](t)(tlsf.New(nil, tlsf.Config{Reserve: 8 << 20}))
	h := must[*slab.Heap](t)(slab.New(nil, slab.Config{Reserve: 8 << 20, Large: large}))
	t.Cleanup(func() { _, _ = h.Close(), large.Close() })
	return h
}

// alone returns a slab without a Large.
func alone(t testing.TB) *slab.Heap {
	h := must[*slab.Heap](t)(slab.New(nil, slab.Config{Reserve: 8 << 20, MaxSize: 16 << 10}))
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// routes returns the allocators that route to a slab.
func routes(t testing.TB) map[string]memory.Allocator {
	var reserve [tiers.Count]uintptr
	for i := range reserve {
		reserve[i] = 4 << 20
	}
	m := must[*tiers.Manager](t)(tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: reserve}))
	t.Cleanup(func() { _ = m.Close() })
	central := must[*slab.Central](t)(slab.NewCentral(newSlab(t)))
	cache := slab.NewCache(central)
	t.Cleanup(func() { _ = cache.Close() })
	return map[string]memory.Allocator{
		"slab with Large": newSlab(t),
		"Central":         central,
		"Cache":           cache,
		"Locked":          must[compose.Allocator](t)(compose.NewLocked(newSlab(t), nil)),
		"Counted":         must[compose.Counter](t)(compose.NewCounted(newSlab(t), compose.CountedConfig{})),
		"BySize":          must[compose.Allocator](t)(compose.NewBySize(1000, newSlab(t), newSlab(t))),
		"Fallback":        must[compose.Allocator](t)(compose.NewFallback(alone(t), alone(t))),
		"Manager":         m,
		"Tag":             must[*tiers.Tag](t)(m.Tag("x")),
		"Worker":          m.Worker(0),
		"Blocks":          must[*pool.Blocks](t)(pool.NewBlocks(nil, pool.BlocksConfig{Size: 16 << 10, Align: 64, Capacity: 8})),
	}
}

func TestSize_DebugChecksToTheByteOnEveryRoute(t *testing.T) {
	if !invariant.Debug {
		return
	}
	for name, a := range routes(t) {
		for n := uintptr(1); n < 9000; n += 1 + n/7 {
			for _, align := range []uintptr{1, 16, 64} {
				p := memtest.MustAlloc(t, a, n, align)
				for _, wrong := range []uintptr{0, 1, n - 1, n + 1, n + 2, n - min(n, 3), n ^ 4, 2 * n} {
					if wrong != n {
						refusesSize(t, fmt.Sprintf("%s: a block of %d as %d", name, n, wrong), a, p, n, wrong)
					}
				}
				a.Free(p, n)
			}
		}
		if c, ok := a.(memory.Checker); ok {
			memtest.MustCheck(t, c)
		}
	}
}

// A manager and its tags check the sizes of workers' blocks, too, which they do not free themselves.
func TestSize_DebugChecksAWorkersBlocksOnTheGameGoroutine(t *testing.T) {
	if !invariant.Debug {
		return
	}
	all := routes(t)
	m := all["Manager"].(*tiers.Manager)
	w := m.Worker(0)
	tagged := w.Tag(all["Tag"].(*tiers.Tag))
	for _, a := range []memory.Allocator{m, all["Tag"]} {
		for _, from := range []memory.Allocator{w, tagged} {
			for n := uintptr(1); n < 20_000; n += 1 + n/7 {
				p := memtest.MustAlloc(t, from, n, 16)
				for _, wrong := range []uintptr{0, 1, n - 1, n + 1, 2 * n} {
					if wrong != n {
						refusesSize(t, fmt.Sprintf("a worker's block of %d as %d", n, wrong), a, p, n, wrong)
					}
				}
				size := n - n/3
				if !from.(memory.Resizer).Resize(p, n, size) {
					t.Fatalf("a worker's block of %d does not shrink", n)
				}
				if n != size {
					refusesSize(t, fmt.Sprintf("a worker's block of %d, resized to %d", n, size), a, p, size, n)
				}
				a.Free(p, size)
				w.Settle()
			}
		}
	}
	memtest.MustCheck(t, m)
}

// refusesSize verifies that Free, FreeSlice and Resize refuse a block of n bytes with a wrong size.
func refusesSize(t *testing.T, what string, a memory.Allocator, p unsafe.Pointer, n, wrong uintptr) {
	t.Helper()
	calls := map[string]func(){
		"Free":      func() { a.Free(p, wrong) },
		"FreeSlice": func() { memory.FreeSlice(a, unsafe.Slice((*byte)(p), wrong)) },
	}
	if r, ok := a.(memory.Resizer); ok {
		calls["Resize"] = func() { r.Resize(p, wrong, n) }
	}
	for op, f := range calls {
		func() {
			defer func() {
				if _, ok := recover().(*memory.Misuse); !ok {
					t.Fatalf("%s passes %s", what, op)
				}
			}()
			f()
		}()
	}
}
