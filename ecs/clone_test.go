package ecs

import (
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
)

const configuredWithin = "ecs.All: the filter was configured within a loop over it, for example by To or Without; use Clone of the filter there, or Relation.Each"

func TestFilter_CloneIsIndependent(t *testing.T) {
	w, _, f := walkable(t)
	vel, arm := mustRegisterTest[velocity](t, w).ID(), mustRegisterTest[armour](t, w).ID()
	still := f.Clone().Without(vel)
	if f.Len() != 530 || still.Len() != 30 || still == f {
		t.Fatalf("%d entities, %d without velocity", f.Len(), still.Len())
	}
	again := still.Clone()
	if f.With(arm); f.Len() != 500 || still.Len() != 30 || again.Len() != 30 {
		t.Errorf("%d with armour, %d and %d without velocity", f.Len(), still.Len(), again.Len())
	}
	for range again.All() { // a loop over one of them goes on
		still.With(arm)
	}
	q := again.Query()
	if again.Clone().Without(arm).Len() != 30 {
		t.Error("an open query is over the clone, too")
	}
	q.Close()
	e := inOrder(again)[0]
	if exactly := NewFilter3[position, burning, odd](w).Exclusive().Clone(); exactly.Len() != 30 || exactly.EntityAt(0) != e {
		t.Errorf("%d exactly", exactly.Len())
	}
	for _, g := range []*Filter1[position]{f, still, again} {
		if err := g.Check(); err != nil {
			t.Error(err)
		}
	}
	wide := NewFilter8[position, velocity, armour, brain, health, burning, odd, uint64](w)
	if c := wide.Clone(); c.Len() != 0 || c.Check() != nil || c.filter.n != maxFilter {
		t.Errorf("%d, %v", c.Len(), c.Check())
	}
	workers := newTestWorkers(t, 2)
	f.Parallel(workers, func(task *Task, es []Entity, ps []position) {
		if text := misuse(t, func() { f.Clone() }); text != "ecs.Clone: a parallel run is in progress" {
			t.Error(text)
		}
	})
}

func TestFilter_CloneOfIDsReadsItsColumns(t *testing.T) {
	w, _, _ := walkable(t)
	f := NewFilterOf(w, mustRegisterTest[armour](t, w).ID(), mustRegisterTest[position](t, w).ID())
	c := f.Clone()
	i := uint64(0)
	for _, at := range c.All() {
		if (*armour)(at[0]).Value != i || (*position)(at[1]).X != float32(i) {
			t.Fatal(i)
		}
		i++
	}
	if i != 500 || c.Check() != nil {
		t.Error(i, c.Check())
	}
}

func TestFilter_CloneHasTargetsAndTicks(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child := must[Relation[burning]](t)(RegisterRelation[burning](w))
	pos := mustRegisterTest[position](t, w)
	if err := w.Track(pos.ID()); err != nil {
		t.Fatal(err)
	}
	m := NewMap2[position, burning](w)
	var at [2]Entity
	for i := range at {
		at[i] = must[Entity](t)(w.NewEntity())
		for range 2 + i {
			must[Entity](t)(m.To(child.ID(), at[i]).NewEntity(position{X: float32(i)}, burning{}))
		}
	}
	f := NewFilter1[position](w)
	first := f.To(child.ID(), at[0]).Clone()
	if f.To(child.ID(), at[1]); first.Len() != 2 || f.Len() != 3 {
		t.Errorf("%d of the first target, %d of the second", first.Len(), f.Len())
	}
	for _, p := range first.All() {
		if p.X != 0 {
			t.Error("a child of the second target")
		}
	}
	now := w.Tick()
	for range first.Clone().Writes(pos.ID()).Clone().All() {
	}
	if n := f.ToAny().ChangedSince(now, pos.ID()).Clone().Len(); n != 2 {
		t.Errorf("%d have changed", n)
	}
}

func TestFilter_ConfiguredInItsLoopSaysSo(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child, root := tree(t, w, 3, 2)
	f := NewFilter1[position](w)
	var visit func(e Entity)
	visit = func(e Entity) {
		for c := range f.To(child.ID(), e).All() {
			visit(c)
		}
	}
	if text := misuse(t, func() { visit(root) }); text != configuredWithin {
		t.Error(text)
	}
	// A change of the world still names the world, also where the same iterator is used.
	f.ToAny()
	if text := misuse(t, func() {
		for e := range f.All() {
			w.Remove(e)
		}
	}); text != changedWithin {
		t.Error(text)
	}
}

