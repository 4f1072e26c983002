//go:build memdebug || race

package slab

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// allFreed reports whether size bytes at p are filled as freed blocks are.
func allFreed(p unsafe.Pointer, size uintptr) bool {
	_, ok := invariant.Intact(p, size)
	return ok
}

// A write through a stale pointer is told when the block is handed out again, once, and by
// every front.
func TestPoison_AWriteAfterFreeIsToldByTheNextAlloc(t *testing.T) {
	h := newHeap(t, Config{})
	central, caches := newCaches(t, Config{}, 1)
	for _, a := range []memory.Allocator{h, central, caches[0]} {
		for _, al := range []uintptr{16, 256} {
			for _, at := range []uintptr{0, 17, 255} {
				p := memtest.MustAlloc(t, a, 250, al)
				a.Free(p, 250)
				*(*byte)(unsafe.Add(p, at)) = 0x41
				m := memtest.Misuse(t, func() { _, _ = a.Alloc(250, al) }, "slab.Alloc", "use after free",
					fmt.Sprintf("byte %d of the free block of 256 bytes was written", at), "0x41")
				if m.Addr != uintptr(p) {
					t.Errorf("%T: it names %#x, the block is %p", a, m.Addr, p)
				}
				sound(t, central, caches[0])
				memtest.MustCheck(t, h)
				if q := memtest.MustAlloc(t, a, 250, al); q != p {
					t.Errorf("%T: the block was lost: %p, want %p", a, q, p)
				}
				a.Free(p, 250)
			}
		}
	}
}

// What no one wrote to is intact, whatever road it took: fresh, freed, recycled to another
// class, reset, given back to the system.
func TestPoison_IsIntactOnEveryRoad(t *testing.T) {
	h := newHeap(t, Config{Reserve: 512 << 10, MaxSize: 65536})
	for _, size := range []uintptr{64, 36 << 10, 3000, 16} {
		blocks := fill(t, h, size)
		for _, p := range blocks {
			for i := range min(size, 64) {
				*(*byte)(unsafe.Add(p, i)) = 7
			}
		}
		switch size {
		case 3000:
			h.Reset()
			if h.poisoned < 500<<10/granule || !allFreed(h.base, h.poisoned<<granuleShift) {
				t.Error("Reset left bytes as they were")
			}
		default:
			for _, p := range blocks {
				h.FreeAny(p)
			}
		}
		memtest.MustCheck(t, h)
	}
	if err := h.Trim(); err != nil || h.poisoned != 0 {
		t.Errorf("Trim: %v, %d granules poisoned", err, h.poisoned)
	}
	fill(t, h, 128)
}

func TestPoison_AWriteAfterResetIsTold(t *testing.T) {
	h := newHeap(t, Config{})
	p := memtest.MustAlloc(t, h, 64, 16)
	h.Reset()
	*(*uint16)(unsafe.Add(p, 30)) = 0xBEEF
	memtest.Misuse(t, func() { _, _ = h.Alloc(64, 16) }, "byte 30 of the free block of 64 bytes")
	memtest.MustAlloc(t, h, 64, 16)
}

func TestPoison_ASpanOverOldAndNewMemoryKeepsTheTrace(t *testing.T) {
	h := newHeap(t, Config{MaxSize: 65536})
	p := memtest.MustAlloc(t, h, 64, 16)
	h.Reset()
	*(*byte)(unsafe.Add(p, 5)) = 1
	memtest.Misuse(t, func() { _, _ = h.Alloc(36<<10, 16) }, "byte 5 of the free block of 36864 bytes")
}

func TestPoison_AFailedCloseFillsAgain(t *testing.T) {
	src := memtest.NewFaulty()
	h, err := New(src, Config{})
	if err != nil {
		t.Fatal(err)
	}
	memtest.MustAlloc(t, h, 64, 16)
	src.FailReturns = true
	if err := h.Close(); err == nil || h.poisoned != 0 {
		t.Errorf("Close: %v, %d granules are taken for poisoned", err, h.poisoned)
	}
	src.FailReturns = false
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestPoison_AWriteIntoARecycledSpanIsTold(t *testing.T) {
	h := newHeap(t, Config{Reserve: 128 << 10})
	blocks := fill(t, h, 64)
	for _, p := range blocks {
		h.Free(p, 64)
	}
	*(*byte)(unsafe.Add(blocks[0], 5)) = 1
	told := ""
	func() {
		defer func() {
			if m, ok := recover().(*memory.Misuse); ok {
				told = m.Reason
			}
		}()
		fill(t, h, 128)
	}()
	if !strings.Contains(told, "byte 5 of the free block of 128 bytes") {
		t.Errorf("told %q", told)
	}
	memtest.MustCheck(t, h)
}

// Between a free and the next Alloc nothing fills a block again, or the trace would be lost.
func TestPoison_TheWayHomeDoesNotWipeTheTrace(t *testing.T) {
	central, caches := newCaches(t, Config{}, 1)
	c := caches[0]
	p := memtest.MustAlloc(t, c, 64, 16)
	c.Free(p, 64)
	*(*byte)(p) = 1
	c.Flush()
	told := 0
	for range 64 {
		func() {
			defer func() {
				if m, ok := recover().(*memory.Misuse); ok && m.Addr == uintptr(p) {
					told++
				}
			}()
			memtest.MustAlloc(t, c, 64, 16)
		}()
	}
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
	sound(t, central, c)
}
