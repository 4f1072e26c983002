package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"
)

// The sides that a row may have. Every row has ours, and it alone runs twice.
const (
	ours  = "strata"
	again = "A/A"
	bare  = "slices"
	floor = "floor"
	tenth = "tenth" // Strata with a tenth of the units
	arks  = "ark"
	bowl  = "donburi"
	sized = "ark sized"       // Ark with capacities chosen for the row; shown, not judged
	zeros = "zeroing a block" // the time to allocate and zero the largest block that ours takes
)

// A row compares sides on the same work.
type row struct {
	name  string
	unit  string // of its figures
	n     int    // units of work that one run does: a time is divided by it
	cores int    // processors that goroutines get; 0 means 1
	sides []contestant
	goals []goal
	extra bool // a loss to Ark is shown; -check judges the goals alone
	long  bool // measured only with -long, with -check or by its name
	few   int  // at most so many programs, and rounds in each; 0 means no limit
}

// named is for settle.Choose.
func (r row) named() string { return r.name }

// limited returns n, or the limit of the row if that is lower.
func (r row) limited(n int) int {
	if r.few > 0 {
		return min(n, r.few)
	}
	return n
}

// A contestant makes its side of a row, on a world of its own.
type contestant struct {
	name string
	make func(s *stand) side
}

// A side does the work of a row in its way.
type side struct {
	// run does the work so many times.
	run func(times int)
	// between makes ready for one run, and is not timed. A side that has it runs once at a time.
	between func()
	// gauge takes the place of both: it does the work once, from the beginning, and returns the figure.
	gauge func() float64
	// result says what the work has led to; nil where there is no work to compare.
	result func() tally
}

// A goal is what a row must reach: at most so much of the figure of a side, or, where none is
// named, at most so many units.
type goal struct {
	most float64
	of   string
	plus bool // most is in units above the figure of the side
}

func (g goal) String(unit string) string {
	switch {
	case g.of == "":
		return fmt.Sprintf("%g %s", g.most, unit)
	case g.plus:
		return fmt.Sprintf("%g %s above %s", g.most, unit, g.of)
	}
	return fmt.Sprintf("%.2f of %s", g.most, g.of)
}

// A stand closes what the sides of a row have opened.
type stand struct{ ends []func() error }

func (s *stand) end(f func() error) { s.ends = append(s.ends, f) }

func (s *stand) close() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		check(s.ends[i]())
	}
}

// check ends the program: no figure of a side that failed means anything.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// A tally says what entities there are, whatever their order: two sides that have done the same
// work have the same.
type tally struct {
	n   int
	sum uint64
}

// add counts an entity with these values.
func (t *tally) add(values ...float64) {
	h := uint64(14695981039346656037)
	for _, v := range values {
		h = (h ^ math.Float64bits(v)) * 1099511628211
		h ^= h >> 29
	}
	t.n++
	t.sum += h
}

// same runs each side of the row three times and compares what that leads to.
func (r row) same() error {
	var first tally
	var wrong []error
	for i, c := range r.sides {
		var got tally
		compare := false
		if err := attempt(func() {
			var s stand
			defer s.close()
			side := c.make(&s)
			side.warm(3)
			if compare = side.result != nil; compare {
				got = side.result()
			}
		}); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s fails: %w", r.name, c.name, err))
			continue
		}
		if !compare {
			continue
		}
		if i == 0 {
			first = got
		} else if got != first {
			wrong = append(wrong, fmt.Errorf("%s: %s leads to %d entities with sum %x, %s to %d with %x", r.name, ours, first.n, first.sum, c.name, got.n, got.sum))
		}
	}
	return errors.Join(wrong...)
}

func (s side) warm(times int) {
	for range times {
		switch {
		case s.gauge != nil:
			s.gauge()
		case s.between != nil:
			s.between()
			s.run(1)
		default:
			s.run(1)
		}
	}
}

