package session

import (
	"runtime"
	"time"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/histogram"
)

// Percentiles are quantiles of a time in milliseconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// TickTimes returns the quantiles of the durations of all ticks that Frame has played. They exclude loading, drawing,
// Config.Steer and the saving of states.
func (s *Session) TickTimes() Percentiles { return Milliseconds(s.times.Spread()) }

// TickCPU returns the quantiles of the processor time of the ticks on the game's thread. It includes assists of the
// collector and Config.Steer, and excludes other load of the machine. If Config.CPU is nil, all values are zero.
func (s *Session) TickCPU() Percentiles { return Milliseconds(s.cpu.Spread()) }

// Milliseconds converts a spread of times to milliseconds.
func Milliseconds(s histogram.Spread) Percentiles {
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return Percentiles{P50: ms(s.P50), P99: ms(s.P99), P999: ms(s.P999), Max: ms(s.Max)}
}

// tick is a tick of the game, with its times. relieved is whether the game was asked for memory before.
func (s *Session) tick(in *engine.Input, relieved bool) error {
	var before time.Duration
	if s.cfg.CPU != nil {
		before = s.cfg.CPU()
	}
	if s.cfg.Steer != nil {
		s.steered = *in // an input whose address the function gets would be an object of the Go heap in each frame
		if err := s.cfg.Steer(&s.steered); err != nil {
			return err
		}
		*in = s.steered
	}
	s.Past.record(in, relieved)
	began := time.Now()
	if err := s.Game.Tick(in); err != nil {
		return err
	}
	took := time.Since(began)
	s.times.Add(took)
	s.Past.played(took)
	if s.cfg.CPU != nil {
		s.cpu.Add(s.cfg.CPU() - before)
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

// ObjectsPerTick returns the number of objects that the process allocates on the Go heap in a tick, as the mean over
// the realms played. It excludes loading and includes the runtime's own objects. ObjectsPerTick ends the count until
// the next realm.
func (s *Session) ObjectsPerTick() float64 {
	s.objects.end(s.Game.Ticks)
	return float64(s.objects.made) / float64(max(s.objects.ticks, 1))
}
