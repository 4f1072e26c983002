package ecs

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// limited reports whether err is about a limit and not about memory.
func limited(err error, text string) bool {
	return errors.Is(err, ErrLimit) && !errors.Is(err, memory.ErrOutOfMemory) && strings.Contains(err.Error(), text)
}

func TestErrLimit_NamesEachLimit(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 3})
	m := NewMap1[position](w)
	e := must[Entity](t)(m.NewEntity(position{}))
	const entities = "all 3 entities of Config.MaxEntities are taken"
	if err := m.NewBatch(3, nil); !limited(err, entities) {
		t.Error(err)
	}
	must[Entity](t)(w.CopyEntity(e))
	must[Entity](t)(w.Commands().Spawn())
	for name, create := range map[string]func() error{
		"NewEntity":  func() error { _, err := w.NewEntity(); return err },
		"mapper":     func() error { _, err := m.NewEntity(position{}); return err },
		"NewBatch":   func() error { return m.NewBatch(1, nil) },
		"NewColumns": func() error { return m.NewColumns(1, nil) },
		"CopyEntity": func() error { _, err := w.CopyEntity(e); return err },
		"Spawn":      func() error { _, err := w.Commands().Spawn(); return err },
	} {
		if err := create(); !limited(err, entities) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.Len() != 3 || w.Check() != nil {
		t.Error(w.Len(), w.Check())
	}

	for i := 1; i < MaxComponents; i++ {
		must[ID](t)(w.RegisterSize(strings.Repeat("x", i), 8, 8))
	}
	const types = "at most 256 component types"
	if _, err := w.RegisterSize("y", 8, 8); !limited(err, types) || !errors.Is(err, ErrTooManyComponents) {
		t.Error(err)
	}
	if _, err := Register[velocity](w); !limited(err, types) {
		t.Error(err)
	}
	if err := w.Track(5); !limited(err, types) {
		t.Error(err)
	}
}

// TestErrLimit_OfTheCommandsOfAPass has commands fail at a limit when they are applied.
func TestErrLimit_OfTheCommandsOfAPass(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 3})
	m, f := NewMap1[position](w), NewFilter1[position](w)
	if err := m.NewBatch(3, nil); err != nil {
		t.Fatal(err)
	}
	ws := must[*Workers](t)(NewWorkers(WorkersConfig{}))
	defer ws.Close()
	f.Parallel(ws, func(task *Task, _ []Entity, _ []position) { task.Commands().Spawn() })
	if err := w.Commands().Apply(); !limited(err, "all 3 entities") || w.Check() != nil {
		t.Error(err, w.Check())
	}
}

// TestErrLimit_ReadJSONBeyondMaxEntities reads worlds with more slots than the world has: with entities, and without.
func TestErrLimit_ReadJSONBeyondMaxEntities(t *testing.T) {
	from, _ := newTestWorld(t, Config{})
	if err := NewMap1[position](from).NewBatch(4, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"slot 4 is above Config.MaxEntities, 3", "the next slot is 5, above Config.MaxEntities, 3"} {
		var text strings.Builder
		check(t, from.WriteJSON(&text))
		w, _ := newTestWorld(t, Config{MaxEntities: 3})
		mustRegisterTest[position](t, w)
		if err := w.ReadJSON(strings.NewReader(text.String())); !limited(err, want) || w.Check() != nil {
			t.Error(err, w.Check())
		}
		from.RemoveAll(NewFilter1[position](from))
	}
}

// TestRelations_MoreTargetsThan32768 made its 32,758th target an error that claimed that memory was out.
func TestRelations_MoreTargetsThan32768(t *testing.T) {
	testenv.Long(t)
	n := 40_000
	w, mem := newTestWorld(t, Config{})
	r := must[Relation[likes]](t)(RegisterRelation[likes](w))
	m := NewMap2[position, likes](w)
	parents := make([]Entity, n)
	for i := range parents {
		parents[i] = must[Entity](t)(w.NewEntity())
		if _, err := m.To(r.ID(), parents[i]).NewEntity(position{X: float32(i)}, likes{}); err != nil {
			t.Fatalf("target %d with %d blocks: %v", i, len(mem.live), err)
		}
	}
	f := NewFilter1[position](w)
	for i := 0; i < n; i += 997 {
		for _, p := range f.To(r.ID(), parents[i]).All() {
			if p.X != float32(i) {
				t.Fatalf("target %d: %v", i, p.X)
			}
		}
	}
	if f.ToAny().Len() != n {
		t.Errorf("%d children", f.Len())
	}
}
