package overlay

import (
	"testing"

	"github.com/strata-go/strata/memory/tiers"
)

// A span is a Timeline of ticks.
type span struct {
	first, now, last uint64
	seeks            int
}

func (s *span) Span() (first, now, last uint64) { return s.first, s.now, s.last }
func (s *span) Seek(tick uint64)                { s.now = tick; s.seeks++ }
func (s *span) Memory() (used, reserved uint64) { return 3 << 20, 64 << 20 }

func TestScrub_ArrowsSelectATick(t *testing.T) {
	s := &span{first: 100, now: 400, last: 400}
	g := newGame(t, 60, tiers.Config{}, Config{Timeline: s})
	arrow := func(i int, shift bool, ticks int) {
		g.in = input{shift: shift}
		g.in.arrow[i] = true
		for range ticks {
			g.frame(1/g.hz, nil)
		}
		g.in = input{}
		g.frame(1/g.hz, nil)
	}
	if arrow(0, false, 1); s.seeks != 0 {
		t.Fatal("it was not frozen")
	}
	g.press(5)
	g.want("FROZEN: F5 goes on")
	g.want("tick 400")
	for _, c := range []struct {
		arrow int
		shift bool
		ticks int
		want  uint64
	}{{0, false, 1, 399}, {0, true, 1, 339}, {1, false, 2, 340}, {1, true, 1, 400}, {1, false, 1, 400}, {0, false, scrubDelay + 10, 395}, {0, true, 60, 100}} {
		if arrow(c.arrow, c.shift, c.ticks); s.now != c.want {
			t.Fatalf("%+v: tick %d", c, s.now)
		}
	}
	g.want("tick 100 -5.0 s of -5.0 s")
	g.press(5)
	if arrow(1, false, 1); s.now != 100 || g.o.Frozen() {
		t.Errorf("tick %d of a game that goes on", s.now)
	}
	g.press(9)
	g.want("states of past ticks, of 64.0 MiB  3.0 MiB")
}

func TestScrub_DragSelectsATick(t *testing.T) {
	s := &span{first: 100, now: 400, last: 400}
	g := newGame(t, 60, tiers.Config{}, Config{Timeline: s})
	g.press(5)
	b := g.o.scrub.bar
	if b.w < 300 {
		t.Fatalf("the bar is %+v", b)
	}
	at := func(share, down float32) {
		g.in = input{down: true, x: (b.x + b.w*share) * g.o.scr.scale, y: (b.y + b.h/2 + down) * g.o.scr.scale}
		g.frame(1/g.hz, nil)
	}
	for _, c := range []struct {
		share, down float32
		want        uint64
	}{{0.5, 0, 250}, {0.25, 0, 175}, {1.5, 0, 400}, {-1, 200, 100}, {0.1, 200, 130}} { // also beyond the bar, once it has begun there
		if at(c.share, c.down); s.now != c.want {
			t.Errorf("%+v: tick %d", c, s.now)
		}
	}
	g.in = input{}
	g.frame(1/g.hz, nil)
	if at(0.5, 200); s.now != 130 {
		t.Errorf("a press below the bar selects tick %d", s.now)
	}
}

// Without a Timeline, or if there is one tick, F5 only freezes.
func TestScrub_NothingToSelectIsNoBar(t *testing.T) {
	for _, s := range []Timeline{nil, &span{7, 7, 7, 0}} {
		g := newGame(t, 60, tiers.Config{}, Config{Timeline: s})
		if g.press(5); g.o.scrub.bar.w != 0 || g.o.statusLines() != 1 {
			t.Errorf("%v: bar %+v, %d lines", s, g.o.scrub.bar, g.o.statusLines())
		}
	}
}
