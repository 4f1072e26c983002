package game

import (
	"runtime"
	"testing"
)

// golden is the state after 1,200 ticks of seed 7. It changes with the rules of the game, and with nothing else: not with
// the processor, the system, or the backing of the memory.
const golden = 0xcfe0584322c13855

// goldenHot is the same after 300 ticks at full heat.
const goldenHot = 0xf889d02100b510ef

func TestHash_IsTheSameOnEveryArchitecture(t *testing.T) {
	for _, c := range []struct {
		heat  float32
		ticks uint64
		want  uint64
	}{{0, 1200, golden}, {HeatMost, 300, goldenHot}} {
		h := newGame(t, Config{Seed: 7, Heat: c.heat})
		if h.play(t, c.ticks); h.Hash() != c.want {
			t.Errorf("heat %g: hash %#x on %s, want %#x; if the rules have changed, and only then, write the new one down", c.heat, h.Hash(), runtime.GOARCH, c.want)
		}
	}
}
