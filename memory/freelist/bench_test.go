package freelist

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

var sink []byte

const draws = 1 << 14

// draw makes sizes from lo to hi and indices of live blocks, before anything is timed.
func draw(lo, hi uintptr, live int) (sizes []uintptr, index []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes, index = make([]uintptr, draws), make([]int, draws)
	for i := range sizes {
		sizes[i] = lo + uintptr(rng.Uint64N(uint64(hi-lo+1)))
		index[i] = rng.IntN(live)
	}
	return sizes, index
}

type held struct {
	p    unsafe.Pointer
	size uintptr
}

// BenchmarkReplace replaces a random one of live blocks: a pair of Free and Alloc. The first
// eight bytes of each block are written. Longer lists show the O(n).
func BenchmarkReplace(b *testing.B) {
	for _, w := range []struct {
		live   int
		lo, hi uintptr
	}{{64, 256, 16 << 10}, {256, 4 << 10, 256 << 10}, {4000, 16, 4096}} {
		name := fmt.Sprintf("/live=%d/size=%d-%d", w.live, w.lo, w.hi)
		sizes, index := draw(w.lo, w.hi, w.live)
		for _, policy := range policies {
			b.Run(policy.String()+name, func(b *testing.B) {
				h := newHeap(b, nil, Config{Reserve: 1 << 28, Policy: policy})
				live := make([]held, w.live)
				replace := func(n int) {
					x := &live[index[n%draws]]
					h.Free(x.p, x.size)
					x.size = sizes[n%draws]
					p, err := h.Alloc(x.size, 16)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					x.p = p
				}
				for n := range 2 * draws {
					replace(n)
				}
				for n := 0; b.Loop(); n++ {
					replace(n)
				}
				s := h.Stats()
				b.ReportMetric(float64(s.Committed)/float64(s.Requested), "committed/requested")
				b.ReportMetric(float64(len(h.runs)), "runs")
			})
		}
		b.Run("goheap"+name, func(b *testing.B) {
			live := make([][]byte, w.live)
			for n := 0; b.Loop(); n++ {
				p := make([]byte, sizes[n%draws])
				*(*uint64)(unsafe.Pointer(unsafe.SliceData(p))) = 1
				live[index[n%draws]] = p
			}
			sink = live[0]
		})
	}
}

// BenchmarkNewest allocates and frees one block in a heap with one free run: the floor.
func BenchmarkNewest(b *testing.B) {
	for _, policy := range policies {
		b.Run(policy.String(), func(b *testing.B) {
			h := newHeap(b, nil, Config{Policy: policy})
			for b.Loop() {
				p, err := h.Alloc(512, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = 1
				h.Free(p, 512)
			}
		})
	}
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			sink = make([]byte, 512)
		}
	})
}
