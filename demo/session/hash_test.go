package session

import (
	"runtime"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// hashes plays n ticks and returns the hash after each; before is called before each.
func hashes(t *testing.T, s *Session, n int, before func()) (all []uint64) {
	play(t, s, 1)
	for range n {
		before()
		play(t, s, 1)
		all = append(all, s.Game.Hash())
	}
	return all
}

func TestSession_APauseAtEveryTickChangesNothing(t *testing.T) {
	testenv.Long(t)
	cfg := Config{Game: game.Config{Seed: 7, Heat: 4}}
	n := int(played(400))
	plain := hashes(t, newSession(t, cfg), n, func() {})
	s := newSession(t, cfg)
	paused := 0
	held := hashes(t, s, n, func() {
		for i := range 1 + paused%4 { // frames; the last of them ends the pause
			if i == 0 {
				if err := s.Frame(engine.Input{Pressed: game.Pause}); err != nil {
					t.Fatal(err)
				}
			} else if err := s.Frame(engine.Input{}); err != nil {
				t.Fatal(err)
			}
		}
		s.Paused = false
		paused++
	})
	for i := range plain {
		if plain[i] != held[i] {
			t.Fatalf("tick %d: hash %x, and %x with pauses", i+1, plain[i], held[i])
		}
	}
}

func TestSession_HashIsTheSameForAnyNumberOfProcessors(t *testing.T) {
	testenv.Long(t)
	var all [][]uint64
	many := []int{1, 16, 2}
	if !*whole {
		many = many[:2]
	}
	for _, procs := range many {
		old := runtime.GOMAXPROCS(procs)
		all = append(all, hashes(t, newSession(t, Config{Game: game.Config{Seed: 9, Heat: 5}}), int(played(300)), func() {}))
		runtime.GOMAXPROCS(old)
	}
	for k, hashes := range all {
		for i := range hashes {
			if hashes[i] != all[0][i] {
				t.Fatalf("tick %d: hash %x with %d processors, %x with %d", i+1, all[0][i], many[0], hashes[i], many[k])
			}
		}
	}
}
