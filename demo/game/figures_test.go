package game

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A card's figures are those of the rules: what is fired in ten seconds is counted.
func TestFigure_OfFireIsWhatIsFired(t *testing.T) {
	s := newStage(t)
	for n := range uint8(giftMost) {
		for _, k := range []Gift{GiftHaste, GiftVolley} {
			s.clear()
			s.Gifts[k] = n
			text := s.Figure(k)
			s.Gifts[k]++
			for range 600 {
				s.Player.P, s.Player.V = middle, vec{} // recoil would carry it away
				s.frame(t, fireRight)
			}
			var percent int
			var rate float32
			var before, barrels int
			if k == GiftHaste {
				if _, err := fmt.Sscanf(text, "+%d %%: %f SHOTS", &percent, &rate); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			} else if _, err := fmt.Sscanf(text, "%d → %d BARRELS: +%d %%", &before, &barrels, &percent); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			want := 10 * max(rate, 60/ticksPerShot(1)*float32(barrels))
			if got := float32(s.Fired); got < want-6 || got > want+6 {
				t.Errorf("%q: %g shots in ten seconds, want %g", text, got, want)
			}
		}
	}
}

// Each figure fits on a card, and changes with the number of the gift unless nothing more is possible.
func TestFigure_EachIsShortAndSaysWhatChanges(t *testing.T) {
	s := newStage(t)
	s.clear()
	for k := range Gift(GiftKinds) {
		last := ""
		for n := range uint8(giftMost) {
			s.Gifts[k] = n
			s.Player.Most = HullMax + 2*int(n)
			text := s.Figure(k)
			if n := utf8.RuneCountInString(text); n < 8 || n > 28 {
				t.Errorf("%q has %d characters", text, n)
			}
			if text == last {
				t.Errorf("%s: %q for %d and %d", GiftNames[k], text, n, n+1)
			}
			last = text
		}
	}
}

func TestTally_AddsUpToTheRun(t *testing.T) {
	testenv.Long(t)
	h := newGame(t, Config{Seed: 7, Heat: 4})
	h.play(t, 900)
	kills, ticks := 0, uint64(0)
	for _, n := range h.Fallen {
		kills += n
	}
	for _, n := range h.Spent {
		ticks += n
	}
	if kills != h.Kills || kills == 0 || ticks != h.Played || h.Spent[0] == 0 {
		t.Errorf("%d kills by kind of %d; %d ticks by realm of %d", kills, h.Kills, ticks, h.Played)
	}
	if h.Struck == 0 || h.Struck > h.Fired || h.Gathered == 0 {
		t.Errorf("%d of %d shots hit, %d embers", h.Struck, h.Fired, h.Gathered)
	}
	h.Restart()
	if h.Tally != (Tally{Cause: CauseNone}) {
		t.Errorf("a new run begins with %+v", h.Tally)
	}
}

func TestTally_TheCauseIsWhatHurtLast(t *testing.T) {
	s := newStage(t)
	for k := range realm.EnemyKinds {
		s.clear()
		s.enemy(realm.Enemy(k), breeds[k].radius+4, 0)
		if s.frame(t, idle(s.Game)); s.Cause != Cause(k) || s.Player.Hull == HullMax {
			t.Errorf("%v touches: the cause is %s", realm.Enemy(k), s.Cause)
		}
	}
	s.clear()
	done(t, s.cast.shoot(s.Game, middle, vec{}, Shot{Life: 1, Damage: 1, Hostile: true}))
	if s.frame(t, idle(s.Game)); s.Cause != CauseShot {
		t.Errorf("a shot hits: the cause is %s", s.Cause)
	}
}

// A card says what a new gift does, and what one more of it changes. The texts fit into the small cards of an
// autopilot's game.
func TestGift_TextsOfTheFirstAndOfMore(t *testing.T) {
	const letters = 23
	for i, texts := range GiftTexts {
		for k, s := range texts {
			if s == "" || len(s) > letters {
				t.Errorf("%s: text %d is %q; allowed are 1 to %d letters", GiftNames[k], i, s, letters)
			}
		}
	}
	g := &Game{}
	for _, c := range []struct {
		have uint8
		want string
	}{{0, "a beam where you aim"}, {1, "a longer beam"}, {4, "a longer beam"}} {
		g.Gifts[GiftBeam] = c.have
		if got := g.GiftText(GiftBeam); len(got) != 1 || got[0] != c.want {
			t.Errorf("with %d beams the text is %q, want %q", c.have, got, c.want)
		}
	}
}

func TestCause_EachHasWords(t *testing.T) {
	for c := range CauseNone + 1 {
		if c.String() == "" {
			t.Errorf("cause %d has no words", c)
		}
	}
}
