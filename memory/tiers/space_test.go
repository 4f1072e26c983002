package tiers

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

// anyOrder returns the tiers in a random order.
func anyOrder(rng *rand.Rand) *[Count]Tier {
	var order [Count]Tier
	for i, t := range rng.Perm(Count) {
		order[i] = Tier(t)
	}
	return &order
}

// endOf allocates all that the arena has left, and returns the block of no bytes behind it.
func endOf(t testing.TB, a memory.Allocator, left uintptr) unsafe.Pointer {
	t.Helper()
	memtest.MustAlloc(t, a, left, 1)
	if _, err := a.Alloc(1, 1); err == nil {
		t.Fatalf("%T is not full", a)
	}
	return memtest.MustAlloc(t, a, 0, 1)
}

// A block of no bytes at the end of a full arena starts behind its last byte. It is in the tier nevertheless,
// whichever tier comes next.
func TestSpace_EmptyBlockAtTheEndIsInItsTier(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		cfg := small()
		cfg.order = anyOrder(rng)
		cfg.Reserve[Level] = 1 << 20
		m := newManager(t, cfg)
		must(t, m.BeginLevel())
		must(t, m.BeginFrame())
		ends := map[Tier][]unsafe.Pointer{
			Level: {endOf(t, m.Level(), 1<<20)},
			Frame: {endOf(t, m.Frame(), m.Frame().Available())},
		}
		must(t, m.EndFrame())
		must(t, m.BeginFrame()) // the other buffer
		ends[Frame] = append(ends[Frame], endOf(t, m.Frame(), m.Frame().Available()))
		for k := range m.Workers() {
			scratch, err := m.Worker(k).BeginTask()
			must(t, err)
			ends[Inbox] = append(ends[Inbox], endOf(t, scratch, scratch.Available()))
		}
		for tier, blocks := range ends {
			for _, p := range blocks {
				if got, ok := m.Inspect().TierOf(p); got != tier || !ok {
					t.Errorf("order %v: the block at the end of %v is in %v, %t", cfg.order, tier, got, ok)
				}
				if tier == Inbox {
					memtest.Misuse(t, func() { m.Free(p, 0) }, "tiers.Free", ofScratch)
					continue
				}
				m.Resize(p, 0, 0)
				m.Free(p, 0)
			}
		}
		must(t, m.Check())
		for k := range m.Workers() {
			must(t, m.Worker(k).EndTask())
		}
		must(t, m.EndFrame())
		_, err := m.EndLevel()
		must(t, err)
		must(t, m.Close())
	}
}

// What the manager does with blocks does not depend on the order of the tiers.
func TestSpace_AnyOrderOfTiersWorks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		cfg := small()
		cfg.order, cfg.Tags = anyOrder(rng), rng.IntN(2) == 0
		m := furnish(t, cfg)
		must(t, m.Check())
		for p, want := range map[unsafe.Pointer]Tier{
			m.ofStatic: Static, m.ofFrame: Frame, m.ofLevel: Level, m.ofPool: Pools, m.ofSlab: Slab, m.ofLarge: Large, m.ofWorker: Inbox,
		} {
			if got, ok := m.Inspect().TierOf(p); got != want || !ok {
				t.Errorf("order %v: a block of %v is in %v, %t", cfg.order, want, got, ok)
			}
			base, size := m.Inspect().Span(want)
			if off := uintptr(p) - uintptr(base); off >= size {
				t.Errorf("order %v: a block of %v lies at %d of its %d bytes", cfg.order, want, off, size)
			}
		}
		m.FreeAny(m.ofSlab)
		m.FreeAny(m.ofLarge)
		m.FreeAny(m.ofWorker)
		m.Worker(0).Settle()
		memtest.Misuse(t, func() { m.FreeAny(m.ofPool) }, "tiers.FreeAny", ofPool)
		must(t, m.Check())
	}
}
