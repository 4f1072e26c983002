package gcpace

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// GOGC, the percentage, belongs to the process. A collection is due when the heap has grown by that percentage of what
// the last one left. The pacers raise it until the heap may grow by their headroom, and lower it as the live heap grows.
// It is never below what the program wants, so that pacers never make the collector run more often.
//
// A memory limit would express a number of bytes directly. But near its limit the collector runs without end, and a live
// heap may grow to any size. So the limit is left to the program, and the percentage follows the live heap.

// A process is the state that the pacers of a process share.
//
// While claims is not empty:
//
//	(1) GOGC is set, or the program has set another value since, which then stays
//	(2) set >= wish, or off; if wish is off, set is off
//	(3) if no claim suspends the collector: set == unsuspended
type process struct {
	sync.Mutex
	claims []*claim
	wish   int // GOGC that the program wants, in percent, or off
	set    int // the value that the pacers set last; none after they have restored it

	heap    heap
	samples []metrics.Sample
	cycles  uint64 // collections of the process at the last read
	since   uint64 // lower bound of the bytes that the process had allocated when the last of them ended
	noticed uint64 // upper bound of these
	allocs  uint64 // bytes that it had allocated at the last read
	watched bool   // the sentinel is armed

	unsuspended int         // GOGC that the claims need if none suspends the collector
	again       *time.Timer // the second read after a collection
}

const (
	off  = -1
	none = math.MinInt
)

var pacing = process{set: none}

// A claim is what a pacer asks of the process. It has no pointer to its pacer, so that a pacer can become unreachable.
type claim struct {
	headroom   uint64
	suspends   bool   // GOGC is off for its level
	suspension int    // number of the present or last suspension
	until      uint64 // with suspends: bytes that the process will have allocated when the headroom is used up
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

// rest is follow after the collection that is under way, if there is one. A collection that began before a level must not
// end in it, and one that has just begun makes another at the level's end unnecessary. due reports whether the collector
// would have run by now under the program's own GOGC.
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

// settle sets the GOGC that the claims and the heap need. If GOGC is not as the pacers left it, the program has set it
// since. settle does nothing then until that value is restored, not even when the last pacer is closed.
func (p *process) settle() {
	if p.heap.percent != p.set {
		return
	}
	percent := p.wish
	for _, c := range p.claims {
		percent = max(percent, p.heap.percentFor(p.wish, c.headroom))
	}
	if p.unsuspended = percent; p.suspended() {
		percent = off
	}
	if percent != p.set && replace(p.set, percent) {
		p.set, p.heap.percent = percent, percent
	}
	if len(p.claims) == 0 {
		p.set = none
	}
}

// replace sets GOGC from one value to another, unless the program has set it meanwhile. The program's value, and what it
// sets while that is restored, then stays.
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

// A sentinel is garbage at each collection, and armed again after it. It is larger than 32 KiB because the sweeper takes
// objects of that size first. A small one would wait for the sweep of the whole heap, while the heap grows by an outdated
// percentage.
type sentinel struct {
	_ *sentinel
	_ [40 << 10]byte
}

// A straggler is noticed only after the sweep, but also if a finalizer of the program blocks all finalizers. With the
// sentinel alone the heap then grew to 65 times its live size.
type straggler struct{ _ [32]byte }

// watch arms both, once for the process. Without pacers they have nothing to do.
func (p *process) watch() {
	if !p.watched {
		p.watched = true
		runtime.SetFinalizer(new(sentinel), (*sentinel).collected)
		runtime.AddCleanup(new(straggler), (*process).collected, p)
	}
}

// Both are armed before the heap is read, so that a collection in between is not missed. A collection that is under way
// when they are armed does not notice them; hence the second read.
func (s *sentinel) collected() {
	runtime.SetFinalizer(s, (*sentinel).collected)
	pacing.followTwice()
}

func (p *process) collected() {
	runtime.AddCleanup(new(straggler), (*process).collected, p)
	p.followTwice()
}

// secondRead is longer than the marking of any heap that a game has.
const secondRead = time.Second

func (p *process) followTwice() {
	p.follow()
	p.Lock()
	defer p.Unlock()
	switch {
	case len(p.claims) == 0:
	case p.again == nil:
		p.again = time.AfterFunc(secondRead, p.follow)
	default:
		p.again.Reset(secondRead)
	}
}
