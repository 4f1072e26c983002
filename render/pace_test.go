package render

import (
	"fmt"
	"testing"
	"time"
)

// An engineClock counts ticks as Ebitengine 2.10 does: at most five in a frame, rounded to the nearest tick.
type engineClock struct{ owed time.Duration }

func (c *engineClock) frame(delta time.Duration) int {
	c.owed = min(c.owed+delta, 5*tickTime)
	n := max(int((c.owed+tickTime/2)/tickTime), 0)
	c.owed -= time.Duration(n) * tickTime
	return n
}

// simulated plays some seconds on a simulated clock. A frame takes as long as its ticks and its drawing, and no less
// than the display's. It returns ticks and frames per second of the second half, and the most ticks of a frame.
func simulated(p *pacer, draw, cost, display time.Duration) (tps, fps float64, most int) {
	const seconds = 20
	var engine engineClock
	var now, delta time.Duration = time.Second, 0
	ticks, frames, counted := 0, 0, time.Duration(0)
	for end := now + seconds*time.Second; now < end; {
		n := engine.frame(delta)
		if p.slow {
			n = p.frame(now)
		} else {
			p.frame(now)
		}
		for range n {
			p.took(cost)
		}
		delta = max(time.Duration(n)*cost+draw, display)
		if now > end-seconds*time.Second/2 {
			ticks, frames, counted, most = ticks+n, frames+1, counted+delta, max(most, n)
		}
		now += delta
	}
	return float64(ticks) / counted.Seconds(), float64(frames) / counted.Seconds(), most
}

// Sixty ticks a second, if they fit: what is left of a second after sixty ticks must be enough to draw six frames.
func TestPacer_SixtyTicksFromSixFramesOn(t *testing.T) {
	slow := 0
	for _, cost := range []time.Duration{100 * time.Microsecond, time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond, 12 * time.Millisecond, 15 * time.Millisecond} {
		left := time.Second - TPS*cost
		for _, rate := range []float64{6.05, 6.5, 7, 8, 9, 10, 11, 11.9, 12, 12.5, 13, 14, 15, 20, 24, 30, 45, 50, 60, 75, 120, 144} {
			draw := time.Duration(float64(left) / rate)
			t.Run(fmt.Sprintf("%v a tick, %g frames", cost, rate), func(t *testing.T) {
				tps, fps, most := simulated(&pacer{}, draw, cost, time.Second/144)
				if tps < 59.4 || tps > 60.6 {
					t.Errorf("%.1f ticks and %.1f frames a second", tps, fps)
				}
				if most > mostTicks {
					t.Errorf("%d ticks in a frame", most)
				}
				if fps < 12 {
					slow++
				}
			})
		}
	}
	if slow == 0 {
		t.Error("no case was slow")
	}
}

// Ebitengine alone does not: the test above would fail without the pacer.
func TestPacer_EbitengineAloneIsSlowerBelowTwelveFrames(t *testing.T) {
	var engine engineClock
	ticks := 0
	for range 60 { // ten seconds
		ticks += engine.frame(time.Second / 6)
	}
	if ticks > 310 {
		t.Errorf("%d ticks in ten seconds", ticks)
	}
}

// Ticks that do not fit make no frame longer than Ebitengine would, and below six frames the game is slower.
func TestPacer_TicksThatDoNotFitDoNotStopTheFrames(t *testing.T) {
	for _, c := range []struct {
		draw, cost time.Duration
		most       int
		fps        float64 // at least
	}{
		{20 * time.Millisecond, 17 * time.Millisecond, 5, 9},
		{20 * time.Millisecond, 50 * time.Millisecond, 5, 3.6},
		{100 * time.Millisecond, 30 * time.Millisecond, 5, 3.9},
		{400 * time.Millisecond, time.Millisecond, mostTicks, 2.4},
		{150 * time.Millisecond, 10 * time.Millisecond, mostTicks, 3.9},
	} {
		tps, fps, most := simulated(&pacer{}, c.draw, c.cost, time.Second/60)
		if most > c.most || fps < c.fps {
			t.Errorf("%v to draw, %v a tick: %.1f frames and %.1f ticks a second, %d in a frame", c.draw, c.cost, fps, tps, most)
		}
	}
}

// A single long frame changes nothing, and a game that was slow is quick again soon.
func TestPacer_AHitchIsNotSlow(t *testing.T) {
	var p pacer
	now := time.Second
	for range 60 {
		p.frame(now)
		p.took(time.Millisecond)
		now += tickTime
	}
	now += 200 * time.Millisecond
	if n := p.frame(now); n != 1 || p.slow {
		t.Errorf("%d ticks, slow is %v", n, p.slow)
	}
	for range 10 {
		now += 150 * time.Millisecond
		p.frame(now)
	}
	if !p.slow {
		t.Fatal("seven frames a second are not slow")
	}
	now += time.Minute // the page was hidden
	if n := p.frame(now); n != mostTicks {
		t.Errorf("%d ticks after a pause", n)
	}
	for range 12 {
		now += tickTime
		if n := p.frame(now); n < 1 || n > 2 {
			t.Errorf("%d ticks in a quick frame", n)
		}
	}
	if p.slow {
		t.Error("sixty frames a second are still slow")
	}
}
