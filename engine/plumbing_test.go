package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// What leads to data differs from tick to tick, also in debug builds, and is no state. The data is.
func TestFields_WhatLeadsToDataIsNoState(t *testing.T) {
	type body struct{ X int32 }
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: -1, Frames: 3})
	must(t, err)
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 8 << 20})
	must(t, err)
	w, err := ecs.New(heap, ecs.Config{})
	must(t, err)
	bodies, err := ecs.Register[body](w)
	must(t, err)
	hits, err := ecs.NewEvents[body](m, 4)
	must(t, err)
	t.Cleanup(func() {
		must(t, hits.Close())
		must(t, m.EndFrame())
		_, err := m.EndLevel()
		must(t, errors.Join(err, w.Close(), heap.Close(), m.Close()))
	})
	long, err := container.In(m)
	must(t, err)
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	scratch, err := container.In(m.Frame())
	must(t, err)
	g := &struct {
		Long, Scratch *container.Space
		List          container.Vec[int32]
		Walk          *ecs.Filter1[body]
		Make          *ecs.Map1[body]
		Bodies        ecs.Component[body]
		Hits          *ecs.Events[body]
		Hero          ecs.Entity
		Any           any
	}{long, scratch, container.Vec[int32]{}, ecs.NewFilter1[body](w), ecs.NewMap1[body](w), bodies, hits, ecs.Entity{}, 1}
	for want, change := range map[string]func(){
		"": func() { // a tick
			must(t, m.NextFrame())
			must(t, scratch.Use(m.Frame()))
			var v container.Vec[int32]
			must(t, v.Append(long, 1))
			v.Free(long)
			e, err := g.Make.NewEntity(body{1})
			must(t, err)
			for range g.Walk.All() {
				break
			}
			w.Remove(e)
			g.Hits.Send(body{5})
			g.Hits.Swap()
			g.Hits.Swap()
			g.Hits.Swap()
		},
		".Hits.": func() { g.Hits.Send(body{3}) },
		".List.": func() { must(t, g.List.Append(long, 1)) },
		".Hero.": func() { g.Hero, err = g.Make.NewEntity(body{2}); must(t, err) },
		".Any: a value of type int, and a value of type ecs.Entity": func() { g.Any = g.Hero },
		".Any: a value of type ecs.Entity, and nil":                 func() { g.Any = nil },
	} {
		if strings.HasSuffix(want, "and nil") {
			g.Any = g.Hero
		} else {
			g.Any = 1
		}
		g.Hits.Swap() // the cases run in any order: no events are left from another one
		g.Hits.Swap()
		check := engine.Fields(nil, g)()
		change()
		if d := check(); len(d) > 0 != (want != "") || !strings.Contains(texts(d), want) {
			t.Errorf("%s, want %q", texts(d), want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The overlay, pictures, and the allocators and worlds that a program names itself are read as in a field of the game.
func TestFields_NamesRootsAndPassesOverWhatIsSeen(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}, Workers: -1})
	must(t, err)
	w, err := ecs.New(m, ecs.Config{})
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(w.Close(), m.Close())) })
	meters, err := meter.New(m, meter.Config{})
	must(t, err)
	set := new(save.Set)
	must(t, errors.Join(set.Add("memory", m), set.Add("world", w), set.Seal()))
	slot := set.NewSlot(1 << 20)
	var a, b, c int
	g := &struct{ Meter *meter.Meter }{meters}
	must(t, set.Save(slot))
	check := engine.Fields(nil, g, w, m, &a, &b, &c)()
	_, err = w.Commands().Spawn()
	must(t, err)
	must(t, w.Commands().Apply())
	must(t, m.NextFrame())
	meters.Frame()
	must(t, m.EndFrame())
	must(t, set.Load(slot))
	a, c = 1, 1
	if d := texts(check()); d != "int (root 3): 0, and 1\nint (root 5): 0, and 1" {
		t.Errorf("%q", d)
	}
}

// A game that keeps its Rewind would have 16 MiB of states compared, byte by byte, and they differ.
func TestFields_PassesOverARewind(t *testing.T) {
	g, r := newRewind(t, 1<<16, 300)
	game := struct {
		Past *engine.Rewind[int]
		Line engine.Timeline[int]
		Own  int
	}{r, r.Timeline(nil), 1}
	after := engine.Fields(nil, &game)()
	live(t, g, r, 1, 1)
	if diffs := after(); len(diffs) != 0 {
		t.Errorf("the past is taken for state: %v", diffs)
	}
	game.Own = 2
	if diffs := after(); len(diffs) != 1 || !strings.HasSuffix(diffs[0].Path, ".Own") {
		t.Errorf("beside a Rewind: %v", diffs)
	}
}
