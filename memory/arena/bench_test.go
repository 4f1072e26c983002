package arena

import (
	"fmt"
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
