package main

import (
	"time"

	"github.com/strata-go/strata/memory/bench/driver/tsc"
)

// ticksPerNS is the rate of the time stamp counter, or 0 where calls cannot be timed.
var ticksPerNS = rate()

// rate compares the counter with the clock. A switch of threads in between lowers the result, so the largest counts.
func rate() (most float64) {
	for range 5 {
		begin, c := time.Now(), tsc.Start()
		for time.Since(begin) < 2*time.Millisecond {
		}
		c = tsc.Stop() - c
		most = max(most, float64(c)/float64(time.Since(begin).Nanoseconds()))
	}
	return most
}

func start() uint64 { return tsc.Start() }
func stop() uint64  { return tsc.Stop() }
func pause()        { tsc.Pause() }

// overhead returns the ticks between start and stop with nothing in between.
func overhead() uint64 {
	least := ^uint64(0)
	for range 100_000 {
		begin := start()
		least = min(least, stop()-begin)
	}
	return least
}

func elapsed(begin, end, over uint64) uint32 { return uint32(max(end-begin, over) - over) }
