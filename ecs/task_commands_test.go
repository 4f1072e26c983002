package ecs

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory"
)

// splitting is a system: of each pair of neighbours one dies, the other is changed, and has two
// children, which name each other by commands alone.
func splitting(w *World, pos Component[position], vel Component[velocity], think Component[brain]) func(*Task, []Entity, []position) {
	return func(task *Task, es []Entity, ps []position) {
		cmd := task.Commands()
		for i, e := range es {
			switch n := task.Index() + i; n % 20 {
			case 0:
				cmd.Destroy(e)
			case 1:
				AddTo(cmd, vel, e, velocity{float32(n), 0})
				RemoveFrom(cmd, think, e)
			case 2:
				AddTo(cmd, think, e, brain{Name: "parent", Target: &n})
			case 3:
				a, err := cmd.Spawn()
				if err != nil || w.Alive(a) || pos.Has(a) {
					panic("an entity is there in the pass")
				}
				b, _ := cmd.Spawn()
				AddTo(cmd, vel, a, velocity{ps[i].X, 1})
				AddTo(cmd, pos, b, position{ps[i].X, 2})
				AddTo(cmd, think, a, brain{Name: "child", Target: &n})
				AddTo(cmd, vel, b, velocity{})
				RemoveFrom(cmd, vel, b)
				c, _ := cmd.Spawn()
				AddTo(cmd, pos, c, position{-1, -1})
				cmd.Destroy(c)
			}
		}
	}
}

// loose are the components that splitting gives.
func loose(t testing.TB, w *World) (Component[position], Component[velocity], Component[brain]) {
	return mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w), mustRegisterTest[brain](t, w)
}

// brains folds what Hash leaves out.
func brains(w *World) (h uint64) {
	for e, b := range NewFilter1[brain](w).All() {
		h = mix(mix(h, uint64(e.index)), uint64(len(b.Name)))
		if b.Target != nil {
			h = mix(h, uint64(*b.Target))
		}
	}
	return h
}

func TestTaskCommands_AreThoseOfOneGoroutineWhateverTheWorkers(t *testing.T) {
	type state struct {
		hash, minds uint64
		len         int
	}
	seen := map[state]bool{}
	for _, n := range workerCounts {
		w, f := manyBatches(t, Config{})
		pos, vel, think := loose(t, w)
		ws := newTestWorkers(t, n)
		w.Commands().Destroy(f.EntityAt(3)) // given before the pass, it comes first
		for range 3 {
			f.Parallel(ws, splitting(w, pos, vel, think))
			if w.Commands().Len() < 500 || w.Check() != nil || ws.Check() != nil {
				t.Fatalf("%d commands wait, %v, %v", w.Commands().Len(), w.Check(), ws.Check())
			}
			last := f.EntityAt(1)
			AddTo(w.Commands(), vel, last, velocity{7, 7}) // given behind it, last
			if err := w.Commands().Apply(); err != nil || w.Check() != nil {
				t.Fatal(err, w.Check())
			}
			if *must2(vel.Get(last)) != (velocity{7, 7}) {
				t.Fatal("what was given last came before")
			}
		}
		seen[state{w.Hash(0), brains(w), w.Len()}] = true
	}
	if len(seen) != 1 {
		t.Error(seen)
	}
}

