package slab

import (
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

func newHeap(t testing.TB, cfg Config) *Heap {
	t.Helper()
	h, err := New(nil, cfg)
	return memtest.Opened(t, h, err)
}

// fill allocates size-byte blocks until the heap refuses.
func fill(t testing.TB, h *Heap, size uintptr) (blocks []unsafe.Pointer) {
	t.Helper()
	for {
		p, err := h.Alloc(size, 16)
		if errors.Is(err, memory.ErrOutOfMemory) {
			return blocks
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, p)
	}
}

func TestHeap_MisusePanicsAndChangesNothing(t *testing.T) {
	h, other := newHeap(t, Config{}), newHeap(t, Config{})
	p := memtest.MustAlloc(t, h, 100, 8)
	memtest.MustAlloc(t, h, 300, 8)
	foreign := memtest.MustAlloc(t, other, 100, 8)
	var local [64]byte
	before := h.Stats()
	memtest.Misuse(t, func() { h.Free(foreign, 100) }, "slab.Free", "size 100", "foreign pointer")
	memtest.Misuse(t, func() { h.Free(unsafe.Pointer(&local), 16) }, "foreign pointer")
	memtest.Misuse(t, func() { h.FreeAny(foreign) }, "slab.FreeAny", "foreign pointer")
	memtest.Misuse(t, func() { h.SizeOf(foreign) }, "slab.SizeOf", "foreign pointer")
	memtest.Misuse(t, func() { h.Free(unsafe.Add(p, 8), 100) }, "interior pointer", "8 bytes into a block of 112")
	memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, 1)) }, "interior pointer")
	memtest.Misuse(t, func() { h.Free(p, 96) }, "wrong size", "96 bytes", "class of 112")
	memtest.Misuse(t, func() { h.Free(p, 113) }, "wrong size")
	memtest.Misuse(t, func() { h.Free(p, 0) }, "wrong size")
	memtest.Misuse(t, func() { h.Free(p, 5000) }, "wrong size")
	memtest.Misuse(t, func() { h.Free(p, math.MaxUint) }, "wrong size")
	memtest.Misuse(t, func() { h.Free(unsafe.Add(h.base, 10*largest), 100) }, "not live", "never allocated, or was freed")
	memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(h.base, 10*largest)) }, "never allocated, or was freed")
	if invariant.Exact {
		memtest.Misuse(t, func() { h.Free(unsafe.Add(p, 16), 100) }, "interior pointer", "16 bytes into")
		memtest.Misuse(t, func() { h.FreeAny(unsafe.Add(p, 32)) }, "interior pointer")
		memtest.Misuse(t, func() { h.Free(unsafe.Add(p, 112), 100) }, "not live")
		memtest.Misuse(t, func() { h.SizeOf(unsafe.Add(p, 16)) }, "interior pointer")
	}
	if after := h.Stats(); after != before {
		t.Errorf("refused frees changed the books: %+v, were %+v", after, before)
	}
	memtest.MustCheck(t, h)
	h.Free(p, unlessDebug(97, 100)) // exact to the class, and in debug builds to the byte
}

func TestHeap_DoubleFreePanics(t *testing.T) {
	h := newHeap(t, Config{})
	p, q := memtest.MustAlloc(t, h, 100, 8), memtest.MustAlloc(t, h, 100, 8)
	h.Free(p, 100)
	if invariant.Exact {
		memtest.Misuse(t, func() { h.Free(p, 100) }, "slab.Free", "double free")
		memtest.Misuse(t, func() { h.FreeAny(p) }, "slab.FreeAny", "double free")
		memtest.Misuse(t, func() { h.SizeOf(p) }, "slab.SizeOf", "double free")
	}
	h.Free(q, 100)
	memtest.Misuse(t, func() { h.Free(q, 100) }, "double free") // memfast: the stack would overrun
	memtest.MustCheck(t, h)
}

