package save_test

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// Whatever share of the blocks is live, a state has at most one and a half times the bytes of the live ones.
func TestSet_StateHasFewBytesBesideTheLive(t *testing.T) {
	if invariant.Debug || !invariant.Exact {
		t.Skip("this build saves free blocks, too")
	}
	const blocks = 2000
	type subject interface {
		save.State
		io.Closer
	}
	kinds := map[string]func(size uintptr) (subject, error){
		"slab":     func(uintptr) (subject, error) { return slab.New(nil, slab.Config{}) },
		"tlsf":     func(uintptr) (subject, error) { return tlsf.New(nil, tlsf.Config{}) },
		"buddy":    func(uintptr) (subject, error) { return buddy.New(nil, buddy.Config{}) },
		"freelist": func(uintptr) (subject, error) { return freelist.New(nil, freelist.Config{}) },
		"Blocks": func(size uintptr) (subject, error) {
			return pool.NewBlocks(nil, pool.BlocksConfig{Size: size, Capacity: blocks})
		},
		"Pool": func(uintptr) (subject, error) { return pool.New[monster](nil, pool.Config{Capacity: blocks}) },
	}
	// alloc allocates a block of s and returns how to free it.
	alloc := func(s subject, size uintptr) (free func()) {
		if p, ok := s.(*pool.Pool[monster]); ok {
			m, _, err := p.New()
			must(t, err)
			return func() { p.Free(m) }
		}
		a := s.(memory.Allocator)
		p := memtest.MustAlloc(t, a, size, 16)
		return func() { a.Free(p, size) }
	}
	for name, kind := range kinds {
		for _, size := range []uintptr{16, 48, 128, 1000} {
			for live := 0; live <= 100; live += 4 {
				rng := rand.New(rand.NewPCG(uint64(size), uint64(live)))
				s, err := kind(size)
				must(t, err)
				var frees []func()
				for range blocks {
					frees = append(frees, alloc(s, size))
				}
				for _, free := range frees {
					if rng.IntN(100) >= live {
						free()
					}
				}
				set := new(save.Set)
				must(t, set.Add("subject", s), set.Seal())
				n, err := set.Size()
				least := set.NewCanonical(2*n + 1<<10)
				if must(t, err, set.Save(least)); 2*n > 3*len(least.Bytes()) {
					t.Errorf("%s of %d bytes, %d %% live: %d bytes are saved, the live ones take %d", name, size, live, n, len(least.Bytes()))
				}
				must(t, s.Close())
			}
		}
	}
}
