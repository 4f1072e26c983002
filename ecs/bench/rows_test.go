package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// limitOf bounds the worlds of a test.
func limitOf() int {
	if testing.Short() {
		return options{short: true}.limit()
	}
	return 100_000
}

func TestRows_EverySideDoesTheSameWork(t *testing.T) {
	for _, r := range rows(min(limitOf(), 16<<10)) {
		t.Run(r.name, func(t *testing.T) {
			if err := r.same(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRows_EveryOneHasANameOfItsOwnAndOursFirst(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows(1) {
		if seen[r.name] {
			t.Errorf("%s is there twice", r.name)
		}
		seen[r.name] = true
		if r.sides[0].name != ours || r.n < 1 || r.unit == "" {
			t.Errorf("%s: first side %s, %d units of %q", r.name, r.sides[0].name, r.n, r.unit)
		}
		for _, g := range r.goals {
			if g.of != "" && !has(r, g.of) {
				t.Errorf("%s: its goal names %s, which takes no part", r.name, g.of)
			}
		}
	}
}

func has(r row, side string) bool {
	for _, c := range r.sides {
		if c.name == side {
			return true
		}
	}
	return false
}

// broken is a row whose second side does what brk says.
func broken(brk func(t *tally)) row {
	do := func(f func(t *tally)) func(*stand) side {
		return func(*stand) side {
			var t tally
			return side{run: func(int) { f(&t) }, result: func() tally { return t }}
		}
	}
	right := func(t *tally) { t.add(1, 2) }
	return row{name: "broken", unit: "ns", n: 1, sides: []contestant{{ours, do(right)}, {arks, do(brk)}}}
}

func TestSame_ASideThatDoesOtherWorkIsNamed(t *testing.T) {
	if err := broken(func(t *tally) { t.add(1, 2) }).same(); err != nil {
		t.Error("the same work:", err)
	}
	for name, brk := range map[string]func(t *tally){
		"nothing":       func(*tally) {},
		"other values":  func(t *tally) { t.add(1, 3) },
		"other order":   func(t *tally) { t.add(2, 1) },
		"more entities": func(t *tally) { t.add(1, 2); t.add(0, 0) },
	} {
		if err := broken(brk).same(); err == nil || !strings.Contains(err.Error(), "broken: strata leads to 3 entities") || !strings.Contains(err.Error(), "ark to ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing is a row one side of which fails, as it is made or at its second gauge.
func failing(name string, late bool) row {
	r := row{name: "failing", unit: "ns", n: 1, goals: []goal{{most: 2, of: arks}}}
	for _, who := range []string{ours, arks} {
		r.sides = append(r.sides, contestant{who, func(*stand) (s side) {
			turns := 0
			if who == name && !late {
				check(errors.New("no memory"))
			}
			s.gauge = func() float64 {
				if turns++; who == name && turns > 1 {
					check(errors.New("no memory"))
				}
				return 1
			}
			return s
		}})
	}
	return r
}

func TestMeasure_FailedSideIsNamedAndOthersAreMeasured(t *testing.T) {
	for _, late := range []bool{false, true} {
		got := failing(ours, late).measure(2)
		if len(got.Figures) != 1 || len(got.Figures[arks]) != 2 || got.Failed[ours] != "no memory" || got.Failed[again] != "no memory" {
			t.Errorf("late %v: %+v", late, got)
		}
		got = failing(arks, late).measure(2)
		if len(got.Figures) != 2 || len(got.Figures[again]) != 2 || len(got.Failed) != 1 || got.Failed[arks] != "no memory" {
			t.Errorf("ark, late %v: %+v", late, got)
		}
	}
	if err := failing(ours, true).same(); err == nil || !strings.Contains(err.Error(), "failing: strata fails: no memory") {
		t.Error(err)
	}
}

// A fault of the program is no failure of a side.
func TestAttempt_PassesOtherPanicsOn(t *testing.T) {
	for _, f := range []func(){func() { panic("text") }, func() { _ = make([]int, 1)[len(os.Args)+1] }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			t.Error(attempt(f))
		}()
	}
}

func TestRow_LimitedBoundsRoundsAndPrograms(t *testing.T) {
	for _, c := range []struct{ few, n, want int }{{0, 10, 10}, {3, 10, 3}, {3, 2, 2}} {
		if got := (row{few: c.few}).limited(c.n); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	r := failing(arks, true)
	r.few = 1
	if got := r.measure(5); len(got.Figures[ours]) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTally_DependsOnTheValuesAndNotOnTheirOrder(t *testing.T) {
	var a, b, c tally
	a.add(1, 2)
	a.add(3, 4)
	b.add(3, 4)
	b.add(1, 2)
	c.add(1, 4)
	c.add(3, 2)
	if a != b || a == c {
		t.Error(a, b, c)
	}
}

func TestMeasure_EverySideHasAFigureARoundAndOursTwo(t *testing.T) {
	for _, name := range []string{"walk 1 by All", "create a batch of one value", "memory"} {
		r := settle.Choose(rows(options{short: true}.limit()), name, row.named)[0]
		got := r.measure(2)
		if len(got.Figures) != len(r.sides)+1 {
			t.Errorf("%s: %d sides, not %d and A/A", name, len(got.Figures), len(r.sides))
		}
		for side, figures := range got.Figures {
			if len(figures) != 2 || figures[0] <= 0 || figures[1] <= 0 {
				t.Errorf("%s, %s: %v", name, side, figures)
			}
		}
	}
}

// BenchmarkRows looks into one side of a row: go test -bench 'Rows/create$/strata' -cpuprofile …
func BenchmarkRows(b *testing.B) {
	for _, r := range rows(1 << 30) {
		for _, c := range r.sides {
			b.Run(strings.ReplaceAll(r.name, " ", "_")+"/"+c.name, func(b *testing.B) {
				var s stand
				defer s.close()
				side := c.make(&s)
				if side.gauge == nil {
					side.gauge = side.timed(r.n)
				}
				sum := 0.0
				for b.Loop() {
					sum += side.gauge()
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(sum/float64(b.N), r.unit)
			})
		}
	}
}

func TestHalves_HaveEveryRowOnceAndAsManyEach(t *testing.T) {
	for _, lengths := range [][]int{{}, {1}, {2, 1}, {3, 5, 1}, {1, 1, 1}, {7, 1}} {
		n := 0
		var columns []part
		for _, k := range lengths {
			columns = append(columns, part{filled(k, func(i int) position { return position{float64(n + i), 0} }), filled(k, velocityOf)})
			n += k
		}
		first, second := halves(columns)
		var got []float64
		for i, half := range [][]part{first, second} {
			for _, p := range half {
				for _, v := range p.ps {
					got = append(got, v.X)
				}
			}
			if want := []int{n - n/2, n}[i]; len(got) != want {
				t.Errorf("%v: %d rows up to half %d, not %d", lengths, len(got), i, want)
			}
		}
		for i, x := range got {
			if int(x) != i {
				t.Errorf("%v: row %g at %d", lengths, x, i)
			}
		}
	}
}

func TestGrown_EveryWorldHasAsManyEntitiesAsTheRowSays(t *testing.T) {
	const n = 1 << 10
	for _, r := range []row{growth(n), memory(n), marking(n)} {
		s := r.sides[0].make(nil)
		s.gauge()
		if got := s.result().n; got != n {
			t.Errorf("%s: %d entities, not %d", r.name, got, n)
		}
	}
}
