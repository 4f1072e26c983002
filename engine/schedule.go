package engine

import (
	"fmt"
	"time"
)

// A Tick is what a system gets. It belongs to the driver of the loop and is valid during the
// call. Systems do not change it; they draw from Rand, in the fixed order of the schedule.
type Tick struct {
	N     uint64 // number of the tick, from 0
	Input Input
	Rand  *Rand // the simulation's only source of chance; nil where the game brings its own
}

// samples is the length of a system's ring of times: two seconds, what the overlay shows.
const samples = 2 * TickRate

// A Schedule runs systems in the order in which they were added, on the calling goroutine,
// and measures each. The times are for display; no system sees them. The zero Schedule is
// empty and ready. Run and Timing do not allocate.
type Schedule struct {
	systems []system
	runs    uint64
}

type system struct {
	name string
	run  func(*Tick) error
	ring [samples]time.Duration // ring[runs%samples] is the next to be written
}

// Add appends a system. The error says that the name is empty or taken, or f is nil.
func (s *Schedule) Add(name string, f func(*Tick) error) error {
	if name == "" {
		return fmt.Errorf("engine: system %d has no name", len(s.systems))
	}
	if f == nil {
		return fmt.Errorf("engine: system %q is nil", name)
	}
	for i := range s.systems {
		if s.systems[i].name == name {
			return fmt.Errorf("engine: system %q is already number %d of the schedule; names are unique", name, i)
		}
	}
	s.systems = append(s.systems, system{name: name, run: f})
	return nil
}

// MustAdd is Add for schedules written down in a program: it panics where Add fails.
func (s *Schedule) MustAdd(name string, f func(*Tick) error) {
	if err := s.Add(name, f); err != nil {
		panic(err)
	}
}

// Run runs every system once. A system that fails ends the tick: the error names it and wraps
// its error, the systems behind it do not run and count as 0 in this tick. One that panics
// takes the times of the tick with it; the next Run begins with the first system again.
func (s *Schedule) Run(t *Tick) error {
	at := s.runs % samples
	before := time.Now()
	for i := range s.systems {
		sys := &s.systems[i]
		err := sys.run(t)
		now := time.Now()
		sys.ring[at] = now.Sub(before)
		before = now
		if err != nil {
			for j := i + 1; j < len(s.systems); j++ {
				s.systems[j].ring[at] = 0
			}
			s.runs++
			return fmt.Errorf("engine: tick %d: system %q: %w", t.N, sys.name, err)
		}
	}
	s.runs++
	return nil
}

// Len returns how many systems there are.
func (s *Schedule) Len() int { return len(s.systems) }

// Timing is what a system cost lately.
type Timing struct {
	Name            string
	Last, Mean, Max time.Duration // over the last two seconds of ticks
}

// Timing returns the times of system i, in the order of Add. It panics where there is none.
func (s *Schedule) Timing(i int) Timing {
	sys := &s.systems[i]
	t := Timing{Name: sys.name}
	n := min(s.runs, samples)
	if n == 0 {
		return t
	}
	var sum time.Duration
	for _, d := range sys.ring[:n] {
		sum += d
		t.Max = max(t.Max, d)
	}
	t.Mean = sum / time.Duration(n)
	t.Last = sys.ring[(s.runs-1)%samples]
	return t
}

// AppendTimes appends the times of system i to dst, oldest first, for a sparkline: at most
// two seconds of them. It allocates only where dst lacks room.
func (s *Schedule) AppendTimes(dst []time.Duration, i int) []time.Duration {
	ring := &s.systems[i].ring
	if s.runs <= samples {
		return append(dst, ring[:s.runs]...)
	}
	at := s.runs % samples
	return append(append(dst, ring[at:]...), ring[:at]...)
}
