//go:build memdebug || race

package pool

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

const stale = "use after free: byte 8 of a free slot of "

// scribble writes one byte at p, 8 bytes on.
func scribble(p unsafe.Pointer) { *(*byte)(unsafe.Add(p, 8)) = 0x42 }

func TestBlocks_AWriteAfterFreeIsFoundWhenTheSlotIsHandedOutAgain(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 200})
	p, q := mustGet(t, b), mustGet(t, b)
	*(*uint64)(p) = 1
	b.Put(p)
	scribble(p)
	before := b.Stats()
	mustName(t, b, "pool: slot 0: "+stale+"64 bytes was written since it was freed, with 0x42")
	memtest.Misuse(t, func() { b.TryGet() }, "pool.Get(0x", stale+"64 bytes", "with 0x42")
	if b.Stats() != before {
		t.Errorf("the refusal changed the statistics: %+v, were %+v", b.Stats(), before)
	}
	mustCheck(t, b)
	if again := mustGet(t, b); again != p {
		t.Errorf("then the next slot is %p; want %p, healed", again, p)
	}
	b.Put(q)
	scribble(q)
	memtest.Misuse(t, func() { b.Alloc(1, 1) }, stale)
	b.Alloc(1, 1)
	mustCheck(t, b)
}

func TestBlocks_AWriteAfterResetOrTrimIsFound(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 2000})
	for range 70 {
		p := mustGet(t, b)
		*(*uint64)(p) = 7
	}
	b.Reset()
	scribble(unsafe.Add(b.base, 69*64)) // in the second batch
	for range 64 {
		mustGet(t, b)
	}
	memtest.Misuse(t, func() { b.Get() }, stale)
	mustCheck(t, b)
	mustGet(t, b)
	b.Reset()
	if err := b.Grow(1500); err != nil {
		t.Fatal(err)
	}
	if err := b.Trim(); err != nil { // gives all of it back: what comes again is zero and no fault
		t.Fatal(err)
	}
	for range 1500 {
		mustGet(t, b)
	}
	mustCheck(t, b)
}

func TestPool_AWriteAfterFreeIsFoundWhenTheSlotIsHandedOutAgain(t *testing.T) {
	p := newPool(t, nil, 200)
	h, v := mustNew(t, p)
	p.Free(h)
	scribble(unsafe.Pointer(v))
	before := p.Stats()
	says := fmt.Sprintf("%s%d bytes", stale, unsafe.Sizeof(*v)) // fewer where a uint64 is aligned to 4
	mustName(t, p, "pool: slot 0: "+says+" was written since it was freed, with 0x42")
	memtest.Misuse(t, func() { p.New() }, "pool.New(0x", says, "with 0x42")
	if p.Stats() != before {
		t.Errorf("the refusal changed the statistics: %+v, were %+v", p.Stats(), before)
	}
	mustCheck(t, p)
	if g, w := mustNew(t, p); w != v || *w != (enemy{}) || g == h {
		t.Error("the slot cannot be had again")
	}
}

func TestPool_AWriteAfterResetOrTrimIsFound(t *testing.T) {
	p := newPool(t, nil, 2000)
	var last *enemy
	for range 80 {
		_, last = mustNew(t, p)
	}
	p.Reset()
	scribble(unsafe.Pointer(last))
	mustName(t, p, "slot 79")
	p.soil(79, 80)
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	for range 80 {
		mustNew(t, p)
	}
	first := memory.Handle[enemy]{}
	for h := range p.All() {
		if first.IsZero() {
			first = h
		} else {
			p.Free(h)
		}
	}
	if err := p.Trim(); err != nil { // the first granule stays
		t.Fatal(err)
	}
	scribble(unsafe.Pointer(last))
	for range 64 {
		mustNew(t, p)
	}
	memtest.Misuse(t, func() { mustNew(t, p) }, "pool.New(0x", stale)
	mustCheck(t, p)
	mustNew(t, p)
}

func TestSplit_AWriteAfterFreeIsFoundInEitherHalf(t *testing.T) {
	p := newSplit(t, nil, 200)
	for _, cold := range []bool{false, true} {
		h, hot, sheet, err := p.New()
		if err != nil {
			t.Fatal(err)
		}
		p.Free(h)
		want := stale + "16 bytes"
		if scribble(unsafe.Pointer(hot)); cold {
			p.soil(0, 1)
			scribble(unsafe.Pointer(sheet))
			want = stale + "192 bytes"
		}
		mustName(t, p, want)
		memtest.Misuse(t, func() { p.New() }, "pool.New(0x", want)
		mustCheck(t, p)
	}
	for range 100 {
		p.New()
	}
	p.Reset()
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, _, _, err := p.New(); err != nil {
			t.Fatal(err)
		}
	}
	mustCheck(t, p)
}

func TestBlocks_AFreeWithAnotherSizeThanAskedIsRefused(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Capacity: 200})
	p := memtest.MustAlloc(t, b, 40, 8)
	for _, size := range []uintptr{0, 39, 41, 64} {
		memtest.Misuse(t, func() { b.Free(p, size) }, "wrong size: the block was requested with 40 bytes")
	}
	mustCheck(t, b)
	b.Free(p, 40)
	q := mustGet(t, b) // of unknown size
	b.Free(q, 7)
	e := memtest.MustAlloc(t, b, 0, 1)
	memtest.Misuse(t, func() { b.Free(e, 1) }, "requested with 0 bytes")
	b.Free(e, 0)
	p = memtest.MustAlloc(t, b, 40, 8)
	b.asked[0] = 99
	mustName(t, b, "slot 0 of 64 bytes was requested with 98")
	b.FreeAny(p)
	mustCheck(t, b)
}