// samples are what one program has measured of a row.
type samples struct {
	Figures map[string][]float64 // of each side, a figure a round
	Failed  map[string]string    // sides that could not do the work, and why
}

// attempt returns the error that check or must ended f with.
func attempt(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error:
			panic(p)
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// measure times the sides in turn. A side that fails has no figures.
func (r row) measure(rounds int) samples {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(r.cores, 1)))
	var s stand
	defer s.close()
	got := samples{map[string][]float64{}, map[string]string{}}
	names, sides := []string{}, []side{}
	for _, c := range append(r.sides[:len(r.sides):len(r.sides)], contestant{again, r.sides[0].make}) {
		var made side
		if err := attempt(func() {
			if made = c.make(&s); made.gauge == nil {
				made.gauge = made.timed(r.n)
			}
		}); err != nil {
			got.Failed[c.name] = err.Error()
		}
		names, sides = append(names, c.name), append(sides, made)
	}
	for round := range r.limited(rounds) {
		least := r.turns(round, names, sides, got.Failed)
		for k, name := range names {
			got.Figures[name] = append(got.Figures[name], least[k])
		}
	}
	for name := range got.Failed {
		delete(got.Figures, name)
	}
	return got
}

// inTurn is how many turns a side has for one figure, their minimum, if goroutines share the work. Another program
// that takes one of their processors makes all of them wait, which cannot be detected. A disturbance longer than a
// turn affects all sides of the round.
const inTurn = 12

// turns returns the figures of one round, and adds to failed the sides that fail in it.
func (r row) turns(round int, names []string, sides []side, failed map[string]string) []float64 {
	least := make([]float64, len(sides))
	for turn := range r.turnsOf() {
		for i := range sides {
			k := (i + round + turn) % len(sides)
			if turn == 0 {
				runtime.GC()
				least[k] = math.MaxFloat64
			}
			if failed[names[k]] != "" {
				continue
			}
			if err := attempt(func() { least[k] = min(least[k], sides[k].gauge()) }); err != nil {
				failed[names[k]] = err.Error()
			}
		}
	}
	return least
}

func (r row) turnsOf() int {
	if r.cores > 1 {
		return inTurn
	}
	return 1
}

// enough is how long a side runs for one figure: the clock is nothing beside it, and another program rarely gets in.
const enough = 2 * time.Millisecond

// timed returns a gauge of the nanoseconds of a run, for each of n units. A figure during which
// the system gave the processor to another program is taken again.
func (s side) timed(n int) func() float64 {
	s.warm(1)
	if s.between != nil {
		return func() float64 {
			return undisturbed(func() float64 {
				took, times := time.Duration(0), 0
				for took < enough {
					s.between()
					start := time.Now()
					s.run(1)
					took += time.Since(start)
					times++
				}
				return float64(took.Nanoseconds()) / float64(times) / float64(n)
			})
		}
	}
	times := s.times()
	return func() float64 {
		return undisturbed(func() float64 {
			s.run(1) // the collection before has left the caches to others, and sides differ in how often they run
			start := time.Now()
			s.run(times)
			return float64(time.Since(start).Nanoseconds()) / float64(times) / float64(n)
		})
	}
}

// times returns how often the side must run to take enough time.
func (s side) times() int {
	for times := 1; ; times *= 2 {
		start := time.Now()
		s.run(times)
		if took := time.Since(start); took > enough/2 || times > 1<<24 {
			return int(math.Ceil(float64(times) * float64(enough) / float64(took)))
		}
	}
}

// undisturbed returns what gauge says, the least of up to five where each was disturbed. Several
// goroutines are left to themselves: a locked thread would make each hand-over dear.
func undisturbed(gauge func() float64) float64 {
	if runtime.GOMAXPROCS(0) > 1 {
		return gauge()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := math.Inf(1)
	for range 5 {
		before := switches()
		v := gauge()
		if switches() == before {
			return v
		}
		least = min(least, v)
	}
	return least
}
