package gcpace

import (
	"math"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
)

// Stats has statistics of the Go runtime, for the whole process. Cycles includes the collections that pacers ran;
// InPlay does not.
type Stats struct {
	Cycles       uint64  // collections since New, of the whole process
	InPlay       uint64  // collections that ended in a level of this pacer, without those that a pacer ran
	Pauses       uint64  // stops of the world for collections since New: one when a collection begins, and one when it ends
	MaxPause     float64 // longest stop of the world for a collection since New, in seconds, rounded up by up to a quarter
	Mark         float64 // processor seconds of marking since New, without idle processors; an estimate that changes when a collection ends
	HeapBytes    uint64  // bytes of live and of not yet swept objects
	HeapObjects  uint64  // number of live and of not yet swept objects
	TotalObjects uint64  // objects allocated since the process began
	Total        uint64  // bytes of memory mapped by the runtime
	Released     uint64  // bytes of Total that the runtime has returned to the system, or has not used yet
}

// counts are a pacer's view of what the collector did.
type counts struct {
	samples []metrics.Sample
	base    uint64   // cycles at New
	marked  float64  // processor time of marking at New
	pauses  []uint64 // counts of the histogram of pauses at New
	playing bool     // a level is open
	atLevel uint64   // cycles at BeginLevel that no pacer ran
	inPlay  uint64   // of the levels that have ended
}

const (
	metricCycles = iota
	metricPauses
	metricHeapBytes
	metricHeapObjects
	metricTotalObjects
	metricTotal
	metricReleased
	metricDedicated
	metricAssist
)

var metricNames = [...]string{
	metricCycles:       "/gc/cycles/total:gc-cycles",
	metricPauses:       "/sched/pauses/total/gc:seconds",
	metricHeapBytes:    "/memory/classes/heap/objects:bytes",
	metricHeapObjects:  "/gc/heap/objects:objects",
	metricTotalObjects: "/gc/heap/allocs:objects",
	metricTotal:        "/memory/classes/total:bytes",
	metricReleased:     "/memory/classes/heap/released:bytes",
	metricDedicated:    "/cpu/classes/gc/mark/dedicated:cpu-seconds",
	metricAssist:       "/cpu/classes/gc/mark/assist:cpu-seconds",
}

// asked counts the collections that pacers ran. Its lock is held while one runs, and the count is then ahead of the
// runtime's.
var asked struct {
	sync.Mutex
	cycles atomic.Uint64
}

func (c *counts) start() {
	c.samples = samplesOf(metricNames[:])
	metrics.Read(c.samples)
	c.base, c.marked = number(&c.samples[metricCycles]), c.marking()
	if h := histogram(&c.samples[metricPauses]); h != nil {
		c.pauses = slices.Clone(h.Counts)
	}
}

// Stats returns the statistics of the Go runtime so far, also after Close. It does not allocate.
func (p *Pacer) Stats() Stats { return p.read() }

func (c *counts) read() Stats {
	ours := asked.cycles.Load() // before the runtime's count: it may be ahead of that, not behind
	metrics.Read(c.samples)
	cycles := number(&c.samples[metricCycles])
	s := Stats{
		Cycles:       cycles - c.base,
		InPlay:       c.inPlay,
		Mark:         c.marking() - c.marked,
		HeapBytes:    number(&c.samples[metricHeapBytes]),
		HeapObjects:  number(&c.samples[metricHeapObjects]),
		TotalObjects: number(&c.samples[metricTotalObjects]),
		Total:        number(&c.samples[metricTotal]),
		Released:     number(&c.samples[metricReleased]),
	}
	if h := histogram(&c.samples[metricPauses]); h != nil {
		s.Pauses, s.MaxPause = more(h, c.pauses), longest(h, c.pauses)
	}
	if foreign := cycles - min(ours, cycles); c.playing && foreign > c.atLevel {
		s.InPlay += foreign - c.atLevel
	}
	return s
}

// marking returns the processor time of marking since the process began, as of the last read.
func (c *counts) marking() float64 {
	return seconds(&c.samples[metricDedicated]) + seconds(&c.samples[metricAssist])
}

func (c *counts) beginLevel() {
	asked.Lock()
	defer asked.Unlock()
	metrics.Read(c.samples)
	c.atLevel, c.playing = number(&c.samples[metricCycles])-asked.cycles.Load(), true
}

func (c *counts) endLevel() {
	asked.Lock()
	defer asked.Unlock()
	c.inPlay, c.playing = c.read().InPlay, false
}

// collect runs a collection that no pacer counts as one in play: runtime.GC, or a function that runs one collection.
func collect(run func()) {
	asked.Lock()
	defer asked.Unlock()
	forced := samplesOf([]string{"/gc/cycles/forced:gc-cycles"})
	metrics.Read(forced)
	before := number(&forced[0])
	asked.cycles.Add(1)
	run()
	metrics.Read(forced)
	if number(&forced[0]) == before { // it found one that the runtime had begun, and shared it
		asked.cycles.Add(^uint64(0))
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

// seconds is number for a metric of processor time.
func seconds(s *metrics.Sample) float64 {
	if s.Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s.Value.Float64()
}

func histogram(s *metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return s.Value.Float64Histogram()
}

// more returns how many values h has gained since its buckets were as in before.
func more(h *metrics.Float64Histogram, before []uint64) (n uint64) {
	for b, count := range h.Counts {
		n += count - before[b]
	}
	return n
}

// longest returns the upper edge of the last bucket that has grown since before, or the lower edge if the bucket has no
// upper one. If none has grown it returns 0.
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
