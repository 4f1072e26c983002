package tlsf

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// grown returns a tiny heap with a hole of 5 granules, a block that has grown to 3 granules and has
// as many behind it, and a live one at the end.
func grown(t *testing.T) (h *Heap, p unsafe.Pointer) {
	t.Helper()
	h = newHeap(t, nil, tiny)
	hole := memtest.MustAlloc(t, h, 5<<10, 1)
	p = memtest.MustAlloc(t, h, 2<<10, 1)
	rest := memtest.MustAlloc(t, h, 4<<10, 1)
	memtest.MustAlloc(t, h, 5<<10, 1)
	h.Free(hole, 5<<10)
	h.Free(rest, 4<<10)
	if !h.Resize(p, 2<<10, 3<<10) || layout(h) != ".....|aaa|...|aaaaa|" {
		t.Fatal(layout(h))
	}
	memtest.MustCheck(t, h)
	return h, p
}

func TestRoom_SmallBlocksGoElsewhereForAsLongAsTheyCan(t *testing.T) {
	h, p := grown(t)
	for _, want := range []string{
		"a|....|aaa|...|aaaaa|", "a|a|...|aaa|...|aaaaa|", "a|a|a|..|aaa|...|aaaaa|", "a|a|a|a|.|aaa|...|aaaaa|",
		"a|a|a|a|a|aaa|...|aaaaa|", "a|a|a|a|a|aaa|.|a|.|aaaaa|", "a|a|a|a|a|aaa|.|a|a|aaaaa|", "a|a|a|a|a|aaa|a|a|a|aaaaa|",
	} {
		memtest.MustAlloc(t, h, 1, 1)
		if got := layout(h); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		memtest.MustCheck(t, h)
	}
	if p, err := h.Alloc(1, 1); err == nil {
		t.Errorf("%p of a full heap", p)
	}
	h.Free(p, 3<<10)
	memtest.MustCheck(t, h)
}

func TestRoom_IsTakenFromItsFarEndAndAsMuchOfItAsIsNeeded(t *testing.T) {
	for _, c := range []struct {
		size, align uintptr
		want        string
	}{
		{1 << 10, 1, "aaa|......|a|......|"}, // half of 13
		{1 << 10, 4096, "aaa|.........|a|...|"},
		{8 << 10, 1, "aaa|.....|aaaaaaaa|"},
		{8 << 10, 4096, "aaa|.....|aaaaaaaa|"},
		{9 << 10, 4096, "aaa|.|aaaaaaaaa|...|"},
		{12 << 10, 4096, "aaa|.|aaaaaaaaaaaa|"},
		{13 << 10, 1, "aaa|aaaaaaaaaaaaa|"},
		{13 << 10, 2048, ""},
		{14 << 10, 1, ""},
	} {
		h := newHeap(t, nil, tiny)
		p := memtest.MustAlloc(t, h, 1<<10, 1)
		h.Resize(p, 1<<10, 3<<10)
		before := h.Stats()
		if s := h.Stats(); s.LargestFree != 13<<10 || s.Free != 13<<10 {
			t.Errorf("the room is not counted: %+v", s)
		}
		_, err := h.Alloc(c.size, c.align)
		if c.want == "" {
			before.Failures++
			if err == nil || h.Stats() != before {
				t.Errorf("%d aligned to %d: %v, %s", c.size, c.align, err, layout(h))
			}
		} else if got := layout(h); err != nil || got != c.want {
			t.Errorf("%d aligned to %d: %s, %v; want %s", c.size, c.align, got, err, c.want)
		}
		memtest.MustCheck(t, h)
		h.Free(p, 3<<10)
		memtest.MustCheck(t, h)
	}
}

func TestRoom_ABlockThatOutgrewItsPlaceGoesWhereItCanGrowOn(t *testing.T) {
	h, p := grown(t)
	if h.Resize(p, 3<<10, 7<<10) || h.outgrown != 7<<10 || layout(h) != ".....|aaa|...|aaaaa|" {
		t.Fatalf("outgrown %d, %s", h.outgrown, layout(h))
	}
	memtest.MustCheck(t, h)
	memtest.MustAlloc(t, h, 5<<10, 1) // less than what is awaited
	if h.outgrown != 7<<10 || layout(h) != "aaaaa|aaa|...|aaaaa|" {
		t.Fatalf("outgrown %d, %s", h.outgrown, layout(h))
	}

	// Of two free blocks the largest is taken, also where another is large enough, and what is
	// left behind it is a room.
	h = newHeap(t, nil, tiny)
	p = memtest.MustAlloc(t, h, 1<<10, 1)
	hole := memtest.MustAlloc(t, h, 3<<10, 1)
	memtest.MustAlloc(t, h, 1<<10, 1)
	h.Free(hole, 3<<10)
	q := memtest.MustAlloc(t, h, 1<<10, 1) // behind p
	if h.Resize(p, 1<<10, 2<<10) {
		t.Fatal(layout(h))
	}
	memtest.MustAlloc(t, h, 1<<10, 1) // less than what is awaited
	if h.outgrown != 2<<10 || layout(h) != "a|a|a|.|a|...........|" {
		t.Fatalf("outgrown %d, %s", h.outgrown, layout(h))
	}
	r := memtest.MustAlloc(t, h, 2<<10, 1)
	if h.outgrown != 0 || h.fastSize != h.limit || layout(h) != "a|a|a|.|a|aa|.........|" {
		t.Errorf("outgrown %d, %s", h.outgrown, layout(h))
	}
	h.Free(p, 1<<10)
	h.Free(q, 1<<10)
	memtest.MustAlloc(t, h, 2<<10, 1)
	memtest.MustAlloc(t, h, 1<<10, 1)
	if got := layout(h); got != "aa|a|a|a|aa|.........|" {
		t.Errorf("small blocks were not put elsewhere: %s", got)
	}
	if !h.Resize(r, 2<<10, 11<<10) {
		t.Errorf("the block cannot grow on: %s", layout(h))
	}
	memtest.MustCheck(t, h)
}

