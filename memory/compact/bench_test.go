package compact

import (
	"fmt"
	"testing"
	"unsafe"
)

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

const draws = 1 << 14

func draw(lo, hi, live uint64) (sizes, index []uint32) {
	r := rng(0x9E3779B97F4A7C15)
	sizes, index = make([]uint32, draws), make([]uint32, draws)
	for i := range sizes {
		sizes[i] = uint32(lo + r.upTo(hi-lo+1))
		index[i] = uint32(r.upTo(live))
	}
	return sizes, index
}

var (
	sink  []byte
	sink8 uint64
)

// BenchmarkReplace replaces a random one of live blocks, a pair of Free and Alloc, writes 8
// bytes of it, and compacts what is named a pair.
func BenchmarkReplace(b *testing.B) {
	for _, w := range []struct{ live, lo, hi uint64 }{{4000, 16, 512}, {256, 4 << 10, 256 << 10}} {
		sizes, index := draw(w.lo, w.hi, w.live)
		name := fmt.Sprintf("live=%d/size=%d-%d", w.live, w.lo, w.hi)
		for _, budget := range []uintptr{0, 1 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/compact=%d", name, budget), func(b *testing.B) {
				h := newHeap(b, nil, Config{Reserve: 1 << 30})
				live := make([]Handle, w.live)
				n := 0
				replace := func() {
					x := &live[index[n&(draws-1)]]
					h.Free(*x)
					var err error
					if *x, err = h.Alloc(uintptr(sizes[n&(draws-1)])); err != nil {
						b.Fatal(err)
					}
					p, _ := h.Bytes(*x)
					*(*uint64)(unsafe.Pointer(unsafe.SliceData(p))) = 1
					if budget > 0 {
						h.Compact(Budget{Bytes: budget})
					}
					n++
				}
				for range draws {
					replace()
				}
				for b.Loop() {
					replace()
				}
				s := h.Stats()
				b.ReportMetric(float64(s.Committed)/float64(s.Requested), "committed/requested")
			})
		}
		b.Run(name+"/goheap", func(b *testing.B) {
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

// BenchmarkCompact slides every second of many blocks, of which the others were freed.
func BenchmarkCompact(b *testing.B) {
	for _, size := range []uintptr{64, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			const total = 16 << 20
			h := newHeap(b, nil, Config{Reserve: 2 * total})
			var sum uintptr
			for b.Loop() {
				b.StopTimer()
				h.Reset()
				row(b, h, int(total/size), size)
				b.StartTimer()
				moved, _ := h.Compact(Budget{})
				sum += moved
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sum)*1024, "ns/KiB")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sum/size), "ns/block")
		})
	}
}

// BenchmarkBytes looks a random one of 4000 blocks up and reads 8 bytes of it.
func BenchmarkBytes(b *testing.B) {
	sizes, index := draw(16, 512, 4000)
	h := newHeap(b, nil, Config{})
	var live [4000]Handle
	var heap [4000][]byte
	for i := range live {
		live[i] = mustAlloc(b, h, uintptr(sizes[i]))
		heap[i] = make([]byte, sizes[i])
	}
	b.Run("handle", func(b *testing.B) {
		n := 0
		for b.Loop() {
			p, _ := h.Bytes(live[index[n&(draws-1)]])
			sink8 += *(*uint64)(unsafe.Pointer(unsafe.SliceData(p)))
			n++
		}
	})
	b.Run("goheap", func(b *testing.B) {
		n := 0
		for b.Loop() {
			sink8 += *(*uint64)(unsafe.Pointer(unsafe.SliceData(heap[index[n&(draws-1)]])))
			n++
		}
	})
}

// gapped fills a heap but for n gaps of size bytes, none next to another.
func gapped(b testing.TB, n int, size uintptr) (h *Heap, gaps []Handle) {
	const spacer = minAlign
	h = newHeap(b, nil, Config{Reserve: uintptr(n)*(size+spacer) + 1<<16})
	for range n {
		gaps = append(gaps, mustAlloc(b, h, size))
		mustAlloc(b, h, spacer)
	}
	for {
		if _, err := h.Alloc(spacer); err != nil {
			break
		}
	}
	for _, x := range gaps {
		h.Free(x)
	}
	return h, gaps
}

// BenchmarkGaps asks a heap that cannot grow, with many gaps of one bin, for a block that fits
// into none of them although their bin is the right one, and for one that fits.
func BenchmarkGaps(b *testing.B) {
	const gap = 1408
	for _, n := range []int{1000, 10_000, 40_000} {
		h, _ := gapped(b, n, gap)
		b.Run(fmt.Sprintf("gaps=%d/refused", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := h.Alloc(gap + minAlign); err == nil {
					b.Fatal("there is a gap")
				}
			}
		})
		b.Run(fmt.Sprintf("gaps=%d/served", n), func(b *testing.B) {
			for b.Loop() {
				x, err := h.Alloc(gap)
				if err != nil {
					b.Fatal(err)
				}
				h.Free(x)
			}
		})
	}
}
