package plan

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/arena"
)

func BenchmarkFast(b *testing.B) {
	for _, n := range []int{16, 100, 450, 2000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			buffers, _ := cut(1, n, 0)
			var p *Plan
			for b.Loop() {
				p, _ = Fast(buffers)
			}
			b.ReportMetric(p.Ratio(), "total/bound")
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{450, 2000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			buffers, _ := cut(1, n, 0)
			p := mustFast(b, buffers)
			for b.Loop() {
				if err := p.Verify(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExact(b *testing.B) {
	for _, n := range []int{16, 100, 450} {
		b.Run(fmt.Sprintf("n=%d/steps=10000", n), func(b *testing.B) {
			buffers, _ := cut(1, n, 0)
			var p *Plan
			for b.Loop() {
				p, _, _ = Exact(buffers, Limits{Steps: 10_000})
			}
			b.ReportMetric(p.Ratio(), "total/bound")
		})
	}
}

// passes are the buffers of a frame: eight, of 4 KiB each, two alive at a time.
func passes() (set []Buffer) {
	for i := range 8 {
		set = append(set, Buffer{ID: uint32(i), Size: 4096, Birth: i, Death: i + 2})
	}
	return set
}

var sink unsafe.Pointer

// One operation is the eight buffers of a frame, with eight bytes written to each.
func BenchmarkFrame(b *testing.B) {
	set := passes()
	b.Run("plan", func(b *testing.B) {
		a := newArena(b, set)
		for b.Loop() {
			for id := range uint32(8) {
				*(*uint64)(a.Get(id)) = 1
			}
		}
		b.ReportMetric(float64(a.Plan().Total()), "bytes")
	})
	b.Run("arena", func(b *testing.B) {
		l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 8 * 4096})
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		for b.Loop() {
			for range 8 {
				p, err := l.Alloc(4096, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = 1
			}
			l.Reset()
		}
		b.ReportMetric(8*4096, "bytes")
	})
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			for range 8 {
				p := unsafe.Pointer(unsafe.SliceData(make([]byte, 4096)))
				*(*uint64)(p) = 1
				sink = p
			}
		}
	})
}
