package main

import (
	"errors"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

const (
	framesPerSecond = 60
	framesPerMinute = 60 * framesPerSecond
	framesPerHour   = 60 * framesPerMinute
	levelFrames     = 3 * framesPerMinute
)

// A load is the traffic of a game's general heap: blocks of 16 bytes to 256 KiB, each for one
// frame to a whole level.
type load struct {
	Frames int
	Seed   uint64
	Levels bool // without, nothing dies together
	scale
}

// A scale is how large the game is.
type scale struct {
	level       int // frames
	least, most int // blocks that live
	bytes       int // asked for by the live blocks together: what a game would plan for
}

// whole is the scale of the command.
var whole = scale{level: levelFrames, least: 4_000, most: 40_000, bytes: 52 << 20}

// A sample is the state of the heap at the end of a frame.
type sample struct {
	Frame int
	Live  int
	Asked [2]uint64       // bytes, by the live blocks of each tier
	Tiers [2]memory.Stats // of sampled
}

// sampled are the tiers that the manager's Alloc hands out from.
var sampled = [2]tiers.Tier{tiers.Slab, tiers.Large}

func (s sample) committed() uint64 { return s.Tiers[0].Committed + s.Tiers[1].Committed }
func (s sample) asked() uint64     { return s.Asked[0] + s.Asked[1] }
func (s sample) inUse() uint64     { return s.Tiers[0].InUse + s.Tiers[1].InUse }

// config gives room enough that only fragmentation, and no budget, decides what is committed.
func config() tiers.Config {
	cfg := tiers.Config{GC: gcpace.Config{Keep: true}, Workers: -1}
	cfg.Reserve[tiers.Slab], cfg.Reserve[tiers.Large] = 256<<20, 512<<20
	return cfg
}

// play runs the load on a manager and returns a sample per simulated second.
func play(cfg tiers.Config, l load) (samples []sample, err error) {
	m, err := tiers.New(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return newGame(m, l).run(func() (s [2]memory.Stats) {
		for i, t := range sampled {
			s[i] = m.Stats(t)
		}
		return s
	})
}
