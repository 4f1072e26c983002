//go:build memfast && !memdebug && !race

package slab

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// What memfast does not see may hand a block out twice, but nothing ends in a panic other than
// a Misuse, in a hang or in a touch of memory that is not there: whatever was freed twice, in
// the middle or after its slab was recycled.
func TestMemfast_UnseenMisuseEndsInNothingWorse(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(1, seed))
		h, err := New(nil, Config{Reserve: 1 << 20, MaxSize: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		cache := NewCache(mustCentral(h))
		var ever []unsafe.Pointer
		var sizes []uintptr
		for range 400 {
			a := []memory.Allocator{h, cache.central, cache}[rng.IntN(3)]
			step := func() {
				switch k := rng.IntN(20); {
				case k < 9:
					size := []uintptr{16, 64, 1000, 12 << 10}[rng.IntN(4)]
					p, err := a.Alloc(size, 16)
					if err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
						t.Fatal(err)
					}
					if err == nil {
						*(*[16]byte)(p) = [16]byte{} // it is there
						ever, sizes = append(ever, p), append(sizes, size)
					}
				case k < 17 && len(ever) > 0: // live or not
					i := rng.IntN(len(ever))
					a.Free(unsafe.Add(ever[i], 16*(rng.IntN(8)/7)), sizes[i])
				case k == 17 && len(ever) > 0:
					a.(memory.AnyFreer).FreeAny(ever[rng.IntN(len(ever))])
				case k == 18:
					if err := h.Trim(); err != nil {
						t.Fatal(err)
					}
				default:
					_ = h.Check()
					_ = cache.Check()
					_ = h.Stats()
				}
			}
			if v := panicOf(step); v != nil {
				if _, ok := v.(*memory.Misuse); !ok {
					t.Fatalf("seed %d: panic: %v", seed, v)
				}
			}
		}
		for v := panicOf(func() { _ = cache.Close() }); v != nil; v = panicOf(func() { _ = cache.Close() }) {
			if _, ok := v.(*memory.Misuse); !ok {
				t.Fatalf("seed %d: panic: %v", seed, v)
			}
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