// TestTaskCommands_AreThoseOfALoop gives the same commands in a pass and in a loop over All.
func TestTaskCommands_AreThoseOfALoop(t *testing.T) {
	w, f := manyBatches(t, Config{})
	other, g := manyBatches(t, Config{})
	pos, _ := mustRegisterTest[position](t, w), mustRegisterTest[position](t, other)
	vel, tag := mustRegisterTest[velocity](t, w), mustRegisterTest[burning](t, w)
	vel2, tag2 := mustRegisterTest[velocity](t, other), mustRegisterTest[burning](t, other)
	give := func(cmd *Commands, vel Component[velocity], tag Component[burning], e Entity, p *position) {
		if int(p.X)%3 == 0 {
			cmd.Destroy(e)
		}
		AddTo(cmd, vel, e, velocity{p.X, 2})
		AddTo(cmd, tag, e, burning{})
	}
	f.Parallel(newTestWorkers(t, 3), func(task *Task, es []Entity, ps []position) {
		for i := range es {
			give(task.Commands(), vel, tag, es[i], &ps[i])
		}
	})
	for e, p := range g.All() {
		give(other.Commands(), vel2, tag2, e, p)
	}
	if a, b := w.Commands().Len(), other.Commands().Len(); a != b {
		t.Fatalf("%d commands, not %d", a, b)
	}
	if err := errors.Join(w.Commands().Apply(), other.Commands().Apply()); err != nil {
		t.Fatal(err)
	}
	if w.Hash(0) != other.Hash(0) || w.Commands().Skipped() != other.Commands().Skipped() || !pos.Has(f.EntityAt(0)) {
		t.Errorf("the pass skips %d, the loop %d", w.Commands().Skipped(), other.Commands().Skipped())
	}
}

// TestTaskCommands_PlaceholdersAreValidInTheirBatchOnly uses them everywhere else.
func TestTaskCommands_PlaceholdersAreValidInTheirBatchOnly(t *testing.T) {
	w, f := manyBatches(t, Config{})
	pos, vel, _ := loose(t, w)
	ws := newTestWorkers(t, 1)
	var stale, own []Entity
	batch := -1
	for range 2 {
		for n := range 3 { // pieces of a pass, and another pass: the same worker, the same numbers
			f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
				cmd := task.Commands()
				if batch != task.Batch() {
					batch, stale, own = task.Batch(), append(stale, own...), nil
				}
				for _, e := range stale {
					AddTo(cmd, pos, e, position{9, 9})
					RemoveFrom(cmd, pos, e)
					cmd.Destroy(e)
				}
				for range n + 1 {
					e, _ := cmd.Spawn()
					AddTo(cmd, vel, e, velocity{1, 1})
					own = append(own, e)
				}
			})
		}
	}
	stale = append(stale, own...)
	cmd := w.Commands()
	before, was := w.Len(), cmd.Len()
	for _, e := range stale {
		if w.Alive(e) || e.IsZero() || w.Remove(e) || vel.Set(e, velocity{}) || !errors.Is(vel.Add(e, velocity{}), ErrStale) {
			t.Fatalf("%v is alive", e)
		}
		AddTo(cmd, pos, e, position{9, 9})
	}
	if cmd.Len() != was+len(stale) {
		t.Fatal("commands are lost")
	}
	if err := cmd.Apply(); err != nil || w.Len() != before+len(stale) || w.Check() != nil {
		t.Fatalf("%v, %d entities more of %d, %v", err, w.Len()-before, len(stale), w.Check())
	}
	for _, p := range f.All() {
		if *p == (position{9, 9}) {
			t.Fatal("a stale name was good for something")
		}
	}
	n := 0
	for _, v := range NewFilter1[velocity](w).Exclusive().All() {
		if *v == (velocity{1, 1}) {
			n++
		}
	}
	if n != len(stale) {
		t.Errorf("%d of %d spawned entities have what they were given", n, len(stale))
	}
}

