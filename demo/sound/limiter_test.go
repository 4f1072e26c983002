package sound

import (
	"math"
	"testing"

	"github.com/strata-go/strata/demo/sound/cue"
)

// limited plays frames through a limiter in pieces of n, and returns them without the delay.
func limited(l *limiter, n int, in [][2]float32) (out [][2]float32) {
	for at := 0; at < len(in)+ahead; at += n {
		x := make([]float32, 2*n)
		for i := range n {
			if at+i < len(in) {
				x[2*i], x[2*i+1] = in[at+i][0], in[at+i][1]
			}
		}
		l.limit(x, nil)
		for i := range n {
			out = append(out, [2]float32{x[2*i], x[2*i+1]})
		}
	}
	return out[ahead:][:len(in)]
}

func TestLimiter_BelowTheCeilingNothingChanges(t *testing.T) {
	in := make([][2]float32, 3000)
	for i := range in {
		in[i] = [2]float32{0.7 * float32(math.Sin(float64(i)/9)), -0.5 * float32(math.Cos(float64(i)/31))}
	}
	for _, n := range []int{1, 7, ahead, 100, block} {
		out := limited(&limiter{gain: 1}, n, in)
		for i := range in {
			if out[i] != in[i] {
				t.Fatalf("in pieces of %d: frame %d is %v and was %v", n, i, out[i], in[i])
			}
		}
	}
}

// Peaks of all heights at all places: none is above the ceiling, and the gain has no step that would click.
func TestLimiter_HoldsTheCeilingWithoutAStep(t *testing.T) {
	in := make([][2]float32, Rate)
	for i := range in {
		loud := 0.5
		if i/3000%2 == 1 {
			loud = float64(i) / 3000
		}
		in[i][0] = float32(loud * math.Sin(float64(i)/40))
		in[i][1] = in[i][0] / 2
	}
	in[5000][1] = -9
	for _, n := range []int{1, 7, ahead, 100, block} {
		l := limiter{gain: 1}
		out := limited(&l, n, in)
		last := float32(1)
		for i := range in {
			if abs(out[i][0]) > ceiling*1.0001 || abs(out[i][1]) > ceiling*1.0001 {
				t.Fatalf("in pieces of %d: frame %d is %v", n, i, out[i])
			}
			if abs(in[i][0]) < 0.01 {
				continue
			}
			gain := out[i][0] / in[i][0]
			if d := abs(gain - last); d > 0.08 {
				t.Fatalf("in pieces of %d: the gain goes from %v to %v at frame %d", n, last, gain, i)
			}
			last = gain
		}
		quiet := limited(&l, block, make([][2]float32, 2*Rate))
		if l.gain < 0.999 || quiet[Rate] != [2]float32{} {
			t.Errorf("in pieces of %d: after two seconds of silence the gain is %v", n, l.gain)
		}
	}
}

// Ten decibels more of a crowd are little more than one, whatever the volume; a few sounds are as they were.
func TestCrowd_IsEvenAtEveryVolume(t *testing.T) {
	level := func(power, volume, heat float32) float64 {
		c := crowd{gain: 1}
		out := make([]float32, 2*block)
		for range 3 * Rate / block {
			clear(out)
			for i := range c.sum {
				c.sum[i] = volume * float32(math.Sqrt(2*float64(power))*math.Sin(float64(i)*math.Pi/16))
			}
			c.add(out, volume, heat)
		}
		sum := 0.0
		for _, x := range out {
			sum += float64(x) * float64(x)
		}
		return 10 * math.Log10(sum/float64(len(out)))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.1 {
			t.Errorf("%s: %.2f dB; want %.2f", what, got, want)
		}
	}
	base := level(crowdLevel, 1, 0)
	near("a few", level(crowdLevel/10, 1, 0)-base, -10)
	near("many", level(crowdLevel*10, 1, 0)-base, 10.0/crowdRatio)
	near("many at half the volume", level(crowdLevel*10, 0.5, 0)-base, 10.0/crowdRatio-6.02)
	near("many at full heat", level(crowdHot*10, 1, 1)-10*math.Log10(crowdHot), 10.0/crowdRatio)
	if l := level(0.1, 0, 0); !math.IsInf(l, -1) {
		t.Errorf("without a volume: %v dB", l)
	}
}

func TestCrowd_WhatMattersIsHeardOverIt(t *testing.T) {
	level := func(horde int) float64 {
		m, h := newMixer(t, 20*Rate, 0.12)
		m.SetEffect(cue.Roar, 0, add(t, m, tone(t, h, 20*Rate, 20*1000, 0.05), h))
		specs[cue.Roar].Vary = 0
		for tick := range uint64(120) {
			for range horde {
				say(m, 10*tick, cue.BurstSmall, one(0, 0), one(1, 0))
			}
			listen(m, perUpdate)
		}
		say(m, 2000, cue.Roar, one(0, 0))
		return share(listen(m, Rate), 1000)
	}
	vary := specs[cue.Roar].Vary
	defer func() { specs[cue.Roar].Vary = vary }()
	if alone, among := level(0), level(1); math.Abs(among-alone) > 0.05*alone {
		t.Errorf("a roar has a level of %v alone and %v in a crowd", alone, among)
	}
}

func TestMixer_RenderTellsTheMusicApart(t *testing.T) {
	effects, _ := newMixer(t, 4*Rate, 0.1)
	mix, music := make([]float32, 2*Rate), make([]float32, 2*Rate)
	render := func(m *Mixer) (all, part float64) {
		m.Update()
		m.Render(mix, music)
		for i := range mix {
			all, part = all+float64(mix[i]*mix[i]), part+float64(music[i]*music[i])
		}
		return all, part
	}
	say(effects, 1, cue.Select, one(0, 0))
	if all, part := render(effects); all == 0 || part != 0 {
		t.Errorf("an effect: %v, of which music %v", all, part)
	}
	effects.Flush()
	m, h := newMixer(t, 4*Rate, 0.1)
	if err := m.SetMusic(four(t, m, h, 400), 0.01); err != nil {
		t.Fatal(err)
	}
	if all, part := render(m); all == 0 || math.Abs(all-part) > 1e-6*all {
		t.Errorf("music: %v, of which music %v", all, part)
	}
}
