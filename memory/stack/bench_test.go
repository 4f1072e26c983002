package stack

import (
	"fmt"
	"testing"
	"unsafe"
)

var sink unsafe.Pointer

// depths: one block at a time, and a nesting of 64.
var depths = []int{1, 64}

// BenchmarkPair allocates depth blocks of 64 bytes and frees them newest-first; the figure is
// that of one Alloc and one Free.
func BenchmarkPair(b *testing.B) {
	for _, depth := range depths {
		s, d := newStack(b, 1<<20), newDouble(b, 1<<20)
		for _, c := range []struct {
			name string
			end  *End
		}{{"stack", &s.End}, {"double.top", d.Top()}} {
			b.Run(fmt.Sprintf("%s/depth=%d", c.name, depth), func(b *testing.B) {
				blocks := make([]unsafe.Pointer, depth)
				n := 0
				for b.Loop() {
					p, err := c.end.Alloc(64, 16)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					blocks[n] = p
					if n++; n == depth {
						for ; n > 0; n-- {
							c.end.Free(blocks[n-1], 64)
						}
					}
				}
			})
		}
		b.Run(fmt.Sprintf("goheap/depth=%d", depth), func(b *testing.B) {
			blocks := make([]unsafe.Pointer, depth)
			n := 0
			for b.Loop() {
				p := unsafe.Pointer(unsafe.SliceData(make([]byte, 64)))
				*(*uint64)(p) = 1
				blocks[n] = p
				if n++; n == depth {
					clear(blocks)
					n = 0
				}
			}
		})
	}
}

// BenchmarkAppend grows the newest block from 16 bytes to 4 KiB, 16 at a time.
func BenchmarkAppend(b *testing.B) {
	const step, full = 16, 4096
	b.Run("pivot.Extend", func(b *testing.B) {
		p := newPivot(b, 1<<20, 1<<10)
		for b.Loop() {
			q, err := p.Forward().Alloc(step, 16)
			if err != nil {
				b.Fatal(err)
			}
			for size := uintptr(step); size < full; size += step {
				if !p.Extend(q, size, size+step) {
					b.Fatal("no room")
				}
				*(*uint64)(unsafe.Add(q, size)) = 1
			}
			p.Forward().Free(q, full)
		}
	})
	b.Run("goheap", func(b *testing.B) {
		var part [step]byte
		for b.Loop() {
			s := make([]byte, step)
			for len(s) < full {
				s = append(s, part[:]...)
			}
			sink = unsafe.Pointer(unsafe.SliceData(s))
		}
	})
}

func BenchmarkMarkRewind(b *testing.B) {
	s := newStack(b, 4096)
	for b.Loop() {
		m := s.Mark()
		if _, err := s.Alloc(64, 16); err != nil {
			b.Fatal(err)
		}
		s.Rewind(m)
	}
}
