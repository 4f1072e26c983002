package plan

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// An arena whose source has ended is closed, and touches nothing.
func TestArena_ItsSourceEndsFirst(t *testing.T) {
	src := memtest.NewFaulty()
	whole, err := src.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	carve, err := page.NewCarve(src, whole)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(carve, mustFast(t, frame))
	if err != nil {
		t.Fatal(err)
	}
	a.Begin(0)
	p := a.Get(0)
	carve.Close()
	if err := src.Release(whole); err != nil {
		t.Fatal(err)
	}
	calls, returns := src.Calls(), src.Returns()
	refusesAsClosed(t, a)
	if a.Owns(p) {
		t.Error("it owns memory that its source has lost")
	}
	if s := a.Stats(); s.Live != 0 || s.InUse != 0 || s.Committed != 0 || s.Reserved != 0 || s.Requested != 0 || s.Frees != 5 {
		t.Errorf("the books are %+v", s)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		memtest.MustCheck(t, a)
	}
	if src.Calls() != calls || src.Returns() != returns {
		t.Error("it called a system that has its memory back")
	}
}

func refusesAsClosed(t *testing.T, a *Arena) {
	t.Helper()
	memtest.Misuse(t, func() { a.Get(0) }, "plan.Get", "closed")
	memtest.Misuse(t, func() { _, _ = Slice(a, wordType, 0) }, "plan.Get", "closed")
	memtest.Misuse(t, func() { a.Begin(0) }, "plan.Begin", "closed")
	memtest.Misuse(t, func() { a.Advance(0) }, "plan.Advance", "closed")
	memtest.Misuse(t, a.Reset, "plan.Reset", "closed")
}

// A source that panics leaves no reservation behind and no arena half made; one that gives
// nothing is refused.
func TestNew_ASourceThatPanicsOrGivesNothing(t *testing.T) {
	p := mustFast(t, frame)
	src := memtest.NewFaulty()
	src.PanicAt = 2 // the commit
	func() {
		defer func() {
			if r := recover(); r != any(memtest.ErrInjected) {
				t.Errorf("New recovered %v", r)
			}
		}()
		_, _ = New(src, p)
	}()
	if src.Reserved() != 0 {
		t.Errorf("%d reservations are left", src.Reserved())
	}
	if a, err := New(nothing{page.Default()}, p); a != nil || err == nil || !strings.Contains(err.Error(), "reserved 0 bytes at") {
		t.Errorf("New = %v, %v", a, err)
	}
}

type nothing struct{ page.Source }

func (nothing) Reserve(uintptr) (page.Memory, error) { return page.Memory{}, nil }

// A panic of the source in Close leaves an arena that can be closed.
func TestArena_CloseThatPanicsMayBeRepeated(t *testing.T) {
	for call := 1; call <= 2; call++ {
		src := memtest.NewFaulty()
		a, err := New(src, mustFast(t, frame))
		if err != nil {
			t.Fatal(err)
		}
		src.PanicReturnAt = call
		func() {
			defer func() { _ = recover() }()
			_ = a.Close()
			t.Errorf("return %d did not panic", call)
		}()
		if err := a.Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("second Close: %v, %d left", err, src.Reserved())
		}
		memtest.MustCheck(t, a)
	}
}

// Whatever bit of the books flips, Check names it or tolerates it, and ends.
func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	a := newArena(t, frame)
	a.Begin(1)
	flips := memtest.EveryBit(t, a.Check, a)
	if share := float64(flips.Named) / float64(flips.Flipped); share < 0.4 {
		t.Errorf("of %+v only %.0f %% were named", flips, 100*share)
	}
	buffers, _ := cut(1, 40, 0)
	buffers[7].ID, buffers[8].Align = 1<<31, MaxAlign // sparse, and far up
	p := mustFast(t, buffers)
	flips = memtest.EveryBit(t, p.Verify, p)
	if share := float64(flips.Named) / float64(flips.Flipped); share < 0.4 {
		t.Errorf("of %+v only %.0f %% were named", flips, 100*share)
	}
}

// What is written to the dead is told when somebody is born there, and time stands still.
func TestArena_AWriteToTheDeadIsToldAtTheNextBirth(t *testing.T) {
	if !invariant.Debug {
		t.Skip("needs -race or -tags memdebug")
	}
	a := newArena(t, []Buffer{
		{ID: 0, Size: 64, Death: 2}, {ID: 1, Size: 32, Birth: 2, Death: 4}, {ID: 2, Size: 64, Birth: 4, Death: 6},
	})
	words := memory.MustType[uint32]()
	a.Begin(0)
	s, err := Slice(a, words, 0)
	if err != nil {
		t.Fatal(err)
	}
	s[0], s[15] = 1, 1 // while it lives
	a.Advance(2)
	s[15] = 0x41 // behind buffer 1, which took the front of it
	s[0] = 2     // in a buffer that lives
	a.Advance(3)
	m := memtest.Misuse(t, func() { a.Advance(4) }, "plan.Advance", "byte 60 of buffer 2, which is not born yet, was written, with 0x41")
	if m.Addr != uintptr(a.base)+60 || a.now != 3 || s[0] != 2 {
		t.Errorf("%+v at %p; it is %d, and buffer 1 has %d", m, a.base, a.now, s[0])
	}
	a.Get(1)
	a.Advance(5)
	if s[0] != 0xCDCDCDCD || s[15] != 0xCDCDCDCD {
		t.Errorf("buffer 2 is born with %#x and %#x", s[0], s[15])
	}
	a.Begin(0)
	a.Advance(5) // over buffer 1, which was never there
}
