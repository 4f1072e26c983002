package main

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/stack"
)

// ends models an allocator that is one lifo or two of them over one buffer, and its Check.
type ends struct {
	s     *segment
	ends  []*lifo
	whole interface {
		memory.Checker
		Close() error
	}
}

func (e *ends) step() { e.ends[e.s.n(len(e.ends))].step() }

func (e *ends) check() {
	e.s.must("Check", e.whole.Check())
	for _, l := range e.ends {
		l.check()
	}
}

func (e *ends) finish() {
	for _, l := range e.ends {
		l.finish()
	}
	e.s.must("Check", e.whole.Check())
	e.s.must("Close", e.whole.Close())
	e.s.must("Close again", e.whole.Close())
	for _, l := range e.ends {
		if p, err := l.a.Alloc(16, 1); err == nil || p != nil {
			e.s.failf("Alloc after Close gave %p, %v", p, err)
		}
	}
}

// capacity is random: small, so that it fills, and rarely a whole number of pages.
func capacity(s *segment) uintptr { return s.between(4<<10, 256<<10) }

func openLinear(s *segment) model {
	bytes := capacity(s)
	l, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: bytes})
	s.must("NewLinear", err)
	return &ends{s, []*lifo{newLifo(s, lifoConfig{
		a: l, room: bytes, reset: l.Reset, stats: l.Stats, spends: true, bounds: true,
		mark: func() func() { m := l.Mark(); return func() { l.Rewind(m) } },
	})}, l}
}

func openGrowing(s *segment) model {
	bytes := capacity(s)
	g, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: bytes, Step: s.between(1, bytes)})
	s.must("NewGrowing", err)
	reset := func() {
		g.Reset()
		if s.one(4) {
			s.must("Trim", g.Trim())
		}
	}
	return &ends{s, []*lifo{newLifo(s, lifoConfig{
		a: g, room: bytes, reset: reset, stats: g.Stats, spends: true, bounds: true,
		mark: func() func() { m := g.Mark(); return func() { g.Rewind(m) } },
	})}, g}
}

// openStepBack takes the number of live blocks for a mark: it protects nothing.
func openStepBack(s *segment) model {
	bytes := capacity(s)
	b, err := arena.NewStepBack(nil, arena.StepBackConfig{Bytes: bytes})
	s.must("NewStepBack", err)
	return &ends{s, []*lifo{newLifo(s, lifoConfig{
		a: b, room: bytes, reset: b.Reset, stats: b.Stats, strict: true,
		mark: func() func() { n := b.Len(); return func() { b.UndoTo(n) } },
	})}, b}
}

// endOf is the model of one stack.End, whatever it belongs to.
func endOf(s *segment, e *stack.End, room uintptr) *lifo {
	return newLifo(s, lifoConfig{
		a: e, room: room, reset: e.Reset, stats: e.Stats, strict: true, spends: true, bounds: true,
		mark: func() func() { m := e.Mark(); return func() { e.Rewind(m) } },
	})
}

func openStack(s *segment) model {
	bytes := capacity(s)
	k, err := stack.New(nil, stack.Config{Bytes: bytes})
	s.must("New", err)
	return &ends{s, []*lifo{endOf(s, &k.End, bytes)}, k}
}

func openDouble(s *segment) model {
	bytes := capacity(s)
	d, err := stack.NewDouble(nil, stack.DoubleConfig{Bytes: bytes})
	s.must("NewDouble", err)
	e := &ends{s, []*lifo{endOf(s, d.Bottom(), bytes), endOf(s, d.Top(), bytes)}, d}
	e.ends[1].taken = e.ends[0].taken // neither may reach into the other
	return e
}

func openPivot(s *segment) model {
	forward, backward := capacity(s), capacity(s)
	p, err := stack.NewPivot(nil, stack.PivotConfig{Forward: forward, Backward: backward})
	s.must("NewPivot", err)
	e := &ends{s, []*lifo{endOf(s, p.Forward(), forward), endOf(s, p.Backward(), backward)}, p}
	e.ends[1].taken = e.ends[0].taken
	return e
}
