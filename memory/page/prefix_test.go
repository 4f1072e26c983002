package page_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// The default step is 1/32 of the committed bytes. So at most that, or a Granule, is committed in excess, and the
// system is called rarely.
func TestPrefix_StepsOfItsOwnGrowWithIt(t *testing.T) {
	p, err := page.NewPrefix(nil, 64<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for n := uintptr(1); n <= 16<<20; n += 1000 {
		before := p.Committed()
		if err := p.Ensure(n); err != nil {
			t.Fatal(err)
		}
		got := p.Committed() - before
		if got == 0 {
			continue
		}
		steps++
		want := min(max(before/32/page.Granule, 1)*page.Granule, 256<<10)
		if got != want || p.Check() != nil {
			t.Fatalf("%d bytes more of %d; want %d, %v", got, before, want, p.Check())
		}
	}
	if steps > 171 {
		t.Errorf("%d steps to 16 MiB", steps)
	}
	if err := p.Ensure(40 << 20); err != nil || p.Committed() != 40<<20 {
		t.Errorf("Ensure(40 MiB): %v, %d committed", err, p.Committed())
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestPrefix_GrowsInStepsAndKeepsItsBase(t *testing.T) {
	p, err := page.NewPrefix(nil, 1<<20, 0, 128<<10)
	if err != nil {
		t.Fatal(err)
	}
	base := p.Base()
	for _, c := range []struct{ ensure, want uintptr }{{0, 0}, {1, 128 << 10}, {128 << 10, 128 << 10}, {129 << 10, 256 << 10}, {1 << 20, 1 << 20}} {
		if err := p.Ensure(c.ensure); err != nil || p.Committed() != c.want {
			t.Errorf("Ensure(%d): committed %d, %v; want %d", c.ensure, p.Committed(), err, c.want)
		}
	}
	if p.Base() != base || !p.Contains(unsafe.Add(base, 1<<20-1)) || p.Contains(unsafe.Add(base, 1<<20)) {
		t.Error("base or range have changed")
	}
	if err := p.Ensure(1<<20 + 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the reservation: %v", err)
	}
	if err := errors.Join(p.Trim(100), p.Check()); err != nil || p.Committed() != page.Granule {
		t.Errorf("Trim(100): committed %d, %v", p.Committed(), err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil || p.Base() != nil {
		t.Errorf("Close: %v", err)
	}
	if err := p.Ensure(1); !errors.Is(err, memory.ErrClosed) {
		t.Errorf("Ensure after Close: %v", err)
	}
}

func TestPrefix_TakesLessWhereTheStepIsRefused(t *testing.T) {
	budget := page.NewLimit(nil, 100<<10)
	p, err := page.NewPrefix(budget, 1<<20, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(90 << 10); err != nil || p.Committed() != 96<<10 {
		t.Errorf("committed %d, %v; want the 6 granules that fit", p.Committed(), err)
	}
	var full *memory.Exhausted
	if err := p.Ensure(200 << 10); !errors.As(err, &full) || full.Limit != 100<<10 || full.Have != 4<<10 {
		t.Errorf("err %v", err)
	}
	if err := p.Ensure(2 << 20); !errors.As(err, &full) || full.Need != 2<<20-96<<10 || full.Have != 1<<20-96<<10 {
		t.Errorf("err %v; want the bytes that are missing and those that are left", err)
	}
}

// small refuses reservations above a limit, as ulimit -v does.
type small struct {
	page.Source
	limit uintptr
}

func (s small) Reserve(size uintptr) (page.Memory, error) {
	if size > s.limit {
		return page.Memory{}, memory.ErrOutOfMemory
	}
	return s.Source.Reserve(size)
}

func TestPrefix_HalvesWhatTheSystemRefuses(t *testing.T) {
	src := small{page.Heap(), 300 << 10}
	p, err := page.NewPrefix(src, 1<<20, 64<<10, 0)
	if err != nil || p.Reserved() != 256<<10 {
		t.Fatalf("reserved %d, %v; want 256 KiB", p.Reserved(), err)
	}
	_ = p.Close()
	if _, err := page.NewPrefix(src, 1<<20, 512<<10, 0); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("least 512 KiB of 300 KiB: %v", err)
	}
}

func TestPrefix_CloseThatFailsLeavesItOpen(t *testing.T) {
	src := memtest.NewFaulty()
	p, err := page.NewPrefix(src, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(1); err != nil {
		t.Fatal(err)
	}
	src.FailReturns = true
	if err := p.Close(); err == nil || p.Base() == nil {
		t.Errorf("Close hid the failure: %v", err)
	}
	src.FailReturns = false
	if err := p.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("Close: %v, %d left", err, src.Reserved())
	}
}

// odd is a Source whose Reserve gives what it likes.
type odd struct {
	page.Source
	m page.Memory
}

func (o odd) Reserve(uintptr) (page.Memory, error) { return o.m, nil }

func TestPrefix_AReservationThatIsNoneIsRefused(t *testing.T) {
	good := reserve(t, page.Default(), 1<<20)
	for name, m := range map[string]page.Memory{
		"nothing":    {},
		"misaligned": {Base: unsafe.Add(good.Base, page.Granule), Size: 512 << 10},
		"too small":  {Base: good.Base, Size: 256 << 10},
		"no granule": {Base: good.Base, Size: 512<<10 + 1},
	} {
		if p, err := page.NewPrefix(odd{page.Default(), m}, 512<<10, 0, 0); err == nil || p.Base() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewCommitted_KeepsNothingWhereItFailsOrPanics(t *testing.T) {
	src := memtest.NewFaulty()
	src.FailAt, src.ForGood = 2, true
	if p, err := page.NewCommitted(src, 1<<20, 0, 0, 100<<10); !errors.Is(err, memory.ErrOutOfMemory) || p.Base() != nil || src.Reserved() != 0 {
		t.Errorf("%v, %d reservations", err, src.Reserved())
	}
	src.FailAt = 0
	l := page.NewLimit(src, 128<<10)
	l.OnSoft(32<<10, func(uintptr, uintptr) { panic("tight") })
	func() {
		defer func() { _ = recover() }()
		_, _ = page.NewCommitted(l, 1<<20, 0, 0, 100<<10)
		t.Error("the panic did not arrive")
	}()
	if l.Committed() != 0 || src.Reserved() != 0 {
		t.Errorf("%d bytes committed, %d reservations", l.Committed(), src.Reserved())
	}
	l.OnSoft(0, nil)
	p, err := page.NewCommitted(l, 1<<20, 0, page.Granule, 100<<10)
	if err != nil || p.Committed() != 112<<10 || p.Reserved() != 1<<20 {
		t.Errorf("%v, %d bytes of %d", err, p.Committed(), p.Reserved())
	}
	if err := p.Close(); err != nil || src.Reserved() != 0 {
		t.Error(err)
	}
}

// Ahead says before what Ensure does then, at most; a budget may give less.
func TestPrefix_AheadIsWhatEnsureCommits(t *testing.T) {
	for name, src := range map[string]page.Source{"plain": page.Default(), "huge": page.DefaultWith(page.Options{HugePages: true})} {
		for _, step := range []uintptr{0, page.Granule, 5 * page.Granule} {
			p, err := page.NewPrefix(src, 9<<20, 0, step)
			if err != nil {
				t.Fatal(err)
			}
			for n := uintptr(0); n <= p.Reserved(); n += 100_000 {
				want := p.Ahead(n)
				if err := p.Ensure(n); err != nil || p.Committed() != want || want < n {
					t.Fatalf("%s, step %d: %d bytes are committed for %d, %d were said: %v", name, step, p.Committed(), n, want, err)
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// counting tells how many reservations there are, and were given back.
type counting struct {
	small
	released *int
}

func (c counting) Release(m page.Memory) error {
	*c.released++
	return c.small.Release(m)
}

func TestPrefix_WhatWasHalvedIsKept(t *testing.T) {
	released := 0
	p, err := page.NewPrefix(counting{small{page.Heap(), 300 << 10}, &released}, 1<<20, 64<<10, 0)
	if err != nil || released != 0 {
		t.Errorf("%v; %d reservations were given back, and the last one is in use", err, released)
	}
	if err := p.Close(); err != nil || released != 1 {
		t.Errorf("%v, %d given back", err, released)
	}
}
