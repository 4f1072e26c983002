package game

import (
	"math/bits"
	"runtime"
	"time"

	"github.com/strata-go/strata/engine"
)

// times counts ticks by how long they took, in steps of a thirtieth of an octave: percentiles of a
// run of any length to within 3 %, in memory that is given once.
type times struct {
	count [timesSteps]uint32
	n     uint64
	most  time.Duration
}

const (
	timesFine  = 5 // bits behind the leading one
	timesSteps = 64 << timesFine
)

func newTimes() *times { return &times{} }

// slot returns where a duration counts: its leading bits.
func slot(d time.Duration) int {
	ns := uint64(max(d, 1))
	n := bits.Len64(ns) - 1
	if n <= timesFine {
		return int(ns)
	}
	return (n-timesFine)<<timesFine + int(ns>>(n-timesFine))
}

// unslot returns the middle of a slot in nanoseconds.
func unslot(i int) float64 {
	if i < 2<<timesFine {
		return float64(i)
	}
	shift := i>>timesFine - 1
	return (float64(i&(1<<timesFine-1)|1<<timesFine) + 0.5) * float64(uint64(1)<<shift)
}

func (t *times) add(d time.Duration) {
	t.count[slot(d)]++
	t.n++
	t.most = max(t.most, d)
}

// at returns the duration that a share of the ticks did not exceed, in milliseconds.
func (t *times) at(share float64) float64 {
	left := uint64(share * float64(t.n-1))
	for i, c := range t.count {
		if uint64(c) > left {
			return min(unslot(i), float64(t.most)) / 1e6
		}
		left -= uint64(c)
	}
	return float64(t.most) / 1e6
}

// Percentiles are times of a tick in milliseconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// TickTimes returns how long the ticks took, the game's own work without loading and drawing.
func (s *Session) TickTimes() Percentiles { return s.times.percentiles() }

// TickCPU returns what they took of processors on the game's own thread, assists of the collector
// included, and is zero where SessionConfig.CPU is nil. Whatever else the machine does is not in it.
func (s *Session) TickCPU() Percentiles { return s.cpu.percentiles() }

func (t *times) percentiles() Percentiles {
	if t.n == 0 {
		return Percentiles{}
	}
	return Percentiles{P50: t.at(0.5), P99: t.at(0.99), P999: t.at(0.999), Max: float64(t.most) / 1e6}
}

// tick is the game's, with a look at the clocks.
func (s *Session) tick(in *engine.Input) error {
	var before time.Duration
	if s.cfg.CPU != nil {
		before = s.cfg.CPU()
	}
	began := time.Now()
	if err := s.Game.Tick(in); err != nil {
		return err
	}
	s.times.add(time.Since(began))
	if s.cfg.CPU != nil {
		s.cpu.add(s.cfg.CPU() - before)
	}
	return nil
}

// mallocs returns how many objects the process has allocated on the Go heap. It stops the
// world for a moment: not for a frame.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// count adds what the level allocated so far to the sum.
func (s *Session) count() {
	if p := &s.played; p.on {
		p.objects += mallocs() - p.objects0
		p.ticks += s.Game.Ticks - p.ticks0
		p.on = false
	}
}

// ObjectsPerTick returns the Go heap's objects per tick, over the levels played: loading is
// left out, the runtime's own are in. It ends the count.
func (s *Session) ObjectsPerTick() float64 {
	s.count()
	return float64(s.played.objects) / float64(max(s.played.ticks, 1))
}
