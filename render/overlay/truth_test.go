package overlay

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// A trial is a game with everything at once that the overlay must report. It leaks 100 KiB a second, and one tier
// is filled once and nearly reaches its budget. One of every 600 frames takes 80 ms more and allocates 300
// blocks, which the next one frees.
type trial struct {
	*game
	n       int // frames
	spiked  time.Time
	burst   []unsafe.Pointer
	leak    func(dt float64)
	spikes  *tiers.Tag
	filling *tiers.Tag
}

const (
	trialBudget = 8 << 20
	spikeEvery  = 600
	spikeTakes  = 80 * time.Millisecond
	spikeBlocks = 300
)

func newTrial(t *testing.T, hz float64) *trial {
	var mem tiers.Config
	mem.Budget[tiers.Large] = trialBudget
	g := &trial{game: newGame(t, hz, mem, Config{})}
	g.leak = memtest.Leak(t, g.tag("ai"), 100<<10, 1024)
	g.filling, g.spikes = g.tag("ground"), g.tag("spikes")
	g.o.Show(Strip, true)
	g.o.Show(Tiers, true)
	return g
}

// step is a frame.
func (g *trial) step() {
	took := 1 / g.hz
	if g.n%spikeEvery == spikeEvery/2 {
		took += spikeTakes.Seconds()
	}
	g.frame(took, func(dt float64) {
		g.leak(dt)
		for _, p := range g.burst {
			g.m.Free(p, 64)
		}
		g.burst = g.burst[:0]
		if g.n == int(g.hz) {
			for range 2 { // of the budget 83 %, and what tlsf's steps commit beyond it
				_, err := g.filling.Alloc(3400<<10, 16)
				must(g.t, err)
			}
		}
		if dt > 1/g.hz {
			for range spikeBlocks {
				p, err := g.spikes.Alloc(64, 8)
				must(g.t, err)
				g.burst = append(g.burst, p)
			}
			g.spiked = g.now.Add(time.Duration(dt * 1e9))
		}
	})
	g.n++
}

// check compares what is on the screen with what the trial does.
func (g *trial) check() {
	g.t.Helper()
	expect := func(what, pattern string, want, by float64) {
		g.t.Helper()
		if v := g.figure(pattern); !near(v, want, by) && math.Abs(v-want) > 0.06 {
			g.t.Errorf("after %.1f s, %s: %v, want %v", float64(g.n)/g.hz, what, v, want)
		}
	}
	expect("the tier's growth", `growing ▲ slab \+(\d+) KiB/s`, 100, 0.1)
	expect("the tag's growth", `tag ai \+(\d+) KiB/s`, 100, 0.04)
	for _, calm := range []string{"large  ▲", "ground  ▲", "spikes  ▲", "refused", "FAULTS"} {
		g.wantNot(calm)
	}
	g.want("slab  ▲")
	g.want("# ai  ▲")
	large := g.m.Stats(tiers.Large)
	expect("the budget", `tight large (\d+)% of its budget`, math.Round(100*float64(large.Committed)/trialBudget), 0.001)
	ago := g.now.Sub(g.spiked).Seconds()
	if expect("ticks a second", `tps +(\d+)`, g.hz, 0.05+spikeTakes.Seconds()); ago > 1.6 {
		expect("frames a second", `fps +(\d+)`, g.hz, 0.03)
	}
	switch {
	case ago < 8.5: // of a window of ten, by tenths
		took := 1e3/g.hz + 1e3*spikeTakes.Seconds()
		expect("the worst frame", `worst frame (\d+\.\d) ms`, took, 0.001)
		expect("the worst frame on the strip", `p99 +\d+\.\d +worst +(\d+\.\d)`, took, 0.001)
		if ago < 0.5 {
			break
		}
		g.want(fmt.Sprintf("#spikes %d", spikeBlocks))
		every := spikeEvery/g.hz + spikeTakes.Seconds() // of several that are equal any may be the worst
		said := g.figure(`worst frame \d+\.\d ms +(\d+) s ago`)
		if off := math.Abs(math.Remainder(said-ago, every)); off > 0.55 || said > 11 {
			g.t.Errorf("after %.1f s, the worst frame was %v s ago, want %.1f", float64(g.n)/g.hz, said, ago)
		}
	case ago > 11.5:
		expect("the worst frame without a spike", `worst frame (\d+\.\d) ms`, 1e3/g.hz, 0.001)
	}
	late := 100.0 // every frame takes more than one and a half of a sixtieth
	if g.hz > 40 {
		if late /= spikeEvery; ago > 8.5 { // perhaps there is none in the window
			return
		}
		if v := g.figure(`late frames +(\d+\.\d)%`); v > 2*late+0.05 || v < 0.09 {
			g.t.Errorf("after %.1f s, late: %v%%, want about %.1f", float64(g.n)/g.hz, v, late)
		}
		return
	}
	expect("late", `late frames +(\d+\.\d)%`, late, 0.001)
}

// At every rate the figures and the words are those of what happens, at any moment once the window is full.
func TestOverlay_TellsTheTruthAtEveryRate(t *testing.T) {
	testenv.Long(t)
	atEveryRate(t, func(t *testing.T, hz float64) {
		g := newTrial(t, hz)
		for g.n = 0; float64(g.n) < 50*hz; { // the leak is named
			g.step()
		}
		seconds := 16
		if hz < spikeEvery/14 {
			seconds = int(1.1 * spikeEvery / hz) // a spike comes
		}
		seen := 0
		for range seconds {
			for range int(hz) {
				g.step()
			}
			if g.check(); g.now.Sub(g.spiked) < 8*time.Second {
				seen++
			}
		}
		if seen < 5 {
			t.Errorf("the spike was looked at %d times", seen)
		}
		must(t, g.o.check())
		must(t, g.o.meter.Check())
	})
}
