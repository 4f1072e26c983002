package meter

import (
	"math"
	"testing"
)

// series of points, one a second, the oldest first.
func pointsOf(v ...float64) *points {
	p := &points{n: len(v)}
	for i, x := range v {
		k := len(v) - 1 - i
		p.v[k], p.t[k] = x, float64(-k)
	}
	return p
}

func generate(n int, f func(t float64) float64) *points {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(float64(i))
	}
	return pointsOf(v...)
}

// Whatever lies above the floor of its cycles, the envelope has the slope of the floor.
func TestPoints_EnvelopeHasTheSlopeOfTheFloor(t *testing.T) {
	for name, x := range map[string]struct {
		of   func(t float64) float64
		want float64
	}{
		"a line":                 {func(t float64) float64 { return 3 * t }, 3},
		"a line that falls":      {func(t float64) float64 { return 500 - 2*t }, -2},
		"a sawtooth":             {func(t float64) float64 { return 3*t + 100*math.Mod(t, 10) }, 3},
		"a sawtooth downwards":   {func(t float64) float64 { return 3*t - 100*math.Mod(t, 10) }, 3},
		"a square":               {func(t float64) float64 { return 3*t + 100*math.Floor(math.Mod(t, 14)/7) }, 3},
		"steps":                  {func(t float64) float64 { return 15 * math.Floor(t/5) }, 3},
		"peaks":                  {func(t float64) float64 { return 3*t + 1000*math.Floor(math.Mod(t, 17)/16) }, 3},
		"growth in its last two": {func(t float64) float64 { return max(t-30, 0) }, 1},
	} {
		if got := generate(90, x.of).envelope(90); math.Abs(got-x.want) > 0.02*math.Abs(x.want) {
			t.Errorf("%s: a slope of %.3f, want %v", name, got, x.want)
		}
	}
	if got := generate(90, func(t float64) float64 { return max(t-45, 0) }).envelope(30); math.Abs(got-1) > 1e-9 {
		t.Errorf("the newest third: a slope of %v, want 1", got)
	}
	if got := generate(40, func(t float64) float64 { return t }).envelope(90); math.Abs(got-1) > 1e-9 {
		t.Errorf("more points than there are: a slope of %v, want 1", got)
	}
}

// Growth goes on until its floor has stood still for 20 s, and for half as long again as between its steps before. The
// last step of those of 10 s is 9 s before the end, and that of those of 30 s 29 s.
func TestPoints_GrowthGoesOnWhileItsFloorRises(t *testing.T) {
	line, none := func(t float64) float64 { return 3 * t }, func(float64) float64 { return 0 }
	for name, x := range map[string]struct {
		leak, cycle func(t float64) float64
		ended       float64 // seconds after which growth is known to have ended
	}{
		"a line":             {line, none, 16},
		"steps of 10 s":      {func(t float64) float64 { return 30 * math.Floor(t/10) }, none, 11},
		"steps of 30 s":      {func(t float64) float64 { return 90 * math.Floor(t/30) }, none, 16},
		"after a pause":      {func(t float64) float64 { return 3 * max(t-60, 0) }, none, 16},
		"a sawtooth of 12 s": {line, func(t float64) float64 { return 100 * math.Mod(t, 12) }, 19},
		"a sawtooth of 24 s": {line, func(t float64) float64 { return 100 * math.Mod(t, 24) }, 19},
		"a square of 20 s":   {line, func(t float64) float64 { return 100 * math.Floor(math.Mod(t, 20)/10) }, 16},
		"peaks":              {line, func(t float64) float64 { return 500 * math.Floor(math.Mod(t, 16)/15) }, 16},
	} {
		const grows = 150
		ended := 0.0
		for after := range 90 {
			p := generate(grows+after, func(t float64) float64 { return x.leak(min(t, grows-1)) + x.cycle(t) })
			if p.goesOn(p.n, 3) {
				ended = float64(after) + 1
			}
		}
		if ended != x.ended {
			t.Errorf("%s: known to have ended after %v s, want %v", name, ended, x.ended)
		}
	}
}

// At most a share of the rises of a run is idle.
func TestPoints_RisesAreIdleSeldom(t *testing.T) {
	p := &points{}
	set := func(low ...float64) { // the newest first
		for k, v := range low {
			p.low[k], p.at[k] = v, float64(-10*k)
		}
	}
	set(60, 50, 50, 40, 30, 20, 10)
	if !p.rises(7, 0.5, 1.0/6) || p.rises(7, 0.5, 0.1) || p.rises(7, 1.1, 0.9) {
		t.Errorf("one of six rises is idle: %v, %v, %v", p.rises(7, 0.5, 1.0/6), p.rises(7, 0.5, 0.1), p.rises(7, 1.1, 0.9))
	}
}

// Growth levels off if a line that ends level fits its minima best.
func TestPoints_LevelsOffIfALevelEndFitsBest(t *testing.T) {
	for name, x := range map[string]struct {
		low  []float64 // the newest first
		want bool
	}{
		"a line":             {[]float64{80, 70, 60, 50, 40, 30}, false},
		"a line with noise":  {[]float64{84, 66, 63, 46, 43, 27}, false},
		"one step less":      {[]float64{75, 70, 60, 50, 40, 30}, false},
		"a level end":        {[]float64{60, 60, 60, 50, 40, 30}, true},
		"with noise":         {[]float64{64, 56, 61, 48, 43, 27}, true},
		"of two":             {[]float64{71, 70, 60, 50, 40, 30}, true},
		"of all but two":     {[]float64{50, 50, 50, 50, 50, 30}, true},
		"faster at the end":  {[]float64{120, 90, 70, 50, 40, 30}, false},
		"three that go on":   {[]float64{50, 40, 30}, false},
		"three, of them two": {[]float64{40, 40, 30}, true},
		"level at first":     {[]float64{60, 50, 40, 30, 30, 30}, false},
	} {
		p := &points{}
		for k, v := range x.low {
			p.low[k], p.at[k] = v, float64(-10*k)
		}
		if got := levelsOff(p.low[:len(x.low)], p.at[:len(x.low)], 1, 1); got != x.want {
			t.Errorf("%s: levels off: %v", name, got)
		}
	}
	v, at := []float64{60, 64, 61, 52, 40, 30}, []float64{0, -10, -20, -30, -40, -50}
	if !levelsOff(v, at, 2, 0.8) || levelsOff(v, at, 5, 0.8) || levelsOff(v, at, 2, 0.01) {
		t.Error("three level values of six are enough for k = 2 and a share of 0.8, not for 5 or 0.01")
	}
}

// Windows below all that follow are no part of the orders. The newest before the run always counts.
func TestPoints_OrdersLeaveOutRamps(t *testing.T) {
	p := &points{}
	copy(p.low[:], []float64{90, 80, 70, 20, 25, 15, 18, 10})
	for _, x := range []struct {
		q, n int
		want float64
	}{{3, 8, 6 * 5 * 4}, {3, 3, 6}, {3, 4, 4 * 3 * 2}, {2, 8, 5 * 4}, {3, 5, 5 * 4 * 3}} {
		if got := p.orders(x.q, x.n); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}
