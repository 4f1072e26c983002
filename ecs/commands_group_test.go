package ecs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// spawnBy returns the ways in which commands spawn an entity: at once, and in a parallel run.
func spawnBy(t *testing.T, w *World) map[string]func(give func(cmd *Commands, e Entity)) {
	give := func(cmd *Commands, f func(cmd *Commands, e Entity)) {
		e, err := cmd.Spawn()
		if err != nil {
			t.Fatal(err)
		}
		f(cmd, e)
	}
	return map[string]func(func(cmd *Commands, e Entity)){
		"World": func(f func(cmd *Commands, e Entity)) { give(w.Commands(), f) },
		"Task": func(f func(cmd *Commands, e Entity)) {
			done := false
			NewFilter1[armour](w).Parallel(newTestWorkers(t, 1), func(task *Task, _ []Entity, _ []armour) {
				if !done {
					give(task.Commands(), f)
				}
				done = true
			})
		},
	}
}

func TestCommands_OnCreateSeesTheComponentsOfASpawn(t *testing.T) {
	for _, by := range []string{"World", "Task"} {
		w, _ := newTestWorld(t, Config{})
		pos, child := mustRegisterTest[position](t, w), mustRelation[childOf](t, w)
		parent := must[Entity](t)(NewMap1[armour](w).NewEntity(armour{}))
		var told []string
		say := func(what string) func(Entity) {
			return func(e Entity) {
				at, _ := pos.Get(e)
				to, _ := child.Target(e)
				told = append(told, fmt.Sprint(what, " ", at != nil && *at == position{3, 3}, to == parent))
			}
		}
		w.OnCreate(say("create"))
		w.OnRemove(say("remove"))
		pos.OnAdd(func(e Entity, _ *position) { say("add")(e) })
		spawn := spawnBy(t, w)[by]
		spawn(func(cmd *Commands, e Entity) {
			AddTo(cmd, pos, e, position{1, 1})
			AddRelation(cmd, child, e, childOf{}, parent)
			AddTo(cmd, pos, e, position{3, 3})
		})
		if len(told) > 0 {
			t.Errorf("%s: before Apply %q", by, told)
		}
		if err := w.Commands().Apply(); err != nil || !slices.Equal(told, []string{"create true true", "add true true"}) {
			t.Errorf("%s: %v, %q", by, err, told)
		}
		told = nil
		spawn(func(cmd *Commands, e Entity) { cmd.Destroy(e) })
		if err := w.Commands().Apply(); err != nil || !slices.Equal(told, []string{"create false false", "remove false false"}) {
			t.Errorf("%s: %v, %q", by, err, told)
		}
	}
}

// What is removed before its Spawn is applied was never reported, and is not reported later.
func TestCommands_RemovalOfASpawnBeforeApplyIsSilent(t *testing.T) {
	for name, remove := range map[string]func(w *World, e Entity){
		"Remove":    func(w *World, e Entity) { w.Remove(e) },
		"RemoveAll": func(w *World, e Entity) { w.RemoveAll(NewFilter1[position](w)) },
		"Reset":     func(w *World, _ Entity) { w.Reset() },
		"Discard":   func(w *World, _ Entity) { w.Commands().Discard() },
	} {
		for _, late := range []bool{false, true} {
			w, _ := newTestWorld(t, Config{})
			pos, told := mustRegisterTest[position](t, w), []string(nil)
			observe := func() {
				w.OnCreate(func(Entity) { told = append(told, "create") })
				w.OnRemove(func(Entity) { told = append(told, "remove") })
				pos.OnRemove(func(Entity, *position) { told = append(told, "lose") })
			}
			if !late {
				observe()
			}
			e := must[Entity](t)(w.Commands().Spawn())
			if err := pos.Add(e, position{}); err != nil {
				t.Fatal(err)
			}
			if late {
				observe()
			}
			remove(w, e)
			if err := errors.Join(w.Commands().Apply(), w.Check()); err != nil || !slices.Equal(told, []string{"lose"}) || w.Len() != 0 {
				t.Errorf("%s: %v, %q", name, err, told)
			}
			told = nil
			n := must[Entity](t)(w.NewEntity()) // the next ones are reported
			w.Remove(n)
			if e = must[Entity](t)(w.Commands().Spawn()); w.Commands().Apply() != nil || !w.Remove(e) || !slices.Equal(told, []string{"create", "remove", "create", "remove"}) {
				t.Errorf("%s: then %q", name, told)
			}
			if len(w.observers.delayed) != 0 {
				t.Errorf("%s: %d are remembered", name, len(w.observers.delayed))
			}
		}
	}
}

