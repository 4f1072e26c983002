package page_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestCarve_PartsAreDisjointAndInOneRange(t *testing.T) {
	src := page.Default()
	whole, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Release(whole)
	c := newCarve(t, src, whole)
	var end uintptr
	for _, size := range []uintptr{1, 64 << 10, 100 << 10, 300 << 10} {
		m, err := c.Reserve(size)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(m.Base) < end || uintptr(m.Base)%page.BaseAlign != 0 || !whole.Contains(m.Base) {
			t.Errorf("part %p of %d bytes overlaps or is misplaced", m.Base, m.Size)
		}
		end = uintptr(m.Base) + m.Size + 1 // the guard keeps one byte between at least
		if err := c.Commit(m, 0, page.Granule); err != nil {
			t.Fatal(err)
		}
		b := bytesOf(m, 0, page.Granule)
		b[0], b[len(b)-1] = 1, 1
		if err := errors.Join(c.Decommit(m, 0, page.Granule), c.Release(m)); err != nil {
			t.Error(err)
		}
	}
	left := c.Left()
	if _, err := c.Reserve(left + 1); err == nil || !strings.Contains(err.Error(), "page: carve") {
		t.Errorf("more than is left: %v", err)
	}
	if _, err := c.Reserve(left); err != nil || c.Left() != 0 {
		t.Errorf("exactly what is left: %v, %d left", err, c.Left())
	}
	c.Reset()
	if m, err := c.Reserve(1); err != nil || m.Base != whole.Base {
		t.Errorf("after Reset: %p, %v; want the front again", m.Base, err)
	}
}

func newCarve(t *testing.T, src page.Source, mem page.Memory) *page.Carve {
	t.Helper()
	c, err := page.NewCarve(src, mem)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCarve_WhatStandsOnAClosedOneIsToldAndTouchesNothing(t *testing.T) {
	src := memtest.NewFaulty()
	whole := reserve(t, src, 1<<20)
	c := newCarve(t, src, whole)
	limit := page.NewLimit(c, 0)
	var told []int
	var p [3]page.Prefix
	for i := range p {
		var err error
		if p[i], err = page.NewPrefix(limit, 64<<10, 0, 0); err != nil {
			t.Fatal(err)
		}
		if err := p[i].Ensure(1); err != nil {
			t.Fatal(err)
		}
		p[i].Watch(func() {
			if p[i].Base() != nil || p[i].Committed() != 0 || p[i].Reserved() != 0 {
				t.Errorf("prefix %d has memory at %p when it is told", i, p[i].Base())
			}
			told = append(told, i)
		})
	}
	if err := p[1].Close(); err != nil {
		t.Fatal(err)
	}
	m := c.Memory()
	c.Close()
	c.Close()
	if len(told) != 2 || told[0] != 2 || told[1] != 0 {
		t.Errorf("told %v; want those that are open, newest first: 2, 0", told)
	}
	src.FailReturns = true // a call of the system would touch memory that has a new owner
	if err := errors.Join(p[0].Close(), p[2].Close(), p[0].Check(), c.Check()); err != nil {
		t.Error(err)
	}
	src.FailReturns = false
	_, reserved := c.Reserve(1)
	_, never := page.NewPrefix(limit, 1, 0, 0)
	for what, err := range map[string]error{
		"Ensure": p[0].Ensure(1), "Reserve": reserved, "NewPrefix": never,
		"Commit": c.Commit(m, 0, page.Granule), "Decommit": c.Decommit(m, 0, page.Granule),
	} {
		if err != memory.ErrClosed {
			t.Errorf("%s on a closed Carve: %v; want ErrClosed", what, err)
		}
	}
	if c.Memory().Base != nil || c.Left() != 0 {
		t.Error("a closed Carve still has memory")
	}
}

func TestCarve_TwoOverOneMemoryAreRefused(t *testing.T) {
	src := page.Default()
	whole := reserve(t, src, 1<<20)
	part := page.Memory{Base: unsafe.Add(whole.Base, 512<<10), Size: 512 << 10}
	first := newCarve(t, src, part)
	if _, err := page.NewCarve(src, whole); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("a Carve over another's bytes: %v", err)
	}
	newCarve(t, src, page.Memory{Base: whole.Base, Size: 512 << 10}) // beside it
	first.Close()
	newCarve(t, src, part) // in its place
}

func TestCarve_MemoryOfAnotherIsRefused(t *testing.T) {
	src := page.Default()
	whole := reserve(t, src, 1<<20)
	a := newCarve(t, src, page.Memory{Base: whole.Base, Size: 512 << 10})
	b := newCarve(t, src, page.Memory{Base: unsafe.Add(whole.Base, 512<<10), Size: 512 << 10})
	m, err := b.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { _ = a.Commit(m, 0, page.Granule) }, "page.Commit", "not a reservation of this Carve")
	memtest.Misuse(t, func() { _ = a.Decommit(m, 0, page.Granule) }, "page.Decommit", "not a reservation of this Carve")
}

func TestCarve_EveryFlippedBitEndsCheck(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	p, err := page.NewPrefix(page.NewLimit(c, 1<<20), 256<<10, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(1); err != nil {
		t.Fatal(err)
	}
	f := memtest.EveryBit(t, func() error { return errors.Join(c.Check(), p.Check()) }, c, &p)
	if f.Named*6 < f.Flipped {
		t.Errorf("%+v: too few were named", f)
	}
}

func TestPrefix_ACarveIsNotAskedForLess(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	if p, err := page.NewPrefix(c, 2<<20, 0, 0); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("2 MiB of 1 MiB gave %d bytes, %v", p.Reserved(), err)
	}
}

func TestCarve_APartMayBeCutUpAgainAndEndsWithTheWhole(t *testing.T) {
	src := page.Default()
	outer := newCarve(t, src, reserve(t, src, 1<<20))
	part, err := outer.Reserve(256 << 10)
	if err != nil {
		t.Fatal(err)
	}
	inner := newCarve(t, outer, part)
	if _, err := page.NewCarve(outer, part); err == nil {
		t.Error("a part is cut up twice")
	}
	if _, err := page.NewCarve(src, page.Memory{Base: unsafe.Add(part.Base, 512<<10), Size: 64 << 10}); err == nil {
		t.Error("what the outer Carve has not cut off yet is cut up by another")
	}
	p, err := page.NewPrefix(inner, 64<<10, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	outer.Close()
	if err := p.Ensure(1); err != memory.ErrClosed {
		t.Errorf("on a part of a closed Carve: %v; want ErrClosed", err)
	}
}

// What begins in a Carve and reaches beyond what was cut off it is refused, wherever it begins.
func TestCarve_WhatReachesBeyondTheCutsIsRefused(t *testing.T) {
	c, err := page.NewCarve(page.Default(), reserve(t, page.Default(), 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3 {
		m, err := c.Reserve(page.BaseAlign)
		if err != nil {
			t.Fatal(err)
		}
		more := m
		more.Size = 2*page.BaseAlign + page.Granule // a cut and its guard take two
		memtest.Misuse(t, func() { _ = c.Commit(more, 0, page.Granule) }, "is not a reservation of this Carve")
		if err := c.Commit(m, 0, page.Granule); err != nil {
			t.Errorf("cut %d: %v", i, err)
		}
	}
}