// tree makes a tree of some levels below its root, and returns the relation.
func tree(t testing.TB, w *World, levels, width int) (Relation[burning], Entity) {
	child := must[Relation[burning]](t)(RegisterRelation[burning](w))
	m := NewMap2[position, burning](w)
	root := must[Entity](t)(w.NewEntity())
	level := []Entity{root}
	for range levels {
		var below []Entity
		for _, e := range level {
			for i := range width {
				below = append(below, must[Entity](t)(m.To(child.ID(), e).NewEntity(position{X: float32(i)}, burning{})))
			}
		}
		level = below
	}
	return child, root
}

func TestRelation_EachWalksATree(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child, root := tree(t, w, 5, 3)
	var visit func(e Entity, depth int)
	met := map[Entity]bool{}
	visit = func(e Entity, depth int) {
		i := 0
		for c := range child.Each(e) {
			pos, _ := mustRegisterTest[position](t, w).Get(c)
			if target, ok := child.Target(c); !ok || target != e || met[c] || pos.X != float32(i) {
				t.Fatalf("%v below %v, its target is %v", c, e, target)
			}
			met[c] = true
			visit(c, depth+1)
			i++
		}
		if want := 3; depth == 5 && i != 0 || depth < 5 && i != want {
			t.Fatalf("%d entities at depth %d", i, depth)
		}
	}
	visit(root, 0)
	if len(met) != w.Len()-1 || len(w.eachFilters) != 5 || len(w.guard.running) != 0 {
		t.Errorf("%d of %d entities, %d filters", len(met), w.Len()-1, len(w.eachFilters))
	}
	n := 0
	var count func(e Entity)
	count = func(e Entity) {
		for c := range child.Each(e) {
			n++
			count(c)
		}
	}
	if a := testing.AllocsPerRun(10, func() { count(root) }); a != 0 || n != 11*len(met) {
		t.Errorf("%v allocations, %d steps", a, n)
	}
	for _, f := range w.eachFilters {
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
	if w.Shrink(); len(w.eachFilters) != 0 {
		t.Error("Shrink keeps filters")
	}
}

// TestRelation_EachIsWhatToOfAFilterMatches compares the two while entities of several archetypes come, go, and get
// other targets.
func TestRelation_EachIsWhatToOfAFilterMatches(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child := must[Relation[burning]](t)(RegisterRelation[burning](w))
	filter := NewFilterOf(w, child.ID())
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	var es []Entity
	for step := range 600 {
		e := must[Entity](t)(w.NewEntity())
		es = append(es, e)
		if step%3 == 0 {
			must[any](t)(nil, pos.Add(e, position{}))
		}
		if step%5 == 0 {
			must[any](t)(nil, vel.Add(e, velocity{}))
		}
		if target := es[step*7%11%len(es)]; w.Alive(target) {
			must[any](t)(nil, child.Add(e, burning{}, target))
		}
		if step%13 == 12 {
			w.Remove(es[step/2])
			_ = pos.Add(es[step/3], position{})
		}
		target := es[step*5%11%len(es)]
		var want []Entity
		for e := range filter.To(child.ID(), target).All() {
			want = append(want, e)
		}
		if got := slices.Collect(child.Each(target)); !slices.Equal(got, want) {
			t.Fatalf("step %d: %d of %v, To matches %d", step, len(got), target, len(want))
		}
	}
	if w.Remove(es[0]); len(slices.Collect(child.Each(es[0]))) != 0 || len(slices.Collect(child.Each(Entity{}))) != 0 {
		t.Error("a stale target has entities")
	}
}

func TestRelation_EachStopsAtTheStepAfterAChange(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child, root := tree(t, w, 3, 4)
	steps := 0
	text := misuse(t, func() {
		for c := range child.Each(root) {
			for range child.Each(c) {
				steps++
				w.Shrink()
			}
		}
	})
	if text != "ecs.Each: the world was changed within the loop; use World.Commands, or leave the loop after the change" || steps != 1 {
		t.Errorf("%q after %d steps", text, steps)
	}
	if caught(func() {
		for range child.Each(root) {
			panic("the body")
		}
	}) == nil {
		t.Error("the panic is lost")
	}
	next, stop := iter.Pull(child.Each(root))
	next()
	if n := len(slices.Collect(child.Each(root))); n != 4 {
		t.Errorf("%d entities beside a loop that is open and one that its body left", n)
	}
	stop()
	filter, workers := NewFilter1[position](w), newTestWorkers(t, 1)
	filter.Parallel(workers, func(*Task, []Entity, []position) {
		if text := misuse(t, func() { child.Each(root)(nil) }); text != "ecs.Each: a parallel run is in progress" {
			t.Error(text)
		}
	})
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	w.Close()
	for range child.Each(root) {
		t.Error("a closed world has entities")
	}
}

func TestLoop_LeftAfterAChangeDoesNotAllocate(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child, root := tree(t, w, 1, 8)
	f, vel := NewFilter1[position](w), mustRegisterTest[velocity](t, w)
	change := func(e Entity) {
		if ok, err := vel.Remove(e); ok || err != nil { // a structural change without effect
			t.Fatal(ok, err)
		}
	}
	for name, do := range map[string]func(){
		"All": func() {
			for e := range f.All() {
				change(e)
				break
			}
		},
		"Chunks": func() {
			for es := range f.Chunks() {
				change(es[0])
				break
			}
		},
		"nested": func() {
			for e := range f.All() {
				for range f.All() {
					change(e)
					break
				}
				break
			}
		},
		"To": func() {
			for range f.All() {
				f.ToAny()
				break
			}
		},
		"Each": func() {
			for e := range child.Each(root) {
				change(e)
				break
			}
		},
	} {
		if a := testing.AllocsPerRun(100, do); a != 0 {
			t.Errorf("%s: %v allocations", name, a)
		}
		if err := errors.Join(f.Check(), w.Check()); err != nil || f.Len() != 8 || len(inOrder(f)) != 8 || len(f.filter.others) > 1 || len(w.guard.running) != 0 {
			t.Errorf("%s: %v, %d match", name, err, f.Len())
		}
	}
}

func TestFilterOf_WithoutIDsMatchesAllEntities(t *testing.T) {
	w, _, f := walkable(t)
	bare := must[Entity](t)(w.NewEntity())
	all := NewFilterOf(w)
	met, chunks := map[Entity]bool{}, 0
	for e, at := range all.All() {
		if met[e] || at != (Addresses{}) {
			t.Fatal(e, at)
		}
		met[e] = true
	}
	for es := range all.Chunks() {
		chunks += len(es)
	}
	var many atomic.Int64
	all.Parallel(newTestWorkers(t, 2), func(_ *Task, es []Entity, _ Addresses) { many.Add(int64(len(es))) })
	if many.Load() != int64(w.Len()) {
		t.Errorf("%d of %d in parallel", many.Load(), w.Len())
	}
	if len(met) != w.Len() || !met[bare] || chunks != w.Len() || all.Len() != w.Len() || all.Check() != nil {
		t.Errorf("%d of %d entities, %d by chunks, %v", len(met), w.Len(), chunks, all.Check())
	}
	if none := all.Clone().Exclusive(); none.Len() != 1 || none.EntityAt(0) != bare {
		t.Errorf("%d without components", none.Len())
	}
	if n := w.RemoveAll(all.Clone().Without(f.filter.ids[0])); n != 1 || w.RemoveAll(all) != 530 || w.Len() != 0 {
		t.Errorf("%d removed, %d left", n, w.Len())
	}
}

func TestFilter_WithoutAWorldIsRefused(t *testing.T) {
	var zero Filter2[position, velocity]
	for want, do := range map[string]func(){
		"ecs.Register: the world is nil":         func() { NewFilter1[position](nil) },
		"ecs.RegisterRelation: the world is nil": func() { _, _ = RegisterRelation[childOf](nil) },
		"ecs.All: the filter has no world; make it with NewFilter1 to NewFilter8 or NewFilterOf": func() {
			for range zero.All() {
			}
		},
		"ecs.Query: the filter has no world; make it with NewFilter1 to NewFilter8 or NewFilterOf":   func() { zero.Query() },
		"ecs.Len: the filter has no world; make it with NewFilter1 to NewFilter8 or NewFilterOf":     func() { zero.Len() },
		"ecs.Without: the filter has no world; make it with NewFilter1 to NewFilter8 or NewFilterOf": func() { zero.Without(0) },
	} {
		if text := misuse(t, do); text != want {
			t.Errorf("%q, not %q", text, want)
		}
	}
	if text := misuse(t, func() { NewMap2[position, velocity](nil) }); text != "ecs.Register: the world is nil" {
		t.Error(text)
	}
}
