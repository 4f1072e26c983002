package arena

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
)

// bumps runs test on each bump allocator that records the start of its newest block.
func bumps(t *testing.T, test func(*testing.T, *Linear, memory.Allocator)) {
	t.Run("Linear", func(t *testing.T) { l := newLinear(t, 8192); test(t, l, l) })
	t.Run("Growing", func(t *testing.T) {
		g := newGrowing(t, nil, GrowingConfig{Reserve: 1 << 20, Step: 16 << 10})
		test(t, &g.lin, g)
	})
	t.Run("Frames", func(t *testing.T) { f := newFrames(t, 2, 8192); test(t, f.cur, f) })
}

func TestLinear_TheNewestBlockIsFreedToTheByte(t *testing.T) {
	bumps(t, func(t *testing.T, l *Linear, a memory.Allocator) {
		old := mustAlloc(t, a, 40, 8)
		p := mustAlloc(t, a, 100, 16) // at 48
		want := l.Stats()
		refused := func(p unsafe.Pointer, size uintptr, why string) {
			t.Helper()
			memtest.Misuse(t, func() { a.Free(p, size) }, "arena.Free", why)
			memtest.Misuse(t, func() { l.Resize(p, size, 8) }, "arena.Resize", why)
			if s := l.Stats(); s != want {
				t.Errorf("a refused call changed the books to %+v", s)
			}
		}
		for _, size := range []uintptr{1, 99, 101, 8192, math.MaxUint} {
			refused(p, size, "wrong size: the block has 100 bytes")
		}
		for _, at := range []uintptr{1, 50, 99} {
			refused(unsafe.Add(p, at), 100-at, "interior pointer: it points ")
		}
		refused(old, 148, "wrong size: the ") // both blocks
		refused(old, 49, "wrong size: the ")
		refused(unsafe.Add(p, 100), 1, "does not lie in the live part")
		refused(unsafe.Add(p, 101), 0, "does not lie in the live part")
		memtest.MustCheck(t, l)
	})
}

func TestLinear_CountsAreRightAfterEveryFree(t *testing.T) {
	bumps(t, func(t *testing.T, l *Linear, a memory.Allocator) {
		counts := func(live, frees uint64, used uintptr) {
			t.Helper()
			if s := l.Stats(); s.Live != live || s.Frees != frees || l.Used() != used {
				t.Errorf("live %d, freed %d, used %d; want %d, %d, %d", s.Live, s.Frees, l.Used(), live, frees, used)
			}
			memtest.MustCheck(t, l)
		}
		old := mustAlloc(t, a, 100, 1)
		empty := mustAlloc(t, a, 0, 1)
		counts(2, 0, 100)
		a.Free(old, 100) // it comes back with the Reset
		counts(2, 0, 100)
		a.Free(empty, 0)
		counts(1, 1, 100)
		p := mustAlloc(t, a, 48, 1)
		counts(2, 1, 148)
		a.Free(p, 48)
		counts(1, 2, 100)
		memtest.Misuse(t, func() { a.Free(p, 48) }, "does not lie in the live part", "freed already")
		memtest.Misuse(t, func() { l.Resize(p, 48, 4) }, "freed already")
		counts(1, 2, 100)
		m := l.Mark()
		a.Free(nil, 4)
		q := mustAlloc(t, a, 10, 1)
		l.Rewind(m)
		counts(1, 3, 100)
		memtest.Misuse(t, func() { a.Free(q, 10) }, "freed already")
		l.Reset()
		counts(0, 4, 0)
		memtest.Misuse(t, func() { a.Free(old, 100) }, "freed already")
	})
}

