package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/pool"
)

// Behind the last byte of a level that is full the pools begin, and a block of no bytes may stand
// there.
func TestFree_ABlockOfNoBytesInAFullArenaIsOfItsTier(t *testing.T) {
	m := newManager(t, Config{GC: gcpace.Config{Keep: true}, Tags: true, Reserve: [Count]uintptr{Frame: 1 << 20, Level: 1 << 20, Pools: 1 << 20}})
	tag := newTag(t, m, "tag")
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for name, a := range map[string]memory.Allocator{"level": tag.Level(), "frame": tag.Frame()} {
		for {
			if _, err := a.Alloc(16, 16); err != nil {
				break
			}
		}
		for how, free := range map[string]memory.Allocator{"the manager": m, "the tag": tag, "its arena": a} {
			p := alloc(t, a, 0)
			if free.(memory.Resizer).Resize(p, 0, 1) {
				t.Errorf("%s, %s: it has grown", name, how)
			}
			free.Free(p, 0)
		}
		m.FreeAny(alloc(t, a, 0))
		p := alloc(t, a, 0)
		memtest.Misuse(t, func() { m.Free(p, 1) }, "", "")
	}
	must(t, m.Check())
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	h, err := NewPool[[3]int64](m, pool.Config{Capacity: 10})
	must(t, err)
	_, v, err := h.New()
	must(t, err)
	memtest.Misuse(t, func() { m.FreeAny(unsafe.Pointer(v)) }, "tiers.FreeAny", "belongs to a pool")
}
