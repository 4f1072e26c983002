package tiers

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// GoStats is what the Go runtime does beside the tiers.
type GoStats struct {
	Cycles       uint64  // collections since New
	InPlay       uint64  // of these, the ones that ran inside a level and were not ours
	MaxPause     float64 // longest stop of the world for a collection, in seconds, since the process began
	HeapBytes    uint64  // live and not yet swept objects
	HeapObjects  uint64
	TotalObjects uint64 // allocated since the process began
	Total        uint64 // bytes of memory mapped by the runtime
}

// A pacer owns the collector's pacing: with the data off the Go heap its goal would fall to
// 4 MiB and the little garbage that is left would trigger it again and again. While a pacer
// has it, a collection runs when the heap has grown by the headroom, and at level changes.
type pacer struct {
	taken   bool
	samples []metrics.Sample
	now     GoStats
	base    uint64 // cycles at New
	atLevel uint64 // cycles at BeginLevel
	playing bool
	inPlay  uint64
}

// The settings are the process's, so the first pacer saves them and the last one restores.
var pacing struct {
	sync.Mutex
	owners  int
	percent int
	limit   int64
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
	metricPauses:       "/sched/pauses/stopping/gc:seconds",
	metricHeapBytes:    "/memory/classes/heap/objects:bytes",
	metricHeapObjects:  "/gc/heap/objects:objects",
	metricTotalObjects: "/gc/heap/allocs:objects",
	metricTotal:        "/memory/classes/total:bytes",
}

// take turns proportional pacing off and puts a limit above what the process holds now.
func (p *pacer) take(headroom int64) {
	p.read()
	pacing.Lock()
	defer pacing.Unlock()
	if pacing.owners == 0 {
		pacing.percent = debug.SetGCPercent(-1)
		pacing.limit = debug.SetMemoryLimit(-1)
	}
	pacing.owners++
	debug.SetMemoryLimit(min(pacing.limit, int64(p.now.Total)+headroom))
	p.taken = true
}

func (p *pacer) giveBack() {
	if !p.taken {
		return
	}
	p.taken = false
	pacing.Lock()
	defer pacing.Unlock()
	if pacing.owners--; pacing.owners == 0 {
		debug.SetGCPercent(pacing.percent)
		debug.SetMemoryLimit(pacing.limit)
	}
}

// read brings now up to date. After the first call it does not allocate.
func (p *pacer) read() {
	if p.samples == nil {
		p.samples = make([]metrics.Sample, len(metricNames))
		for i, n := range metricNames {
			p.samples[i].Name = n
		}
		metrics.Read(p.samples)
		p.base = p.count(metricCycles)
	}
	metrics.Read(p.samples)
	p.now = GoStats{
		Cycles:       p.count(metricCycles) - p.base,
		InPlay:       p.inPlay,
		MaxPause:     p.longest(metricPauses),
		HeapBytes:    p.count(metricHeapBytes),
		HeapObjects:  p.count(metricHeapObjects),
		TotalObjects: p.count(metricTotalObjects),
		Total:        p.count(metricTotal),
	}
	if p.playing {
		p.now.InPlay += p.now.Cycles - p.atLevel
	}
}

func (p *pacer) count(i int) uint64 {
	if p.samples[i].Value.Kind() != metrics.KindUint64 {
		return 0 // a runtime that does not know the metric
	}
	return p.samples[i].Value.Uint64()
}

// longest returns the upper edge of the last bucket of a histogram that is not empty.
func (p *pacer) longest(i int) float64 {
	if p.samples[i].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := p.samples[i].Value.Float64Histogram()
	for b := len(h.Counts) - 1; b >= 0; b-- {
		if h.Counts[b] != 0 {
			if edge := h.Buckets[b+1]; !math.IsInf(edge, 1) {
				return edge
			}
			return h.Buckets[b]
		}
	}
	return 0
}

func (p *pacer) beginLevel() {
	p.read()
	p.atLevel, p.playing = p.now.Cycles, true
}

func (p *pacer) endLevel() {
	p.read()
	p.inPlay, p.playing = p.now.InPlay, false
}

// collect runs a collection while nobody minds; it does not count as one in play.
func (p *pacer) collect() {
	p.read()
	before := p.now.Cycles
	runtime.GC()
	p.read()
	if p.playing {
		p.atLevel += p.now.Cycles - before
	}
}

// Collect runs a collection of the Go heap now: for a moment when a pause of a few milliseconds
// does not show, as behind the fade into a level, when what loading left has become garbage.
func (m *Manager) Collect() { m.pacer.collect() }