// A child whose parent was removed earlier in the Apply is not left without its relation.
func TestCommands_StaleTargetSkipsTheGroupOfASpawn(t *testing.T) {
	for _, by := range []string{"World", "Task"} {
		for _, observed := range []bool{false, true} {
			w, _ := newTestWorld(t, Config{})
			pos, child := mustRegisterTest[position](t, w), mustRelation[childOf](t, w)
			parent := must[Entity](t)(NewMap1[armour](w).NewEntity(armour{}))
			told := 0
			if observed {
				w.OnCreate(func(Entity) { told++ })
				w.OnRemove(func(Entity) { told++ })
				pos.OnAdd(func(Entity, *position) { told++ })
			}
			w.Commands().Destroy(parent)
			spawnBy(t, w)[by](func(cmd *Commands, e Entity) {
				AddTo(cmd, pos, e, position{7, 7})
				AddRelation(cmd, child, e, childOf{}, parent)
				cmd.Destroy(parent)
				AddTo(cmd, pos, e, position{8, 8}) // another group
			})
			if err := errors.Join(w.Commands().Apply(), w.Check()); err != nil || w.Len() != 0 || w.Commands().Skipped() != 5 || told > 1 {
				t.Errorf("%s, observed %v: %v, %d entities, %d skipped, %d reported", by, observed, err, w.Len(), w.Commands().Skipped(), told)
			}
			old := must[Entity](t)(NewMap1[position](w).NewEntity(position{})) // an older entity keeps what it has
			AddRelation(w.Commands(), child, old, childOf{}, parent)
			if err := w.Commands().Apply(); err != nil || !w.Alive(old) || child.Has(old) || w.Commands().Skipped() != 1 {
				t.Errorf("%v, %d skipped", err, w.Commands().Skipped())
			}
		}
	}
}

type (
	relation1 struct{}
	relation2 struct{}
	relation3 struct{}
	relation4 struct{ N int32 }
	relation5 struct{}
	broad1    struct{ V [70]uint64 }
	broad2    struct{ V [70]uint64 }
)

// A command that would fail at each Apply is dropped, and no other command is lost.
func TestCommands_FailingGroupIsDroppedAlone(t *testing.T) {
	for _, fails := range []string{"fifth relation", "fifth of a group", "too large"} {
		for _, by := range []string{"none", "World", "Task"} {
			w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
			pos := mustRegisterTest[position](t, w)
			large, larger := mustRegisterTest[broad1](t, w), mustRegisterTest[broad2](t, w)
			r1, r2, r3 := mustRelation[relation1](t, w), mustRelation[relation2](t, w), mustRelation[relation3](t, w)
			r4, r5 := mustRelation[relation4](t, w), mustRelation[relation5](t, w)
			to := must[Entity](t)(NewMap1[armour](w).NewEntity(armour{}))
			e, gone := must[Entity](t)(w.NewEntity()), must[Entity](t)(w.NewEntity())
			w.OnCreate(func(Entity) { t.Error("a creation is reported") })
			four := func(cmd *Commands, e Entity) {
				AddRelation(cmd, r1, e, relation1{}, to)
				AddRelation(cmd, r2, e, relation2{}, to)
				AddRelation(cmd, r3, e, relation3{}, to)
				AddRelation(cmd, r4, e, relation4{5}, to)
			}
			if by == "none" && fails == "fifth relation" {
				if four(w.Commands(), e); w.Commands().Apply() != nil {
					t.Fatal("four relations are too many")
				}
			}
			before := w.Len()
			cmd := w.Commands()
			AddTo(cmd, pos, to, position{1, 1})
			give := func(cmd *Commands, e Entity) {
				switch {
				case fails == "too large":
					AddTo(cmd, large, e, broad1{})
					AddTo(cmd, larger, e, broad2{})
				case by == "none" && fails == "fifth relation":
					AddRelation(cmd, r5, e, relation5{}, to)
				default:
					four(cmd, e)
					AddRelation(cmd, r5, e, relation5{}, to)
					if fails == "fifth of a group" {
						RemoveFrom(cmd, r5.Component, e)
					}
				}
			}
			name := e
			if by == "none" {
				give(cmd, e)
			} else {
				spawnBy(t, w)[by](func(cmd *Commands, n Entity) { name = n; give(cmd, n) })
			}
			cmd.Destroy(gone)
			AddTo(cmd, pos, to, position{2, 2})
			text := ""
			if fails == "too large" {
				err := cmd.Apply()
				if text = fmt.Sprint(err); !errors.Is(err, memory.ErrTooLarge) {
					t.Errorf("%s, %s: %v", fails, by, err)
				}
			} else {
				text = misuse(t, func() { cmd.Apply() })
			}
			if by == "Task" {
				name = Entity{gone.index + 1, 1}
			}
			if !strings.Contains(text, name.String()+" were dropped") {
				t.Errorf("%s, %s: %q, of %v", fails, by, text, name)
			}
			if cmd.Len() != 2 || w.Check() != nil || w.Len() != before || *must2(pos.Get(to)) != (position{1, 1}) || large.Has(e) || r5.Has(e) {
				t.Errorf("%s, %s: %d commands wait, %d entities, %v", fails, by, cmd.Len(), w.Len(), w.Check())
			}
			if err := errors.Join(cmd.Apply(), w.Check()); err != nil || w.Alive(gone) || w.Len() != before-1 || *must2(pos.Get(to)) != (position{2, 2}) || cmd.Skipped() != 0 {
				t.Errorf("%s, %s: %v, %d entities", fails, by, err, w.Len())
			}
		}
	}
}

