package stack

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

func newStack(t testing.TB, bytes uintptr) *Stack {
	t.Helper()
	s, err := New(nil, Config{Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, s)
	return s
}

func closeLater(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// ends runs test on a rising and on a falling End of bytes bytes.
func ends(t *testing.T, bytes uintptr, test func(*testing.T, *End)) {
	for _, name := range []string{"rising", "falling"} {
		t.Run(name, func(t *testing.T) {
			d := newDouble(t, bytes)
			e := d.Bottom()
			if name == "falling" {
				e = d.Top()
			}
			test(t, e)
			memtest.MustCheck(t, d)
		})
	}
}

func hex(p unsafe.Pointer) string { return fmt.Sprintf("%#x", uintptr(p)) }

func TestEnd_FillsToTheLastByte(t *testing.T) {
	ends(t, 100, func(t *testing.T, e *End) {
		a := memtest.MustAlloc(t, e, 60, 1)
		if e.Available() != 40 || e.Stats().Reserved != 100 {
			t.Errorf("available %d, room for %d", e.Available(), e.Stats().Reserved)
		}
		b := memtest.MustAlloc(t, e, 40, 1)
		for _, size := range []uintptr{0, 1, 100, math.MaxUint} {
			for _, al := range []uintptr{1, 16, 4096} {
				want := memory.ErrOutOfMemory
				if size > 100 {
					want = memory.ErrTooLarge
				}
				if p, err := e.Alloc(size, al); p != nil || !errors.Is(err, want) {
					t.Errorf("full: Alloc(%d, %d) = %v, %v; want %v", size, al, p, err, want)
				}
			}
		}
		if e.Available() != 0 || e.Used() != 100 || e.Stats().Failures != 12 {
			t.Errorf("available %d, used %d, failures %d", e.Available(), e.Used(), e.Stats().Failures)
		}
		e.Free(b, 40)
		e.Free(a, 60)
		if s := e.Stats(); s.InUse != 0 || s.Live != 0 || s.Frees != 2 || s.Peak != 100 {
			t.Errorf("emptied: %+v", s)
		}
	})
}

func TestEnd_FreeReturnsThePaddingToo(t *testing.T) {
	ends(t, 20_000, func(t *testing.T, e *End) {
		memtest.MustAlloc(t, e, 3, 1)
		for al := uintptr(1); al <= memory.MaxAlign; al *= 2 {
			e.Free(memtest.MustAlloc(t, e, 5, al), 5)
			if e.Used() != 3 {
				t.Errorf("align %d: used %d after the free, want 3", al, e.Used())
			}
		}
	})
}

func TestStack_FreeOutOfOrderPanicsWithBothAddresses(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		a := memtest.MustAlloc(t, e, 100, 16)
		b := memtest.MustAlloc(t, e, 50, 16)
		c := memtest.MustAlloc(t, e, 30, 16)
		newest := "the newest block is " + hex(c) + " of 30 bytes"
		memtest.Misuse(t, func() { e.Free(a, 100) }, "stack.Free("+hex(a)+", size 100)", "out of order: 2 newer blocks", newest)
		memtest.Misuse(t, func() { e.Free(b, 50) }, "stack.Free("+hex(b), "out of order: 1 newer", newest)
		memtest.Misuse(t, func() { e.Free(c, 31) }, "wrong size: the block has 30 bytes", newest)
		memtest.Misuse(t, func() { e.Free(a, 99) }, "wrong size: the block has 100 bytes", newest)
		memtest.Misuse(t, func() { e.Free(unsafe.Add(b, 7), 50) }, "interior pointer: it points 7 bytes into a block of 50", newest)
		if e.Len() != 3 || e.Stats().Frees != 0 {
			t.Errorf("refused frees left %d blocks, %d freed", e.Len(), e.Stats().Frees)
		}
		e.Free(c, 30)
		memtest.Misuse(t, func() { e.Free(c, 30) }, "freed twice, or foreign", "the newest block is "+hex(b))
		e.Free(b, 50)
		e.Free(a, 100)
		memtest.Misuse(t, func() { e.Free(a, 100) }, "no block is live")
	})
}

func TestStack_ForeignFreePanics(t *testing.T) {
	s, other := newStack(t, 1000), newStack(t, 1000)
	memtest.MustAlloc(t, s, 10, 1)
	memtest.Misuse(t, func() { s.Free(memtest.MustAlloc(t, other, 10, 1), 10) }, "stack.Free", "foreign")
	if s.Owns(memtest.MustAlloc(t, other, 10, 1)) {
		t.Error("a foreign block is owned")
	}
}