// TestTaskCommands_WaitWhileMemoryIsShort lets every request of Apply fail or panic in turn.
func TestTaskCommands_WaitWhileMemoryIsShort(t *testing.T) {
	hashes := map[uint64]bool{}
	faults := 0
	for at := 0; ; at++ {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxEntities: 9000})
		if err := NewMap1[position](w).NewBatch(3*batchRows, nil); err != nil {
			t.Fatal(err)
		}
		pos, vel, think := loose(t, w)
		f, cmd := NewFilter1[position](w), w.Commands()
		f.Parallel(newTestWorkers(t, 2), splitting(w, pos, vel, think))
		created := 0
		w.OnCreate(func(Entity) { created++ })
		waits, spawns := cmd.Len(), 3*154
		if panics := at%2 == 1; at > 0 && panics {
			left := at
			mem.onAlloc = func() {
				if left--; left == 0 {
					panic("hook")
				}
			}
		} else if at > 0 {
			mem.failAt, mem.persist = mem.allocs+at, true
		}
		failed := false
		for cmd.Len() > 0 {
			var err error
			r := caught(func() { err = cmd.Apply() })
			if w.Check() != nil || r != nil && r != "hook" || err != nil && !errors.Is(err, memory.ErrOutOfMemory) {
				t.Fatalf("at %d: %v, %v, %v", at, r, err, w.Check())
			}
			if failed = failed || r != nil || err != nil; err != nil || r != nil {
				faults++
				if cmd.Len() == 0 || cmd.Len() > waits {
					t.Fatalf("at %d: %d commands wait", at, cmd.Len())
				}
				mem.heal()
			}
		}
		hashes[w.Hash(0)] = true
		if created != spawns {
			t.Fatalf("at %d: %d entities were created, not %d", at, created, spawns)
		}
		if at > 0 && !failed {
			break
		}
	}
	if faults < 4 || len(hashes) != 1 {
		t.Errorf("%d faults, %v", faults, hashes)
	}
}

// The buffer of commands grows within Alloc, in the middle of a creation, and the group then fails.
func TestTaskCommands_AreCarriedOutOnceWhereTheAllocatorGivesSome(t *testing.T) {
	for at := 1; at < 4; at++ {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
		if err := NewMap1[position](w).NewBatch(3, nil); err != nil {
			t.Fatal(err)
		}
		vel, cmd, f := mustRegisterTest[velocity](t, w), w.Commands(), NewFilter1[position](w)
		f.Parallel(newTestWorkers(t, 1), func(task *Task, _ []Entity, _ []position) {
			for range 2 {
				e, _ := task.Commands().Spawn()
				AddTo(task.Commands(), vel, e, velocity{1, 2})
			}
		})
		first := f.EntityAt(0)
		mem.onAlloc = func() {
			for range 100 {
				cmd.Destroy(first)
			}
		}
		mem.failAt = mem.allocs + at
		for err := cmd.Apply(); err != nil; err = cmd.Apply() {
			if !errors.Is(err, memory.ErrOutOfMemory) || w.Check() != nil {
				t.Fatalf("request %d fails: %v, %v", at, err, w.Check())
			}
		}
		if mem.onAlloc = nil; w.Len() != 4 || NewFilter1[velocity](w).Len() != 2 {
			t.Errorf("request %d fails: %d entities, %d of them spawned", at, w.Len(), NewFilter1[velocity](w).Len())
		}
	}
}

func TestTaskCommands_DiscardRemovesWhatWasSpawned(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	if err := NewMap1[position](w).NewBatch(10, nil); err != nil {
		t.Fatal(err)
	}
	_, vel, _ := loose(t, w)
	ws, f := newTestWorkers(t, 1), NewFilter1[position](w)
	spawn := func(task *Task, _ []Entity, _ []position) {
		for range 3 {
			e, _ := task.Commands().Spawn()
			AddTo(task.Commands(), vel, e, velocity{})
		}
	}
	f.Parallel(ws, spawn)
	w.Commands().Discard()
	if w.Len() != 10 || w.Commands().Len() != 0 || w.Check() != nil {
		t.Errorf("%d entities, %v", w.Len(), w.Check())
	}
	must[Entity](t)(w.NewEntity()) // the first one needs no chunk
	f.Parallel(ws, spawn)
	mem.failNext(true)
	if err := w.Commands().Apply(); !errors.Is(err, memory.ErrOutOfMemory) || w.Commands().Len() != 6 || w.Len() != 12 {
		t.Fatalf("%v, %d commands, %d entities", err, w.Commands().Len(), w.Len())
	}
	mem.heal()
	w.Commands().Discard()
	if w.Len() != 11 || w.Commands().Len() != 0 || w.Check() != nil {
		t.Errorf("%d entities, %v", w.Len(), w.Check())
	}
	f.Parallel(ws, spawn)
	w.Reset()
	if err := w.Commands().Apply(); err != nil || w.Len() != 0 {
		t.Errorf("%v, %d entities", err, w.Len())
	}
}

