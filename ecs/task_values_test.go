package ecs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

type taskRef struct {
	N     int32
	Of    Entity
	Pairs [2]struct {
		Pad uint8
		To  taskOwner
	}
}

type taskOwner Entity

type taskNamed struct {
	Name string
	Of   [2]Entity
}

type taskBond struct{ By Entity }

// A placeholder in the value of a command becomes the entity at Apply. So neither the hash nor a file depends on the
// workers, whatever they claim.
func TestTaskCommands_ValuesNameEntitiesForAnyWorkers(t *testing.T) {
	for seed := range uint64(3) {
		hashes, files := map[uint64]bool{}, map[string]bool{}
		for count := 1; count <= 8; count++ {
			w, _ := newTestWorld(t, Config{})
			vel := mustRegisterTest[velocity](t, w)
			ref, bond := mustRegisterTest[taskRef](t, w), mustRelation[taskBond](t, w)
			if err := NewMap1[position](w).NewBatch(5*batchRows+int(seed), nil); err != nil {
				t.Fatal(err)
			}
			ws, f := newTestWorkers(t, count), NewFilter1[position](w)
			for round := range uint64(2) { // the same workers number placeholders on
				f.Parallel(ws, func(task *Task, es []Entity, ps []position) {
					cmd, rng := task.Commands(), rand.New(rand.NewPCG(seed, round<<32|uint64(task.Index())))
					for _, e := range es {
						if rng.IntN(4) > 0 {
							continue
						}
						a, _ := cmd.Spawn()
						b, _ := cmd.Spawn()
						v := taskRef{N: int32(rng.IntN(9)), Of: a}
						v.Pairs[1].To = taskOwner(b)
						v.Pairs[0].To = taskOwner(e)
						AddTo(cmd, ref, e, v)
						AddTo(cmd, vel, a, velocity{1, 1})
						AddTo(cmd, ref, b, taskRef{N: -1, Of: b})
						AddRelation(cmd, bond, b, taskBond{a}, e)
						if rng.IntN(8) == 0 {
							cmd.Destroy(a)
						}
						slow := 0
						for i := range rng.IntN(300) { // so that workers alternate
							slow += i
						}
						ps[0].X += float32(slow & 1)
					}
				})
				if err := w.Commands().Apply(); err != nil {
					t.Fatal(err)
				}
			}
			n := 0
			for e, r := range NewFilter1[taskRef](w).All() {
				one := r.N == -1 && r.Of == e
				if by, ok := bond.Get(e); one != ok || one && !vel.Has(by.By) && w.Alive(by.By) {
					t.Fatalf("%v has %v, and a bond: %v", e, *r, ok)
				}
				if to := Entity(r.Pairs[1].To); !one && (Entity(r.Pairs[0].To) != e || !w.Alive(to) || must2(ref.Get(to)).Of != to || r.Of.index >= placeholderBit) {
					t.Fatalf("%v has %v", e, *r)
				}
				n++
			}
			var file bytes.Buffer
			if err := w.WriteBinary(&file); err != nil || n < 1000 {
				t.Fatal(err, n)
			}
			hashes[w.Hash(0)], files[file.String()] = true, true
		}
		if len(hashes) != 1 || len(files) != 1 {
			t.Errorf("seed %d: %d hashes, %d files", seed, len(hashes), len(files))
		}
	}
}

// Values with pointers are in queues.
func TestTaskCommands_PointerfulValuesNameEntities(t *testing.T) {
	w, f := manyBatches(t, Config{})
	named := mustRegisterTest[taskNamed](t, w)
	old := must[Entity](t)(w.NewEntity())
	f.Parallel(newTestWorkers(t, 3), func(task *Task, es []Entity, _ []position) {
		a, _ := task.Commands().Spawn()
		AddTo(task.Commands(), named, a, taskNamed{"a", [2]Entity{a, old}})
		AddTo(task.Commands(), named, es[0], taskNamed{"e", [2]Entity{es[0], a}})
	})
	var seen []Entity
	named.OnAdd(func(e Entity, v *taskNamed) { // sees the entity, too
		if v.Of[0] != e || !w.Alive(v.Of[1]) {
			t.Errorf("%v has %v", e, *v)
		}
		if v.Name == "e" {
			seen = append(seen, v.Of[1])
		}
	})
	if err := w.Commands().Apply(); err != nil || len(seen) < 5 {
		t.Error(err, seen)
	}
	slices.SortFunc(seen, func(a, b Entity) int { return int(a.index) - int(b.index) })
	if n := len(seen); len(slices.Compact(seen)) != n {
		t.Error("two batches name one entity")
	}
}

// A placeholder that no command of its batch has written stays, and is the same for any number of workers.
func TestTaskCommands_PlaceholdersThatStayAreRefused(t *testing.T) {
	hashes := map[uint64]bool{}
	for count := 1; count <= 4; count++ {
		w, _ := newTestWorld(t, Config{})
		if err := NewMap1[taskBond](w).NewBatch(20*batchRows, nil); err != nil {
			t.Fatal(err)
		}
		ref := mustRegisterTest[taskRef](t, w)
		ws := newTestWorkers(t, count)
		var before Results[Entity]
		f := NewFilter1[taskBond](w)
		before.Prepare(f)
		for round := range 2 {
			f.Parallel(ws, func(task *Task, es []Entity, bs []taskBond) {
				if round == 1 { // a placeholder of another run
					AddTo(task.Commands(), ref, es[0], taskRef{Of: *before.At(task)})
					return
				}
				for i := range es {
					e, _ := task.Commands().Spawn()
					if *before.At(task) = e; i%3 == 0 {
						bs[i].By = e
					}
				}
			})
			if err := w.Commands().Apply(); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, r := range NewFilter1[taskRef](w).All() {
			if n++; w.Alive(r.Of) || r.Of.index < placeholderBit || r.Of.gen == 0 {
				t.Fatal(r.Of)
			}
		}
		if err := w.WriteBinary(new(bytes.Buffer)); n < 20 || err == nil || !strings.Contains(err.Error(), "ecs.taskBond: it contains ") || !strings.Contains(err.Error(), "a placeholder of Task.Commands") {
			t.Error(n, err)
		}
		hashes[w.Hash(0)] = true
	}
	if len(hashes) != 1 {
		t.Error(hashes)
	}
}

// Workers of one world take no placeholder of each other for their own.
func TestTaskCommands_PlaceholdersOfOtherWorkersAreStale(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	vel := mustRegisterTest[velocity](t, w)
	f := NewFilter1[taskBond](w)
	must[Entity](t)(NewMap1[taskBond](w).NewEntity(taskBond{}))
	for round := range 3 {
		f.Parallel(newTestWorkers(t, 1), func(task *Task, _ []Entity, bs []taskBond) {
			e := must[Entity](t)(task.Commands().Spawn())
			if round == 0 {
				bs[0].By = e
			}
			AddTo(task.Commands(), vel, bs[0].By, velocity{})
		})
		if err := w.Commands().Apply(); err != nil || NewFilter1[velocity](w).Len() != 1 || w.Commands().Skipped() != min(round, 1) {
			t.Errorf("round %d: %v, %d entities, %d skipped", round, err, NewFilter1[velocity](w).Len(), w.Commands().Skipped())
		}
	}
}
