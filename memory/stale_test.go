package memory_test

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// The Freers of a manager and of a worker detect stale frees of small and of large blocks.
func TestStale_FreersOfTheManagerDetectIt(t *testing.T) {
	if !invariant.Debug {
		return
	}
	for _, size := range []uintptr{100, 10_000} {
		m := must[*tiers.Manager](t)(tiers.New(tiers.Config{KeepGC: true, Workers: 1, FreeItems: 8}))
		w := m.Worker(0)
		for name, c := range map[string]struct {
			a     memory.Allocator
			f     *remote.Freer
			drain func()
		}{
			"game":   {m, m.NewFreer(), func() { m.BeginFrame(); m.EndFrame() }},
			"worker": {w, w.NewFreer(), w.Settle},
		} {
			p := memtest.MustAlloc(t, c.a, size, 16)
			c.f.Free(p)
			c.a.Free(p, size)
			var others []unsafe.Pointer
			for q := memtest.MustAlloc(t, c.a, size, 16); q != p; q = memtest.MustAlloc(t, c.a, size, 16) {
				if others = append(others, q); len(others) > 100 {
					t.Fatalf("%s: 100 blocks, and none at %p", name, p)
				}
			}
			if err := c.f.Flush(); err != nil {
				t.Fatal(err)
			}
			memtest.Misuse(t, c.drain, "stale free", "TestStale_FreersOfTheManagerDetectIt")
			c.drain()
			c.a.Free(p, size) // it is live
			for _, q := range others {
				c.f.Free(q)
			}
			if err := c.f.Close(); err != nil {
				t.Fatal(err)
			}
			c.drain()
		}
		memtest.MustCheck(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
