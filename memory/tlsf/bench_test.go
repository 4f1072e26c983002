package tlsf

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/cputime"
	"github.com/strata-go/strata/memory/memtest"
)

var sink []byte

// rng is xorshift64*; every benchmark draws its sizes and indices before timing.
type rng uint64

func (r *rng) upTo(n uint64) uint64 {
	s := uint64(*r)
	s ^= s >> 12
	s ^= s << 25
	s ^= s >> 27
	*r = rng(s)
	return s * 0x2545F4914F6CDD1D >> 32 % n
}

const draws = 1 << 15

func draw(lo, hi, live uint64) (sizes, index []uint32) {
	r := rng(0x9E3779B97F4A7C15)
	sizes, index = make([]uint32, draws), make([]uint32, draws)
	for i := range sizes {
		sizes[i] = uint32(lo + r.upTo(hi-lo+1))
		index[i] = uint32(r.upTo(live))
	}
	return sizes, index
}

var benchHeaps = []struct {
	name string
	cfg  Config
}{
	{"eager", Config{Reserve: 1 << 28}},
	{"quick=64MiB", Config{Reserve: 1 << 28, QuickBytes: 64 << 20}},
}

type held struct {
	p    unsafe.Pointer
	size uintptr
}

// BenchmarkReplace replaces a random one of live blocks: a pair of Free and Alloc. The first
// eight bytes of each block are written.
func BenchmarkReplace(b *testing.B) {
	for _, w := range []struct{ live, lo, hi uint64 }{{256, 4 << 10, 256 << 10}, {4000, 16, 4096}} {
		name := fmt.Sprintf("live=%d/size=%d-%d", w.live, w.lo, w.hi)
		sizes, index := draw(w.lo, w.hi, w.live)
		for _, v := range benchHeaps {
			b.Run(v.name+"/"+name, func(b *testing.B) {
				h := newHeap(b, nil, v.cfg)
				live := make([]held, w.live)
				n := 0
				replace := func() {
					x := &live[index[n&(draws-1)]]
					h.Free(x.p, x.size)
					x.size = uintptr(sizes[n&(draws-1)])
					x.p = memtest.MustAlloc(b, h, x.size, 16)
					*(*uint64)(x.p) = 1
					n++
				}
				for range draws {
					replace()
				}
				for b.Loop() {
					x := &live[index[n&(draws-1)]]
					h.Free(x.p, x.size)
					x.size = uintptr(sizes[n&(draws-1)])
					p, err := h.Alloc(x.size, 16)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					x.p = p
					n++
				}
				s := h.Stats()
				b.ReportMetric(float64(s.Committed)/float64(s.Requested), "committed/requested")
			})
		}
		b.Run("goheap/"+name, func(b *testing.B) {
			live := make([][]byte, w.live)
			n := 0
			for b.Loop() {
				p := make([]byte, sizes[n&(draws-1)])
				*(*uint64)(unsafe.Pointer(unsafe.SliceData(p))) = 1
				live[index[n&(draws-1)]] = p
				n++
			}
			sink = live[0]
		})
	}
}

// BenchmarkFragmented allocates and frees batches of 64 in a heap of which every second block,
// in random order, was freed: a pair per iteration.
func BenchmarkFragmented(b *testing.B) {
	const blocks, batch = 20_000, 64
	sizes, index := draw(16, 8192, blocks)
	for _, size := range []uintptr{128, 243, 512, 4097} {
		for _, v := range benchHeaps {
			b.Run(fmt.Sprintf("%s/size=%d", v.name, size), func(b *testing.B) {
				h := newHeap(b, nil, v.cfg)
				live := make([]held, blocks)
				for i := range live {
					live[i] = held{memtest.MustAlloc(b, h, uintptr(sizes[i]), 16), uintptr(sizes[i])}
				}
				for freed, i := 0, 0; freed < blocks/2; i++ {
					if x := &live[index[i]]; x.p != nil {
						h.Free(x.p, x.size)
						x.p = nil
						freed++
					}
				}
				var p [batch]unsafe.Pointer
				n := 0
				for b.Loop() {
					if p[n] != nil {
						h.Free(p[n], size)
					}
					q, err := h.Alloc(size, 16)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(q) = 1
					p[n] = q
					n = (n*5 + 1) % batch // every slot once per batch
				}
			})
		}
		b.Run(fmt.Sprintf("goheap/size=%d", size), func(b *testing.B) {
			var p [batch][]byte
			n := 0
			for b.Loop() {
				q := make([]byte, size)
				*(*uint64)(unsafe.Pointer(unsafe.SliceData(q))) = 1
				p[n] = q
				n = (n*5 + 1) % batch
			}
			sink = p[0]
		})
	}
}

// BenchmarkSlowestAlloc fills a new heap with blocks of 512 bytes and reports the processor time of the slowest single
// Alloc, the least of all iterations.
func BenchmarkSlowestAlloc(b *testing.B) {
	for _, mib := range []uintptr{64, 1024} {
		const size = 512
		n := int(mib << 20 / size)
		b.Run(fmt.Sprintf("tlsf/MiB=%d", mib), func(b *testing.B) {
			slowest := time.Hour
			for b.Loop() {
				h := newHeap(b, nil, Config{Reserve: mib << 20})
				var most time.Duration
				for range n {
					most = max(most, cputime.Of(func() { memtest.MustAlloc(b, h, size, 16) }))
				}
				slowest = min(slowest, most)
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(slowest)/float64(time.Microsecond), "slowest-µs")
		})
		b.Run(fmt.Sprintf("goheap/MiB=%d", mib), func(b *testing.B) {
			slowest := time.Hour
			for b.Loop() {
				kept := make([][]byte, n)
				var most time.Duration
				for i := range kept {
					most = max(most, cputime.Of(func() { kept[i] = make([]byte, size) }))
				}
				slowest = min(slowest, most)
			}
			b.ReportMetric(float64(slowest)/float64(time.Microsecond), "slowest-µs")
		})
	}
}
