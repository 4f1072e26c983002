package arena

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// The race detector names two goroutines that use one arena by the word that every call
// writes, in debug builds.
func TestEveryArena_EachCallWritesTheOwnerWord(t *testing.T) {
	if unsafe.Sizeof(invariant.Owner{}) == 0 {
		t.Skip("this build has no owner word")
	}
	writes := func(what string, o *invariant.Owner, call func()) {
		t.Helper()
		word := (*uint64)(unsafe.Pointer(o))
		before := *word
		if call(); *word == before {
			t.Errorf("%s does not write the owner word", what)
		}
	}
	var p unsafe.Pointer

	l := newLinear(t, 1000)
	writes("Linear.Alloc", &l.owner, func() { p = mustAlloc(t, l, 10, 1) })
	writes("New", &l.owner, func() { _, _ = New(l, memory.MustType[byte]()) })
	writes("Linear.Free", &l.owner, func() { l.Free(p, 10) })
	writes("Linear.Resize", &l.owner, func() { l.Resize(mustAlloc(t, l, 10, 1), 10, 5) })
	writes("Linear.OnReset", &l.owner, func() { l.OnReset(func() {}) })
	var m Mark
	writes("Linear.Mark", &l.owner, func() { m = l.Mark() })
	writes("Linear.Rewind", &l.owner, func() { l.Rewind(m) })
	writes("Linear.Reset", &l.owner, l.Reset)

	g := newGrowing(t, nil, GrowingConfig{})
	writes("Growing.Alloc", &g.lin.owner, func() { mustAlloc(t, g, 10, 1) })
	writes("Growing.TryAlloc", &g.lin.owner, func() { g.TryAlloc(10, 1) })

	s := newStepBack(t, 1000)
	writes("StepBack.Alloc", &s.owner, func() { p = mustAlloc(t, s, 10, 1) })
	writes("StepBack.Resize", &s.owner, func() { s.Resize(p, 10, 5) })
	writes("StepBack.Free", &s.owner, func() { s.Free(p, 5) })
	mustAlloc(t, s, 10, 1)
	writes("StepBack.Undo", &s.owner, func() { s.Undo() })
	writes("StepBack.UndoTo", &s.owner, func() { s.UndoTo(0) })

	r := small(t)
	writes("Region.Alloc", &r.owner, func() { p = mustAlloc(t, r, 10, 1) })
	writes("Region.Alloc", &r.owner, func() { mustAlloc(t, r, 10, 1) })
	writes("Region.Resize", &r.owner, func() { r.Resize(p, 10, 10) })
	writes("Region.Free", &r.owner, func() { r.Free(p, 10) })
	writes("Region.Reset", &r.owner, r.Reset)
}