// The first byte behind the units in use belongs to nobody, whatever the books hold there.
func TestHeap_NothingIsLiveAtLimit(t *testing.T) {
	h := newHeap(t, Config{})
	for range 3 {
		memtest.MustAlloc(t, h, 16, 16)
	}
	if h.limit != unitGranules {
		t.Fatalf("limit %d, want one unit", h.limit)
	}
	end, before := unsafe.Add(h.base, unitBytes), h.Stats()
	memtest.Misuse(t, func() { h.Free(end, 16) }, "never allocated, or was freed")
	memtest.Misuse(t, func() { h.FreeAny(end) }, "never allocated, or was freed")
	memtest.Misuse(t, func() { h.SizeOf(end) }, "never allocated, or was freed")
	memtest.Misuse(t, func() { h.Free(end, 0) }, "never allocated, or was freed")
	if h.Stats() != before {
		t.Errorf("refused frees changed the books: %+v", h.Stats())
	}
	memtest.MustCheck(t, h)
}

// A block that an alignment put into a larger class is freed with the size it was asked for.
func TestHeap_AlignedBlocksAcceptTheirSizeOnly(t *testing.T) {
	for _, table := range tables {
		h := newHeap(t, Config{Classes: table})
		for al := uintptr(1); al <= 4096; al *= 2 {
			for _, size := range []uintptr{0, 1, 24, 48, 200, 1000, 4096} {
				p := memtest.MustAlloc(t, h, size, al)
				if uintptr(p)%al != 0 {
					t.Fatalf("%v: Alloc(%d, %d) = %p", table, size, al, p)
				}
				room := h.SizeOf(p)
				memtest.Misuse(t, func() { h.Free(p, room+1) }, "wrong size")
				h.Free(p, size)
			}
		}
		if st := h.Stats(); st.Live != 0 || st.InUse != 0 {
			t.Errorf("%v: %d blocks live at the end", table, st.Live)
		}
		memtest.MustCheck(t, h)
	}
	h := newHeap(t, Config{})
	p := memtest.MustAlloc(t, h, 48, 64) // the class of 64; 48 aligned to 32 gets it as well
	memtest.Misuse(t, func() { h.Free(p, 65) }, "wrong size")
	h.Free(p, unlessDebug(33, 48))
	q := memtest.MustAlloc(t, h, 320, 16) // no request of 250 bytes is ever served from 320
	memtest.Misuse(t, func() { h.Free(q, 250) }, "wrong size", "class of 320")
	h.Free(q, 320)
}

func TestHeap_FreedBlocksComeBackNewestFirst(t *testing.T) {
	h := newHeap(t, Config{})
	a, b := memtest.MustAlloc(t, h, 64, 16), memtest.MustAlloc(t, h, 64, 16)
	if uintptr(b) != uintptr(a)+64 {
		t.Errorf("fresh blocks %p, %p are not neighbours", a, b)
	}
	h.Free(a, 64)
	h.Free(b, 64)
	if p := memtest.MustAlloc(t, h, 64, 16); p != b {
		t.Errorf("got %p, want the newest free block %p", p, b)
	}
}

// fakeLarge stands for the next tier: it hands out parts of one array.
type fakeLarge struct {
	buf         [256 << 10]byte
	used, freed uintptr
}

func (f *fakeLarge) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if size > uintptr(len(f.buf))-f.used {
		return nil, memory.ErrOutOfMemory
	}
	p := unsafe.Pointer(&f.buf[f.used])
	f.used += size
	return p, nil
}
func (f *fakeLarge) Free(_ unsafe.Pointer, size uintptr) { f.freed += size }
func (f *fakeLarge) FreeAny(unsafe.Pointer)              { f.freed++ }
func (f *fakeLarge) SizeOf(unsafe.Pointer) uintptr       { return 77 }

func TestHeap_PassesLargeRequestsOn(t *testing.T) {
	large := new(fakeLarge)
	h := newHeap(t, Config{MaxSize: 1000, Large: large})
	small := memtest.MustAlloc(t, h, 1000, 4096)
	if !h.Owns(small) || large.used != 0 {
		t.Error("an aligned block of MaxSize was passed on")
	}
	p := memtest.MustAlloc(t, h, 1009, 16)
	if h.Owns(p) || large.used != 1009 || h.SizeOf(p) != 77 {
		t.Errorf("the block above MaxSize: owned %t, passed on %d", h.Owns(p), large.used)
	}
	if h.SizeOf(small) != 4096 {
		t.Errorf("a block of the heap has %d bytes; Large was asked", h.SizeOf(small))
	}
	memtest.Misuse(t, func() { h.Free(p, 1000) }, "foreign pointer")
	h.Free(p, 1009)
	h.FreeAny(p)
	h.Free(nil, 5000)
	h.FreeAny(nil)
	if large.freed != 1010 {
		t.Errorf("Large was given back %d, want 1009 + 1", large.freed)
	}
	if st := h.Stats(); st.Live != 1 || st.Failures != 0 {
		t.Errorf("blocks of Large are in the books: %+v", st)
	}
}

