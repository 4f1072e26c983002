package slab

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// Free accepts the sizes that the block's class serves at some alignment, and no other one; in debug
// builds the requested size alone. Every class of small ladders with every size, through every front.
func TestFree_AcceptsTheSizesOfTheClassAndNoOther(t *testing.T) {
	const maxSize = 208
	for _, table := range tables {
		h := newHeap(t, Config{MaxSize: maxSize, Classes: table})
		central, caches := newCaches(t, Config{MaxSize: maxSize, Classes: table}, 1)
		served := servedBy(table, maxSize)
		for _, a := range []memory.Allocator{h, central, caches[0]} {
			for class, sizes := range served {
				for size := range uintptr(maxSize + 40) {
					p, asked := ofClass(t, a, class, sizes)
					refused := panicOf(func() { a.Free(p, size) })
					want := sizes[size] && size == unlessDebug(size, asked)
					if m, ok := refused.(*memory.Misuse); ok == want {
						t.Fatalf("%v, %T: a block of %d for %d freed as %d: %v; want success: %t", table, a, class, asked, size, m, want)
					}
					if refused != nil {
						a.(memory.AnyFreer).FreeAny(p)
					}
				}
			}
		}
		memtest.MustCheck(t, h)
		sound(t, central, caches...)
	}
}

// unlessDebug returns size, or in debug builds, which check to the byte, asked.
func unlessDebug(size, asked uintptr) uintptr {
	if invariant.Debug {
		return asked
	}
	return size
}

// ofClass allocates a block of the class that serves sizes, and returns its size too.
func ofClass(t *testing.T, a memory.Allocator, class uintptr, sizes map[uintptr]bool) (unsafe.Pointer, uintptr) {
	t.Helper()
	sizer, ok := a.(memory.Sizer)
	if c, cache := a.(*Cache); cache {
		sizer, ok = c.central, true
	}
	for size := range sizes {
		for al := uintptr(1); ok && al <= 4096; al *= 2 {
			p := memtest.MustAlloc(t, a, size, al)
			if sizer.SizeOf(p) == class {
				return p, size
			}
			a.Free(p, size)
		}
	}
	t.Fatalf("no request gets the class of %d", class)
	return nil, 0
}

// frozen stops giving memory when it is told to.
type frozen struct {
	page.Source
	cold bool
}

func (f *frozen) Commit(m page.Memory, off, size uintptr) error {
	if f.cold {
		return &memory.Exhausted{Op: "frozen: commit", Need: size}
	}
	return f.Source.Commit(m, off, size)
}

// What Stats calls the largest free request can be had from committed memory alone, and where
// it is 0 nothing can, whatever Free says.
func TestStats_LargestFreeCanBeHadWithoutMoreMemory(t *testing.T) {
	src := &frozen{Source: page.Default()}
	h, err := New(src, Config{Reserve: 32 << 20, MaxSize: 65536})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	seen := map[uint64]bool{}
	for step := range uintptr(40) {
		src.cold = false
		size := step * 1777 % 65537
		p := memtest.MustAlloc(t, h, size, 16)
		if step%3 == 0 {
			h.Free(p, size)
		}
		src.cold = true
		for {
			st := h.Stats()
			seen[st.LargestFree] = true
			if st.Requested != 0 || st.Measured != 0 || st.Free != st.Committed-st.InUse {
				t.Fatalf("books %+v", st)
			}
			if st.LargestFree == 0 {
				break
			}
			memtest.MustAlloc(t, h, uintptr(st.LargestFree), 1)
		}
		for _, none := range []uintptr{0, 1, 16, 1000, 4096, 65536} {
			if p, err := h.Alloc(none, 1); !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("largest free 0 of %d free bytes, and Alloc(%d) = %v, %v", h.Stats().Free, none, p, err)
			}
		}
		memtest.MustCheck(t, h)
		if step%7 == 6 {
			h.Reset()
		}
	}
	if len(seen) < 10 || !seen[65536] {
		t.Errorf("only %d values were seen: %v", len(seen), seen)
	}
}

func TestStats_OfAFullHeapSaysThatNoFreeByteCanBeHad(t *testing.T) {
	h := newHeap(t, Config{Reserve: 192 << 10, MaxSize: 36 << 10})
	fill(t, h, 36<<10) // five blocks, and 12 KiB left
	fill(t, h, 3328)   // three blocks, and a rest of two units, less three quarters of one
	fill(t, h, 576)
	fill(t, h, 32)
	st := h.Stats()
	if st.LargestFree != 0 || st.Free != 192<<10-st.InUse || st.Free == 0 {
		t.Errorf("%+v", st)
	}
}

// The same of heaps whose classes have grown and breathe: what a span would leave unused is no reason to
// commit more.
func TestStats_LargestFreeCommitsNothingInAHeapThatWasUsed(t *testing.T) {
	type block struct {
		p    unsafe.Pointer
		size uintptr
	}
	for _, table := range tables {
		for seed := range uint64(10) {
			h, r, live := newHeap(t, Config{Reserve: 8 << 20, Classes: table}), rand.New(rand.NewPCG(seed, 1)), []block{}
			for range 3000 {
				if n := len(live); n > 0 && r.IntN(100) < 48 {
					i := r.IntN(n)
					h.Free(live[i].p, live[i].size)
					live[i] = live[n-1]
					live = live[:n-1]
				} else {
					size := uintptr(1 + r.IntN(1<<(4+r.IntN(9))))
					live = append(live, block{memtest.MustAlloc(t, h, size, 1), size})
				}
				st := h.Stats()
				if st.LargestFree == 0 {
					continue
				}
				h.Free(memtest.MustAlloc(t, h, uintptr(st.LargestFree), 1), uintptr(st.LargestFree))
				if now := h.Stats().Committed; now != st.Committed {
					t.Fatalf("%v, seed %d: LargestFree is %d, and took committed memory from %d to %d", table, seed, st.LargestFree, st.Committed, now)
				}
			}
		}
	}
}