func TestTaskCommands_OfAPassThatPanicsAreDropped(t *testing.T) {
	w, f := manyBatches(t, Config{})
	pos, vel, think := loose(t, w)
	split := splitting(w, pos, vel, think)
	for _, n := range workerCounts {
		ws := newTestWorkers(t, n)
		w.Commands().Destroy(Entity{})
		r := caught(func() {
			f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
				split(task, es, ps)
				if task.Batch() == 15 {
					panic("late")
				}
			})
		})
		if r != "late" || w.Commands().Len() != 1 || ws.Check() != nil {
			t.Errorf("%v, %d commands wait, %v", r, w.Commands().Len(), ws.Check())
		}
		w.Commands().Discard()
	}
}

func TestTaskCommands_MisuseIsRefused(t *testing.T) {
	w, f := manyBatches(t, Config{})
	other, _ := newTestWorld(t, Config{})
	ws := newTestWorkers(t, 1)
	foreign, vel := mustRegisterTest[velocity](t, other), mustRegisterTest[velocity](t, w)
	var kept *Commands
	for op, want := range map[string]struct {
		call func(cmd *Commands)
		text string
	}{
		"Apply":   {func(cmd *Commands) { cmd.Apply() }, "commands of a Task are applied by World.Commands after the run"},
		"Discard": {func(cmd *Commands) { cmd.Discard() }, "commands of a Task are applied by World.Commands after the run"},
		"AddTo":   {func(cmd *Commands) { AddTo(cmd, foreign, Entity{}, velocity{}) }, "the component was registered with another world"},
	} {
		text := misuse(t, func() {
			f.Parallel(ws, func(task *Task, _ []Entity, _ []position) {
				kept = task.Commands()
				want.call(kept)
			})
		})
		if text != "ecs."+op+": "+want.text {
			t.Error(text)
		}
	}
	for op, call := range map[string]func(){
		"Spawn": func() { kept.Spawn() }, "Destroy": func() { kept.Destroy(Entity{}) }, "Len": func() { kept.Len() },
		"AddTo": func() { AddTo(kept, vel, Entity{}, velocity{}) }, "RemoveFrom": func() { RemoveFrom(kept, vel, Entity{}) },
	} {
		if text := misuse(t, call); text != "ecs."+op+": a Task is valid only until its body returns" {
			t.Error(text)
		}
	}
}