func TestLinear_TheNewestBlockIsKnownAgainAfterARewind(t *testing.T) {
	bumps(t, func(t *testing.T, l *Linear, a memory.Allocator) {
		p := mustAlloc(t, a, 100, 1)
		m := l.Mark()
		memtest.Misuse(t, func() { a.Free(p, 99) }, "wrong size: the block has 100 bytes")
		mustAlloc(t, a, 10, 1)
		l.Rewind(m)
		memtest.Misuse(t, func() { a.Free(p, 99) }, "wrong size: the block has 100 bytes")
		a.Free(p, 100)
		if s := l.Stats(); s.Live != 0 || l.Used() != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestLinear_ABlockOfSizeZeroAtAMarkBelongsToEitherSide(t *testing.T) {
	l := newLinear(t, 1000)
	mustAlloc(t, l, 10, 1)
	a := mustAlloc(t, l, 0, 1)
	m := l.Mark()
	l.Free(a, 0)
	if s := l.Stats(); s.Live != 2 {
		t.Errorf("a block from before the mark was freed: %+v", s)
	}
	b := mustAlloc(t, l, 0, 1)
	if l.Resize(b, 0, 10) || l.Resize(a, 0, 10) {
		t.Error("a block of size 0 grew")
	}
	l.Free(b, 0)
	l.Rewind(m)
	if s := l.Stats(); s.Live != 2 || s.InUse != 10 {
		t.Errorf("%+v", s)
	}
	memtest.MustCheck(t, l)
}

// Debug builds keep every block, others what touches the newest one.
func TestLinear_OlderBlocksAreExactInDebugBuilds(t *testing.T) {
	if !invariant.Debug {
		t.Skip("this build keeps the newest block only")
	}
	bumps(t, func(t *testing.T, l *Linear, a memory.Allocator) {
		p := mustAlloc(t, a, 100, 1)
		q := mustAlloc(t, a, 50, 1)
		mustAlloc(t, a, 10, 1)
		memtest.Misuse(t, func() { a.Free(p, 99) }, "wrong size: the block has 100 bytes")
		memtest.Misuse(t, func() { a.Free(p, 150) }, "wrong size: the block has 100 bytes")
		memtest.Misuse(t, func() { a.Free(p, 0) }, "wrong size: the block has 100 bytes")
		memtest.Misuse(t, func() { a.Free(unsafe.Add(p, 7), 93) }, "interior pointer: it points 7 bytes into a block of 100")
		memtest.Misuse(t, func() { l.Resize(q, 49, 10) }, "wrong size: the block has 50 bytes")
		a.Free(p, 100)
		if b := *(*byte)(p); b != invariant.FreedByte {
			t.Errorf("a freed block holds %#x", b)
		}
		memtest.Misuse(t, func() { a.Free(p, 100) }, "the block of 100 bytes was freed already")
		memtest.Misuse(t, func() { l.Resize(p, 100, 10) }, "the block of 100 bytes was freed already")
		memtest.MustCheck(t, l)
	})
}

func TestLinear_WithoutDebugOlderFreesAreHeldToTheLiveBytes(t *testing.T) {
	if invariant.Debug {
		t.Skip("this build is exact")
	}
	l := newLinear(t, 1000)
	p := mustAlloc(t, l, 100, 1)
	mustAlloc(t, l, 50, 1)
	before := l.Stats()
	l.Free(p, 50)
	l.Free(unsafe.Add(p, 30), 70)
	l.Free(p, 0)
	if s := l.Stats(); s != before {
		t.Errorf("frees of older blocks changed the books from %+v to %+v", before, s)
	}
	memtest.Misuse(t, func() { l.Free(p, 101) }, "wrong size: the newest block starts 100 bytes behind it")
	l.Free(unsafe.Add(p, 100), 50) // from here on no block is known to be the newest
	memtest.Misuse(t, func() { l.Free(p, 101) }, "does not lie in the live part of this arena")
}

func TestFrames_ABlockOfAnOlderFrameStays(t *testing.T) {
	f := newFrames(t, 3, 4096)
	p := mustAlloc(t, f, 100, 1)
	f.Advance()
	f.Advance()
	mustAlloc(t, f, 10, 1)
	f.Free(p, 100)
	if s := f.Stats(); s.Live != 2 || s.InUse != 110 {
		t.Errorf("%+v; the block is readable and was freed", s)
	}
	memtest.Misuse(t, func() { f.Free(p, 99) }, "arena.Free", "in the frame 2 before this one: wrong size: the block has 100 bytes")
	memtest.Misuse(t, func() { f.Free(unsafe.Add(p, 200), 10) }, "in the frame 2 before this one: the block does not lie in the live part")
	f.Advance() // frame 0 has expired
	memtest.Misuse(t, func() { f.Free(p, 100) }, "arena.Free")
	memtest.MustCheck(t, f)
}

// A stale Free must not take a live block of another size or place; see Frames for the rest.
func TestFrames_AStaleFreeTakesNoOtherBlock(t *testing.T) {
	f := newFrames(t, 2, 4096)
	mustAlloc(t, f, 40, 1)
	tail := mustAlloc(t, f, 60, 1)
	f.Advance()
	f.Advance()
	mustAlloc(t, f, 100, 1)
	memtest.Misuse(t, func() { f.Free(tail, 60) }, "arena.Free")
	if s := f.Stats(); s.Live != 1 || s.InUse != 100 {
		t.Errorf("%+v", s)
	}
}

func TestLinear_CheckNamesALedgerThatDisagrees(t *testing.T) {
	if !invariant.Debug {
		t.Skip("this build keeps no ledger")
	}
	for _, c := range []struct {
		want    string
		corrupt func([]entry) []entry
	}{
		{"block 1, [99, 149), does not follow", func(b []entry) []entry { b[1].off--; return b }},
		{"block 2, [150, 161), does not follow", func(b []entry) []entry { b[2].size++; return b }},
		{"block 2, [161, 171), does not follow", func(b []entry) []entry { b[2].off += 11; return b }},
		{"3 blocks are live, the ledger has 2", func(b []entry) []entry { return b[:2] }},
		{"3 blocks are live, the ledger has 4", func(b []entry) []entry { return append(b, entry{off: 160}) }},
	} {
		l := newLinear(t, 1000)
		for _, size := range []uintptr{100, 50, 10} {
			mustAlloc(t, l, size, 1)
		}
		memtest.MustCheck(t, l)
		blocks := append([]entry(nil), l.ledger.blocks...)
		l.ledger.blocks = c.corrupt(l.ledger.blocks)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want an error with %q", err, c.want)
		}
		l.ledger.blocks = blocks
	}
}

// The count beside the size of the newest block is folded before it wraps.
func TestLinear_CountsAreRightBeyondWhatAWordHolds(t *testing.T) {
	l := newLinear(t, 1000)
	mustAlloc(t, l, 10, 1)
	l.book += (1<<31 - 3) << 32 // as many blocks more
	l.dropped += 1<<31 - 3
	for i := range uint64(6) {
		p := mustAlloc(t, l, 8, 8)
		if s := l.Stats(); s.Live != 2 || s.Allocs != 1<<31-1+i || s.Frees != s.Allocs-2 {
			t.Errorf("before free %d: %+v", i, s)
		}
		l.Free(p, 8)
		if s := l.Stats(); s.Live != 1 || s.Allocs != 1<<31-1+i || s.Frees != s.Allocs-1 {
			t.Errorf("after free %d: %+v", i, s)
		}
	}
	if l.book>>32 > 6 {
		t.Errorf("the count was not folded: %#x", l.book)
	}
	for i := range uint64(3) { // in one go to beyond half of it
		l.book += 1 << 63
		l.dropped += 1 << 31
		l.Free(mustAlloc(t, l, 8, 8), 8)
		if s := l.Stats(); s.Live != 1 || s.Allocs != (2+i)<<31+5+i {
			t.Errorf("after %d more times half: %+v", i+1, s)
		}
	}
	l.ledger.cut(1)
	memtest.MustCheck(t, l)
}

func TestLinear_WhatAResizeGivesUpIsFilledInDebugBuilds(t *testing.T) {
	l := newLinear(t, 1000)
	p := mustAlloc(t, l, 100, 1)
	b := unsafe.Slice((*byte)(p), 100)
	for i := range b {
		b[i] = 7
	}
	if !l.Resize(p, 100, 40) {
		t.Fatal("the newest block does not shrink")
	}
	for i, c := range b {
		want := byte(7)
		if invariant.Debug && i >= 40 {
			want = invariant.FreedByte
		}
		if c != want {
			t.Fatalf("byte %d is 0x%X; want 0x%X", i, c, want)
		}
	}
}