func TestHeap_WithoutLargeSaysTooLarge(t *testing.T) {
	h := newHeap(t, Config{})
	for _, size := range []uintptr{4097, 65536, 65537, math.MaxUint} {
		if p, err := h.Alloc(size, 16); err != memory.ErrTooLarge || p != nil {
			t.Errorf("Alloc(%d) = %v, %v; want the bare ErrTooLarge", size, p, err)
		}
	}
	if f := h.Stats().Failures; f != 4 {
		t.Errorf("%d failures counted, want 4", f)
	}
}

func TestHeap_FillsToTheLastBlock(t *testing.T) {
	h := newHeap(t, Config{Reserve: 256 << 10})
	if n := len(fill(t, h, 1024)); n != 256 {
		t.Errorf("256 KiB held %d blocks of 1 KiB", n)
	}
	st := h.Stats()
	if st.InUse != st.Reserved || st.Peak != st.InUse || st.LargestFree != 0 {
		t.Errorf("full: %+v", st)
	}
	memtest.MustCheck(t, h)
}

func TestHeap_ResetLetsEveryClassUseTheMemory(t *testing.T) {
	h := newHeap(t, Config{Reserve: 256 << 10})
	p := fill(t, h, 4096)[3]
	h.Reset()
	if st := h.Stats(); st.Peak != 256<<10 || st.InUse != 0 {
		t.Errorf("Reset forgot the peak: %+v", st)
	}
	memtest.Misuse(t, func() { h.Free(p, 4096) }, "not live")
	if n := len(fill(t, h, 32)); n != 8192 {
		t.Errorf("after Reset: %d blocks of 32 bytes, want 8192", n)
	}
	if st := h.Stats(); st.Live != 8192 || st.Allocs != 8192+64 || st.Frees != 64 {
		t.Errorf("after Reset: %+v", st)
	}
	memtest.MustCheck(t, h)
}

func TestClasses_AddUpToStats(t *testing.T) {
	h := newHeap(t, Config{})
	for i := range uintptr(500) {
		p := memtest.MustAlloc(t, h, i*7, 16)
		if i%3 == 0 {
			h.FreeAny(p)
		}
	}
	var live, bytes, allocs uint64
	last := uintptr(0)
	h.Classes(func(c ClassStats) bool {
		if c.Size <= last || c.Live < 0 || c.Free < 0 || uintptr(c.Live+c.Free)*c.Size > c.Bytes || c.Bytes%unitBytes != 0 {
			t.Errorf("%+v after class of %d", c, last)
		}
		last = c.Size
		live += uint64(c.Live)
		bytes += uint64(c.Live) * uint64(c.Size)
		allocs += c.Allocs
		return true
	})
	if st := h.Stats(); live != st.Live || bytes != st.InUse || allocs != st.Allocs {
		t.Errorf("classes have %d live, %d bytes, %d allocs; Stats %+v", live, bytes, allocs, st)
	}
	n := 0
	count := func(ClassStats) bool { n++; return n%2 == 0 }
	if h.Classes(count); n != 1 {
		t.Errorf("Classes went on %d times after false", n)
	}
	if a := testenv.LeastObjects(11, func() { h.Classes(count) }); a != 0 {
		t.Errorf("Classes costs %v Go allocations", a)
	}
}

func TestHeap_ABaseIsForBlocksInOneRange(t *testing.T) {
	if b := newHeap(t, Config{Large: new(fakeLarge)}).Base(); b != nil {
		t.Errorf("with a Large, whose blocks lie elsewhere, Base is %p", b)
	}
	h := newHeap(t, Config{})
	if mustCentral(h).Base() != h.base || h.base == nil {
		t.Error("the Central has another base")
	}
}

func TestHeap_GrowsSeldom(t *testing.T) {
	memtest.GrowsSeldom(t, func(src page.Source) func() error {
		h, err := New(src, Config{})
		memtest.Opened(t, h, err)
		return func() error { _, err := h.Alloc(4000, 8); return err }
	})
}
