package main

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// W8 passes runs of blocks through a ring from the thread that allocates to the thread that frees.
const (
	runBlocks  = 256 // a run
	runBytes   = 256 // a block
	ringRuns   = 64  // at most in flight
	cacheLine  = 64
	otherCore  = 0
	eachRunSum = runBlocks * (runBlocks - 1) / 2
)

// A ring has one producer and one consumer. Each counter has a cache line of its own.
type ring struct {
	filled  atomic.Uint64 // runs that the producer has filled
	_       [cacheLine - 8]byte
	emptied atomic.Uint64
	_       [cacheLine - 8]byte
	stop    atomic.Bool
	_       [cacheLine - 4]byte
	runs    [ringRuns][runBlocks]ref
}

// handOver is W8.
func (j *job) handOver() {
	j.sharedSwitches()
	fold(&j.drawn, uint64(j.live))
	r := new(ring)
	if j.nothing {
		j.empty()
		return
	}
	h := open(need{largest: runBytes, bytes: 4 * ringRuns * runBlocks * runBytes, blocks: 4 * ringRuns * runBlocks, fixed: runBytes})
	bad := make(chan uint64)
	go r.consume(h.outlet(), j.core, bad)
	made := uint64(0)
	j.figures["pair"] = j.repeat(j.ops*runBlocks, func() time.Duration {
		start := time.Now()
		for range j.ops {
			for made-r.emptied.Load() >= ringRuns {
				pause()
			}
			h.drain()
			produce(h, &r.runs[made%ringRuns])
			made++
			r.filled.Store(made)
		}
		for r.emptied.Load() != made {
			pause()
		}
		return time.Since(start)
	})
	r.stop.Store(true)
	j.read = eachRunSum + <-bad
}

func produce(h heap, run *[runBlocks]ref) {
	for i := range run {
		p := h.TryGet()
		if p == nil {
			p = h.Refill()
		}
		*(*uint64)(p) = uint64(i)
		run[i] = ref(p)
	}
}

// consume frees the runs until the producer stops. It sends the number of runs with wrong contents.
func (r *ring) consume(o outlet, core int, bad chan<- uint64) {
	runtime.LockOSThread()
	if core >= 0 {
		pin(otherCore)
	}
	wrong := uint64(0)
	for n := uint64(0); ; n++ {
		for r.filled.Load() <= n {
			if r.stop.Load() {
				bad <- wrong
				return
			}
			pause()
		}
		if consume(o, &r.runs[n%ringRuns]) != eachRunSum {
			wrong++
		}
		r.emptied.Store(n + 1)
	}
}

func consume(o outlet, run *[runBlocks]ref) (sum uint64) {
	for _, p := range run {
		sum += *(*uint64)(unsafe.Pointer(p))
		o.free(unsafe.Pointer(p))
	}
	o.flush()
	return sum
}
