package page_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// marked returns a Prefix with a granule committed, on a budget whose mark is passed by the next.
func marked(t *testing.T, src page.Source) (*page.Limit, *page.Prefix) {
	l := page.NewLimit(src, 0)
	return l, newPrefix(t, l)
}

func TestPrefix_WhatTheMarkCallsCannotTakeTheGroundFromUnderIt(t *testing.T) {
	l, p := marked(t, nil)
	other := newPrefix(t, l)
	l.OnSoft(2*page.Granule, func(uintptr, uintptr) {
		if err := errors.Join(p.Trim(0), other.Trim(0)); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err == nil || !strings.Contains(err.Error(), "cannot be closed while it commits") {
			t.Errorf("Close: %v", err)
		}
		memtest.Misuse(t, func() { _ = p.Ensure(4 * page.Granule) }, "page.Ensure", "must not allocate from its own budget")
	})
	if err := errors.Join(p.Ensure(2*page.Granule), p.Check()); err != nil {
		t.Fatal(err)
	}
	if p.Committed() != 2*page.Granule || other.Committed() != 0 || l.Committed() != 2*page.Granule {
		t.Errorf("committed %d, the other %d, by the budget %d; want 2, 0 and 2 granules", p.Committed(), other.Committed(), l.Committed())
	}
	b := bytesOf(page.Memory{Base: p.Base()}, 0, p.Committed())
	b[0], b[len(b)-1] = 1, 1
	if err := errors.Join(p.Trim(1), p.Close()); err != nil || l.Committed() != 0 {
		t.Errorf("afterwards: %v, %d committed", err, l.Committed())
	}
}

func TestPrefix_WhoseSourceEndsWhileItGrowsIsClosed(t *testing.T) {
	src := page.Default()
	c := newCarve(t, src, reserve(t, src, 1<<20))
	l, p := marked(t, c)
	told := 0
	p.Watch(func() { told++ })
	l.OnSoft(page.Granule, func(uintptr, uintptr) { c.Close() })
	if err := p.Ensure(2 * page.Granule); err != memory.ErrClosed || told != 1 {
		t.Errorf("Ensure: %v, told %d times; want ErrClosed and once", err, told)
	}
	if err := errors.Join(p.Check(), p.Close()); err != nil || p.Committed() != 0 {
		t.Errorf("%v, %d committed", err, p.Committed())
	}
}

func TestLimit_WhatOnSoftGaveBackBeforeItPanickedStaysBack(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(memtest.ErrInjected) }, "Goexit": runtime.Goexit} {
		l, p := marked(t, nil)
		other := newPrefix(t, l)
		l.OnSoft(2*page.Granule, func(uintptr, uintptr) {
			if err := other.Trim(0); err != nil {
				t.Error(err)
			}
			end()
		})
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_ = p.Ensure(3 * page.Granule)
		}()
		<-done
		if l.Committed() != page.Granule || p.Committed() != page.Granule || l.Peak() != 2*page.Granule {
			t.Errorf("%s: %d by the budget, %d by the prefix, peak %d; want 1, 1 and 2 granules", name, l.Committed(), p.Committed(), l.Peak())
		}
		l.OnSoft(0, nil)
		if err := errors.Join(p.Ensure(3*page.Granule), p.Check()); err != nil || l.Committed() != 3*page.Granule {
			t.Errorf("%s: the next one: %v, %d by the budget", name, err, l.Committed())
		}
	}
}

func TestLimit_MarksAtTheEnds(t *testing.T) {
	for _, c := range []struct {
		mark uintptr
		want int
	}{{0, 2}, {page.Granule - 1, 2}, {page.Granule, 2}, {2*page.Granule - 1, 2}, {2 * page.Granule, 0}, {math.MaxUint, 0}} {
		l := page.NewLimit(nil, 2*page.Granule)
		m := reserve(t, l, 64<<10)
		calls := 0
		l.OnSoft(c.mark, func(uintptr, uintptr) { calls++ })
		for range 2 {
			if err := errors.Join(l.Commit(m, 0, page.Granule), l.Commit(m, page.Granule, page.Granule), l.Decommit(m, 0, 2*page.Granule)); err != nil {
				t.Fatal(err)
			}
		}
		if calls != c.want {
			t.Errorf("a mark of %d: %d calls; want %d", c.mark, calls, c.want)
		}
	}
}

