package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tlsf"
)

func TestConfig_SlabMaxDividesSlabFromLarge(t *testing.T) {
	for _, c := range []struct{ max, last uintptr }{{0, 4096}, {100, 112}, {1024, 1024}, {5000, 5008}, {64 << 10, 64 << 10}} {
		for _, tags := range []bool{false, true} {
			cfg := small()
			cfg.SlabMax, cfg.Tags = c.max, tags
			cfg.Reserve[Slab], cfg.Reserve[Large] = 4<<20, 4<<20
			m := newManager(t, cfg)
			tag := newTag(t, m, "a")
			for size, want := range map[uintptr]Tier{1: Slab, c.last: Slab, c.last + 1: Large, c.last + 5000: Large} {
				for _, a := range []memory.Allocator{m, tag} {
					p := alloc(t, a, size)
					if got, _ := m.Inspect().TierOf(p); got != want {
						t.Errorf("SlabMax %d, tags %t: %d bytes lie in %s, want %s", c.max, tags, size, got, want)
					}
					q, err := memory.Grow(m, p, size, size+2*c.last, 16)
					must(t, err)
					if got, _ := m.Inspect().TierOf(q); got != Large {
						t.Errorf("SlabMax %d, tags %t: grown beyond it a block lies in %s", c.max, tags, got)
					}
					a.Free(q, size+2*c.last)
				}
			}
			must(t, m.Check())
			if a, b := m.Stats(Slab).Live, m.Stats(Large).Live; a != 0 || b != 0 {
				t.Errorf("SlabMax %d, tags %t: %d and %d blocks live", c.max, tags, a, b)
			}
			must(t, m.Close())
		}
	}
}

func TestConfig_QuickBytesDefersCoalescing(t *testing.T) {
	for quick, want := range map[uintptr]int{0: 1, 20_000: 2, 64 << 10: 3} {
		cfg := small()
		cfg.QuickBytes = quick
		m := newManager(t, cfg)
		var p [4]unsafe.Pointer
		for i := range p {
			p[i] = alloc(t, m, 16<<10)
		}
		for _, q := range p[:3] { // the last one keeps them from the end
			m.Free(q, 16<<10)
		}
		count := func() (free int) {
			m.Large().Blocks(func(b tlsf.BlockInfo) bool {
				if b.Free && b.Offset < 48<<10 {
					free++
				}
				return true
			})
			return free
		}
		if got := count(); got != want {
			t.Errorf("QuickBytes %d: %d free blocks, want %d", quick, got, want)
		}
		must(t, m.Check())
		if m.Stats(Large); count() != 1 {
			t.Errorf("QuickBytes %d: Stats leaves %d free blocks", quick, count())
		}
	}
}
