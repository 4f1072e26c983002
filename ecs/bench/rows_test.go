package main

import (
	"strings"
	"testing"
)

// limitOf bounds the worlds of a test.
func limitOf() int {
	if testing.Short() {
		return options{short: true}.limit()
	}
	return 100_000
}

func TestRows_EverySideDoesTheSameWork(t *testing.T) {
	for _, r := range rows(limitOf()) {
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
		r := choose(rows(options{short: true}.limit()), name)[0]
		got := r.measure(2)
		if len(got) != len(r.sides)+1 {
			t.Errorf("%s: %d sides, not %d and A/A", name, len(got), len(r.sides))
		}
		for side, figures := range got {
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
