package tiers_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

func TestManager_TheOffsetsOfAllTiersCountFromItsBase(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	if err := m.BeginFrame(); err != nil {
		t.Fatal(err)
	}
	base, extent := uintptr(m.Base()), m.Extent()
	for name, a := range map[string]memory.Allocator{
		"manager": m, "slab": m.Slab(), "large": m.Large(), "frame": m.Frame(), "level": m.Level(), "worker": m.Worker(0),
	} {
		for _, size := range []uintptr{100, 10_000} {
			p := memtest.MustAlloc(t, a, size, 16)
			if off := uintptr(p) - base; off > extent-size || !m.Owns(p) {
				t.Errorf("%s: a block of %d bytes lies at offset %d of %d", name, size, off, extent)
			}
		}
	}
	if m.Slab().Base() != nil || m.Level().Base() == nil || m.Large().Base() == nil {
		t.Error("the slab passes large blocks on and has no base; level and large have one")
	}
	if err := m.EndFrame(); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil || m.Base() != nil || m.Extent() != 0 {
		t.Errorf("closed: %v, base %p of %d bytes", err, m.Base(), m.Extent())
	}
}