func TestEnd_SizeZeroBlocksHaveTheirOwnAddress(t *testing.T) {
	ends(t, 10, func(t *testing.T, e *End) {
		a, b := memtest.MustAlloc(t, e, 0, 1), memtest.MustAlloc(t, e, 0, 1)
		if a == b || e.Used() != 2 || !e.Owns(a) || !e.Owns(b) {
			t.Errorf("blocks %p and %p use %d bytes", a, b, e.Used())
		}
		memtest.Misuse(t, func() { e.Free(a, 0) }, "out of order")
		memtest.Misuse(t, func() { e.Free(b, 1) }, "wrong size")
		e.Free(b, 0)
		memtest.Misuse(t, func() { e.Free(b, 0) }, "freed twice")
		e.Free(a, 0)
	})
}

func TestEnd_NewestIsWhatFreeTakes(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		if p, size := e.Newest(); p != nil || size != 0 {
			t.Errorf("empty: newest %v of %d bytes", p, size)
		}
		for i := range uintptr(10) {
			memtest.MustAlloc(t, e, i*3, 8)
		}
		for i := 9; i >= 0; i-- {
			p, size := e.Newest()
			if size != uintptr(i)*3 {
				t.Errorf("newest has %d bytes, want %d", size, i*3)
			}
			e.Free(p, size)
		}
	})
}

func TestEnd_ResizeChangesTheNewestBlockOnly(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		a := memtest.MustAlloc(t, e, 100, 1)
		b := memtest.MustAlloc(t, e, 50, 1)
		if e.Resize(a, 100, 50) {
			t.Error("an older block was resized")
		}
		if !e.Resize(b, 50, 20) || !e.Resize(b, 20, 0) || !e.Resize(b, 0, 50) {
			t.Error("the newest block does not shrink and grow back")
		}
		if e.Resize(b, 50, 1000) || e.Resize(b, 50, math.MaxUint) || e.Resize(b, 50, math.MaxUint-uintptr(b)) {
			t.Error("a block grew beyond the buffer")
		}
		memtest.Misuse(t, func() { e.Resize(b, 49, 50) }, "stack.Resize", "wrong size: the block has 50 bytes")
		memtest.Misuse(t, func() { e.Resize(unsafe.Add(a, 1), 100, 50) }, "interior")
		memtest.Misuse(t, func() { e.Resize(nil, 0, 50) }, "foreign")
		if _, size := e.Newest(); size != 50 || e.Used() != 150 {
			t.Errorf("newest has %d bytes, used %d", size, e.Used())
		}
		e.Free(b, 50)
		e.Free(a, 100)
	})
}

func TestEnd_RisingBlockGrowsToTheWall(t *testing.T) {
	s := newStack(t, 1000)
	p := memtest.MustAlloc(t, s, 10, 16)
	if !s.Resize(p, 10, 1000) || s.Available() != 0 || s.Resize(p, 1000, 1001) {
		t.Errorf("used %d of 1000", s.Used())
	}
	if !s.Resize(p, 1000, 1) || s.Used() != 1 || s.Stats().Peak != 1000 {
		t.Errorf("used %d, peak %d; want 1, 1000", s.Used(), s.Stats().Peak)
	}
	s.Free(p, 1)
	memtest.MustCheck(t, s)
}

func TestEnd_FallingBlockGrowsIntoItsPadding(t *testing.T) {
	d := newDouble(t, 1000)
	top := d.Top()
	p := memtest.MustAlloc(t, top, 1, 64) // at 960
	if !top.Resize(p, 1, 40) || top.Resize(p, 40, 41) || top.Used() != 40 {
		t.Errorf("used %d, want 40", top.Used())
	}
	if !top.Resize(p, 40, 8) || top.Used() != 40 {
		t.Errorf("shrinking moved the edge to %d bytes", top.Used())
	}
	memtest.MustAlloc(t, top, 100, 1)
	memtest.MustCheck(t, d)
}

func TestEnd_MarksNestAndProtect(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		a := memtest.MustAlloc(t, e, 10, 1)
		outer := e.Mark()
		memtest.Misuse(t, func() { e.Free(a, 10) }, "protected: the newest mark", hex(a))
		if e.Resize(a, 10, 5) {
			t.Error("a protected block was resized")
		}
		b := memtest.MustAlloc(t, e, 20, 1)
		inner := e.Mark()
		c := memtest.MustAlloc(t, e, 30, 1)
		e.Free(c, 30)
		memtest.MustAlloc(t, e, 40, 1)
		memtest.MustCheck(t, e)
		e.Rewind(inner)
		if e.Used() != 30 || e.Len() != 2 {
			t.Errorf("after the inner rewind: used %d, %d blocks", e.Used(), e.Len())
		}
		memtest.MustCheck(t, e)
		e.Free(b, 20)
		memtest.Misuse(t, func() { e.Free(a, 10) }, "protected")
		memtest.MustAlloc(t, e, 5, 1)
		e.Rewind(outer)
		if e.Used() != 10 || e.Len() != 1 || e.Stats().Peak != 70 {
			t.Errorf("after the outer rewind: used %d, %d blocks, peak %d", e.Used(), e.Len(), e.Stats().Peak)
		}
		e.Rewind(e.Mark())
		e.Free(a, 10)
	})
}

