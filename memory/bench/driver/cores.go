package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// twoCores is W4 on two processors at once, with a heap for each.
func (j *job) twoCores() {
	j.sharedSwitches()
	cs := [2]*churn{j.newChurn(small), j.newChurn(small)}
	if j.nothing {
		j.empty()
		return
	}
	n := need{largest: small.largest(), bytes: uintptr(j.live) * small.mean(), blocks: j.live}
	var start, done atomic.Uint64
	go func() {
		runtime.LockOSThread()
		if j.core >= 0 {
			pin(otherCore)
		}
		cs[1].h = open(n)
		cs[1].populate(false)
		for turn := uint64(1); ; turn++ {
			done.Store(turn)
			for start.Load() < turn {
				pause()
			}
			cs[1].replace()
		}
	}()
	for done.Load() < 1 {
		pause()
	}
	cs[0].h = open(n)
	cs[0].populate(false)
	turn := uint64(0)
	j.figures["pair"] = j.repeat(j.ops, func() time.Duration {
		turn++
		begin := time.Now()
		start.Store(turn)
		cs[0].replace()
		for done.Load() <= turn {
			pause()
		}
		return time.Since(begin)
	})
	for _, c := range cs {
		j.readBack(c.refs, c.sizes)
	}
}