func TestRoom_WhatIsNotAwaitedIsPutWhereItFitsBest(t *testing.T) {
	for name, c := range map[string]struct {
		refused, size uintptr
		want          string
	}{
		"size 0":   {0, 0, "a|a|..|a|...........|"},
		"a larger": {2 << 10, 3 << 10, "a|aaa|a|...........|"},
		"awaited":  {3 << 10, 3 << 10, "a|...|a|aaa|........|"},
	} {
		h := newHeap(t, nil, tiny)
		p, hole := memtest.MustAlloc(t, h, 1<<10, 1), memtest.MustAlloc(t, h, 3<<10, 1)
		q := memtest.MustAlloc(t, h, 1<<10, 1)
		if c.refused > 0 && h.Resize(p, 1<<10, c.refused) {
			t.Fatal(layout(h))
		}
		h.Free(hole, 3<<10)
		memtest.MustAlloc(t, h, c.size, 1)
		if got := layout(h); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		memtest.MustCheck(t, h)
		h.Free(q, 1<<10)
	}
}

func TestRoom_AFreeBlockIsRoomyWithAnEighthToSpare(t *testing.T) {
	for _, c := range []struct {
		hole      uintptr // granules
		inHole    bool
		committed uint64
	}{{9, true, 16 << 10}, {8, false, 32 << 10}} {
		h := newHeap(t, nil, Config{Reserve: 64 << 10, Granule: 1 << 10, Step: 16 << 10})
		p := memtest.MustAlloc(t, h, 1<<10, 1)
		memtest.MustAlloc(t, h, 1<<10, 1)
		hole := memtest.MustAlloc(t, h, c.hole<<10, 1)
		memtest.MustAlloc(t, h, (14-c.hole)<<10, 1)
		h.Free(hole, c.hole<<10)
		if h.Resize(p, 1<<10, 8<<10) {
			t.Fatal(layout(h))
		}
		q := memtest.MustAlloc(t, h, 8<<10, 1)
		if s := h.Stats(); (q == hole) != c.inHole || s.Committed != c.committed {
			t.Errorf("a hole of %d granules: %s", c.hole, layout(h))
		}
		memtest.MustCheck(t, h)
	}
}

func TestRoom_ALargerRequestForgetsWhatWasAwaited(t *testing.T) {
	h, p := grown(t)
	h.Resize(p, 3<<10, 7<<10)
	if _, err := h.Alloc(8<<10, 1); err == nil || h.outgrown != 0 || h.fastSize != 16<<10 {
		t.Errorf("%v, outgrown %d, fast up to %d", err, h.outgrown, h.fastSize)
	}
	for _, forget := range []func(){h.Reset, func() { must(t, h.AddPool(nil, 16<<10)) }, func() { must(t, h.Close()) }} {
		h.outgrew(7 << 10)
		if forget(); h.outgrown != 0 || h.fastSize != h.limit {
			t.Errorf("outgrown %d, fast up to %d of %d", h.outgrown, h.fastSize, h.limit)
		}
		if h.closed {
			break
		}
		memtest.MustCheck(t, h)
	}
}

