package page_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// newPrefix returns a Prefix of 64 KiB with its first granule committed.
func newPrefix(t *testing.T, src page.Source) *page.Prefix {
	t.Helper()
	p, err := page.NewPrefix(src, 64<<10, 0, page.Granule)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ensure(1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return &p
}

func TestCarve_EverybodyIsToldOnceThoughOneWhoIsToldPanics(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(memtest.ErrInjected) }, "Goexit": runtime.Goexit} {
		src := page.Default()
		c := newCarve(t, src, reserve(t, src, 1<<20))
		var told []int
		for i := range 5 {
			newPrefix(t, c).Watch(func() {
				told = append(told, i)
				if i%2 == 1 {
					end()
				}
			})
		}
		var got any
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { got = recover() }()
			c.Close()
		}()
		<-done
		if !slices.Equal(told, []int{4, 3, 2, 1, 0}) {
			t.Errorf("%s: told %v; want each once, newest first", name, told)
		}
		if name == "panic" && got != memtest.ErrInjected {
			t.Errorf("Close recovered %v", got)
		}
		c.Close()
		if err := c.Check(); err != nil || len(told) != 5 {
			t.Errorf("%s: a second Close: %v, told %v", name, err, told)
		}
	}
}

func TestCarve_WhoIsToldMayCloseOthersAndTheCarve(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	var told []int
	var p [4]*page.Prefix
	for i := range p {
		p[i] = newPrefix(t, page.NewLimit(c, 0))
		p[i].Watch(func() {
			told = append(told, i)
			c.Close()
			if i == 2 {
				if err := p[0].Close(); err != nil || p[0].Base() != nil {
					t.Errorf("closing another: %v", err)
				}
			}
		})
	}
	c.Close()
	for i := range p {
		if p[i].Base() != nil || p[i].Reserved() != 0 || p[i].Check() != nil {
			t.Errorf("prefix %d has %d bytes at %p, %v", i, p[i].Reserved(), p[i].Base(), p[i].Check())
		}
	}
	slices.Sort(told)
	if len(slices.Compact(told)) != len(told) || len(told) < 3 {
		t.Errorf("told %v; want each once at most, and all but the one that was closed", told)
	}
}

func TestCarve_WhoBeginsToWatchWhileItEndsIsToldToo(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	late, told, again := newPrefix(t, c), 0, 0
	var lost func()
	lost = func() {
		again++
		late.Watch(func() { told++ })
		if c.Watch(lost) != nil {
			t.Error("a closed Carve takes on who watches")
		}
	}
	c.Watch(lost)
	c.Close()
	if told != 1 || again != 1 || late.Base() != nil || c.Check() != nil {
		t.Errorf("the late one was told %d times, the other %d; base %p, %v", told, again, late.Base(), c.Check())
	}
	if late.Watch(func() { told++ }); told != 1 {
		t.Error("a closed Prefix is told")
	}
}

func TestPrefix_ASecondWatchTakesThePlaceOfTheFirst(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	first, second := 0, 0
	for _, p := range []*page.Prefix{newPrefix(t, c), newPrefix(t, c)} {
		p.Watch(func() { first++ })
		p.Watch(func() { second++ })
		if first == 0 && second == 0 && p.Committed() == 0 {
			t.Fatal("told before the end")
		}
	}
	closed := newPrefix(t, c)
	closed.Watch(func() { first++ })
	closed.Watch(func() { first++ })
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	closed.Watch(func() { first++ })
	c.Close()
	if first != 0 || second != 2 {
		t.Errorf("the first watcher of a Prefix was called %d times, the second %d; want 0 and 2", first, second)
	}
}

