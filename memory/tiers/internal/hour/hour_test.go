package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// brief reports whether this is a short run of a build that checks itself: a level takes minutes
// there, and it is one goroutine that plays.
func brief() bool { return testing.Short() && invariant.Debug }

// The short form of what the command asserts of hours: five minutes and a half.
func TestPlay_CommittedStaysWithinTheBoundOfTheFirstHour(t *testing.T) {
	frames := 20_000
	if testing.Short() {
		frames = levelFrames + 2*framesPerMinute // with one change of levels
	}
	if brief() {
		frames = 2 * framesPerMinute
	}
	for _, levels := range []bool{true, false} {
		samples, err := play(load{Frames: frames, Seed: 1, Levels: levels})
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
	if brief() {
		t.Skip("a whole level is played; the other builds do it")
	}
	samples, err := play(load{Frames: levelFrames, Seed: 2, Levels: true})
	if err != nil {
		t.Fatal(err)
	}
	least, most, asked := mostLive, 0, uint64(0)
	for _, s := range samples {
		least, most, asked = min(least, s.Live), max(most, s.Live), max(asked, s.asked())
	}
	if least > 2*leastLive || most < mostLive*9/10 || asked < mostBytes*99/100 || asked > mostBytes {
		t.Errorf("%d to %d blocks of up to %d bytes live", least, most, asked)
	}
	last := samples[len(samples)-1]
	if last.Tiers[0].Allocs < 100_000 || last.Tiers[1].Allocs < 10_000 {
		t.Errorf("a level allocates %d small and %d large blocks", last.Tiers[0].Allocs, last.Tiers[1].Allocs)
	}
}

func TestPlay_TheSameSeedGivesTheSameCurve(t *testing.T) {
	l := load{Frames: framesPerMinute / 2, Seed: 3}
	a, err := play(l)
	b, err2 := play(l)
	if err != nil || err2 != nil || !slices.Equal(a, b) {
		t.Errorf("%v, %v; %d and %d samples", err, err2, len(a), len(b))
	}
	l.Seed++
	if c, _ := play(l); slices.Equal(a, c) {
		t.Error("another seed gives the same curve")
	}
}

// made returns a sample per second with that much committed from the given second on.
func made(seconds int, from map[int]uint64) []sample {
	s := make([]sample, seconds)
	committed := uint64(0)
	for i := range s {
		if c, ok := from[i]; ok {
			committed = c
		}
		s[i] = sample{Frame: (i + 1) * framesPerSecond, Tiers: [2]memory.Stats{{Committed: committed / 2}, {Committed: committed - committed/2}}}
	}
	return s
}

func TestVerdict_IsAboutTheMostThatWasCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		samples []sample
		ok      bool
		say     string
	}{
		"level":                  {made(3600, map[int]uint64{0: 1000}), true, "hour 1: committed grew by 0.00 %"},
		"within the first bound": {made(3600, map[int]uint64{0: 1000, 60: 1050}), true, "hour 1: committed grew by 5.00 %; allowed after the first minute are 5 %"},
		"beyond it":              {made(3600, map[int]uint64{0: 1000, 3599: 1051}), false, "grew by 5.10 %"},
		"a spike":                {made(3600, map[int]uint64{0: 1000, 100: 1060, 101: 900}), false, "grew by 6.00 %"},
		"the first minute grows": {made(3600, map[int]uint64{0: 500, 59: 1000}), true, "grew by 0.00 %"},
		"the second hour may":    {made(7200, map[int]uint64{0: 1000, 3600: 1020}), true, "hour 2: committed grew by 2.00 %; allowed in a later hour are 2 %"},
		"and may not":            {made(7200, map[int]uint64{0: 1000, 3600: 1021}), false, "hour 2: committed grew by 2.10 %"},
		"it shrinks":             {made(7200, map[int]uint64{0: 1000, 3600: 10}), true, "hour 2: committed grew by 0.00 %"},
	} {
		var out bytes.Buffer
		if err := verdict(&out, c.samples); (err == nil) != c.ok || err != nil && !errors.Is(err, errGrown) || !strings.Contains(out.String(), c.say) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}

func TestRun_RefusesWhatItCannotPlay(t *testing.T) {
	for _, args := range [][]string{{"-hours", "0"}, {"-hours", "25"}, {"-hours", "NaN"}, {"-hours", "x"}, {"file"}, {"-minutes", "3"}} {
		var usage bytes.Buffer
		if err := run(args, io.Discard, &usage); !errors.Is(err, errUsage) || usage.Len() == 0 {
			t.Errorf("%v: %v, %q", args, err, &usage)
		}
	}
}

func TestRun_WritesTheCurveAndTheNumbers(t *testing.T) {
	if brief() {
		t.Skip("three minutes are played; the other builds do it")
	}
	dir := t.TempDir()
	picture, numbers := filepath.Join(dir, "h.svg"), filepath.Join(dir, "h.csv")
	var out bytes.Buffer
	if err := run([]string{"-hours", "0.05", "-svg", picture, "-csv", numbers}, &out, io.Discard); err != nil && !errors.Is(err, errGrown) {
		t.Fatal(err)
	}
	for _, want := range []string{"10800 frames, seed 1, levels of 3 minutes", "slab", "large", "both", "hour 1: committed grew by"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &out)
		}
	}
	file, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for d := xml.NewDecoder(bytes.NewReader(file)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && strings.HasPrefix(e.Name.Local, "poly") {
			drawn++
		}
	}
	if drawn != len(curves) || bytes.Contains(file, []byte("NaN")) || bytes.Contains(file, []byte("%!")) {
		t.Errorf("%d curves of %d; %d bytes", drawn, len(curves), len(file))
	}
	file, err = os.ReadFile(numbers)
	if err != nil || bytes.Count(file, []byte("\n")) != 181 || !bytes.HasPrefix(file, []byte("second,blocks,asked,slab committed,")) {
		t.Errorf("%v, %d lines", err, bytes.Count(file, []byte("\n")))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %d files", err, len(left))
	}
}

func TestRun_WhatCannotBeWrittenIsAnErrorAndLeavesNothing(t *testing.T) {
	if brief() {
		t.Skip("three minutes are played; the other builds do it")
	}
	dir := t.TempDir()
	if err := run([]string{"-hours", "0.05", "-svg", filepath.Join(dir, "no", "h.svg")}, io.Discard, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := write(filepath.Join(dir, "x"), nil, func(io.Writer, []sample) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files are left", len(left))
	}
}
