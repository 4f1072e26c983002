package page_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestLimit_CountsSoftAndHard(t *testing.T) {
	l := page.NewLimit(nil, 256<<10)
	var marks []uintptr
	l.OnSoft(128<<10, func(committed, limit uintptr) { marks = append(marks, committed) })
	m, err := l.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release(m)
	for i := range uintptr(4) {
		if err := l.Commit(m, i*(64<<10), 64<<10); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Commit(m, 512<<10, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("beyond the budget: %v", err)
	}
	if err := l.Decommit(m, 0, 192<<10); err != nil {
		t.Fatal(err)
	}
	if l.Committed() != 64<<10 || l.Peak() != 256<<10 || l.Failures() != 1 || l.Budget() != 256<<10 {
		t.Errorf("committed %d, peak %d, failures %d, budget %d", l.Committed(), l.Peak(), l.Failures(), l.Budget())
	}
	if err := l.Commit(m, 0, 128<<10); err != nil {
		t.Fatal(err)
	}
	if len(marks) != 2 || marks[0] != 192<<10 {
		t.Errorf("the soft mark was reported at %v, want twice, first at 192 KiB", marks)
	}
}

func TestLimit_AStepThatDoesNotFitIsNoFailure(t *testing.T) {
	l := page.NewLimit(nil, 96<<10)
	p, err := page.NewPrefix(l, 1<<20, 0, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, n := range []uintptr{1, 64<<10 + 1} {
		if err := p.Ensure(n); err != nil || l.Failures() != 0 {
			t.Errorf("Ensure(%d): %v, %d failures", n, err, l.Failures())
		}
	}
	if l.Committed() != 96<<10 || p.Committed() != 96<<10 {
		t.Errorf("committed %d by the budget, %d by the prefix; want all of 96 KiB", l.Committed(), p.Committed())
	}
	if err := p.Ensure(96<<10 + 1); err == nil || l.Failures() != 1 {
		t.Errorf("beyond the budget: %v, %d failures; want 1", err, l.Failures())
	}
}

func TestLimit_APanicInOnSoftTakesTheCommitBack(t *testing.T) {
	l := page.NewLimit(nil, 0)
	calls := 0
	l.OnSoft(32<<10, func(uintptr, uintptr) {
		if calls++; calls == 1 {
			panic("first")
		}
	})
	p, err := page.NewPrefix(l, 1<<20, 0, page.Granule)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ensure(32 << 10); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = p.Ensure(64 << 10)
		t.Error("the panic did not arrive")
	}()
	if l.Committed() != 32<<10 || l.Peak() != 32<<10 || p.Committed() != 32<<10 {
		t.Errorf("after the panic: %d by the budget at a peak of %d, %d by the prefix", l.Committed(), l.Peak(), p.Committed())
	}
	if err := p.Ensure(64 << 10); err != nil || calls != 2 || l.Committed() != 64<<10 {
		t.Errorf("the next one: %v, %d calls, %d committed", err, calls, l.Committed())
	}
}

// The callback may decommit other memory of the Limit, and the system may refuse to undo the commit. The budget
// counts the bytes that allocators use.
func TestLimit_APanicInOnSoftLeavesTheBudgetWhatIsInUse(t *testing.T) {
	src := memtest.NewFaulty()
	l := page.NewLimit(src, 128<<10)
	var other page.Prefix
	calls := 0
	l.OnSoft(64<<10, func(uintptr, uintptr) {
		if calls++; calls > 2 {
			return
		}
		if err := other.Trim(16 << 10); err != nil {
			t.Error(err)
		}
		src.FailReturns = true
		panic("tight")
	})
	p, err := page.NewPrefix(l, 1<<20, 0, page.Granule)
	if err != nil {
		t.Fatal(err)
	}
	if other, err = page.NewPrefix(l, 1<<20, 0, page.Granule); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := other.Ensure(48 << 10); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = p.Ensure(32 << 10)
			t.Error("the panic did not arrive")
		}()
		src.FailReturns = false
		if l.Committed() != 16<<10 || other.Committed() != 16<<10 || p.Committed() != 0 {
			t.Errorf("%d bytes by the budget, the prefixes have %d and %d", l.Committed(), other.Committed(), p.Committed())
		}
	}
	if err := p.Ensure(96 << 10); err != nil || l.Committed() != 112<<10 || calls != 3 {
		t.Errorf("the next one: %v, %d committed, %d calls", err, l.Committed(), calls)
	}
	if err := errors.Join(p.Close(), other.Close()); err != nil || l.Committed() != 0 || src.Reserved() != 0 {
		t.Errorf("%v, %d committed", err, l.Committed())
	}
}

func TestLimit_ABudgetThatChangesIsNeverLessThanIsCommitted(t *testing.T) {
	l := page.NewLimit(nil, 256<<10)
	m, err := l.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release(m)
	commit := func(off, n uintptr) error { return l.Commit(m, off, n) }
	if err := commit(0, 128<<10); err != nil {
		t.Fatal(err)
	}
	l.SetBudget(1)
	if err := commit(128<<10, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) || l.Budget() != 128<<10 {
		t.Errorf("behind SetBudget(1): %v, of a budget of %d", err, l.Budget())
	}
	if err := l.Decommit(m, 64<<10, 64<<10); err != nil {
		t.Fatal(err)
	}
	if err := commit(64<<10, 64<<10); err != nil {
		t.Errorf("what was given back: %v", err)
	}
	l.SetBudget(512 << 10)
	if err := commit(128<<10, 384<<10); err != nil || commit(512<<10, page.Granule) == nil {
		t.Errorf("of 512 KiB: %v", err)
	}
	l.SetBudget(0)
	if err := commit(512<<10, 64<<10); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}

func TestLimit_ErrorsHaveTheNameAndTheAdvice(t *testing.T) {
	src := memtest.NewFaulty()
	mem, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve := newCarve(t, src, mem)
	l := page.NewLimit(carve, 64<<10).Name("ai").Advise(page.Advice{Budget: "raise B", Carve: "raise C", Reserve: "raise R"})
	p, err := page.NewPrefix(l, 128<<10, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, full := l.Reserve(1 << 20)
	budget, reserve, large := p.Ensure(128<<10), p.Ensure(256<<10), p.TooLarge(1<<30)
	src.FailAt = src.Calls() + 1
	for want, err := range map[string]error{
		"ai: budget: out of memory: need 131072 bytes, have 65536 of 65536; raise B":                            budget,
		"ai: reservation: out of memory: need 1048576 bytes, have 851968 of 1048576; raise C":                   full,
		"ai: reservation: out of memory: need 262144 bytes, have 131072 of 131072; raise R":                     reserve,
		"ai: need 1073741824 bytes, reserved are 131072; raise R: memory: request too large for this allocator": large,
		"ai: memtest: injected commit: out of memory: need 1 bytes: call " + strconv.Itoa(src.Calls()+1):        p.Ensure(1),
	} {
		if err == nil || err.Error() != want || errors.Is(err, memory.ErrOutOfMemory) == (err == large) || errors.Is(err, memory.ErrTooLarge) != (err == large) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if q, err := page.NewPrefix(src, page.Granule, 0, 0); err != nil || q.Advice() != "" || q.TooLarge(1) != memory.ErrTooLarge {
		t.Errorf("without a Limit: %q, %v", q.Advice(), err)
	}
}
