package view

import (
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/tiers"
)

// The picture of time that runs backwards fades in and out, and is steady with reduced flashing.
func TestRewind_CoversThePictureWhileItRuns(t *testing.T) {
	v := newView(t, 60, tiers.Config{})
	quads := func() int {
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.backwards()
		v.clock(v.s.Game.Player.P, 17)
		v.rewinding()
		return v.quads.Len()
	}
	if n := quads(); n != 0 {
		t.Errorf("%d vertices while time runs forwards", n)
	}
	v.back.share, v.back.left, v.back.steps = 1, 0.5, 5
	full := quads()
	if full == 0 {
		t.Error("nothing is drawn")
	}
	v.comfort.calm = true
	if n := quads(); n == 0 || n >= full {
		t.Errorf("%d vertices with reduced flashing, %d without", n, full)
	}
	for range 60 {
		v.back.note(v.s.Past)
	}
	if n := quads(); n != 0 || v.back.steps != 0 {
		t.Errorf("%d vertices afterwards", n)
	}
}

// The name at the arrow lay over the seconds that are left.
func TestRewind_HidesTheNameAtTheArrow(t *testing.T) {
	v := newView(t, 60, tiers.Config{})
	v.teacher.on = true
	names := func(share float32) int {
		v.back.share = share
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.pointed(vec{320, 60}, vec{0, -1})
		return v.quads.Len()
	}
	if forwards, back := names(0), names(1); forwards == 0 || back != 0 {
		t.Errorf("%d vertices while time runs forwards, %d backwards", forwards, back)
	}
}
