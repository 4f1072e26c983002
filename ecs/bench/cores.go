package main

import (
	"fmt"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

// coreRows iterate with two goroutines on two processors. The limit of two cores is measured by two independent
// loops, each over its own slices: bare in these rows.
func coreRows(limit int) (all []row) {
	for _, called := range []struct {
		name string
		n    int
	}{{"100k", 100_000}, {"1M", million}} {
		n := min(called.n, limit)
		all = append(all, row{
			name: fmt.Sprintf("two cores, walk %s by columns", called.name), unit: "ns", n: n, cores: 2,
			goals: []goal{{most: 1 / 0.9, of: bare}},
			sides: []contestant{
				{ours, func(s *stand) side { return strataPair(s, n) }},
				{bare, func(s *stand) side { return slicePair(s, n) }},
				{arks, func(s *stand) side { return arkPair(s, n) }},
			},
		})
	}
	return all
}

// A part is what one of two goroutines walks.
type part struct {
	ps []position
	vs []velocity
}

// halves shares columns out so that each goroutine has as many rows, to the row.
func halves(columns []part) (first, second []part) {
	n := 0
	for _, c := range columns {
		n += len(c.ps)
	}
	left := n - n/2
	for _, c := range columns {
		k := min(left, len(c.ps))
		if k > 0 {
			first = append(first, part{c.ps[:k], c.vs[:k]})
		}
		if k < len(c.ps) {
			second = append(second, part{c.ps[k:], c.vs[k:]})
		}
		left -= k
	}
	return first, second
}

func walkParts(parts []part) {
	for _, p := range parts {
		columns2(p.ps, p.vs)
	}
}

// A helper is a goroutine that is kept for the other half of the work.
type helper struct {
	work chan []part
	done chan bool
}

func newHelper(s *stand) helper {
	h := helper{make(chan []part), make(chan bool)}
	go func() {
		for parts := range h.work {
			walkParts(parts)
			h.done <- true
		}
	}()
	s.end(func() error { close(h.work); return nil })
	return h
}

// both walks the halves at once.
func (h helper) both(first, second []part) {
	h.work <- second
	walkParts(first)
	<-h.done
}

// strataPair is Parallel with two workers.
func strataPair(s *stand, n int) side {
	w := strataOf(s, n, 2)
	f := ecs.NewFilter2[position, velocity](w)
	ws := must(ecs.NewWorkers(ecs.WorkersConfig{Count: 2}))
	s.end(ws.Close)
	body := func(_ *ecs.Task, _ []ecs.Entity, c ecs.Columns2[position, velocity]) { columns2(c.A, c.B) }
	return side{run: func(times int) {
		for range times {
			f.Parallel(ws, body)
		}
	}, result: strataTally(w)}
}

func arkPair(s *stand, n int) side {
	w := arkOf(n, 2)
	f := ark.NewFilter2[position, velocity](w).Register()
	h := newHelper(s)
	var columns []part
	return side{run: func(times int) {
		for range times {
			columns = columns[:0]
			q := f.Query()
			for q.NextTable() {
				ps, vs := q.GetColumns()
				columns = append(columns, part{ps, vs})
			}
			h.both(halves(columns))
		}
	}, result: arkTally(w)}
}

func slicePair(s *stand, n int) side {
	ps, vs := filled(n, positionOf), filled(n, velocityOf)
	half := n - n/2
	first, second := []part{{ps[:half], vs[:half]}}, []part{{ps[half:], vs[half:]}}
	h := newHelper(s)
	return side{run: func(times int) {
		for range times {
			h.both(first, second)
		}
	}, result: func() tally { return tallyOf(ps, vs) }}
}
