package tiers

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// fill allocates blocks of one size until there is no memory.
func fill(t *testing.T, a memory.Allocator, size uintptr) (all []unsafe.Pointer) {
	t.Helper()
	for {
		p, err := a.Alloc(size, 16)
		if err != nil {
			if !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatal(err)
			}
			return all
		}
		all = append(all, p)
	}
}

// freeElsewhere frees blocks on another goroutine.
func freeElsewhere(t *testing.T, m *Manager, all ...unsafe.Pointer) {
	t.Helper()
	done := make(chan error)
	go func() {
		f := m.NewFreer()
		for _, p := range all {
			f.FreeAny(p)
		}
		done <- f.Close()
	}()
	must(t, <-done)
}

func TestManager_AnAllocThatFailsTakesInWhatOthersHaveFreed(t *testing.T) {
	for _, size := range []uintptr{1000, 10_000} {
		m := newManager(t, small())
		must(t, m.BeginFrame())
		all := fill(t, m, size)
		freeElsewhere(t, m, all...)
		for i := range all {
			if _, err := m.Alloc(size, 16); err != nil {
				t.Fatalf("%d of %d blocks of %d bytes, all freed by another goroutine: %v", i, len(all), size, err)
			}
		}
		must(t, m.EndFrame())
		must(t, m.Check())
	}
}

func TestManager_SlabAndLargeThemselvesTakeInWhatOthersHaveFreed(t *testing.T) {
	m := newManager(t, small())
	for _, a := range []memory.Allocator{m.Slab(), m.Large()} {
		all := fill(t, a, 4000)
		freeElsewhere(t, m, all...)
		memtest.MustAlloc(t, a, 4000, 16)
	}
}

func TestManager_AllocFreesSomeSentBlocksBeforeItMakesNewOnes(t *testing.T) {
	m := newManager(t, small())
	var all []unsafe.Pointer
	for range 100 {
		all = append(all, alloc(t, m, 2048))
	}
	for m.slab.heap.Stats().Free > 0 && m.slab.heap.Stats().LargestFree >= 2048 && len(all) < 128 {
		all = append(all, alloc(t, m, 2048)) // until no prepared block is left
	}
	freeElsewhere(t, m, all...)
	before := m.Stats(Slab)
	alloc(t, m, 2048)
	after := m.Stats(Slab)
	if after.Frees == before.Frees || after.Frees > before.Frees+drainSome {
		t.Errorf("an Alloc without a free block freed %d sent blocks; want 1 to %d", after.Frees-before.Frees, drainSome)
	}
	if after.Committed != before.Committed {
		t.Error("it committed more all the same")
	}
}

func TestManager_ABlockThatIsRefusedStopsNothing(t *testing.T) {
	m := newManager(t, small())
	all := fill(t, m, 10_000)
	freeElsewhere(t, m, all[0], all[0], all[1])
	// The first drain meets the double free behind the first block, the next one goes on behind it.
	memtest.Misuse(t, func() { _, _ = m.Alloc(10_000, 16) }, "remote.Drain", "double free")
	must(t, m.Check())
	alloc(t, m, 10_000)
	alloc(t, m, 10_000)
	if _, err := m.Alloc(10_000, 16); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("two blocks were free, a third came: %v", err)
	}
	must(t, m.Check())
}

// Other goroutines may free blocks of the level, of a frame and of static buffers during the level. The level or
// the manager may end before these frees are handled.
func TestManager_EndHandlesBlocksThatWereSentDuringTheLevel(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*Manager) error
	}{
		{"EndLevel", func(m *Manager) error { _, err := m.EndLevel(); return err }},
		{"Close", (*Manager).Close},
	} {
		m := newManager(t, small())
		must(t, m.BeginLevel())
		a, err := m.Declare(planOf(t, 10_000))
		must(t, err)
		p := alloc(t, m.Level(), 100)
		must(t, m.BeginFrame())
		freeElsewhere(t, m, p, a.Get(0), alloc(t, m.Frame(), 100))
		must(t, m.EndFrame())
		if err := c.end(m); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if s := m.returned.Stats(); s.Drained != 3 {
			t.Errorf("%s: %+v", c.name, s)
		}
		if c.name == "Close" {
			continue
		}
		freeElsewhere(t, m, p) // dead by now
		memtest.Misuse(t, func() { _ = m.BeginFrame() }, "no live block of the level tier")
	}
}

// Blocks of slab go home in runs, and others among them one by one; with tags all do.
func TestManager_WhatComesHomeIsFreedWhateverLiesBesideIt(t *testing.T) {
	for _, tags := range []bool{false, true} {
		cfg := small()
		cfg.Tags = tags
		m := newManager(t, cfg)
		tag := newTag(t, m, "a")
		must(t, m.BeginLevel())
		must(t, m.BeginFrame())
		old := alloc(t, tag, 100)
		must(t, m.EndFrame())
		_, err := m.EndLevel()
		must(t, err)
		must(t, m.BeginLevel())
		var all []unsafe.Pointer
		for i := range uintptr(20) {
			all = append(all, alloc(t, tag, 100), alloc(t, m, 16+i*100), alloc(t, m, 5000), alloc(t, m.Level(), 8), alloc(t, m.Worker(0), 300))
		}
		all = append(all, old)
		freeElsewhere(t, m, all...)
		must(t, m.BeginFrame())
		m.Worker(0).Settle()
		if a, b, c := m.Stats(Slab), m.Stats(Large).Live, m.Stats(Inbox).Live; a.Live != 0 || a.Frees != 41 || b != 0 || c != 0 {
			t.Errorf("tags %t: slab %+v, %d of large, %d with the worker", tags, a, b, c)
		}
		if s := tag.Stats(); s.Live != 0 || tags && s.Frees != 21 {
			t.Errorf("%+v", s)
		}
		must(t, m.EndFrame())
		p, q := alloc(t, m, 64), alloc(t, m, 64)
		if !invariant.Exact {
			continue
		}
		freeElsewhere(t, m, p, p, q)
		memtest.Misuse(t, func() { _ = m.BeginFrame() }, "remote.Drain", "double free")
		must(t, m.BeginFrame())
		if m.Stats(Slab).Live != 0 {
			t.Error("what came behind a refused block was not freed")
		}
		must(t, m.EndFrame())
		must(t, m.Check())
	}
}
