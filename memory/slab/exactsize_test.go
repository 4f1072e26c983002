package slab

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A front is what Heap, Central and Cache have in common.
type front interface {
	memory.Allocator
	memory.AnyFreer
	memory.Resizer
}

// fronts returns a Heap, a Central and a Cache of the same configuration.
func fronts(t testing.TB, cfg Config) map[string]front {
	central, caches := newCaches(t, cfg, 1)
	return map[string]front{"Heap": newHeap(t, cfg), "Central": central, "Cache": caches[0]}
}

// wrongSizes returns 0, 1, 2n and every size but n that lies within two classes of n's.
func wrongSizes(l *ladder, n uintptr) []uintptr {
	ci, _ := l.class(n, 1)
	low, high := uintptr(0), uintptr(l.sizes[len(l.sizes)-1])
	if ci >= 3 {
		low = uintptr(l.sizes[ci-3]) + 1
	}
	if int(ci)+2 < len(l.sizes) {
		high = uintptr(l.sizes[ci+2])
	}
	sizes := []uintptr{0, 1, 2 * n}
	for size := low; size <= high; size++ {
		sizes = append(sizes, size)
	}
	return sizes
}

// Every size of a Heap and every wrong one within two classes. Central and Cache take some of the
// wrong ones, and short tests some of the sizes too; the nearest are always among them.
func TestSize_DebugRefusesEveryOther(t *testing.T) {
	if !invariant.Debug {
		return // the metadata has the class alone: TestFree_AcceptsTheSizesOfTheClassAndNoOther
	}
	cfg := Config{MaxSize: 4096}
	for name, a := range fronts(t, cfg) {
		step, wrongStep := uintptr(1), uintptr(1)
		if name != "Heap" {
			wrongStep = 17
		}
		if testenv.Short() {
			step, wrongStep = 83, 37
		}
		l, _ := newLadder(cfg.Classes, cfg.MaxSize)
		for n := uintptr(1); n <= cfg.MaxSize; n += step {
			for _, al := range []uintptr{1, 16, 64} {
				p := memtest.MustAlloc(t, a, n, al)
				for i, wrong := range wrongSizes(&l, n) {
					near := wrong+2 >= n && wrong <= n+2 || i < 3
					if wrong == n || !near && (wrong+n+al)%wrongStep != 0 {
						continue
					}
					refuse(t, name, a, p, n, wrong)
				}
				if !a.Resize(p, n, n) {
					t.Fatalf("%s: Resize from %d to %d is false", name, n, n)
				}
				a.Free(p, n)
			}
		}
		memtest.MustCheck(t, a.(memory.Checker))
	}
}

// refuse verifies that Free, FreeSlice and Resize panic for a block of n bytes with a wrong size.
func refuse(t *testing.T, name string, a front, p unsafe.Pointer, n, wrong uintptr) {
	t.Helper()
	want := fmt.Sprintf("asked for with %d bytes", n)
	for op, f := range []func(){
		func() { a.Free(p, wrong) },
		func() { a.Resize(p, wrong, n) },
		func() { memory.FreeSlice(a, unsafe.Slice((*byte)(p), wrong)) }, // which is a Free
	} {
		if op == 2 && wrong+2 < n && wrong%13 != 0 {
			continue
		}
		m, _ := panicOf(f).(*memory.Misuse)
		if m == nil {
			t.Fatalf("%s: a block of %d as %d passes call %d of Free, Resize and FreeSlice", name, n, wrong, op)
		}
		if wrong == n+1 && m.Size != wrong {
			t.Errorf("%s, call %d: %v; want the size %d", name, op, m, wrong)
		}
		if wrong == n+1 && !(strings.Contains(m.Reason, want) && strings.Contains(m.Reason, "wrong size")) {
			t.Errorf("%s, call %d: %q; want %q", name, op, m.Reason, want)
		}
	}
}

func TestSize_LargestClassAndZero(t *testing.T) {
	if !invariant.Debug {
		return
	}
	for _, cfg := range []Config{{MaxSize: 64 << 10}, {MaxSize: 100}, {Classes: Fibonacci}, {Classes: PowerOfTwo}, {Classes: Step16}} {
		for name, a := range fronts(t, cfg) {
			for _, n := range []uintptr{0, 1, 16, 17, 99, 100, 4095, 4096, 65535, 65536} {
				if n > max(cfg.MaxSize, 4096) || cfg.MaxSize == 100 && n > 100 {
					continue
				}
				for _, al := range []uintptr{1, 32, 4096} {
					p := memtest.MustAlloc(t, a, n, al)
					for _, wrong := range []uintptr{n - 1, n + 1} {
						m, _ := panicOf(func() { a.Free(p, wrong) }).(*memory.Misuse)
						if m == nil {
							t.Fatalf("%s, %+v: a block of %d bytes is freed as %d", name, cfg, n, wrong)
						}
					}
					a.Free(p, n)
				}
			}
			memtest.MustCheck(t, a.(memory.Checker))
		}
	}
}

// The right size passes whatever has happened to the block and to its memory before.
func TestSize_TheRightOnePassesAfterEverything(t *testing.T) {
	for name, a := range fronts(t, Config{Reserve: 1 << 20}) {
		for _, n := range []uintptr{0, 1, 15, 16, 100, 1000, 4000} {
			p := memtest.MustAlloc(t, a, n, 8)
			for _, to := range []uintptr{n + 1, n + 7, n} {
				old := n
				if a.Resize(p, old, to) {
					if invariant.Debug {
						memtest.Misuse(t, func() { a.Free(p, to+1) }, "slab.Free")
						memtest.Misuse(t, func() { a.Resize(p, to+1, to) }, "slab.Resize")
					}
					if !a.Resize(p, to, old) {
						t.Fatalf("%s: Resize from %d back to %d is false", name, to, old)
					}
				}
			}
			if a.Resize(p, n, 60_000) {
				t.Fatalf("%s: Resize to another class", name)
			}
			a.Free(p, n) // a refused Resize changes no size
			q := memtest.MustAlloc(t, a, n+3, 8)
			a.FreeAny(q)
			a.Free(memtest.MustAlloc(t, a, n+5, 8), n+5) // reuse
		}
	}
}

// Reset, Trim and recycled spans move memory between classes: what a granule was asked for before
// decides nothing.
func TestSize_OldSizesAreForgotten(t *testing.T) {
	h := newHeap(t, Config{Reserve: 64 << 10})
	for round := range uintptr(6) {
		size := []uintptr{16, 1000, 48, 4096, 100, 700}[round]
		var all []unsafe.Pointer
		for {
			p, err := h.Alloc(size, 8)
			if err != nil {
				break
			}
			all = append(all, p)
		}
		if len(all) == 0 {
			t.Fatalf("round %d: no block of %d bytes", round, size)
		}
		if round%3 != 0 {
			for _, p := range all {
				h.Free(p, size)
			}
		} else {
			h.Reset()
		}
		if round%3 == 1 {
			if err := h.Trim(); err != nil {
				t.Fatal(err)
			}
		}
		memtest.MustCheck(t, h)
	}
}

func TestSize_CheckNamesABlockThatAskedForMore(t *testing.T) {
	if !invariant.Debug {
		return
	}
	h := newHeap(t, Config{})
	p := memtest.MustAlloc(t, h, 100, 8)
	off, _ := h.granule(p)
	h.lives.Resize(off, 113)
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "asked for with 113 bytes") {
		t.Errorf("Check: %v", err)
	}
	h.lives.Resize(off, 112)
	memtest.MustCheck(t, h)
}
