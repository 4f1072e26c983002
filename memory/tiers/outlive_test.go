package tiers

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
)

// What an allocator shows of itself after its memory has gone.
type survivor interface {
	memory.StatsReporter
	memory.Checker
	Close() error
}

// survivors builds families on a source and uses them; what it returns for each calls whatever
// takes memory, and gives the error.
var survivors = map[string]func(t *testing.T, src page.Source) (survivor, func() error){
	"arena.Growing": func(t *testing.T, src page.Source) (survivor, func() error) {
		a, err := arena.NewGrowing(src, arena.GrowingConfig{Reserve: 256 << 10})
		must(t, err)
		alloc(t, a, 1000)
		return a, func() error { _, err := a.Alloc(1000, 16); return err }
	},
	"arena.Frames": func(t *testing.T, src page.Source) (survivor, func() error) {
		a, err := arena.NewFrames(src, arena.FramesConfig{Bytes: 64 << 10})
		must(t, err)
		alloc(t, a, 1000)
		a.Advance()
		return a, func() error { _, err := a.Alloc(1000, 16); return err }
	},
	"arena.Region": func(t *testing.T, src page.Source) (survivor, func() error) {
		a, err := arena.NewRegion(src, arena.RegionConfig{Reserve: 1 << 20})
		must(t, err)
		alloc(t, a, 100)
		return a, func() error { _, err := a.Alloc(100, 16); return err }
	},
	"stack.Stack": func(t *testing.T, src page.Source) (survivor, func() error) {
		a, err := stack.New(src, stack.Config{Bytes: 64 << 10})
		must(t, err)
		alloc(t, a, 100)
		return a, func() error { _, err := a.Alloc(100, 16); return err }
	},
	"slab.Heap": func(t *testing.T, src page.Source) (survivor, func() error) {
		a, err := slab.New(src, slab.Config{Reserve: 1 << 20})
		must(t, err)
		alloc(t, a, 100)
		return a, func() error { _, err := a.Alloc(100, 16); return err }
	},
}

func TestManager_WhatOutlivesItTouchesNothingOfTheNextOwner(t *testing.T) {
	testenv.Long(t)
	for name, build := range survivors {
		src := &reusingSource{Source: page.Default(), t: t}
		cfg := small()
		cfg.Source, cfg.GC.Keep = src, true
		m, err := New(cfg)
		must(t, err)
		a, use := build(t, m.PoolSource())
		must(t, m.Close())
		if err := use(); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("%s: used after the manager's Close: %v", name, err)
		}
		if s := a.Stats(); s.InUse != 0 || s.Committed != 0 || s.Reserved != 0 || s.Live != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		must(t, errors.Join(a.Check(), a.Close(), a.Close(), a.Check()))
		if r, ok := a.(memory.Resetter); ok {
			memtest.Misuse(t, r.Reset, "closed")
		}
		if r, ok := a.(memory.Trimmer); ok {
			if err := r.Trim(); !errors.Is(err, memory.ErrClosed) {
				t.Errorf("%s: Trim = %v", name, err)
			}
		}
		src.intact()
	}
}

func TestManager_ItsOwnTiersTouchNothingOfTheNextOwner(t *testing.T) {
	src := &reusingSource{Source: page.Default(), t: t}
	cfg := small()
	cfg.Source, cfg.GC.Keep = src, true
	m, err := New(cfg)
	must(t, err)
	must(t, m.BeginLevel())
	a, err := m.Declare(planOf(t, 10_000))
	must(t, err)
	objects, err := NewPool[[3]int64](m, objectsConfig)
	must(t, err)
	h, _, err := objects.New()
	must(t, err)
	alloc(t, m, 100)
	alloc(t, m, 10_000)
	alloc(t, m.Worker(0), 10_000)
	level, frames, heap, large, w := m.Level(), m.Frames(), m.Slab(), m.Large(), m.Worker(0)
	must(t, m.Close())
	for _, x := range []memory.Allocator{level, frames, heap, large, w} {
		if p, err := x.Alloc(100, 16); p != nil || !errors.Is(err, memory.ErrClosed) {
			t.Errorf("%T: %v", x, err)
		}
	}
	if _, ok := objects.Get(h); ok {
		t.Error("an object outlives the manager")
	}
	memtest.Misuse(t, func() { a.Get(0) }, "closed")
	must(t, errors.Join(level.Close(), frames.Close(), heap.Close(), large.Close(), objects.Close(), a.Close()))
	src.intact()
}