func TestTaskCommands_SteadyStateAllocatesNothing(t *testing.T) {
	w, f := manyBatches(t, Config{})
	_, vel, think := loose(t, w)
	ws, born := newTestWorkers(t, 2), NewMap2[velocity, brain](w)
	body := func(task *Task, es []Entity, ps []position) {
		cmd := task.Commands()
		for range 3 {
			e, _ := cmd.Spawn()
			AddTo(cmd, vel, e, velocity{})
			AddTo(cmd, think, e, brain{Name: "n"})
			cmd.Destroy(e)
			e, _ = born.Spawn(cmd, velocity{}, brain{Name: "m"})
			cmd.Destroy(e)
		}
	}
	pass := func() {
		f.Parallel(ws, body)
		if err := w.Commands().Apply(); err != nil {
			t.Error(err)
		}
	}
	for range 200 { // until each worker has run every number of pieces
		pass()
	}
	if n := testing.AllocsPerRun(50, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestTaskCommands_WorkersServeSeveralWorlds registers other types under the same numbers.
func TestTaskCommands_WorkersServeSeveralWorlds(t *testing.T) {
	ws := newTestWorkers(t, 2)
	w, f := manyBatches(t, Config{})
	other, _ := newTestWorld(t, Config{})
	name := mustRegisterTest[knows](t, other) // where w has position
	mustRegisterTest[brain](t, other)
	list := mustRegisterTest[brain](t, other)
	if err := newBatch(other, 2*batchRows, name.ID()); err != nil {
		t.Fatal(err)
	}
	g := NewFilter1[knows](other)
	pos, vel, think := loose(t, w)
	for range 2 {
		f.Parallel(ws, splitting(w, pos, vel, think))
		g.Parallel(ws, func(task *Task, es []Entity, _ []knows) {
			for i, e := range es {
				AddTo(task.Commands(), name, e, knows{"n"})
				n := task.Index() + i
				AddTo(task.Commands(), list, e, brain{Name: "n", Target: &n})
			}
		})
		if err := errors.Join(w.Commands().Apply(), other.Commands().Apply(), w.Check(), other.Check(), ws.Check()); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	for _, r := range NewFilter2[knows, brain](other).All() {
		if r.A.Name != "n" || r.B.Name != "n" || *r.B.Target != i {
			t.Fatalf("entity %d has %v", i, *r.B)
		}
		i++
	}
	if i != 2*batchRows {
		t.Error(i)
	}
}

// TestTaskCommands_TargetsMayBeEntitiesThatAreToBe relates old and new entities to new ones, with values
// of both kinds.
func TestTaskCommands_TargetsMayBeEntitiesThatAreToBe(t *testing.T) {
	hashes := map[uint64]bool{}
	for _, n := range workerCounts {
		w, f := manyBatches(t, Config{})
		pos, _, _ := loose(t, w)
		child, like, know := mustRelation[childOf](t, w), mustRelation[likes](t, w), mustRelation[knows](t, w)
		ws := newTestWorkers(t, n)
		var heads Results[[3]Entity] // of each piece: two of its entities, and what it has spawned
		heads.Prepare(f)
		f.Parallel(ws, func(task *Task, es []Entity, _ []position) {
			head := heads.At(task)
			if !head[2].IsZero() || len(es) < 4 {
				return
			}
			cmd, batch := task.Commands(), int32(task.Batch())
			a, _ := cmd.Spawn()
			b, _ := cmd.Spawn()
			*head = [3]Entity{es[0], es[1], a}
			AddTo(cmd, pos, a, position{float32(batch), -1})
			AddRelation(cmd, child, b, childOf{}, a)
			AddRelation(cmd, like, es[0], likes{batch}, b)
			AddRelation(cmd, know, es[0], knows{"a"}, es[3])
			SetTargetOf(cmd, know, es[0], a)
			AddRelation(cmd, like, es[1], likes{-batch}, es[2])
			SetTargetOf(cmd, like, es[1], a)
			gone, _ := cmd.Spawn()
			cmd.Destroy(gone)
			AddRelation(cmd, child, es[0], childOf{}, gone)
		})
		for i, head := range heads.Values() { // elsewhere the name is of nobody
			if i > 0 && !head[2].IsZero() {
				AddRelation(w.Commands(), child, head[0], childOf{}, head[2])
			}
		}
		if err := errors.Join(w.Check(), w.Commands().Apply(), w.Check()); err != nil {
			t.Fatal(err)
		}
		if got, want := w.Commands().Skipped(), 20+19; got != want { // the dead ones, and those by name
			t.Errorf("%d skipped, want %d", got, want)
		}
		for i, head := range heads.Values() {
			if head[0].IsZero() {
				continue
			}
			b, ok := like.Target(head[0])
			a, ok2 := child.Target(b)
			if v := must2(like.Get(head[0])); !ok || !ok2 || v.Much != int32(i) || child.Has(head[0]) {
				t.Fatalf("piece %d: %v likes %v, which is a child of %v", i, head[0], b, a)
			}
			at, by := must2(know.Get(head[0])), must2(pos.Get(a))
			to, _ := know.Target(head[0])
			if liked, _ := like.Target(head[1]); liked != a || to != a || at.Name != "a" || *by != (position{float32(i), -1}) {
				t.Fatalf("piece %d: %v knows %v as %q, at %v", i, head[0], to, at.Name, *by)
			}
		}
		hashes[w.Hash(0)] = true
	}
	if len(hashes) != 1 {
		t.Error(hashes)
	}
}