func TestCheck_NamesWhatIsWrongWithRooms(t *testing.T) {
	h := furnished(t)
	room := h.room(h.bins.lists[roomLevel])
	liveOne := h.startOf(h.pools[0].base)
	other := h.blocks[h.bins.highest()].nextFree
	for want, f := range map[string]func(){
		"one of 65537 was refused in place": func() { h.outgrown, h.fastSize = h.limit+1, h.limit },
		"take the fast path, want 5999":     func() { h.fastSize = h.limit },
		"has bin 496, want":                 func() { h.blocks[liveOne].bin = roomBin },
		"level 31 has bit true":             func() { h.bins.levels |= 1 << roomLevel },
		"is not the only room in bin 496": func() {
			y, x := &h.blocks[other], &h.blocks[room]
			h.unlink(y)
			y.bin, y.prevFree, y.nextFree = roomBin, room, roomBin
			x.nextFree, h.blocks[roomBin].prevFree = other, other
		},
		"granules has bin 300, want": func() {
			y := &h.blocks[other]
			h.unlink(y)
			y.bin, y.prevFree, y.nextFree = 300, 300, 300
			h.blocks[300].nextFree, h.blocks[300].prevFree = other, other
			h.bins.lists[300/binsPer] |= 1 << (300 % binsPer)
			h.bins.levels |= 1 << (300 / binsPer)
		},
	} {
		if err := corrupted(h, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		memtest.MustCheck(t, h)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoom_ThereAreSixteenAndNoByteIsLost(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 256 << 10, Granule: 1 << 10, Step: 256 << 10})
	var p, gaps [rooms + 4]unsafe.Pointer
	for i := range p {
		p[i], gaps[i] = memtest.MustAlloc(t, h, 1<<10, 1), memtest.MustAlloc(t, h, 7<<10, 1)
	}
	memtest.MustAlloc(t, h, 1<<10, 1)
	for _, gap := range gaps {
		h.Free(gap, 7<<10)
	}
	tail := h.Stats().LargestFree
	memtest.MustAlloc(t, h, uintptr(tail), 1)
	for i := range p {
		if !h.Resize(p[i], 1<<10, 2<<10) {
			t.Fatalf("block %d did not grow", i)
		}
		memtest.MustCheck(t, h)
		if got, want := onesIn(h.bins.lists[roomLevel]), min(i+1, rooms); got != want {
			t.Errorf("%d rooms, want %d", got, want)
		}
	}
	for i, q := range p[rooms:] { // they have taken the rooms of others, and not of each other
		if x := &h.blocks[h.startOf(q)]; h.blocks[x.next].bin < roomBin {
			t.Errorf("block %d has no room", rooms+i)
		}
	}
	for range len(p) * 6 {
		memtest.MustAlloc(t, h, 1<<10, 1)
	}
	if s := h.Stats(); s.Free != 0 || h.bins.lists[roomLevel] != 0 {
		t.Errorf("%+v", s)
	}
	memtest.MustCheck(t, h)
}

func onesIn(w uint32) (n int) {
	for ; w != 0; w &= w - 1 {
		n++
	}
	return n
}

func TestRoom_TheEndOfThePoolStaysOneThroughGrowthAndTrim(t *testing.T) {
	h := newHeap(t, nil, Config{Reserve: 1 << 20, Granule: 1 << 10, Step: 64 << 10})
	p := memtest.MustAlloc(t, h, 30<<10, 1)
	if !h.Resize(p, 30<<10, 60<<10) {
		t.Fatal("no growth")
	}
	must(t, h.Trim()) // nothing whole is free
	memtest.MustAlloc(t, h, 10<<10, 1)
	// The 4 granules behind p grew to 68, of which the far half went to the ordinary lists.
	if s := h.Stats(); s.Committed != 128<<10 || s.LargestFree < 34<<10 {
		t.Errorf("%+v", s)
	}
	memtest.MustCheck(t, h)
	if !h.Resize(p, 60<<10, 94<<10) {
		t.Errorf("the room is gone: %s", layout(h))
	}
	memtest.MustCheck(t, h)

	h = newHeap(t, nil, Config{Reserve: 1 << 20, Granule: 1 << 10, Step: 256 << 10})
	p = memtest.MustAlloc(t, h, 1<<10, 1)
	h.Resize(p, 1<<10, 2<<10)
	must(t, h.Trim())
	if s := h.Stats(); s.Committed != uint64(page.Granule) || s.LargestFree != uint64(page.Granule)-2<<10 {
		t.Errorf("%+v", s)
	}
	memtest.MustAlloc(t, h, 1<<10, 1)
	if !h.Resize(p, 2<<10, 5<<10) {
		t.Errorf("after Trim small blocks are put right behind: %s", layout(h))
	}
	memtest.MustCheck(t, h)
}

// One block grows from 4 to 600 KiB by steps of 128 bytes; a small block is handed out after each
// step and freed after the next. Moved 260 times without rooms, and left 1,776 KiB committed.
func TestRoom_ABlockThatGrowsAmongSmallOnesMovesOnce(t *testing.T) {
	const step = 16 << 10
	h := newHeap(t, nil, Config{Reserve: 4 << 20, Step: step})
	p, small, moves := memtest.MustAlloc(t, h, 4<<10, 16), unsafe.Pointer(nil), 0
	for size := uintptr(4 << 10); size < 600<<10; size += 128 {
		q, err := memory.Grow(h, p, size, size+128, 16)
		must(t, err)
		if q != p {
			moves++
		}
		p = q
		next := memtest.MustAlloc(t, h, 128, 16)
		h.Free(small, 128)
		small = next
	}
	memtest.MustCheck(t, h)
	if s := h.Stats(); moves != 1 || s.Committed > 624<<10 {
		t.Errorf("%d moves, %d KiB committed", moves, s.Committed>>10)
	}
}
