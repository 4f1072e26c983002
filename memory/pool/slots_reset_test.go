package pool_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/pool"
)

// After a Reset the slots are used as in a new pool: a level does not depend on the levels before it.
func TestPool_ResetForgetsTheOrderOfFrees(t *testing.T) {
	order := func(p *pool.Pool[uint64], n int) (slots []uint32) {
		for range n {
			h, _, err := p.New()
			if err != nil {
				t.Fatal(err)
			}
			slots = append(slots, h.Index())
		}
		return slots
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		fresh, err := pool.New[uint64](nil, pool.Config{Capacity: 500})
		if err != nil {
			t.Fatal(err)
		}
		used, err := pool.New[uint64](nil, pool.Config{Capacity: 500})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = fresh.Close(), used.Close() })
		for range 3 {
			order(used, 1+rng.IntN(400))
			for h := range used.All() {
				if rng.IntN(3) == 0 {
					used.Free(h)
				}
			}
			order(used, rng.IntN(50))
			used.Reset()
			if err := used.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := order(fresh, 450), order(used, 450); !slices.Equal(a, b) {
			t.Fatalf("seed %d: slots %v, in a new pool %v", seed, b[:20], a[:20])
		}
	}
}
