package memtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

func TestMisuse_WantsAMisuseWithItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"no panic":    {func() {}, "want a panic with a *memory.Misuse"},
		"other panic": {func() { panic("oops") }, "recovered oops"},
		"other words": {func() { panic(&memory.Misuse{Package: "x", Op: "Free", Reason: "double free"}) }, `does not contain "foreign"`},
	} {
		r := record(func(tb testing.TB) { Misuse(tb, c.f, "foreign") })
		if !strings.Contains(r.said, c.want) {
			t.Errorf("%s: said %q; want %q", name, r.said, c.want)
		}
	}
}

func TestFaulty_CountsWhatTheSourceFailsToRelease(t *testing.T) {
	under := NewFaulty()
	src := &Faulty{Source: under}
	m, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	under.FailReturnAt, under.PanicReturnAt = 1, 2
	if src.Release(m) == nil || src.Reserved() != 1 {
		t.Errorf("%d reservations after a Release that failed", src.Reserved())
	}
	if misused(func() { _ = src.Release(m) }) != ErrInjected || src.Reserved() != 1 {
		t.Errorf("%d reservations after a Release that panicked", src.Reserved())
	}
	if err := src.Release(m); err != nil || src.Reserved() != 0 {
		t.Errorf("%v, %d reservations", err, src.Reserved())
	}
}

func TestFaulty_UnwatchCountsOnce(t *testing.T) {
	f := &Faulty{Source: page.Default()}
	f.Watch(func() {})
	unwatch := f.Watch(func() {})
	unwatch()
	unwatch() // page.Watched: it does nothing
	if n := f.Watched(); n != 1 {
		t.Errorf("%d functions are registered, one of two was removed", n)
	}
}

func TestFaulty_FailsTheCallItIsTold(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		src := NewFaulty()
		src.FailAt, src.ForGood = 2, forGood
		m, err := src.Reserve(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Commit(m, 0, page.Granule); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("call 2: %v", err)
		}
		if err := src.Commit(m, 0, page.Granule); (err != nil) != forGood {
			t.Errorf("call 3 with ForGood %t: %v", forGood, err)
		}
		if src.Calls() != 3 || src.Reserved() != 1 {
			t.Errorf("%d calls, %d reservations", src.Calls(), src.Reserved())
		}
		src.FailReturns = true
		if src.Decommit(m, 0, page.Granule) == nil || src.Release(m) == nil || src.Reserved() != 1 {
			t.Error("memory was returned in spite of FailReturns")
		}
		src.FailReturns = false
		if err := src.Release(m); err != nil || src.Reserved() != 0 {
			t.Errorf("Release: %v, %d left", err, src.Reserved())
		}
	}
}
