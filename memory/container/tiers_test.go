package container

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

func TestContainers_LieInALevelAndDieWithIt(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	all := space(t, m)
	var kept *world // in the general heap, with an offset from the base of all tiers
	for range 3 {
		must(t, m.BeginLevel())
		sp := space(t, m.Level())
		w := fill(t, sp)
		must(t, w.check(sp))
		if kept == nil {
			kept = fill(t, all)
		}
		must(t, m.BeginFrame())
		frame := space(t, m.Frame())
		scratch := fill(t, frame)
		must(t, scratch.check(frame))
		must(t, m.EndFrame())
		_, err := m.EndLevel()
		must(t, err)
		if st := m.Stats(tiers.Level); st.Live != 0 || st.InUse != 0 {
			t.Errorf("EndLevel leaves %+v", st)
		}
		must(t, m.Check())
		must(t, kept.check(all))
	}
	var late Vec[int]
	must(t, m.BeginLevel())
	sp := space(t, m.Level())
	must(t, late.Append(sp, 1))
	_, err = m.EndLevel()
	must(t, err)
	memtest.Misuse(t, func() { late.Free(sp) }, "arena.Free", "foreign, or freed already")
	late.Forget()
	kept.free(all)
	must(t, m.Check())
	if st := m.Stats(tiers.Slab); st.Live != 1 { // the world itself
		t.Errorf("the general heap has %d blocks", st.Live)
	}
	must(t, m.Close())
	if err := late.Append(all, 1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if invariant.Debug {
		memtest.Misuse(t, func() { late.Slice(all) }, "container.Space", "its allocator was closed")
	}
	if _, err := In(m); !errors.Is(err, ErrNoBase) {
		t.Errorf("a space in a closed manager: %v", err)
	}
}
