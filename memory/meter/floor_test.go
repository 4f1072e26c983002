package meter

import (
	"math"
	"testing"
)

// A judgement of growth is a g, and one of none a point. Where growth is reported they are G and a comma.
func TestFloor_IsNamedAndClearedOnceItLasts(t *testing.T) {
	for _, want := range []string{"gggggGG,,,..", "gggggG,G,,GGG,,,.gggggG", "gggg.ggGG", "gggg.g.g.g.gG", "g.g.g.g.g.g.g.g.g", "ggggg........ggGG", "ggg....ggg....gG,,GG"} {
		f, got := newFloor(), []byte(want)
		for second, c := range got {
			rate := 0.0
			if c|0x20 == 'g' {
				rate = 1000
			}
			f.report(int64(second), rate)
			switch named := f.growth() > 0; {
			case rate > 0 && named:
				got[second] = 'G'
			case rate > 0:
				got[second] = 'g'
			case named:
				got[second] = ','
			default:
				got[second] = '.'
			}
		}
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestFloor_NoiseIsTheMeanRiseOfAFrame(t *testing.T) {
	f := newFloor()
	for range 10 { // the first value is no rise
		f.set(mib, 0)
	}
	if f.noise() != 0 {
		t.Errorf("a constant: %v", f.noise())
	}
	for range 5 {
		f.set(mib+100, 0)
		f.set(mib, 0)
	}
	if want := 500.0 / 20; f.noise() != want {
		t.Errorf("five rises of 100 in 20 frames: %v, want %v", f.noise(), want)
	}
	for range 2 * history {
		f.cross(mib)
		f.set(mib, 0)
	}
	if n := f.noise(); n > 1 {
		t.Errorf("after twice the history: %v", n)
	}
}

func TestFloor_KeepsTheMinimumOfASecondAndWhenItWasLast(t *testing.T) {
	f := newFloor()
	for _, v := range []struct {
		v    float64
		when uint8
	}{{50, 10}, {40, 64}, {60, 100}, {40, 128}, {70, 200}} {
		f.set(v.v, v.when)
	}
	f.cross(65)
	f.set(90, 20)
	f.cross(95)
	var p points
	f.seconds.newest(&p, 1)
	if p.n != 2 || p.v[1] != 40 || p.t[1] != 0.5-1 || p.v[0] != 65 || p.t[0] != 0 {
		t.Errorf("%d seconds: %v at %v, %v at %v", p.n, p.v[1], p.t[1], p.v[0], p.t[0])
	}
	for k := range 3 * history {
		f.set(float64(k), 0)
		f.cross(float64(k))
	}
	if f.seconds.newest(&p, 1); p.n != history || p.v[0] != 3*history-2 || p.v[history-1] != 2*history-1 {
		t.Errorf("%d seconds, from %v to %v", p.n, p.v[history-1], p.v[0])
	}
	for name, corrupt := range map[string]func(f *floor){
		"known below": func(f *floor) { f.seconds.known = -1 }, "known beyond": func(f *floor) { f.seconds.known = history + 1 },
		"next below": func(f *floor) { f.seconds.next = -1 }, "next beyond": func(f *floor) { f.seconds.next = history },
		"infinite": func(f *floor) { f.seconds.low[(f.seconds.next+9)%history] = float32(math.Inf(1)) },
	} {
		g := f
		if corrupt(&g); !f.check() || g.check() {
			t.Errorf("%s: check finds nothing", name)
		}
	}
	// A block has the minimum of its seconds, and when it was last.
	if f.blocks.newest(&p, blockSeconds); p.n != 192 || p.v[0] != 3*history-7 || p.v[1] != 3*history-11 {
		t.Errorf("%d blocks: %v, %v", p.n, p.v[0], p.v[1])
	}
	if f.restart(); f.seconds.known != 0 || !f.check() || f.growth() != 0 {
		t.Errorf("restarted: %+v", f)
	}
}

func TestFloor_ABlockHasTheMinimumOfItsSeconds(t *testing.T) {
	f := newFloor()
	for block := range 3 {
		for second := range blockSeconds {
			f.set(float64(100*block+10*second), 0)
			if block == 1 && second == 2 {
				f.set(7, 64)
			}
			f.cross(1000)
			f.now = none // as if the next value were the second's first
		}
	}
	var p points
	f.blocks.newest(&p, blockSeconds)
	if p.n != 3 || p.v[0] != 200 || p.v[1] != 7 || p.v[2] != 0 || p.t[0] != 0 || p.t[1] != 2.25-4 || p.t[2] != -8 {
		t.Errorf("%d blocks: %v at %v", p.n, p.v[:3], p.t[:3])
	}
	if f.inBlock = blockSeconds; f.check() {
		t.Error("a block of five seconds: check finds nothing")
	}
}
