package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

// A stepper runs one step of a world's life until it is done.
type stepper func(name string, f func() error)

// caught runs f and returns what it panicked with.
func caught(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// everyPanic leads as many lives as it takes for each call of Alloc, or of Free, to panic once, and
// returns how often one did. The world is in order each time, and the step is repeated.
func everyPanic(t *testing.T, cfg Config, inFree bool, life func(w *World, step stepper)) (panics int) {
	for at := 1; ; at++ {
		w, mem := newTestWorld(t, cfg)
		left, before := at, panics
		hook := func() {
			if left--; left == 0 {
				panic("hook")
			}
		}
		if mem.onAlloc = hook; inFree {
			mem.onAlloc, mem.onFree = nil, hook
		}
		life(w, func(name string, f func() error) {
			t.Helper()
			err := errors.New("none yet")
			for done := false; !done; {
				r := caught(func() { err = f() })
				if done = r == nil; !done {
					panics++
				}
				if r != nil && r != "hook" || w.guard.locked != 0 && w.guard.locked != closedMark || w.Check() != nil {
					t.Fatalf("%s: %v, %d locks, %v", name, r, w.guard.locked, w.Check())
				}
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		mem.onAlloc, mem.onFree = nil, nil
		if panics == before {
			return panics
		}
	}
}

// everyRefusal leads as many lives as it takes for each request of the allocator to fail once, and
// all after it where persist is set, and returns how many steps failed. Nothing has changed then, and
// the step is done when the memory is healed.
func everyRefusal(t *testing.T, cfg Config, persist bool, life func(w *World, step stepper)) (failures int) {
	for failAt := 1; ; failAt++ {
		w, mem := newTestWorld(t, cfg)
		mem.failAt, mem.persist = failAt, persist
		before := failures
		life(w, func(name string, f func() error) {
			t.Helper()
			hash, n, chunks := w.Hash(0), w.Len(), w.Stats().Chunks
			err := f()
			if err == nil {
				return
			}
			failures++
			if !errors.Is(err, memory.ErrOutOfMemory) || w.Hash(0) != hash || w.Len() != n || w.Check() != nil ||
				w.Stats().Chunks > chunks || w.Stats().Chunks < chunks && w.store.variants == nil { // a sweep may give some back
				t.Fatalf("%s changed the world and failed: %v, %v", name, err, w.Check())
			}
			mem.heal()
			if err := f(); err != nil {
				t.Fatalf("%s fails again: %v", name, err)
			}
		})
		if failures == before && failAt > mem.allocs { // a refusal may also be made up for with a smaller chunk
			return failures
		}
	}
}
