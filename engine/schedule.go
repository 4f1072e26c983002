package engine

import (
	"fmt"
	"time"
)

// A Tick is the argument of a system. A Tick belongs to the caller of [Schedule.Run] and is valid until the system
// returns. Systems may draw numbers from Rand, and must not change the Tick otherwise.
type Tick struct {
	N     uint64 // number of the tick, from 0
	Input Input
	Rand  *Rand // the simulation's random numbers; nil if the game has its own
}

// samples is how many times of a system are kept: two seconds, what the overlay shows.
const samples = 2 * TickRate

// slots is the length of a ring of times. The additional slot is for the tick in progress, which a panic may end.
const slots = samples + 1

// A Schedule runs systems in the order in which they were added, on the calling goroutine, and measures the time of
// each system. The times are for display. The zero Schedule is empty and ready to use. Run allocates only for an
// error.
type Schedule struct {
	systems []system
	runs    uint64
}

type system struct {
	name string
	run  func(*Tick) error
	ring [slots]time.Duration // ring[runs%slots] is the next to be written; those of the last ticks are before it
}

// Add appends a system. If the name is empty or already used, or if f is nil, Add returns an error.
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

// MustAdd is Add for schedules that are fixed in the program. If Add fails, MustAdd panics.
func (s *Schedule) MustAdd(name string, f func(*Tick) error) {
	if err := s.Add(name, f); err != nil {
		panic(err)
	}
}

// Run runs every system once. A system that is added during Run first runs in the next Run. If a system fails, later
// systems do not run in this tick and have a time of 0. The error of Run names the failed system and wraps the
// system's error. If a system panics, the tick does not count for Timing and AppendTimes. The panic continues to the
// caller. The next Run begins with the first system.
func (s *Schedule) Run(t *Tick) error {
	at := s.runs % slots
	before := time.Now()
	for i := range s.systems {
		err := s.systems[i].run(t)
		now := time.Now()
		sys := &s.systems[i] // after run, which may have called Add
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

// Len returns the number of systems.
func (s *Schedule) Len() int { return len(s.systems) }

// Timing is the recent wall-clock time of a system.
type Timing struct {
	Name            string
	Last, Mean, Max time.Duration // of the last tick; mean and maximum of the last 120 ticks
}

// Timing returns the times of system i, from 0 in the order of Add. Ticks in which the system did not run count as 0.
// Before the first tick all times are 0. If there is no such system, Timing panics.
func (s *Schedule) Timing(i int) Timing {
	sys := &s.systems[i]
	t := Timing{Name: sys.name}
	n := min(s.runs, samples)
	if n == 0 {
		return t
	}
	var sum time.Duration
	for i := s.runs - n; i < s.runs; i++ {
		d := sys.ring[i%slots]
		sum += d
		t.Max = max(t.Max, d)
	}
	t.Mean = sum / time.Duration(n)
	t.Last = sys.ring[(s.runs-1)%slots]
	return t
}

// AppendTimes appends the times of system i in the last ticks, at most 120, to dst, oldest first. It returns the
// extended slice, and allocates only if the capacity of dst is too small. If there is no such system, AppendTimes
// panics.
func (s *Schedule) AppendTimes(dst []time.Duration, i int) []time.Duration {
	ring := &s.systems[i].ring
	from, to := (s.runs-min(s.runs, samples))%slots, s.runs%slots
	if from <= to {
		return append(dst, ring[from:to]...)
	}
	return append(append(dst, ring[from:]...), ring[:to]...)
}
