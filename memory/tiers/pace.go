package tiers

import (
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// The collector's pacing is one number of the process, GOGC: a collection is due when the heap
// has grown by that percentage of what the last one left. With a game's data off the Go heap
// little is left, so the percentage is of next to nothing, and a few MiB of garbage trigger
// collection after collection. The managers raise the percentage until the heap may grow by
// their headroom, and lower it again as the live heap grows: never below what the host wants,
// so that no manager makes the collector run more often than it would without.
//
// A memory limit would say "so many bytes" more directly, but near its limit the collector
// runs without end, and a live heap may grow to any size. So the limit stays the host's alone,
// and the percentage follows the live heap.

// A process is what the managers of a process share.
//
// While claims is not empty:
//
//	(1) GOGC is set, or the host has put its own figure in force since, which then stands
//	(2) set >= wish, or off; with wish off, set is off, too
//	(3) nobody holds the collector: set == spared
type process struct {
	sync.Mutex
	claims []*claim
	wish   int // GOGC as the host wants it, in percent; off for none
	set    int // what the managers put in force last; none when they have given it back

	heap    heap
	samples []metrics.Sample
	cycles  uint64 // collections of the process at the last look
	since   uint64 // bytes that the process had allocated when the last of them ended: as many at least
	noticed uint64 // and no more than these, when it was first seen to have ended
	allocs  uint64 // bytes that it had allocated at the last look
	watched bool   // the sentinel is armed

	spared int         // GOGC that the claims ask for, were nobody to hold the collector
	again  *time.Timer // the second look after a collection
}

const (
	off  = -1
	none = math.MinInt
)

var pacing = process{set: none}

// A claim is a manager's part in the pacing. It knows nothing of its manager, so that one which
// is dropped is collected.
type claim struct {
	headroom uint64
	holds    bool        // the collector is off for its level
	looks    *time.Timer // the last hold's
	until    uint64      // with holds: bytes that the process will have allocated when the headroom is spent
}

// A lease is what a manager holds of its claim. When it is collected, the claim goes.
type lease struct {
	claim   *claim
	cleanup runtime.Cleanup
}

// maxHeadroom is more than any machine has, and little enough that a percentage of it fits.
const maxHeadroom = 1 << 40

// newLease makes the managers pace, whatever the host has set until now.
func newLease(headroom int64) *lease {
	c := &claim{headroom: min(uint64(headroom), maxHeadroom)}
	pacing.join(c)
	l := &lease{claim: c}
	l.cleanup = runtime.AddCleanup(l, pacing.leave, c)
	return l
}

// end gives the claim back. A nil lease, and a second end, do nothing.
func (l *lease) end() {
	if l == nil {
		return
	}
	l.cleanup.Stop()
	pacing.leave(l.claim)
	runtime.KeepAlive(l)
}

func (p *process) join(c *claim) {
	p.Lock()
	defer p.Unlock()
	p.read()
	if p.heap.percent != p.set {
		p.wish, p.set = p.heap.percent, p.heap.percent
	}
	p.claims = append(p.claims, c)
	p.settle()
	p.watch()
}

func (p *process) leave(c *claim) {
	p.Lock()
	defer p.Unlock()
	i := slices.Index(p.claims, c)
	if i < 0 {
		return
	}
	p.claims = slices.Delete(p.claims, i, i+1)
	p.read()
	p.settle()
}

// follow brings GOGC up to date with the heap.
func (p *process) follow() {
	p.Lock()
	defer p.Unlock()
	p.read()
	p.settle()
}

// rest is follow when no collection is under way, and waits for that: one that began before a
// level shall not end in it, and one that has just begun makes another needless at its end. It
// reports whether the collector would have run by now, had GOGC been the host's all the time.
func (p *process) rest() (due bool) {
	p.Lock()
	defer p.Unlock()
	p.read()
	if p.heap.percent == p.set && p.set != off && replace(p.set, off) { // off waits, and nothing else does
		p.set = off
		p.read()
	}
	p.settle()
	percent := p.wish
	if p.heap.percent != p.set {
		percent = p.heap.percent
	}
	return p.heap.live+p.allocs-p.noticed >= p.heap.goal(percent)
}

// settle puts the figure in force that the claims and the heap ask for. Where GOGC is not as
// the managers left it, the host has spoken since, and nothing is done: neither until that
// figure is put back, nor when the last manager goes.
func (p *process) settle() {
	if p.heap.percent != p.set {
		return
	}
	percent := p.wish
	for _, c := range p.claims {
		percent = max(percent, p.heap.percentFor(p.wish, c.headroom))
	}
	if p.spared = percent; p.holding() {
		percent = off
	}
	if percent != p.set && replace(p.set, percent) {
		p.set, p.heap.percent = percent, percent
	}
	if len(p.claims) == 0 {
		p.set = none
	}
}

// replace sets GOGC from one figure to another, unless somebody else has set it meanwhile:
// theirs, and what they set while it is being put back, then stays.
func replace(from, to int) bool {
	found := debug.SetGCPercent(to)
	if found == from {
		return true
	}
	for last := to; ; {
		now := debug.SetGCPercent(found)
		if now == last {
			return false
		}
		last, found = found, now
	}
}

// A sentinel is garbage at each collection, and armed again after it. It is larger than 32 KiB
// because the sweeper takes objects of that size first: a small one would wait for the sweep
// of the whole heap, while the heap grows by a percentage that is out of date.
type sentinel struct {
	_ *sentinel
	_ [40 << 10]byte
}

// A straggler is noticed when the sweep is over, but also when a finalizer of the host's blocks
// those of all: with the sentinel alone the heap then grew to 65 times what was live.
type straggler struct{ _ [32]byte }

// watch arms both, once for all: without managers they find nothing to do.
func (p *process) watch() {
	if !p.watched {
		p.watched = true
		runtime.SetFinalizer(new(sentinel), (*sentinel).collected)
		runtime.AddCleanup(new(straggler), (*process).collected, p)
	}
}

// Both are armed before the look at the heap, so that a collection which comes between is not
// missed. One that is under way as they are armed passes them over; hence the second look.
func (s *sentinel) collected() {
	runtime.SetFinalizer(s, (*sentinel).collected)
	pacing.followTwice()
}

func (p *process) collected() {
	runtime.AddCleanup(new(straggler), (*process).collected, p)
	p.followTwice()
}

// secondLook is longer than the marking of any heap that a game has.
const secondLook = time.Second

func (p *process) followTwice() {
	p.follow()
	p.Lock()
	defer p.Unlock()
	switch {
	case len(p.claims) == 0:
	case p.again == nil:
		p.again = time.AfterFunc(secondLook, p.follow)
	default:
		p.again.Reset(secondLook)
	}
}

// A heap is what the pacing depends on, in bytes.
type heap struct {
	percent int    // GOGC in force
	live    uint64 // what the last collection left
	scanned uint64 // what the percentage is of: live, stacks and globals
	now     uint64 // live, and what has been allocated since, at most
}

var heapMetrics = [...]string{"/gc/gogc:percent", "/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/scan/globals:bytes",
	"/memory/classes/heap/objects:bytes", "/gc/heap/allocs:bytes", "/gc/cycles/total:gc-cycles"}

// read looks at the heap. What was allocated since the last collection the runtime does not say,
// and whoever notices that it has ended may come late: on a busy machine the sentinel's finalizer
// waited while a level loaded 25 MiB. So there are two bounds. It was no more than what is on the
// heap beside what is live, which is exact when the sweep is over and each look brings closer, and
// no more than since the look before the collection; and no less than since the first behind it.
// The headroom counts from the most, as nothing may begin within it; a collection is due at the least.
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
		// Nobody has looked: what is on the heap is all there is to know.
		p.since, p.noticed = since, since
	case cycles != p.cycles:
		p.since, p.noticed = max(p.allocs, since), allocs
		collected = true
	default:
		p.since = max(p.since, since)
	}
	p.cycles, p.allocs = cycles, allocs
	if collected {
		p.anew()
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

// percentFor returns the smallest GOGC, at least the host's, under which the heap can grow by
// headroom before a collection begins. Growth counts from what is on the heap now, but from no
// more than the host's own goal, or one level after another could push the goal ahead of it.
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
