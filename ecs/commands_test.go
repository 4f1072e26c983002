package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

func TestCommands_WaitForApply(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	a := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	f := NewFilter1[position](w)
	cmd := w.Commands()
	q := f.Query()
	seen := 0
	for q.Next() {
		seen++
		cmd.Destroy(q.Entity())
		e := must[Entity](t)(cmd.Spawn())
		AddTo(cmd, pos, e, position{1, 1})
		AddTo(cmd, vel, e, velocity{2, 2})
		RemoveFrom(cmd, vel, e)
		AddTo(cmd, pos, e, position{3, 3})
	}
	if seen != 1 || !w.Alive(a) || cmd.Len() != 6 || w.Stats().PendingCommands != 6 {
		t.Fatalf("saw %d, %d commands wait", seen, cmd.Len())
	}
	if err := cmd.Apply(); err != nil {
		t.Fatal(err)
	}
	q = f.Query()
	for q.Next() {
		if *q.Get() != (position{3, 3}) || vel.Has(q.Entity()) {
			t.Errorf("%v at %v", q.Entity(), *q.Get())
		}
	}
	if w.Len() != 1 || w.Alive(a) {
		t.Errorf("%d entities", w.Len())
	}
}

func TestCommands_DiscardRemovesWhatTheySpawned(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	think := mustRegisterTest[brain](t, w)
	cmd := w.Commands()
	e := must[Entity](t)(cmd.Spawn())
	AddTo(cmd, think, e, brain{Name: "x"})
	cmd.Discard()
	if w.Alive(e) || cmd.Len() != 0 || len(cmd.queues[think.ID()].(*typedQueue[brain]).values) != 0 {
		t.Error("something is left after Discard")
	}
	AddTo(cmd, think, e, brain{})
	if err := cmd.Apply(); err != nil || cmd.Skipped() != 1 {
		t.Errorf("%v, skipped %d", err, cmd.Skipped())
	}
	e = must[Entity](t)(cmd.Spawn())
	w.Reset()
	if cmd.Len() != 0 || w.Alive(e) {
		t.Error("commands survive Reset")
	}
}

