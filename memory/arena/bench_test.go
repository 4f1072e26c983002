package arena

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// perFrame is how many blocks a frame allocates before everything is freed at once.
const perFrame = 1000

var sink unsafe.Pointer

func BenchmarkAlloc(b *testing.B) {
	for _, size := range []uintptr{16, 64, 256} {
		for _, al := range []uintptr{8, 64} {
			name := fmt.Sprintf("size=%d/align=%d", size, al)
			b.Run("linear/"+name, func(b *testing.B) {
				l := newLinear(b, perFrame*(size+al))
				n := 0
				for b.Loop() {
					p, err := l.Alloc(size, al)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					if n++; n == perFrame {
						l.Reset()
						n = 0
					}
				}
			})
			b.Run("growing/"+name, func(b *testing.B) {
				g := newGrowing(b, nil, GrowingConfig{})
				n := 0
				for b.Loop() {
					p, err := g.Alloc(size, al)
					if err != nil {
						b.Fatal(err)
					}
					*(*uint64)(p) = 1
					if n++; n == perFrame {
						g.Reset()
						n = 0
					}
				}
			})
		}
		b.Run(fmt.Sprintf("goheap/size=%d", size), func(b *testing.B) {
			for b.Loop() {
				p := unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
				*(*uint64)(p) = 1
				sink = p
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.Run("linear", func(b *testing.B) {
		l := newLinear(b, perFrame*unsafe.Sizeof(vec{}))
		n := 0
		for b.Loop() {
			v, err := New(l, vecType)
			if err != nil {
				b.Fatal(err)
			}
			v.X = 1
			if n++; n == perFrame {
				l.Reset()
				n = 0
			}
		}
	})
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			v := new(vec)
			v.X = 1
			sink = unsafe.Pointer(v)
		}
	})
}

func BenchmarkMakeSlice(b *testing.B) {
	for _, n := range []int{16, 1024} {
		b.Run(fmt.Sprintf("linear/n=%d", n), func(b *testing.B) {
			l := newLinear(b, uintptr(n+1)*unsafe.Sizeof(vec{}))
			for b.Loop() {
				if _, err := MakeSlice(l, vecType, n); err != nil {
					b.Fatal(err)
				}
				l.Reset()
			}
		})
		b.Run(fmt.Sprintf("goheap/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				sink = unsafe.Pointer(unsafe.SliceData(make([]vec, n)))
			}
		})
	}
}

func BenchmarkFramesAdvance(b *testing.B) {
	f := newFrames(b, 2, 64<<10)
	for b.Loop() {
		f.Advance()
	}
}

func BenchmarkMarkRewind(b *testing.B) {
	l := newLinear(b, 4096)
	for b.Loop() {
		m := l.Mark()
		if _, err := l.Alloc(64, 16); err != nil {
			b.Fatal(err)
		}
		l.Rewind(m)
	}
}

// BenchmarkStepBack is one Alloc and one Undo, at a depth of 64.
func BenchmarkStepBack(b *testing.B) {
	const depth = 64
	b.Run("stepback", func(b *testing.B) {
		s := newStepBack(b, 64<<10)
		for b.Loop() {
			p, err := s.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			if s.Len() == depth {
				for s.Undo() {
				}
			}
		}
	})
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			sink = unsafe.Pointer(unsafe.SliceData(make([]byte, 64)))
			*(*uint64)(sink) = 1
		}
	})
}

// BenchmarkRegion keeps 1,000 blocks of 64 bytes and replaces the oldest, or a random one: one
// Alloc and one Free. held/live is the bytes in use per byte live.
func BenchmarkRegion(b *testing.B) {
	const live, size = 1000, 64
	// A permutation that repeats would free in the order of allocation from its second lap on.
	order := func(random bool) []int {
		rng := rand.New(rand.NewPCG(1, 2))
		s := make([]int, 64*live)
		for i := range s {
			s[i] = i % live
			if random {
				s[i] = rng.IntN(live)
			}
		}
		return s
	}
	for _, random := range []bool{false, true} {
		name := map[bool]string{false: "oldest", true: "random"}[random]
		b.Run("region/"+name, func(b *testing.B) {
			r := newRegion(b, nil, RegionConfig{RegionBytes: regionBytes})
			blocks, next, n := fill(b, r, live, size), order(random), 0
			for b.Loop() {
				i := next[n]
				if n++; n == len(next) {
					n = 0
				}
				r.Free(blocks[i], size)
				p, err := r.Alloc(size, 16)
				if err != nil {
					b.Fatal(err)
				}
				*(*uint64)(p) = 1
				blocks[i] = p
			}
			b.ReportMetric(float64(r.Used())/(live*size), "held/live")
		})
		b.Run("goheap/"+name, func(b *testing.B) {
			blocks, next, n := make([]unsafe.Pointer, live), order(random), 0
			for b.Loop() {
				i := next[n]
				if n++; n == len(next) {
					n = 0
				}
				p := unsafe.Pointer(unsafe.SliceData(make([]byte, size)))
				*(*uint64)(p) = 1
				blocks[i] = p
			}
		})
	}
}

// BenchmarkResize grows the newest block from 16 bytes to 4 KiB, 16 at a time.
func BenchmarkResize(b *testing.B) {
	const step, full = 16, 4096
	b.Run("linear", func(b *testing.B) {
		l := newLinear(b, full)
		for b.Loop() {
			p, err := l.Alloc(step, 16)
			if err != nil {
				b.Fatal(err)
			}
			for size := uintptr(step); size < full; size += step {
				if !l.Resize(p, size, size+step) {
					b.Fatal("no room")
				}
				*(*uint64)(unsafe.Add(p, size)) = 1
			}
			l.Reset()
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