// A Set saves a world without blocks that wait, also right after a step was dropped.
func TestCommands_DroppedStepFreesItsChunk(t *testing.T) {
	for _, want := range []error{memory.ErrTooLarge, memory.ErrClosed} {
		mem := &tellingMemory{testMemory: newTestMemory(t)}
		w := must[*World](t)(New(mem, Config{ChunkBytes: 1024, FirstChunkBytes: 1024}))
		must[Entity](t)(NewMap2[broad1, broad2](w).Spawn(w.Commands(), broad1{}, broad2{}))
		var others []Entity
		for len(w.store.tables[0].chunks) < 2 {
			others = append(others, must[Entity](t)(w.NewEntity()))
		}
		for _, other := range slices.Backward(others) { // the second chunk stays as a spare
			w.Remove(other)
		}
		if want == memory.ErrClosed {
			mem.onFree = mem.close
		}
		if err := w.Commands().Apply(); !errors.Is(err, want) || w.Len() != 0 || w.store.pending != 0 {
			t.Errorf("%v, %d entities, chunk %d waits", err, w.Len(), w.store.pending)
		}
		check(t, w.Close())
	}
}

// After a load a Spawn may return an entity that an old variable names, and commands before it may use that variable.
func TestCommands_SpawnBeginsAGroup(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, told := mustRegisterTest[position](t, w), 0
	w.OnCreate(func(Entity) { told++ })
	RemoveFrom(w.Commands(), pos, Entity{1, 1})
	e := must[Entity](t)(w.Commands().Spawn())
	AddTo(w.Commands(), pos, e, position{})
	if err := w.Commands().Apply(); err != nil || e != (Entity{1, 1}) || told != 1 || !pos.Has(e) {
		t.Errorf("%v, %v was reported %d times", err, e, told)
	}
}

// Spawn of a mapper is one group of commands, of a world and of a task.
func TestMap3_SpawnIsAGroup(t *testing.T) {
	for _, by := range []string{"World", "Task"} {
		w, _ := newTestWorld(t, Config{})
		other, _ := newTestWorld(t, Config{})
		parent, gone := must[Entity](t)(NewMap1[armour](w).NewEntity(armour{})), Entity{7, 7}
		child := mustRelation[childOf](t, w)
		m := NewMap3[taskNamed, childOf, taskRef](w)
		if text := misuse(t, func() { m.Spawn(w.Commands(), taskNamed{}, childOf{}, taskRef{}) }); !strings.HasPrefix(text, "ecs.Spawn: ") || !strings.Contains(text, "target") {
			t.Error(text)
		}
		if text := misuse(t, func() { m.Spawn(other.Commands(), taskNamed{}, childOf{}, taskRef{}) }); text != "ecs.Spawn: the commands are of another world" {
			t.Error(text)
		}
		if e, err := m.To(child.ID(), gone).Spawn(w.Commands(), taskNamed{}, childOf{}, taskRef{}); !errors.Is(err, ErrStale) || !e.IsZero() || w.Len() != 1 {
			t.Errorf("%v, %v", e, err)
		}
		m.To(child.ID(), parent)
		told := 0
		w.OnCreate(func(e Entity) {
			if n, _, r, ok := m.Get(e); ok {
				to, _ := child.Target(e)
				told++
				if to != parent || n.Name != "n" || n.Of[1] != parent || n.Of[0] != r.Of || !w.Alive(r.Of) {
					t.Errorf("%s: %v %v %v", by, to, *n, *r)
				}
			}
		})
		spawnBy(t, w)[by](func(cmd *Commands, e Entity) {
			n := must[Entity](t)(m.Spawn(cmd, taskNamed{"n", [2]Entity{e, parent}}, childOf{}, taskRef{Of: e}))
			AddTo(cmd, mustRegisterTest[taskRef](t, w), e, taskRef{Of: n})
		})
		if err := w.Commands().Apply(); err != nil || told != 1 || w.Len() != 3 {
			t.Errorf("%s: %v, %d reported", by, err, told)
		}
	}
}