// The chunks of what Discard removes go back when its books are right.
func TestCommands_DiscardIsDoneWhateverTheAllocatorDoes(t *testing.T) {
	for _, ends := range []bool{false, true} {
		mem := &tellingMemory{testMemory: newTestMemory(t)}
		w := must[*World](t)(New(mem, Config{ChunkBytes: 1024}))
		cmd := w.Commands()
		for range 1000 {
			must[Entity](t)(cmd.Spawn())
		}
		mem.onFree = func() {
			mem.onFree = nil
			if cmd.Len() != 0 || w.Len() != 0 || w.Check() != nil {
				t.Errorf("ends %v: %d commands, %d entities when the first chunk goes back, %v", ends, cmd.Len(), w.Len(), w.Check())
			}
			if !ends {
				panic("hook")
			}
			mem.close()
		}
		if r := caught(cmd.Discard); ends && r != nil || !ends && r != "hook" || mem.onFree != nil {
			t.Errorf("ends %v: %v", ends, r)
		}
		if err := errors.Join(w.Check(), w.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestCommands_ApplyReturnsErrClosed closes the allocator within Free and within each kind of observer, in a step that
// is the last or is not.
func TestCommands_ApplyReturnsErrClosed(t *testing.T) {
	for name, prepare := range map[string]func(w *World, pos Component[position], mem *tellingMemory, end func()){
		"Free": func(_ *World, _ Component[position], mem *tellingMemory, end func()) { mem.onFree = end },
		"OnAdd": func(_ *World, pos Component[position], _ *tellingMemory, end func()) {
			pos.OnAdd(func(Entity, *position) { end() })
		},
		"OnSet": func(_ *World, pos Component[position], _ *tellingMemory, end func()) {
			pos.OnSet(func(Entity, *position) { end() })
		},
		"OnRemove": func(_ *World, pos Component[position], _ *tellingMemory, end func()) {
			pos.OnRemove(func(Entity, *position) { end() })
		},
		"World.OnRemove": func(w *World, _ Component[position], _ *tellingMemory, end func()) {
			w.OnRemove(func(Entity) { end() })
		},
		"OnCreate": func(w *World, _ Component[position], _ *tellingMemory, end func()) {
			w.OnCreate(func(Entity) { end() })
		},
	} {
		for _, last := range []bool{false, true} {
			mem := &tellingMemory{testMemory: newTestMemory(t)}
			w, _, f, es := populated(t, mem)
			cmd, pos := w.Commands(), mustRegisterTest[position](t, w)
			cmd.Discard()
			calls := 0
			prepare(w, pos, mem, func() {
				if calls++; !mem.closed {
					mem.close()
				}
			})
			var err error
			switch name {
			case "Free":
				for i := 0; i < len(es) && err == nil; i++ {
					if cmd.Destroy(es[i]); last {
						err = cmd.Apply()
					}
				}
			case "World.OnRemove":
				cmd.Destroy(es[5])
			case "OnAdd":
				AddTo(cmd, pos, must[Entity](t)(cmd.Spawn()), position{})
			case "OnSet":
				AddTo(cmd, pos, es[5], position{})
			case "OnRemove":
				RemoveFrom(cmd, pos, es[5])
			case "OnCreate":
				f.Parallel(newTestWorkers(t, 1), func(task *Task, _ []Entity, _ []position) { task.Commands().Spawn() })
			}
			if !last {
				cmd.Destroy(es[9])
			}
			if err == nil {
				err = cmd.Apply()
			}
			if !errors.Is(err, memory.ErrClosed) || calls != 1 || cmd.Len() != 0 || w.Alive(es[9]) {
				t.Errorf("%s, last %v: %v, %d calls, %d commands", name, last, err, calls, cmd.Len())
			}
			if err := errors.Join(w.Check(), w.Close()); err != nil {
				t.Errorf("%s, last %v: %v", name, last, err)
			}
		}
	}
}

func TestCommands_RefuseComponentsOfOtherWorlds(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	other, _ := newTestWorld(t, Config{})
	c := mustRegisterTest[position](t, other)
	want := "the component was registered with another world"
	if text := misuse(t, func() { AddTo(w.Commands(), c, Entity{}, position{}) }); text != "ecs.AddTo: "+want {
		t.Error(text)
	}
	if text := misuse(t, func() { RemoveFrom(w.Commands(), c, Entity{}) }); text != "ecs.RemoveFrom: "+want {
		t.Error(text)
	}
}

func TestCommands_WaitWhileMemoryIsShort(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	a := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	b := must[Entity](t)(w.NewEntity())
	must[Entity](t)(w.NewEntity()) // or the chunk of b would do for the next archetype
	cmd := w.Commands()
	cmd.Destroy(b)
	AddTo(cmd, vel, a, velocity{1, 1})
	AddTo(cmd, pos, a, position{2, 2})
	cmd.Destroy(a)
	mem.failNext(true)
	for range 2 {
		if err := cmd.Apply(); !errors.Is(err, memory.ErrOutOfMemory) || cmd.Len() != 3 {
			t.Fatalf("%v, %d commands wait", err, cmd.Len())
		}
		if w.Alive(b) || vel.Has(a) || *must2(pos.Get(a)) != (position{}) {
			t.Fatal("the failed command left a trace, or the one before it none")
		}
	}
	mem.heal()
	if err := cmd.Apply(); err != nil || cmd.Len() != 0 || w.Alive(a) || cmd.Skipped() != 0 {
		t.Fatalf("%v, %d commands wait, %d skipped", err, cmd.Len(), cmd.Skipped())
	}
}

func must2[T any](v T, _ bool) T { return v }

func TestCommands_ATagAloneNeedsNoWords(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	tag := mustRegisterTest[burning](t, w)
	e := must[Entity](t)(w.NewEntity())
	AddTo(w.Commands(), tag, e, burning{})
	if err := w.Commands().Apply(); err != nil || !tag.Has(e) {
		t.Error(err)
	}
}

// A warm buffer is filled to its last word before it grows.
func TestCommands_ABufferGrowsOnlyWhenItIsFull(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	cmd := w.Commands()
	cmd.words = make([]uint64, 3, 8)
	first := &cmd.words[0]
	if at := cmd.extendWords(5); at != 3 || len(cmd.words) != 8 || &cmd.words[0] != first {
		t.Errorf("the value is at %d of %d words, room for %d", at, len(cmd.words), cap(cmd.words))
	}
	if at := cmd.extendWords(1); at != 8 || len(cmd.words) != 9 || &cmd.words[0] == first {
		t.Errorf("the value is at %d of %d words", at, len(cmd.words))
	}
}