func TestEnd_ResetSpendsTheMarks(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		memtest.MustAlloc(t, e, 10, 1)
		e.Mark()
		e.Reset()
		memtest.MustCheck(t, e)
		e.Free(memtest.MustAlloc(t, e, 10, 1), 10)
		e.Reset()
	})
}

// A block's bytes tell in debug builds whether it is fresh or freed.
func TestEnd_DebugBuildsFill(t *testing.T) {
	if !invariant.Debug {
		t.Skip("this build does not fill")
	}
	ends(t, 1000, func(t *testing.T, e *End) {
		p := memtest.MustAlloc(t, e, 100, 1)
		bytes := unsafe.Slice((*byte)(p), 100)
		if bytes[0] != invariant.FreshByte || bytes[99] != invariant.FreshByte {
			t.Errorf("a fresh block holds %x", bytes)
		}
		clear(bytes)
		if !e.Resize(p, 100, 50) || bytes[49] != 0 || bytes[50] != invariant.FreedByte || bytes[99] != invariant.FreedByte {
			t.Errorf("a block shrunk to 50 bytes holds %x", bytes)
		}
		if !e.Resize(p, 50, 60) || bytes[49] != 0 || bytes[50] != invariant.FreshByte || bytes[60] != invariant.FreedByte {
			t.Errorf("a block grown to 60 bytes holds %x", bytes)
		}
		e.Free(p, 60)
		if bytes[0] != invariant.FreedByte || bytes[59] != invariant.FreedByte {
			t.Errorf("a freed block holds %x", bytes)
		}
	})
}

func TestEnd_BadMarksAreRefused(t *testing.T) {
	ends(t, 1000, func(t *testing.T, e *End) {
		outer := e.Mark()
		inner := e.Mark()
		memtest.Misuse(t, func() { e.Rewind(Mark{}) }, "stack.Rewind", "another end, or by none")
		memtest.Misuse(t, func() { e.Rewind(newStack(t, 10).Mark()) }, "another end")
		e.Rewind(outer)
		memtest.Misuse(t, func() { e.Rewind(outer) }, "the mark has expired")
		e.Mark()
		e.Mark()
		memtest.Misuse(t, func() { e.Rewind(inner) }, "the mark has expired")
		e.Reset()
		e.Mark()
		memtest.Misuse(t, func() { e.Rewind(outer) }, "the mark has expired")
	})
}

func TestEnd_CheckNamesWhatIsCorrupt(t *testing.T) {
	for _, c := range []struct {
		want    string
		corrupt func(*End)
	}{
		{"does not follow", func(e *End) { e.blocks[1].under++ }},
		{"does not follow", func(e *End) { e.blocks[0].off += 5000 }},
		{"does not follow", func(e *End) { e.blocks[1].size = math.MaxUint }},
		{"does not follow", func(e *End) { e.blocks[0].under++ }},
		{"differs from the end of the newest", func(e *End) { e.edge++ }},
		{"is not from", func(e *End) { e.edge = 30_000 }},
		{"floor 3 differs from the 1 blocks", func(e *End) { e.floor = 3 }},
		{"mark 0 is at block 9", func(e *End) { e.marks[0].blocks = 9 }},
		{"mark 1 is at block 0, after 1", func(e *End) { e.marks = append(e.marks, place{}) }},
		{"3 blocks live of 2", func(e *End) { e.allocs = 2 }},
	} {
		ends(t, 20_000, func(t *testing.T, e *End) {
			memtest.MustAlloc(t, e, 100, 1)
			e.Mark()
			memtest.MustAlloc(t, e, 10, 64)
			memtest.MustAlloc(t, e, 20, 1)
			restore, blocks, marks := memtest.Keep(e), append([]block(nil), e.blocks...), append([]place(nil), e.marks...)
			c.corrupt(e)
			if err := e.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check = %v; want an error with %q", err, c.want)
			}
			restore()
			copy(e.blocks, blocks)
			copy(e.marks, marks)
		})
	}
}

func TestEnd_BothEndsSeeTheRoomBetweenThem(t *testing.T) {
	d := newDouble(t, 4000)
	memtest.MustAlloc(t, d.Bottom(), 100, 4)
	memtest.MustAlloc(t, d.Top(), 300, 4)
	if b, f := d.Bottom().Available(), d.Top().Available(); b != 3600 || f != 3600 || d.Available() != 3600 {
		t.Errorf("the bottom sees %d bytes, the top %d, the Double %d; want 3600", b, f, d.Available())
	}
}

func TestEnd_ThePeakOutlivesTheClose(t *testing.T) {
	d := newDouble(t, 4000)
	memtest.MustAlloc(t, d.Bottom(), 100, 4)
	memtest.MustAlloc(t, d.Top(), 300, 4)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if b, f := d.Bottom().Stats().Peak, d.Top().Stats().Peak; b != 100 || f != 300 {
		t.Errorf("peaks of %d and %d bytes; want 100 and 300", b, f)
	}
}
