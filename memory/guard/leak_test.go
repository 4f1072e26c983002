package guard

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

//go:noinline
func other(t testing.TB, a *Allocator, size uintptr) { mustAlloc(t, a, size, 8) }

func leaky(t *testing.T) *Allocator {
	t.Helper()
	a := newGuard(t, Config{})
	other(t, a, 50)
	for range 3 {
		spawn(t, a, 100)
	}
	kill(a, spawn(t, a, 10_000), 10_000)
	return a
}

func TestLeaks_AreSummedBySiteAndSortedByBytes(t *testing.T) {
	a := leaky(t)
	leaks := a.Leaks()
	if len(leaks) != 2 || leaks[0].Blocks != 3 || leaks[0].Bytes != 300 || leaks[1].Blocks != 1 || leaks[1].Bytes != 50 {
		t.Fatalf("got %v", leaks)
	}
	for i, name := range []string{"guard.spawn", "guard.other"} {
		if s := leaks[i].String(); !strings.Contains(s, name) || !strings.Contains(s, "allocator_test.go:") {
			t.Errorf("%q does not name %s", s, name)
		}
	}
	var out strings.Builder
	if err := a.WriteLeaks(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"guard: 4 blocks of 350 bytes in all are live, from 2 call sites\n\n3 blocks, 300 bytes, allocated at\n\t",
		"\n\n1 block, 50 bytes, allocated at\n\t", "guard.spawn\n\t\t", "/allocator_test.go:", "guard.other\n", "/leak_test.go:", "guard.leaky\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from:\n%s", want, out.String())
		}
	}
}

func TestClose_ReportsLeaksOnceAndDamage(t *testing.T) {
	a := leaky(t)
	p := spawn(t, a, 8)
	*at(p, 8) = 1
	err := a.Close()
	var leaks *LeakError
	if !errors.As(err, &leaks) || len(leaks.Leaks) != 3 || !strings.Contains(err.Error(), "5 blocks of 358 bytes in all are live, from 3 call sites\n\t3 blocks, 300 bytes, allocated at guard.") {
		t.Errorf("Close = %v", err)
	}
	if !strings.Contains(err.Error(), "guard.Close") || !strings.Contains(err.Error(), "overflow: byte 8") {
		t.Errorf("Close does not report the damage: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("a second Close = %v", err)
	}
	if a.Leaks() != nil || a.Stats().Live != 0 {
		t.Error("blocks are live after Close")
	}
}

func TestClose_SaysOneBlockAndOneCallSite(t *testing.T) {
	a := newGuard(t, Config{})
	spawn(t, a, 8)
	err := a.Close()
	if want := "guard: 1 block of 8 bytes in all is live, from 1 call site\n\t1 block, 8 bytes, allocated at guard."; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Close = %v, want %s", err, want)
	}
}

func TestReset_LeavesNoLeakAndRemembersWhereItWas(t *testing.T) {
	a := leaky(t)
	p := spawn(t, a, 10)
	a.Reset()
	if a.Leaks() != nil {
		t.Errorf("leaks after Reset: %v", a.Leaks())
	}
	func() {
		defer func() {
			if m, ok := recover().(error); !ok || !strings.Contains(m.Error(), "first freed at guard.TestReset_LeavesNoLeak") {
				t.Errorf("recovered %v", m)
			}
		}()
		a.Free(p, 10)
	}()
	mustCheck(t, a)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestSite_FramesEndWhereAsked(t *testing.T) {
	a := newGuard(t, Config{Frames: 1})
	spawn(t, a, 1)
	site := a.Leaks()[0].Site
	n := 0
	for f := range site.Frames() {
		if n++; !strings.HasSuffix(f.Function, "guard.mustAlloc") {
			t.Errorf("frame %s", f.Function)
		}
	}
	if n != 1 {
		t.Errorf("%d frames", n)
	}
	for range (Site{}).Frames() {
		t.Error("the zero Site has frames")
	}
	if s := (Site{}).String(); s != "an unknown place" {
		t.Errorf("the zero Site is %q", s)
	}
	for range 100 {
		spawn(t, a, 1)
	}
	if n := len(a.sites.list); n != 2 {
		t.Errorf("%d sites are kept for one place", n)
	}
}

// A Close in which a hook of inner or the source panics does not swallow what it has found.
func TestClose_APanicLosesNoReport(t *testing.T) {
	inner, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	inner.OnReset(func() { panic("hook") })
	over, err := New(inner, Config{})
	if err != nil {
		t.Fatal(err)
	}
	src := &alarming{Source: page.Default()}
	stomp, err := NewStomp(src, StompConfig{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []interface {
		memory.Allocator
		Close() error
	}{over, stomp} {
		memtest.MustAlloc(t, a, 100, 8)
		func() {
			defer func() {
				if r := recover(); r != "hook" {
					t.Errorf("%T: %v", a, r)
				}
			}()
			t.Errorf("%T: Close returned %v", a, a.Close())
		}()
		var leak *LeakError
		if err := a.Close(); !errors.As(err, &leak) || len(leak.Leaks) != 1 {
			t.Errorf("%T: %v", a, err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("%T: a third Close: %v", a, err)
		}
	}
}

// An alarming source panics in its first Decommit.
type alarming struct {
	page.Source
	rung bool
}

func (s *alarming) Decommit(m page.Memory, off, size uintptr) error {
	if !s.rung {
		s.rung = true
		panic("hook")
	}
	return s.Source.Decommit(m, off, size)
}
