package guard

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

var sink [64][]byte

// BenchmarkPair frees the oldest of 64 blocks and allocates another, and writes 8 bytes of it.
func BenchmarkPair(b *testing.B) {
	for _, size := range []uintptr{64, 1024, 16 << 10} {
		for _, v := range []struct {
			name string
			cfg  *Config
		}{
			{"bare", nil},
			{"guard", &Config{}},
			{"guard/frames=1", &Config{Frames: 1}},
			{"guard/quarantine=1MiB", &Config{QuarantineBytes: 1 << 20}},
		} {
			b.Run(fmt.Sprintf("size=%d/%s", size, v.name), func(b *testing.B) { pair(b, v.cfg, size) })
		}
		b.Run(fmt.Sprintf("size=%d/goheap", size), func(b *testing.B) {
			n := 0
			for b.Loop() {
				p := make([]byte, size)
				*(*uint64)(unsafe.Pointer(unsafe.SliceData(p))) = 1
				sink[n%len(sink)] = p
				n++
			}
		})
	}
}

func pair(b *testing.B, cfg *Config, size uintptr) {
	h, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	var a memory.Allocator = h
	if cfg != nil {
		if a, err = New(h, *cfg); err != nil {
			b.Fatal(err)
		}
	}
	var ring [64]unsafe.Pointer
	for i := range ring {
		ring[i] = mustAlloc(b, a, size, 16)
	}
	n := 0
	for b.Loop() {
		a.Free(ring[n%len(ring)], size)
		p, err := a.Alloc(size, 16)
		if err != nil {
			b.Fatal(err)
		}
		*(*uint64)(p) = 1
		ring[n%len(ring)] = p
		n++
	}
}

// BenchmarkCheck verifies 10,000 live blocks of 256 bytes.
func BenchmarkCheck(b *testing.B) {
	h, err := tlsf.New(nil, tlsf.Config{})
	if err != nil {
		b.Fatal(err)
	}
	a, err := New(h, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for range 10_000 {
		mustAlloc(b, a, 256, 16)
	}
	for b.Loop() {
		if err := a.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
