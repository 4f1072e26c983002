package slab

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// goHeap is the baseline: a pointer-free object per block, freed by forgetting it.
type goHeap struct{}

func (goHeap) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([]byte, size))), nil
}
func (goHeap) Free(unsafe.Pointer, uintptr) {}

// sized draws n sizes before anything is timed.
func sized(n int, size func(*rand.Rand) uintptr) (*rand.Rand, []uintptr) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := make([]uintptr, n)
	for i := range sizes {
		sizes[i] = size(rng)
	}
	return rng, sizes
}

func uniform(lo, hi uintptr) func(*rand.Rand) uintptr {
	return func(r *rand.Rand) uintptr { return lo + uintptr(r.Uint32N(uint32(hi-lo+1))) }
}

// mixed is W6's: 80 % to 256 bytes, 15 % to 4 KiB, 5 % to 64 KiB.
func mixed(r *rand.Rand) uintptr {
	switch k := r.Uint32N(100); {
	case k < 80:
		return uniform(16, 256)(r)
	case k < 95:
		return uniform(257, 4096)(r)
	}
	return uniform(4097, 65536)(r)
}

// both runs a workload on the slab and on the Go heap. Both go through the interface, which
// costs each the same.
func both(b *testing.B, run func(*testing.B, memory.Allocator)) {
	b.Run("slab", func(b *testing.B) { run(b, newHeap(b, Config{Reserve: 256 << 20, MaxSize: 65536})) })
	b.Run("goheap", func(b *testing.B) { run(b, goHeap{}) })
}

// churn keeps live blocks and replaces a random one per iteration (W4, W6).
func churn(b *testing.B, a memory.Allocator, live int, size func(*rand.Rand) uintptr) {
	const ops = 1 << 16
	rng, sizes := sized(ops, size)
	victims := make([]int, ops)
	for i := range victims {
		victims[i] = rng.IntN(live)
	}
	blocks, room := make([]unsafe.Pointer, live), make([]uintptr, live)
	for i := range blocks {
		blocks[i], room[i] = memtest.MustAlloc(b, a, sizes[i], 16), sizes[i]
	}
	for i := 0; b.Loop(); i++ {
		v, n := victims[i%ops], sizes[i%ops]
		a.Free(blocks[v], room[v])
		p, err := a.Alloc(n, 16)
		if err != nil {
			b.Fatal(err)
		}
		*(*uint64)(p) = uint64(i)
		blocks[v], room[v] = p, n
	}
	var asked, used uintptr
	if h, ok := a.(*Heap); ok {
		for i, p := range blocks {
			asked += room[i]
			used += h.SizeOf(p)
		}
		b.ReportMetric(100*float64(used-asked)/float64(used), "%waste")
	}
}

func BenchmarkReplace(b *testing.B) {
	b.Run("W4/live=10000", func(b *testing.B) {
		both(b, func(b *testing.B, a memory.Allocator) { churn(b, a, 10_000, uniform(16, 512)) })
	})
	b.Run("W6/live=4000", func(b *testing.B) {
		both(b, func(b *testing.B, a memory.Allocator) { churn(b, a, 4_000, mixed) })
	})
}

