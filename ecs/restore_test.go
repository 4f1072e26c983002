package ecs_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type (
	againPlace struct{ X int32 }
	againMark  struct{}
	againExtra struct{ N int64 }
)

func plainWorld(t *testing.T) *ecs.World {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ecs.New(heap, ecs.Config{MaxEntities: 5000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); heap.Close() })
	return w
}

func registered[T any](t *testing.T, w *ecs.World) ecs.Component[T] {
	t.Helper()
	c, err := ecs.Register[T](w)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func places(t *testing.T, w *ecs.World, n int) {
	t.Helper()
	m := ecs.NewMap1[againPlace](w)
	for i := range n {
		if _, err := m.NewEntity(againPlace{int32(i)}); err != nil {
			t.Fatal(err)
		}
	}
}

// The file has a component that the second world does not know. So the Read fails after the first world was loaded. An
// observer of the first world gives a command for each loaded entity, as observers may.
func TestWorld_AFailedReadRestoresDespiteCommandsOfObservers(t *testing.T) {
	a, b, score := plainWorld(t), plainWorld(t), int64(77)
	place, mark := registered[againPlace](t, a), registered[againMark](t, a)
	var set save.Set
	if err := errors.Join(set.Add("a", a), save.Value(&set, "score", &score), set.Add("b", b), set.Seal()); err != nil {
		t.Fatal(err)
	}
	places(t, a, 1)
	before := a.Hash(0)
	place.OnAdd(func(e ecs.Entity, _ *againPlace) { ecs.AddTo(a.Commands(), mark, e, againMark{}) })

	a2, b2, score2 := plainWorld(t), plainWorld(t), int64(5)
	registered[againPlace](t, a2)
	var other save.Set
	if err := errors.Join(other.Add("a", a2), save.Value(&other, "score", &score2), other.Add("b", b2), other.Seal()); err != nil {
		t.Fatal(err)
	}
	places(t, a2, 9)
	if _, err := ecs.NewMap1[againExtra](b2).NewEntity(againExtra{1}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := other.Write(&file); err != nil {
		t.Fatal(err)
	}
	err := set.Read(&file, nil)
	if err == nil || !strings.Contains(err.Error(), "not registered") || strings.Contains(err.Error(), "cannot be restored") {
		t.Errorf("Read: %v", err)
	}
	if a.Len() != 1 || a.Hash(0) != before || score != 77 {
		t.Errorf("after a Read that failed: %d entities, hash %x, score %d; want 1, %x, 77", a.Len(), a.Hash(0), score, before)
	}
}
