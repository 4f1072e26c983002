//go:build !memfast && !race

package slab

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Two workers free one block, which is a race and told as one by -race, at the same moment, again and again: one of
// them wins.
func TestCache_OfTwoSimultaneousFreesOneWins(t *testing.T) {
	const rounds = 4000
	central, caches := newCaches(t, Config{}, 2)
	var turn, wins, losses atomic.Int64
	var p atomic.Pointer[byte]
	var wg sync.WaitGroup
	for w, c := range caches {
		wg.Go(func() {
			for i := range int64(rounds) {
				if w == 0 {
					q, err := c.Alloc(48, 16)
					if err != nil {
						t.Error(err)
					}
					p.Store((*byte)(q))
				}
				meet(&turn, 4*i+2)
				if caught(func() { c.Free(unsafe.Pointer(p.Load()), 48) }) {
					losses.Add(1)
				} else {
					wins.Add(1)
				}
				meet(&turn, 4*i+4)
			}
		})
	}
	wg.Wait()
	if wins.Load() != rounds || losses.Load() != rounds {
		t.Errorf("of %d blocks freed twice at once %d frees won and %d were refused", rounds, wins.Load(), losses.Load())
	}
	sound(t, central, caches...)
}

// meet waits until turn has come to n.
func meet(turn *atomic.Int64, n int64) {
	turn.Add(1)
	for spins := 0; turn.Load() < n; spins++ {
		if spins > 1000 {
			runtime.Gosched()
		}
	}
}

// caught reports whether f panics with a Misuse.
func caught(f func()) (caught bool) {
	defer func() {
		if r := recover(); r != nil {
			_, caught = r.(*memory.Misuse)
		}
	}()
	f()
	return false
}