func TestLimit_MoreBackThanWasCommittedIsRefused(t *testing.T) {
	l := page.NewLimit(nil, 64<<10)
	m := reserve(t, l, 1<<20)
	memtest.Misuse(t, func() { _ = l.Decommit(m, 0, page.Granule) }, "page.Decommit", "size 16384", "the Limit has only 0 committed bytes")
	if err := l.Commit(m, 0, 64<<10); err != nil {
		t.Fatal(err)
	}
	memtest.Misuse(t, func() { _ = l.Decommit(m, 0, 80<<10) }, "page.Decommit", "the Limit has only 65536 committed bytes")
	if err := l.Commit(m, 64<<10, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) || l.Committed() != 64<<10 {
		t.Errorf("beyond the budget: %v, %d committed", err, l.Committed())
	}
}

func TestLimit_BudgetsAtTheEnds(t *testing.T) {
	for _, c := range []struct{ budget, fits, limit uintptr }{
		{1, 0, 1}, {page.Granule - 1, 0, page.Granule - 1}, {page.Granule, page.Granule, page.Granule},
		{page.Granule + 1, page.Granule, page.Granule + 1}, {0, 64 << 10, math.MaxUint}, {math.MaxUint, 64 << 10, math.MaxUint},
	} {
		l := page.NewLimit(nil, c.budget)
		p, err := page.NewPrefix(l, 64<<10, 0, 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Ensure(1)
		var full *memory.Exhausted
		if c.fits == 0 && (!errors.As(err, &full) || *full != memory.Exhausted{Op: "page: budget", Need: page.Granule, Have: c.budget, Limit: c.budget} || l.Failures() != 1) {
			t.Errorf("a budget of %d: %v, %d failures", c.budget, err, l.Failures())
		}
		if c.fits != 0 && (err != nil || l.Failures() != 0) || p.Committed() != c.fits || l.Committed() != c.fits || l.Budget() != c.limit {
			t.Errorf("a budget of %d: %v, %d committed, %d by the budget of %d", c.budget, err, p.Committed(), l.Committed(), l.Budget())
		}
		if err := p.Close(); err != nil || l.Committed() != 0 || l.Peak() != c.fits {
			t.Errorf("a budget of %d: %v, %d committed after Close, peak %d", c.budget, err, l.Committed(), l.Peak())
		}
	}
}

func TestPrefix_HugeStepsAndTrimsChangeNothing(t *testing.T) {
	for _, step := range []uintptr{1, page.Granule, 1 << 20, math.MaxInt, math.MaxUint - page.Granule + 2, math.MaxUint} {
		p, err := page.NewPrefix(nil, 1<<20, 0, step)
		if err != nil {
			t.Fatal(err)
		}
		want := uintptr(1 << 20)
		if step <= page.Granule {
			want = page.Granule
		}
		for _, n := range []uintptr{want + 1, math.MaxUint - page.Granule + 1, math.MaxUint - page.Granule + 2, math.MaxUint} {
			if err := errors.Join(p.Ensure(1), p.Trim(n), p.Check()); err != nil || p.Committed() != want {
				t.Errorf("step %d, Trim(%d): %d committed, %v; want %d", step, n, p.Committed(), err, want)
			}
		}
		if err := p.Ensure(math.MaxUint); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("Ensure of all addresses: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// generous is a Source that reserves more than it is asked for.
type generous struct{ page.Source }

func (g generous) Reserve(size uintptr) (page.Memory, error) { return g.Source.Reserve(size + 1<<20) }

func TestPrefix_UsesNoMoreThanItAskedFor(t *testing.T) {
	src := memtest.NewFaulty()
	p, err := page.NewPrefix(generous{src}, 100<<10, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Ensure(1), p.Check()); err != nil || p.Reserved() != 112<<10 || p.Committed() != 112<<10 {
		t.Errorf("%v, %d reserved, %d committed; want 7 granules", err, p.Reserved(), p.Committed())
	}
	if err := p.Ensure(112<<10 + 1); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("more than was asked for: %v", err)
	}
	if err := p.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("Close: %v, %d reservations left", err, src.Reserved())
	}
}

// liar is a Source that says it has committed got bytes.
type liar struct {
	page.Source
	got uintptr
	err error
}

func (l liar) CommitSome(page.Memory, uintptr, uintptr, uintptr) (uintptr, error) {
	return l.got, l.err
}

func TestPrefix_DoesNotBelieveASourceThatCannotCount(t *testing.T) {
	for _, got := range []uintptr{0, page.Granule, 2*page.Granule + 1, 5 * page.Granule, math.MaxUint} {
		l := page.NewLimit(liar{page.Default(), got, nil}, 0)
		p, err := page.NewPrefix(l, 1<<20, 0, 4*page.Granule)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Ensure(2 * page.Granule)
		if err == nil || !strings.Contains(err.Error(), "want whole granules, from 32768 to 65536") || p.Committed() != 0 || l.Committed() != 0 || p.Check() != nil {
			t.Errorf("%d bytes: %v, %d committed, %d by the budget", got, err, p.Committed(), l.Committed())
		}
		_ = p.Close()
	}
	p, err := page.NewPrefix(liar{page.Default(), page.Granule, memory.ErrOutOfMemory}, 1<<20, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(1); err != memory.ErrOutOfMemory || p.Committed() != 0 {
		t.Errorf("bytes beside an error: %v, %d committed", err, p.Committed())
	}
}

func TestLimit_CommitSomeGivesNothingBesideAnError(t *testing.T) {
	src := memtest.NewFaulty()
	l := page.NewLimit(src, 4*page.Granule)
	m := reserve(t, l, 1<<20)
	if got, err := l.CommitSome(m, 0, 5*page.Granule, 8*page.Granule); got != 0 || !errors.Is(err, memory.ErrOutOfMemory) || l.Failures() != 1 {
		t.Errorf("beyond the budget: %d, %v, %d failures", got, err, l.Failures())
	}
	src.FailAt, src.ForGood = src.Calls()+1, true
	if got, err := l.CommitSome(m, 0, page.Granule, 8*page.Granule); got != 0 || !errors.Is(err, memory.ErrOutOfMemory) || l.Failures() != 2 || l.Committed() != 0 {
		t.Errorf("refused by the system: %d, %v, %d failures", got, err, l.Failures())
	}
	src.FailAt = 0
	if got, err := l.CommitSome(m, 0, page.Granule, 8*page.Granule); got != 4*page.Granule || err != nil || l.Failures() != 2 {
		t.Errorf("what the budget has: %d, %v, %d failures", got, err, l.Failures())
	}
}

// told is a Source that notes what was asked of it.
type told struct {
	page.Source
	ops []string
}

func (s *told) note(op string) { s.ops = append(s.ops, op) }

func (s *told) Reserve(size uintptr) (page.Memory, error) {
	s.note("Reserve")
	return s.Source.Reserve(size)
}
func (s *told) Commit(m page.Memory, off, size uintptr) error {
	s.note("Commit")
	return s.Source.Commit(m, off, size)
}
func (s *told) Decommit(m page.Memory, off, size uintptr) error {
	s.note("Decommit")
	return s.Source.Decommit(m, off, size)
}
func (s *told) Release(m page.Memory) error { s.note("Release"); return s.Source.Release(m) }

func TestLimit_AsksTheSourceItWasGivenAndAPrefixClosesItOnce(t *testing.T) {
	src := &told{Source: page.Default()}
	p, err := page.NewPrefix(page.NewLimit(page.NewLimit(src, 0), 0), 64<<10, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Ensure(1), p.Close(), p.Close(), p.Trim(0), p.Check()); err != nil {
		t.Error(err)
	}
	if got := strings.Join(src.ops, " "); got != "Reserve Commit Decommit Release" {
		t.Errorf("the source was asked to %s", got)
	}
}

// steep is a Source without steps of its own that commits up to most bytes at once.
type steep struct {
	told
	most uintptr
}

func (s *steep) Commit(m page.Memory, off, size uintptr) error {
	if size > s.most {
		s.note("refuse")
		return memory.ErrOutOfMemory
	}
	return s.told.Commit(m, off, size)
}

func TestPrefix_TriesLessOnceWhereThereIsLess(t *testing.T) {
	for _, c := range []struct {
		most, need, committed uintptr
		ops                   string
	}{
		{4 * page.Granule, page.Granule, 4 * page.Granule, "Reserve Commit"},
		{2 * page.Granule, page.Granule, page.Granule, "Reserve refuse Commit"},
		{page.Granule, 2 * page.Granule, 0, "Reserve refuse refuse"},
		{page.Granule, 4 * page.Granule, 0, "Reserve refuse"}, // what is needed is the whole step
	} {
		src := &steep{told{Source: page.Default()}, c.most}
		p, err := page.NewPrefix(src, 1<<20, 0, 4*page.Granule)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Ensure(c.need); (err == nil) != (c.committed != 0) || p.Committed() != c.committed {
			t.Errorf("%d bytes at most, %d needed: %v, %d committed", c.most, c.need, err, p.Committed())
		}
		if got := strings.Join(src.ops, " "); got != c.ops {
			t.Errorf("%d bytes at most, %d needed: %s; want %s", c.most, c.need, got, c.ops)
		}
		_ = p.Close()
	}
}

// If a source ends during a Decommit, the Prefix has no committed bytes.
func TestPrefix_WhoseSourceEndsWhileItGivesBackIsClosed(t *testing.T) {
	for name, call := range map[string]struct {
		f    func(p *page.Prefix) error
		want error
	}{
		"Trim":  {func(p *page.Prefix) error { return p.Trim(page.Granule) }, memory.ErrClosed},
		"Close": {(*page.Prefix).Close, nil},
	} {
		src := memtest.NewSudden(t, 1<<20, 3)
		p := newPrefix(t, src)
		busy := false
		p.Watch(func() { busy = p.Busy() })
		if err := p.Ensure(3 * page.Granule); err != nil {
			t.Fatal(err)
		}
		if err := call.f(p); err != call.want || !src.Ended || !busy || p.Busy() {
			t.Errorf("%s: %v, ended %t; busy %t when told, %t now", name, err, src.Ended, busy, p.Busy())
		}
		if err := errors.Join(p.Check(), p.Close()); err != nil || p.Committed() != 0 || p.Base() != nil {
			t.Errorf("%s: %v, %d committed at %p", name, err, p.Committed(), p.Base())
		}
	}
}

// Who is called out of a Decommit cannot commit what is being given back.
func TestPrefix_AnEnsureOutOfATrimIsRefused(t *testing.T) {
	var p *page.Prefix
	src := &calling{Source: page.Default()}
	p = newPrefix(t, src)
	if err := p.Ensure(3 * page.Granule); err != nil {
		t.Fatal(err)
	}
	src.decommit = func() {
		memtest.Misuse(t, func() { _ = p.Ensure(4 * page.Granule) }, "page.Ensure", "must not allocate from its own budget")
		if err := p.Close(); err == nil {
			t.Error("Close in the midst of a Trim")
		}
	}
	if err := errors.Join(p.Trim(page.Granule), p.Check()); err != nil || p.Committed() != page.Granule {
		t.Errorf("%v, %d committed", err, p.Committed())
	}
	src.decommit = func() {}
	if err := errors.Join(p.Ensure(2*page.Granule), p.Close()); err != nil {
		t.Error(err)
	}
}

// A calling source calls a function within Decommit.
type calling struct {
	page.Source
	decommit func()
}

func (c *calling) Decommit(m page.Memory, off, size uintptr) error {
	c.decommit()
	return c.Source.Decommit(m, off, size)
}
