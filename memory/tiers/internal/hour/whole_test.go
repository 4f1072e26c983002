package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// brief reports whether this is a short run of a build that checks itself: a level takes minutes
// there, and it is one goroutine that plays.
func brief() bool { return testenv.Brief() && invariant.Debug }

// The short form of what the command asserts of hours: five minutes and a half.
func TestPlay_CommittedStaysWithinTheBoundOfTheFirstHour(t *testing.T) {
	testenv.Long(t)
	frames := 20_000
	if testenv.Brief() {
		frames = levelFrames + 2*framesPerMinute // with one change of levels
	}
	if !testenv.Full() {
		frames = levelFrames + framesPerMinute/2
	}
	if brief() {
		frames = 2 * framesPerMinute
	}
	for _, levels := range []bool{true, false}[:3-testenv.Step(2)] { // one unless the long tests run
		samples, err := play(config(), load{Frames: frames, Seed: 1, Levels: levels, scale: whole})
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) != frames/framesPerSecond {
			t.Fatalf("%d samples of %d frames", len(samples), frames)
		}
		var table bytes.Buffer
		report(&table, load{Frames: frames, Levels: levels}, samples)
		if err := verdict(&table, samples); err != nil {
			t.Errorf("levels %t: %v\n%s", levels, err, &table)
		}
	}
}

func TestPlay_TheLoadIsAsBusyAsItSays(t *testing.T) {
	testenv.Long(t)
	samples, err := play(config(), load{Frames: levelFrames, Seed: 2, Levels: true, scale: whole})
	if err != nil {
		t.Fatal(err)
	}
	least, most, asked := whole.most, 0, uint64(0)
	for _, s := range samples {
		least, most, asked = min(least, s.Live), max(most, s.Live), max(asked, s.asked())
	}
	if bytes := uint64(whole.bytes); least > 2*whole.least || most < whole.most*9/10 || asked < bytes*99/100 || asked > bytes {
		t.Errorf("%d to %d blocks of up to %d bytes live", least, most, asked)
	}
	last := samples[len(samples)-1]
	if last.Tiers[0].Allocs < 100_000 || last.Tiers[1].Allocs < 10_000 {
		t.Errorf("a level allocates %d small and %d large blocks", last.Tiers[0].Allocs, last.Tiers[1].Allocs)
	}
}

func TestPlay_TheSameSeedGivesTheSameCurve(t *testing.T) {
	l := load{Frames: framesPerMinute / 6, Seed: 3, scale: whole}
	a, err := play(config(), l)
	b, err2 := play(config(), l)
	if err != nil || err2 != nil || !slices.Equal(a, b) {
		t.Errorf("%v, %v; %d and %d samples", err, err2, len(a), len(b))
	}
	l.Seed++
	if c, _ := play(config(), l); slices.Equal(a, c) {
		t.Error("another seed gives the same curve")
	}
}

func TestPlay_TheSamplesAreOfTheManagersTiers(t *testing.T) {
	samples, err := play(config(), load{Frames: 60, Seed: 1, scale: small})
	if err != nil || len(samples) != 1 {
		t.Fatalf("%v, %d samples", err, len(samples))
	}
	s := samples[0]
	if s.Tiers[0].Live == 0 || s.Tiers[1].Live == 0 || s.Tiers[0].Live+s.Tiers[1].Live != uint64(s.Live) || s.Tiers[0].InUse < s.Asked[0] || s.Tiers[1].InUse < s.Asked[1] {
		t.Errorf("%+v", s)
	}
}