func TestNewCommitted_AnEndOfTheSourceIsErrClosed(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	limit := page.NewLimit(c, 0)
	limit.OnSoft(0, func(uintptr, uintptr) { c.Close() })
	p, err := page.NewCommitted(limit, 64<<10, 0, 0, 1)
	if !errors.Is(err, memory.ErrClosed) || p.Base() != nil {
		t.Errorf("NewCommitted = %p, %v; want nothing and ErrClosed", p.Base(), err)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestNewCommitted_NobodyIsToldOfASourceThatEndsLater(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	p, err := page.NewCommitted(c, 64<<10, 0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	p.Watch(func() { told++ })
	if c.Close(); told != 1 || p.Base() != nil || p.Check() != nil {
		t.Errorf("told %d times, at %p, %v", told, p.Base(), p.Check())
	}
}

func TestPrefix_OneThatNobodyWatchesClosesAfterItsSource(t *testing.T) {
	src := memtest.NewFaulty()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	p := newPrefix(t, page.NewLimit(c, 0))
	c.Close()
	returns := src.Returns()
	if err := p.Ensure(2 * page.Granule); err != memory.ErrClosed {
		t.Errorf("Ensure: %v; want ErrClosed", err)
	}
	if err := errors.Join(p.Close(), p.Close(), p.Check()); err != nil || p.Base() != nil || src.Returns() != returns {
		t.Errorf("Close: %v, base %p, %d calls of the system", err, p.Base(), src.Returns()-returns)
	}
}

func TestCarve_OneMayCutUpWhatAnotherHasCut(t *testing.T) {
	src := page.Default()
	outer := newCarve(t, src, reserve(t, src, 1<<20))
	limit := page.NewLimit(page.NewLimit(outer, 0), 256<<10)
	part, err := limit.Reserve(512 << 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := page.NewCarve(src, part); err == nil || !strings.Contains(err.Error(), "of another Carve") {
		t.Errorf("past the Carve that has cut it: %v", err)
	}
	uncut := page.Memory{Base: unsafe.Add(part.Base, 640<<10), Size: 64 << 10}
	if _, err := page.NewCarve(outer, uncut); err == nil || !strings.Contains(err.Error(), "of another Carve") {
		t.Errorf("what nobody has cut: %v", err)
	}
	inner := newCarve(t, limit, part)
	if _, err := page.NewCarve(limit, part); err == nil {
		t.Error("two Carves over one part")
	}
	p, told := newPrefix(t, inner), 0
	p.Watch(func() { told++ })
	if limit.Committed() != page.Granule {
		t.Errorf("%d bytes committed", limit.Committed())
	}
	bytesOf(page.Memory{Base: p.Base()}, 0, page.Granule)[page.Granule-1] = 1
	inner.Close()
	if inner = newCarve(t, limit, part); told != 1 { // in its place
		t.Errorf("told %d times", told)
	}
	p = newPrefix(t, inner)
	p.Watch(func() { told++ })
	outer.Close()
	if told != 2 || inner.Memory().Base != nil || p.Base() != nil || inner.Check() != nil {
		t.Errorf("the outer one ended: told %d times, the inner one has %+v", told, inner.Memory())
	}
	if _, err := page.NewCarve(limit, part); err != memory.ErrClosed {
		t.Errorf("over a Carve that has ended: %v; want ErrClosed", err)
	}
	newCarve(t, src, part) // what was refused or has ended holds nothing
}

func TestCarve_WithoutSourceOrMemoryIsRefused(t *testing.T) {
	src := page.Default()
	good := reserve(t, src, 1<<20)
	for name, m := range map[string]page.Memory{
		"nothing": {}, "no base": {Size: 1 << 20}, "no bytes": {Base: good.Base},
		"misaligned": {Base: unsafe.Add(good.Base, page.Granule), Size: 512 << 10},
		"no granule": {Base: good.Base, Size: 512<<10 + 1},
		"half":       {Base: good.Base, Size: ^uintptr(0)>>1 + 1},
		"wraps":      {Base: good.Base, Size: -uintptr(good.Base) &^ (page.Granule - 1)},
	} {
		if _, err := page.NewCarve(src, m); err == nil || !strings.Contains(err.Error(), "want a source and whole granules of 16384, aligned to 65536") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := page.NewCarve(nil, good); err == nil || !strings.Contains(err.Error(), "from the source <nil>") {
		t.Errorf("no source: %v", err)
	}
	newCarve(t, src, good)
}

func TestCarve_ResetUnderSomebodyIsRefused(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	p := newPrefix(t, c)
	p.Watch(func() {})
	left := c.Left()
	memtest.Misuse(t, c.Reset, "page.Reset", "1 allocators still use this Carve: close them first")
	if c.Left() != left {
		t.Error("a Reset that is refused cuts anew")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if c.Reset(); c.Left() != 1<<20 {
		t.Errorf("%d bytes left", c.Left())
	}
}

func TestCarve_WhatIsNotCutYetIsRefused(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	m, err := c.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []page.Memory{
		{Base: unsafe.Add(m.Base, page.BaseAlign), Size: page.Granule}, // the next
		{Base: m.Base, Size: 128 << 10},                                // longer
		{},
	} {
		memtest.Misuse(t, func() { _ = c.Commit(m, 0, 0) }, "page.Commit", "not a reservation of this Carve")
		memtest.Misuse(t, func() { _ = c.Decommit(m, 0, 0) }, "page.Decommit", "not a reservation of this Carve")
	}
	c.Reset()
	memtest.Misuse(t, func() { _ = c.Commit(m, 0, page.Granule) }, "page.Commit", "not a reservation of this Carve")
}
