package tiers

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
)

// GoStats is what the Go runtime does beside the tiers. A collection that a manager asked for,
// whichever of the process, is one of Cycles, but never one of InPlay.
type GoStats struct {
	Cycles       uint64  // collections since New, of the whole process
	InPlay       uint64  // of these, the ones that ended inside a level and that no manager asked for
	Pauses       uint64  // stops of the world for collections since New: one when a collection begins, and one when it ends
	MaxPause     float64 // longest stop of the world for a collection since New, in seconds, rounded up by up to a quarter
	HeapBytes    uint64  // live and not yet swept objects
	HeapObjects  uint64  // the same, counted
	TotalObjects uint64  // allocated since the process began
	Total        uint64  // bytes of memory mapped by the runtime
}

// A pacer is a manager's part in the collector's pacing, and its view of what the collector did.
type pacer struct {
	lease   *lease // nil with KeepGC and after Close
	hold    bool   // the collector is off while a level lasts
	samples []metrics.Sample
	now     GoStats
	base    uint64   // cycles at New
	pauses  []uint64 // counts of the histogram of pauses at New
	playing bool
	atLevel uint64 // foreign cycles at BeginLevel
	inPlay  uint64 // of the levels that have ended
}

const (
	metricCycles = iota
	metricPauses
	metricHeapBytes
	metricHeapObjects
	metricTotalObjects
	metricTotal
)

var metricNames = [...]string{
	metricCycles:       "/gc/cycles/total:gc-cycles",
	metricPauses:       "/sched/pauses/total/gc:seconds",
	metricHeapBytes:    "/memory/classes/heap/objects:bytes",
	metricHeapObjects:  "/gc/heap/objects:objects",
	metricTotalObjects: "/gc/heap/allocs:objects",
	metricTotal:        "/memory/classes/total:bytes",
}

// asked counts the collections that managers ran. Its lock is held while one runs, and the count
// is then ahead of the runtime's.
var asked struct {
	sync.Mutex
	cycles atomic.Uint64
}

// start notes where the counts stand, and takes part in the pacing unless told not to.
func (p *pacer) start(cfg *Config) {
	p.samples = samplesOf(metricNames[:])
	metrics.Read(p.samples)
	p.base = number(&p.samples[metricCycles])
	if h := histogram(&p.samples[metricPauses]); h != nil {
		p.pauses = slices.Clone(h.Counts)
	}
	if !cfg.KeepGC {
		p.lease, p.hold = newLease(cfg.GoHeadroom), cfg.HoldGC
	}
	p.read()
}

// stop gives the pacing back. A second stop does nothing.
func (p *pacer) stop() {
	p.lease.end()
	p.lease = nil
}

// read brings now up to date. It does not allocate.
func (p *pacer) read() {
	ours := asked.cycles.Load() // before the runtime's, which it may be ahead of, not behind
	metrics.Read(p.samples)
	cycles := number(&p.samples[metricCycles])
	p.now = GoStats{
		Cycles:       cycles - p.base,
		InPlay:       p.inPlay,
		HeapBytes:    number(&p.samples[metricHeapBytes]),
		HeapObjects:  number(&p.samples[metricHeapObjects]),
		TotalObjects: number(&p.samples[metricTotalObjects]),
		Total:        number(&p.samples[metricTotal]),
	}
	if h := histogram(&p.samples[metricPauses]); h != nil {
		p.now.Pauses, p.now.MaxPause = more(h, p.pauses), longest(h, p.pauses)
	}
	if foreign := cycles - min(ours, cycles); p.playing && foreign > p.atLevel {
		p.now.InPlay += foreign - p.atLevel
	}
}

// beginLevel opens the books of a level, and its headroom. It waits for a collection that is
// under way.
func (p *pacer) beginLevel() {
	if p.lease != nil {
		if p.hold {
			pacing.hold(p.lease.claim)
		}
		pacing.rest()
	}
	asked.Lock()
	metrics.Read(p.samples)
	p.atLevel, p.playing = number(&p.samples[metricCycles])-asked.cycles.Load(), true
	asked.Unlock()
}

// endLevel closes the books of the level, and runs the collection that it was spared.
func (p *pacer) endLevel() {
	asked.Lock()
	p.read()
	p.inPlay, p.playing = p.now.InPlay, false
	asked.Unlock()
	if p.lease == nil {
		return
	}
	if pacing.release(p.lease.claim); pacing.rest() {
		collect()
		pacing.follow()
	}
}

// collect runs a collection that does not count as one in play, for any manager.
func collect() {
	asked.Lock()
	defer asked.Unlock()
	forced := samplesOf([]string{"/gc/cycles/forced:gc-cycles"})
	metrics.Read(forced)
	before := number(&forced[0])
	asked.cycles.Add(1)
	runtime.GC()
	metrics.Read(forced)
	if number(&forced[0]) == before { // it found one that the runtime had begun, and shared it
		asked.cycles.Add(^uint64(0))
	}
}

// Collect runs a collection of the Go heap now, also with KeepGC: for a moment when a pause does
// not show, as behind the fade into a level, when what loading left has become garbage. It is a
// whole one, and blocks: about a millisecond for each MiB of live objects with pointers.
func (m *Manager) Collect() {
	collect()
	if m.pacer.lease != nil {
		pacing.follow()
	}
}

func samplesOf(names []string) []metrics.Sample {
	s := make([]metrics.Sample, len(names))
	for i, name := range names {
		s[i].Name = name
	}
	return s
}

// number returns a sample that is one, and 0 for a metric that the runtime does not know.
func number(s *metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}

func histogram(s *metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s.Value.Float64Histogram()
}

// more returns by how many values h has grown since its buckets were before.
func more(h *metrics.Float64Histogram, before []uint64) (n uint64) {
	for b, count := range h.Counts {
		n += count - before[b]
	}
	return n
}

// longest returns the upper edge of the last bucket that has grown since it held before, and
// the lower one of a bucket that is open above. Without any it is 0.
func longest(h *metrics.Float64Histogram, before []uint64) float64 {
	for b := len(h.Counts) - 1; b >= 0; b-- {
		if h.Counts[b] == before[b] {
			continue
		}
		if edge := h.Buckets[b+1]; !math.IsInf(edge, 1) {
			return edge
		}
		return h.Buckets[b]
	}
	return 0
}
