package session

import (
	"math/bits"
	"runtime"
	"time"

	"github.com/strata-go/strata/engine"
)

// times is a histogram of durations, in steps of a thirty-second of an octave: percentiles of a run of any length to
// within 3 %, in a fixed size.
type times struct {
	count [timesSteps]uint32
	n     uint64
	most  time.Duration
}

const (
	timesFine  = 5 // bits after the leading one
	timesSteps = 64 << timesFine
)

func newTimes() *times { return &times{} }

// slot returns the class of a duration: its leading bits.
func slot(d time.Duration) int {
	ns := uint64(max(d, 1))
	n := bits.Len64(ns) - 1
	if n <= timesFine {
		return int(ns)
	}
	return (n-timesFine)<<timesFine + int(ns>>(n-timesFine))
}

// unslot returns the middle of a class in nanoseconds.
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

// TickTimes returns the durations of the ticks, without loading and drawing.
func (s *Session) TickTimes() Percentiles { return s.times.percentiles() }

// TickCPU returns the processor time of the ticks on the game's thread. It includes assists of the collector and
// excludes other load of the machine. It is zero if Config.CPU is nil.
func (s *Session) TickCPU() Percentiles { return s.cpu.percentiles() }

func (t *times) percentiles() Percentiles {
	if t.n == 0 {
		return Percentiles{}
	}
	return Percentiles{P50: t.at(0.5), P99: t.at(0.99), P999: t.at(0.999), Max: float64(t.most) / 1e6}
}

// tick is a tick of the game, with its times.
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

// objects counts what play allocates on the Go heap, in all of the process. Loading is excluded.
type objects struct {
	made, ticks   uint64 // of the realms that have ended
	made0, ticks0 uint64 // when this one began
	on            bool
}

func (o *objects) begin(tick uint64) { o.made0, o.ticks0, o.on = mallocs(), tick, true }

func (o *objects) end(tick uint64) {
	if o.on {
		o.made += mallocs() - o.made0
		o.ticks += tick - o.ticks0
		o.on = false
	}
}

// mallocs returns how many objects the process has allocated on the Go heap. It stops the world: not for a frame.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// ObjectsPerTick returns the objects of the Go heap per tick, over the realms played: loading is excluded, the
// runtime's own objects are included. It ends the count.
func (s *Session) ObjectsPerTick() float64 {
	s.objects.end(s.Game.Ticks)
	return float64(s.objects.made) / float64(max(s.objects.ticks, 1))
}
