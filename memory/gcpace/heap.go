package gcpace

import (
	"math"
	"math/bits"
	"runtime/metrics"
)

// A heap has the sizes that the pacing depends on, in bytes.
type heap struct {
	percent int    // GOGC in force
	live    uint64 // after the last collection
	scanned uint64 // what the percentage applies to: live, stacks and globals
	now     uint64 // upper bound of live and what has been allocated since
}

var heapMetrics = [...]string{"/gc/gogc:percent", "/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes",
	"/memory/classes/heap/objects:bytes", "/gc/heap/allocs:bytes", "/gc/cycles/total:gc-cycles"}

// read reads the state of the heap. The runtime does not tell how much was allocated since the last collection, and its
// end may be noticed late. On a busy machine the sentinel's finalizer waited while a level loaded 25 MiB. So there are
// two bounds. The upper one is the smaller of two: the heap without its live part, and the bytes allocated since the
// read before the collection. The former becomes exact during the sweep. The lower bound is the bytes allocated since
// the first read after the collection. The headroom counts from the upper bound, as no collection may begin within it.
// A collection is due by the lower bound.
func (p *process) read() {
	if p.samples == nil {
		p.samples = samplesOf(heapMetrics[:])
	}
	metrics.Read(p.samples)
	var v [len(heapMetrics)]uint64
	for i := range v {
		v[i] = number(&p.samples[i])
	}
	live, objects, allocs, cycles := v[1], v[4], v[5], v[6]
	since, collected := allocs-(objects-min(objects, live)), false
	switch {
	case !p.watched:
		// The first read: nothing is known but the size of the heap.
		p.since, p.noticed = since, since
	case cycles != p.cycles:
		p.since, p.noticed = max(p.allocs, since), allocs
		collected = true
	default:
		p.since = max(p.since, since)
	}
	p.cycles, p.allocs = cycles, allocs
	if collected {
		p.renew()
	}
	p.heap = heap{percent: int(int32(v[0])), live: live, scanned: live + v[2] + v[3], now: live + allocs - p.since}
}

// minHeap is the runtime's smallest goal at GOGC=100; it grows and shrinks with GOGC.
const minHeap = 4 << 20

// goal returns the size at which a collection must be done under a GOGC, as the runtime has it.
func (h *heap) goal(percent int) uint64 {
	if percent < 0 {
		return math.MaxUint64
	}
	return max(h.live+share(h.scanned, uint64(percent)), share(minHeap, uint64(percent)))
}

// percentFor returns the smallest GOGC, at least wish, under which the heap can grow by headroom before a collection
// begins. Growth counts from the heap now, but from at most the goal under wish. Otherwise each level could raise the
// goal further.
func (h *heap) percentFor(wish int, headroom uint64) int {
	if wish < 0 {
		return wish
	}
	begin := min(max(h.now, h.live), h.goal(wish)) + headroom
	// A collection begins early enough to be done at the goal, but not before 45/64 of the way.
	way := (begin-h.live)/45*64 + 64
	percent := (h.live+way)*100/minHeap + 1
	if h.scanned > 0 {
		percent = min(percent, way*100/h.scanned+1)
	}
	return max(wish, int(min(percent, math.MaxInt32)))
}

// share returns that percentage of bytes, or a size that no heap reaches.
func share(bytes, percent uint64) uint64 {
	hi, lo := bits.Mul64(bytes, percent)
	if hi > 0 {
		return 1 << 62
	}
	return lo / 100
}
