package tiers

import (
	"sync"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// Frame must be called in each frame: debug builds refuse the arena of an older one. What follows the frames may be kept.
func TestManager_AKeptArenaOfAFramePanicsInDebugBuilds(t *testing.T) {
	for n := 1; n <= 3; n++ {
		cfg := tagged()
		cfg.Frames = n
		m := newManager(t, cfg)
		locked, err := compose.NewLocked(m.Frames(), new(sync.Mutex))
		must(t, err)
		kept := []memory.Allocator{m.Frames(), locked, newTag(t, m, "a").Frame()}
		must(t, m.NextFrame())
		old := m.Frame()
		for age := range uint64(n + arena.RestingFrames) {
			for _, a := range kept {
				alloc(t, a, 100)
			}
			if age > 0 && invariant.Debug {
				memtest.Misuse(t, func() { _, _ = old.Alloc(8, 8) }, "arena.Alloc", "the arena was kept from a frame", "call Manager.Frame")
			} else {
				alloc(t, old, 8)
			}
			must(t, m.Check())
			must(t, m.NextFrame())
		}
	}
}

func TestWorker_AKeptArenaOfATaskPanicsIfTasksRest(t *testing.T) {
	m := newManager(t, small())
	w := m.Worker(0)
	old, err := w.BeginTask()
	must(t, err)
	must(t, w.EndTask())
	for range arena.RestingFrames {
		a, err := w.BeginTask()
		must(t, err)
		alloc(t, a, 8)
		memtest.Misuse(t, func() { _, _ = old.Alloc(8, 8) }, "arena.Alloc", "BeginTask in each task")
		must(t, w.EndTask())
		must(t, m.Check())
	}
}
