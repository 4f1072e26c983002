package coach

import "testing"

// A pupil is a coach and the facts of its player.
type pupil struct {
	Facts
	Coach
	t *testing.T
}

func newPupil(t *testing.T) *pupil { return &pupil{t: t, Facts: Facts{Hull: 6, Seals: 4}} }

// after passes n ticks and expects a line.
func (p *pupil) after(n int, want Line) {
	p.t.Helper()
	line := Silent
	for range n {
		line = p.Step(p.Facts)
	}
	if line != want {
		p.t.Fatalf("line %d, want %d", line, want)
	}
}

// The lines of a first run, each for its reason and until its deed.
func TestCoach_FirstRun(t *testing.T) {
	p := newPupil(t)
	p.after(1, Move)
	p.after(10_000, Move) // no clock ends it
	for range enoughFlown - 1 {
		p.X++
		p.after(1, Move)
	}
	p.X++
	p.after(2*dwell, Fire)
	p.Kills++
	p.after(1, Collect)
	p.Embers = 3
	p.after(dwell-1, Collect)
	p.after(1, Seals)
	p.Offered = true
	p.after(1, Gift)
	p.Offered, p.Gifts, p.Embers = false, 1, 0
	p.after(dwell, Seals)
	p.Hull--
	p.after(dwell, Dash)
	p.Dashing = true
	p.after(dwell, Seals)
	p.InSight = true
	p.after(1, Break)
	p.after(10_000, Break)
	p.Broken, p.InSight = 1, false
	p.after(1, Next)
	p.after(short, Silent) // and the arrow is enough
	p.InSight = true
	p.after(1, Silent)
	p.Broken, p.InSight = 4, false
	p.after(1, Heart)
	p.Warden = true
	p.after(1, Warden)
	p.Warden, p.Opened = false, true
	p.after(1, Portal)
	p.Opened, p.Broken, p.X, p.Y = false, 0, 9000, 9000 // the next realm
	p.after(dwell, Silent)
}

// A player who knows the game reads nothing that was done already, except for as long as a line must be read.
func TestCoach_DeedsComeBeforeTheirLines(t *testing.T) {
	p := newPupil(t)
	p.after(1, Move)
	p.Dashing = true
	for range 20 {
		p.X += 9
		p.after(1, Move)
	}
	p.Kills, p.Gifts, p.Hull = 9, 1, 3
	p.after(dwell, Seals)
}

func TestCoach_HitIsExplainedOnceAndGivesWay(t *testing.T) {
	p := newPupil(t)
	p.after(1, Move)
	p.Hull--
	p.after(dwell, Move) // who has not flown cannot dash
	p.Y = enoughFlown - 1
	p.after(1, Move)
	p.Y++
	p.after(1, Dash)
	p.after(short-1, Dash)
	p.after(1, Fire)
	p.Hull--
	p.after(dwell, Fire)
}

// The goal was written over the lower part of the view for as long as the player did not go there.
func TestCoach_TheGoalGivesWayToTheArrow(t *testing.T) {
	p := newPupil(t)
	p.after(1, Move)
	for range 2 {
		p.X += enoughFlown - 1
		p.after(1, Move)
	}
	p.Kills, p.Gifts = 1, 1
	n := 0
	for range long + dwell {
		if p.Step(p.Facts) == Seals {
			n++
		}
	}
	if n != long {
		t.Errorf("it is written for %d ticks, want %d", n, long)
	}
	p.after(1, Silent)
	p.InSight = true
	p.after(1, Break)
}

func TestCoach_AnotherRealmIsNoFlight(t *testing.T) {
	p := newPupil(t)
	p.after(1, Move)
	p.X = 5000
	p.after(dwell+1, Move)
}

func TestStep_AllocatesNothing(t *testing.T) {
	p := newPupil(t)
	if n := testing.AllocsPerRun(100, func() { p.Step(p.Facts) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
