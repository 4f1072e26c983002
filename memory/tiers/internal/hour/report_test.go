package main

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

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

// detailed has all figures differ.
func detailed(seconds int) []sample {
	s := make([]sample, seconds)
	for i := range s {
		k := uint64(i%100) << 16
		s[i] = sample{
			Frame: (i + 1) * framesPerSecond, Live: 5000 + i, Asked: [2]uint64{4<<20 + k, 18<<20 + k},
			Tiers: [2]memory.Stats{
				{Committed: 13<<20 + k, InUse: 5<<20 + k, Live: uint64(4000 + i), Free: 8 << 20, LargestFree: 4096},
				{Committed: 50<<20 + k, InUse: 20<<20 + k, Live: 1000, Free: 30 << 20, LargestFree: 3<<20 + k},
			},
		}
	}
	return s
}

const table = `36600 frames, seed 9, levels of 3 minutes; MiB

  minute          committed   most yet    in use  asked for    blocks  internal  external
       1  slab        16.69      16.69      8.69       7.69      4059    11.5 %         -
       1  large       53.69      53.69     23.69      21.69      1000     8.4 %    77.7 %
          both        70.38      70.38     32.38      29.38      5059     9.3 %

      10  slab        19.19      19.19     11.19      10.19      4599     8.9 %         -
      10  large       56.19      56.19     26.19      24.19      1000     7.6 %    69.4 %
          both        75.38      75.38     37.38      34.38      5599     8.0 %

      10  slab        13.56      19.19      5.56       4.56      4609    18.0 %         -
      10  large       50.56      56.19     20.56      18.56      1000     9.7 %    88.1 %
          both        64.12      75.38     26.12      23.12      5609    11.5 %

`

func TestReport_IsATableOfTheMomentsThatMatter(t *testing.T) {
	var out bytes.Buffer
	report(&out, load{Frames: 36_600, Seed: 9, Levels: true}, detailed(610))
	if out.String() != table {
		t.Errorf("\n%s\nwant\n%s", &out, table)
	}
	out.Reset()
	report(&out, load{Frames: 600, Seed: 9}, detailed(10))
	if line, _, _ := strings.Cut(out.String(), "\n"); line != "600 frames, seed 9, no levels; MiB" {
		t.Error(line)
	}
}

func TestMoments_EndWithTheLastSecond(t *testing.T) {
	for seconds, want := range map[int][]int{
		59: {59}, 60: {60}, 61: {60, 61}, 600: {60, 600}, 7200: {60, 600, 1800, 3600, 5400, 7200},
		90_000: {60, 600, 1800, 3600, 5400, 7200, 14_400, 28_800, 43_200, 86_400, 90_000},
	} {
		if got := moments(seconds); !slices.Equal(got, want) {
			t.Errorf("%d s: %d, want %d", seconds, got, want)
		}
	}
}

func TestInternal_IsTheShareThatNobodyAskedFor(t *testing.T) {
	for _, c := range []struct {
		inUse, asked uint64
		want         float64
	}{{0, 0, 0}, {1, 1, 0}, {4, 3, 0.25}, {8, 0, 1}} {
		if got := internal(c.inUse, c.asked); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestExternal_IsTheShareOutsideOfTheLargestFreeBlock(t *testing.T) {
	for want, st := range map[string]memory.Stats{
		"-":      {Free: 1 << 20, LargestFree: 4096},
		"99.6 %": {Free: 1 << 20, LargestFree: 4097},
		"0.0 %":  {Free: 1 << 20, LargestFree: 1 << 20},
	} {
		if got := external(st); got != want {
			t.Errorf("%+v: %s, want %s", st, got, want)
		}
	}
	if got := external(memory.Stats{LargestFree: 1 << 20}); got != "-" {
		t.Errorf("where nothing is free: %s", got)
	}
}

func TestVerdict_IsAboutTheMostThatWasCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		samples []sample
		ok      bool
		say     string
	}{
		"level":                  {made(3600, map[int]uint64{0: 1000}), true, "hour 1: committed grew by 0.00 %; allowed after the first minute are 5 %\n"},
		"within the first bound": {made(3600, map[int]uint64{0: 1000, 60: 1050}), true, "hour 1: committed grew by 5.00 %; allowed after the first minute are 5 %\n"},
		"beyond it":              {made(3600, map[int]uint64{0: 1000, 3599: 1051}), false, "grew by 5.10 %"},
		"a spike":                {made(3600, map[int]uint64{0: 1000, 100: 1060, 101: 900}), false, "grew by 6.00 %"},
		"the first minute grows": {made(3600, map[int]uint64{0: 500, 59: 1000}), true, "grew by 0.00 %"},
		"the minute is over":     {made(3600, map[int]uint64{0: 500, 60: 1000}), false, "grew by 100.00 %"},
		"the second hour may":    {made(7200, map[int]uint64{0: 1000, 3600: 1020}), true, "hour 2: committed grew by 2.00 %; allowed in a later hour are 2 %\n"},
		"and may not":            {made(7200, map[int]uint64{0: 1000, 3600: 1021}), false, "hour 2: committed grew by 2.10 %"},
		"it shrinks":             {made(7200, map[int]uint64{0: 1000, 3600: 10}), true, "hour 2: committed grew by 0.00 %"},
		"a third one has begun":  {made(7201, map[int]uint64{0: 1000, 7200: 1030}), false, "hour 3: committed grew by 3.00 %; allowed in a later hour are 2 %\n"},
	} {
		var out bytes.Buffer
		err := verdict(&out, c.samples)
		if hours := (len(c.samples) + 3599) / 3600; strings.Count(out.String(), "\n") != hours || (err == nil) != c.ok || err != nil && !errors.Is(err, errGrown) || !strings.Contains(out.String(), c.say) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
	if all := growths(made(60, nil)); all != nil {
		t.Errorf("a minute: %+v", all)
	}
}

const numbers = `second,blocks,asked,slab committed,slab in use,slab free,slab largest free,large committed,large in use,large free,large largest free
1,5000,23068672,13631488,5242880,8388608,4096,52428800,20971520,31457280,3145728
2,5001,23199744,13697024,5308416,8388608,4096,52494336,21037056,31457280,3211264
`

// A broken writer fails at one of its writes.
type broken struct{ writes, failAt int }

func (b *broken) Write(p []byte) (int, error) {
	if b.writes++; b.writes == b.failAt {
		return 0, fs.ErrClosed
	}
	return len(p), nil
}

func TestCSV_IsALinePerSecond(t *testing.T) {
	var out bytes.Buffer
	if err := csv(&out, detailed(2)); err != nil || out.String() != numbers {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, numbers)
	}
}

func TestCSV_AnyWriteThatFailsIsAnError(t *testing.T) {
	for failAt := 1; ; failAt++ {
		w := &broken{failAt: failAt}
		err := csv(w, detailed(2))
		if w.writes < failAt {
			break
		}
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write %d: %v", failAt, err)
		}
	}
}
