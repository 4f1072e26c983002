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
	// allocator returns a with a function that allocates a block and returns how to free it.
	allocator := func(a memory.Allocator, err error, size uintptr) (subject, func() func()) {
		must(t, err)
		return a.(subject), func() func() {
			p := memtest.MustAlloc(t, a, size, 16)
			return func() { a.Free(p, size) }
		}
	}
	kinds := map[string]func(size uintptr) (subject, func() func()){
		"slab": func(size uintptr) (subject, func() func()) {
			h, err := slab.New(nil, slab.Config{})
			return allocator(h, err, size)
		},
		"tlsf": func(size uintptr) (subject, func() func()) {
			h, err := tlsf.New(nil, tlsf.Config{})
			return allocator(h, err, size)
		},
		"buddy": func(size uintptr) (subject, func() func()) {
			h, err := buddy.New(nil, buddy.Config{})
			return allocator(h, err, size)
		},
		"freelist": func(size uintptr) (subject, func() func()) {
			h, err := freelist.New(nil, freelist.Config{})
			return allocator(h, err, size)
		},
		"Blocks": func(size uintptr) (subject, func() func()) {
			b, err := pool.NewBlocks(nil, pool.BlocksConfig{Size: size, Capacity: blocks})
			return allocator(b, err, size)
		},
		"Pool": func(uintptr) (subject, func() func()) {
			p, err := pool.New[monster](nil, pool.Config{Capacity: blocks})
			must(t, err)
			return p, func() func() {
				m, _, err := p.New()
				must(t, err)
				return func() { p.Free(m) }
			}
		},
	}
	for name, kind := range kinds {
		for _, size := range []uintptr{16, 48, 128, 1000} {
			for live := 0; live <= 100; live += 4 {
				rng := rand.New(rand.NewPCG(uint64(size), uint64(live)))
				s, alloc := kind(size)
				var frees []func()
				for range blocks {
					frees = append(frees, alloc())
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
