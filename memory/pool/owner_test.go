//go:build memdebug || race

package pool

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// uses reads the word that every operation of debug builds writes, so that the race detector
// names two goroutines which use one pool without synchronising.
func uses(o *invariant.Owner) uint64 { return *(*uint64)(unsafe.Pointer(o)) }

// touches asserts that each operation writes the word.
func touches(t *testing.T, o *invariant.Owner, operations map[string]func()) {
	t.Helper()
	for name, f := range operations {
		before := uses(o)
		f()
		if uses(o) == before {
			t.Errorf("%s does not touch the owner word", name)
		}
	}
}

func TestOwner_EveryOperationTouchesIt(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 1000})
	touches(t, &b.owner, map[string]func(){
		"Blocks.Get": func() { mustGet(t, b) }, "Blocks.Alloc": func() { b.Alloc(1, 1) },
		"Blocks.Grow": func() { b.Grow(3) }, "Blocks.Reset": b.Reset, "Blocks.Trim": func() { b.Trim() },
	})
	x, y := mustGet(t, b), mustGet(t, b)
	touches(t, &b.owner, map[string]func(){"Blocks.Put": func() { b.Put(x) }, "Blocks.Free": func() { b.Free(y, 1) }})

	p := newPool(t, nil, 1000)
	touches(t, &p.owner, map[string]func(){
		"Pool.New": func() { mustNew(t, p) }, "Pool.Grow": func() { p.Grow(3) }, "Pool.Reset": p.Reset, "Pool.Trim": func() { p.Trim() },
	})
	h, _ := mustNew(t, p)
	touches(t, &p.owner, map[string]func(){"Pool.Free": func() { p.Free(h) }})

	s := newSplit(t, nil, 1000)
	touches(t, &s.owner, map[string]func(){
		"Split.New": func() { s.New() }, "Split.Grow": func() { s.Grow(3) }, "Split.Reset": s.Reset, "Split.Trim": func() { s.Trim() },
	})
	g, _, _, _ := s.New()
	touches(t, &s.owner, map[string]func(){"Split.Free": func() { s.Free(g) }})

	r := newRegistry(t, nil)
	touches(t, &r.owner, map[string]func(){
		"Register": func() { Register[int](r, Config{Capacity: 1}) }, "Registry.Reset": r.Reset, "Registry.Trim": func() { r.Trim() },
	})
}
