package slab

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// ground is a reservation that is cut up, and whose end comes before that of what stands on it.
func ground(t *testing.T) *page.Carve {
	t.Helper()
	src := page.Default()
	m, err := src.Reserve(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	c, err := page.NewCarve(src, m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := src.Release(m); err != nil {
			t.Error(err)
		}
	})
	return c
}

// unmap takes the memory away for good: a touch of it ends the test.
func unmap(t *testing.T, c *page.Carve, touched unsafe.Pointer) {
	t.Helper()
	b := (*byte)(touched)
	*b = 0x5A
	c.Close()
	if *b != 0x5A {
		t.Error("a heap whose memory is gone has written to it")
	}
}

func TestHeap_IsClosedWithItsGround(t *testing.T) {
	c := ground(t)
	h, err := New(c, Config{Reserve: 1 << 20, Large: new(fakeLarge)})
	if err != nil {
		t.Fatal(err)
	}
	p, q := memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 5000, 16)
	for range 100 {
		h.FreeAny(memtest.MustAlloc(t, h, 300, 16))
	}
	unmap(t, c, p)
	for _, size := range []uintptr{0, 1, 64, 4096, 5000} {
		if got, err := h.Alloc(size, 16); got != nil || err != memory.ErrClosed {
			t.Errorf("Alloc(%d) = %v, %v", size, got, err)
		}
	}
	memtest.Misuse(t, func() { h.Free(p, 64) }, "slab.Free", "the heap is closed")
	memtest.Misuse(t, func() { h.Free(q, 5000) }, "slab.Free", "the heap is closed")
	memtest.Misuse(t, func() { h.FreeAny(p) }, "slab.FreeAny", "the heap is closed")
	memtest.Misuse(t, func() { h.FreeAny(q) }, "slab.FreeAny", "the heap is closed")
	memtest.Misuse(t, func() { h.SizeOf(p) }, "slab.SizeOf", "the heap is closed")
	memtest.Misuse(t, h.Reset, "slab.Reset", "the heap is closed")
	isEmpty(t, h)
	if err := h.Trim(); err != memory.ErrClosed {
		t.Errorf("Trim: %v", err)
	}
	if h.Owns(p) {
		t.Error("it owns what is somebody else's")
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	memtest.MustCheck(t, h)
}

func isEmpty(t *testing.T, a memory.StatsReporter) {
	t.Helper()
	st := a.Stats()
	if st.Reserved != 0 || st.Committed != 0 || st.InUse != 0 || st.Live != 0 || st.LargestFree != 0 || st.Free != 0 || st.Allocs != st.Frees || st.Failures != 0 {
		t.Errorf("books of what is closed: %+v", st)
	}
}

func TestCache_IsClosedWithTheGroundOfItsHeap(t *testing.T) {
	ground := ground(t)
	h, err := New(ground, Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	central := mustCentral(h)
	full, empty := NewCache(central), NewCache(central)
	p, q := memtest.MustAlloc(t, full, 64, 16), memtest.MustAlloc(t, full, 64, 16)
	var many []unsafe.Pointer
	for range 2 * batchBlocks {
		many = append(many, memtest.MustAlloc(t, full, 128, 16))
	}
	for _, b := range many {
		full.Free(b, 128)
	}
	full.Free(q, 64)
	unmap(t, ground, p)
	for _, a := range []memory.Allocator{full, empty, central} {
		for _, size := range []uintptr{0, 64, 128, 5000} {
			if got, err := a.Alloc(size, 16); got != nil || err != memory.ErrClosed {
				t.Errorf("%T.Alloc(%d) = %v, %v", a, size, got, err)
			}
		}
		for range 2 {
			memtest.Misuse(t, func() { a.Free(p, 64) }, "slab.Free", "closed")
			memtest.Misuse(t, func() { a.Free(many[0], 128) }, "slab.Free", "closed")
			memtest.Misuse(t, func() { a.(memory.AnyFreer).FreeAny(p) }, "slab.FreeAny", "closed")
		}
	}
	memtest.Misuse(t, full.Flush, "slab.Flush", "closed")
	memtest.Misuse(t, central.Reset, "slab.Reset", "closed")
	memtest.Misuse(t, func() { central.SizeOf(p) }, "slab.SizeOf", "closed")
	if n, bytes := full.Cached(); n != 0 || bytes != 0 {
		t.Errorf("%d blocks, %d bytes in the cache of a heap that is gone", n, bytes)
	}
	isEmpty(t, central)
	if central.Owns(p) || central.Trim() != memory.ErrClosed {
		t.Error("the Central of a heap that is gone owns or trims")
	}
	sound(t, central, full, empty)
	if err := central.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, c := range []*Cache{full, empty, full, NewCache(central)} {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := c.Alloc(64, 16); err != memory.ErrClosed {
			t.Errorf("Alloc: %v", err)
		}
	}
	memtest.Misuse(t, func() { full.Free(p, 64) }, "slab.Free", "closed")
}

// An endingLarge ends the source of everything, as the function of a soft limit may, when it allocates or resizes.
type endingLarge struct {
	fakeLarge
	end func()
}

func (l *endingLarge) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if l.end != nil {
		l.end()
		return nil, memory.ErrClosed
	}
	return l.fakeLarge.Alloc(size, align)
}

func (l *endingLarge) Resize(_ unsafe.Pointer, _, _ uintptr) bool { l.end(); return false }

func TestCentral_LargeThatEndsTheSourceDoesNotHang(t *testing.T) {
	for name, call := range map[string]func(*Central, unsafe.Pointer){
		"Alloc": func(c *Central, _ unsafe.Pointer) {
			if p, err := c.Alloc(6000, 16); p != nil || err != memory.ErrClosed {
				t.Errorf("Alloc: %v, %v", p, err)
			}
		},
		"Resize": func(c *Central, p unsafe.Pointer) {
			if c.Resize(p, 5000, 6000) {
				t.Error("a closed Central has resized a block")
			}
		},
	} {
		ground, large := ground(t), new(endingLarge)
		h, err := New(ground, Config{Reserve: 1 << 20, Large: large})
		if err != nil {
			t.Fatal(err)
		}
		central := mustCentral(h)
		p := memtest.MustAlloc(t, central, 5000, 16)
		large.end = ground.Close
		done := make(chan bool)
		go func() {
			defer close(done)
			call(central, p)
		}()
		testenv.Receive(t, "the "+name+" of a Central", done)
		isEmpty(t, central)
		memtest.MustCheck(t, central)
	}
}
