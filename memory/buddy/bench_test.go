package buddy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
)

var sink []byte

const draws = 1 << 14

// powers draws sizes that are powers of two, as textures are; mixed ones do not fit a ladder.
func powers(lo, hi int) func(*rand.Rand) uintptr {
	return func(r *rand.Rand) uintptr { return 1 << (lo + r.IntN(hi-lo+1)) }
}

func mixed(lo, hi uintptr) func(*rand.Rand) uintptr {
	return func(r *rand.Rand) uintptr { return lo + uintptr(r.Uint64N(uint64(hi-lo+1))) }
}

// BenchmarkReplace replaces a random one of 256 live blocks: a pair of Free and Alloc. The
// first eight bytes of each block are written.
func BenchmarkReplace(b *testing.B) {
	const live = 256
	for _, w := range []struct {
		name string
		size func(*rand.Rand) uintptr
	}{
		{"textures=4Ki-256Ki", powers(12, 18)},
		{"size=4096-262144", mixed(4<<10, 256<<10)},
		{"size=16-4096", mixed(16, 4096)},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		sizes, index := make([]uintptr, draws), make([]int, draws)
		for i := range sizes {
			sizes[i], index[i] = w.size(rng), rng.IntN(live)
		}
		for _, system := range systems {
			b.Run(fmt.Sprintf("%v/%s", system, w.name), func(b *testing.B) {
				h := newHeap(b, nil, Config{Reserve: 1 << 28, System: system})
				blocks, room := make([]unsafe.Pointer, live), make([]uintptr, live)
				replace := func(n int) {
					i, size := index[n%draws], sizes[n%draws]
					h.Free(blocks[i], room[i])
					p, err := h.Alloc(size, 16)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					blocks[i], room[i] = p, size
				}
				for n := range 2 * draws {
					replace(n)
				}
				for n := 0; b.Loop(); n++ {
					replace(n)
				}
				s := h.Stats()
				b.ReportMetric(100*s.Internal(), "%waste")
				b.ReportMetric(float64(s.Committed)/float64(s.Requested), "committed/requested")
			})
		}
		b.Run("goheap/"+w.name, func(b *testing.B) {
			blocks := make([][]byte, live)
			for n := 0; b.Loop(); n++ {
				p := make([]byte, sizes[n%draws])
				*(*uint64)(unsafe.Pointer(unsafe.SliceData(p))) = 1
				blocks[index[n%draws]] = p
			}
			sink = blocks[0]
		})
	}
}

// BenchmarkWholeLadder splits the whole heap for one smallest block and merges it again: the
// worst case.
func BenchmarkWholeLadder(b *testing.B) {
	for _, system := range systems {
		b.Run(system.String(), func(b *testing.B) {
			h := newHeap(b, nil, Config{Reserve: 64 << 20, System: system})
			p := memtest.MustAlloc(b, h, h.limit, 1)
			h.FreeAny(p)
			for b.Loop() {
				p, err := h.Alloc(16, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = 1
				h.Free(p, 16)
			}
		})
	}
}