// BenchmarkBatch is W1: many blocks, then all freed in random order. A pass is one operation.
func BenchmarkBatch(b *testing.B) {
	const n = 100_000
	both(b, func(b *testing.B, a memory.Allocator) {
		rng, sizes := sized(n, uniform(8, 256))
		order, blocks := rng.Perm(n), make([]unsafe.Pointer, n)
		for b.Loop() {
			for i, size := range sizes {
				p, err := a.Alloc(size, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = uint64(i)
				blocks[i] = p
			}
			for _, i := range order {
				a.Free(blocks[i], sizes[i])
				blocks[i] = nil
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/pair")
	})
}

// BenchmarkParticles is W5: a tenth of 10,000 blocks of 48 bytes dies and respawns a frame.
func BenchmarkParticles(b *testing.B) {
	const n, die = 10_000, 1000
	both(b, func(b *testing.B, a memory.Allocator) {
		rng := rand.New(rand.NewPCG(1, 2))
		frames := make([][]int, 60)
		for i := range frames {
			frames[i] = rng.Perm(n)[:die]
		}
		blocks := make([]unsafe.Pointer, n)
		for i := range blocks {
			blocks[i] = memtest.MustAlloc(b, a, 48, 16)
		}
		for i := 0; b.Loop(); i++ {
			dead := frames[i%len(frames)]
			for _, j := range dead {
				a.Free(blocks[j], 48)
			}
			for _, j := range dead {
				p, err := a.Alloc(48, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = uint64(j)
				blocks[j] = p
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*die), "ns/pair")
	})
}

// BenchmarkTables shows what a ladder costs in time and in waste.
func BenchmarkTables(b *testing.B) {
	for _, table := range tables {
		b.Run(table.String(), func(b *testing.B) {
			churn(b, newHeap(b, Config{Classes: table}), 10_000, uniform(16, 512))
		})
	}
}

// BenchmarkShared has workers replace blocks of their own: through a cache each, through the
// lock, and on the Go heap. An operation is 1000 pairs of every worker.
func BenchmarkShared(b *testing.B) {
	const workers, pairs, live = 2, 1000, 256
	run := func(b *testing.B, front func() memory.Allocator, end func(memory.Allocator)) {
		_, sizes := sized(pairs, uniform(16, 512))
		var wg sync.WaitGroup
		for b.Loop() {
			for range workers {
				wg.Go(func() {
					a := front()
					var blocks [live]unsafe.Pointer
					var room [live]uintptr
					for i, n := range sizes {
						if p := blocks[i%live]; p != nil {
							a.Free(p, room[i%live])
						}
						p, err := a.Alloc(n, 16)
						if err != nil {
							b.Error(err)
							return
						}
						*(*uint64)(p) = 1
						blocks[i%live], room[i%live] = p, n
					}
					for i, p := range blocks {
						a.Free(p, room[i])
					}
					end(a)
				})
			}
			wg.Wait()
		}
	}
	central := newCentral(b, Config{})
	fronts := make(chan memory.Allocator, workers)
	for range workers {
		c := NewCache(central)
		b.Cleanup(func() { _ = c.Close() })
		fronts <- c
	}
	b.Run(fmt.Sprintf("cache/workers=%d", workers), func(b *testing.B) {
		run(b, func() memory.Allocator { return <-fronts }, func(a memory.Allocator) { fronts <- a })
	})
	b.Run(fmt.Sprintf("lock/workers=%d", workers), func(b *testing.B) {
		run(b, func() memory.Allocator { return central }, func(memory.Allocator) {})
	})
	b.Run(fmt.Sprintf("goheap/workers=%d", workers), func(b *testing.B) {
		run(b, func() memory.Allocator { return goHeap{} }, func(memory.Allocator) {})
	})
}

// BenchmarkRefused frees a block of a full heap, has an Alloc refused, and allocates the block again.
func BenchmarkRefused(b *testing.B) {
	for _, mib := range []uintptr{16, 64} {
		b.Run(fmt.Sprintf("heap=%dMiB", mib), func(b *testing.B) {
			h, err := New(page.NewLimit(nil, mib<<20), Config{Reserve: 2 * mib << 20, MaxSize: 65536})
			memtest.Opened(b, h, err)
			r, live := full(h)
			for err == nil {
				_, err = h.Alloc(60_000, 16)
			}
			for b.Loop() {
				x := live[r.IntN(len(live))]
				h.Free(x.p, x.n)
				if _, err := h.Alloc(60_000, 16); err == nil {
					b.Fatal("not refused")
				}
				if p, err := h.Alloc(x.n, 16); err != nil || p != x.p {
					b.Fatal("another block")
				}
			}
		})
	}
}

// BenchmarkTrim frees all but every 1000th of 100,000 blocks and takes their slabs back.
func BenchmarkTrim(b *testing.B) {
	const n = 100_000
	h, blocks := newHeap(b, Config{}), make([]unsafe.Pointer, n)
	for b.Loop() {
		for i := range blocks {
			p, err := h.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			blocks[i] = p
		}
		for i, p := range blocks {
			if i%1000 != 0 {
				h.Free(p, 64)
			}
		}
		if err := h.Trim(); err != nil {
			b.Fatal(err)
		}
		h.Reset()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/block")
}
