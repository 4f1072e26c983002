package ecs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type againBond struct{}

func emptyWorld(t *testing.T) *ecs.World {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ecs.New(heap, ecs.Config{MaxEntities: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); heap.Close() })
	return w
}

// binaryFile is a file of WriteBinary with this head and no rows, whose length and sum are right.
func binaryFile(head string) []byte {
	for len(head)%8 != 0 {
		head += " "
	}
	b := binary.LittleEndian.AppendUint64([]byte("strata\x00W"), uint64(24+len(head)+8))
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(head))), head...)
	return binary.LittleEndian.AppendUint64(b, uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))))
}

// setFileOf replaces the stream of the only part, a world, in a file of a Set.
func setFileOf(file, stream []byte) []byte {
	head := int(binary.LittleEndian.Uint32(file[28:]))
	b := bytes.Clone(file[:32+head])
	padded := append(bytes.Clone(stream), make([]byte, -len(stream)&7)...)
	b = binary.LittleEndian.AppendUint64(b, uint64(8+len(padded)))
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(stream))), padded...)
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)+8))
	return binary.LittleEndian.AppendUint64(b, uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))))
}

// The first archetype of the text is not the one without components, and its target is stale.
const staleFirst = `"archetypes":[{"components":["ecs_test.againBond"],"targets":{"ecs_test.againBond":"1:1"}}],"index":{"next":1}}`

func TestWorld_AStaleTargetInTheFirstArchetypeIsRefused(t *testing.T) {
	const want = "is stale and not listed"
	binaryHead := `{"strata/ecs.binary":1,"types":[{"name":"ecs_test.againBond","kind":"struct","size":0}],` + staleFirst
	for name, read := range map[string]func(w *ecs.World) error{
		"ReadJSON":   func(w *ecs.World) error { return w.ReadJSON(strings.NewReader(`{"strata/ecs":1,` + staleFirst)) },
		"ReadBinary": func(w *ecs.World) error { return w.ReadBinary(bytes.NewReader(binaryFile(binaryHead)), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("a forged text panics: %v", r)
				}
			}()
			w := emptyWorld(t)
			if _, err := ecs.RegisterRelation[againBond](w); err != nil {
				t.Fatal(err)
			}
			if err := read(w); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	t.Run("Set.Read", func(t *testing.T) {
		w := emptyWorld(t)
		if _, err := ecs.RegisterRelation[againBond](w); err != nil {
			t.Fatal(err)
		}
		var set save.Set
		if err := set.Add("world", w); err != nil {
			t.Fatal(err)
		}
		if err := set.Seal(); err != nil {
			t.Fatal(err)
		}
		e, err := w.NewEntity()
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := set.Write(&file); err != nil {
			t.Fatal(err)
		}
		forged := setFileOf(file.Bytes(), binaryFile(binaryHead))
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("a forged file panics: %v", r)
				}
			}()
			if err := set.Read(bytes.NewReader(forged), nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}()
		if w.Len() != 1 || !w.Alive(e) {
			t.Errorf("a refused file has changed the world: %d entities, want 1", w.Len())
		}
	})
}

// Save, play, load, save, load. An archetype of a target that came after the first save stays in the world without
// rows. Its target has a generation that the loaded world has not reached, so the second file is refused.
func TestWorld_FilesWrittenAfterALoadAreReadable(t *testing.T) {
	for _, way := range []string{"ReadBinary", "ReadJSON", "Set.Read"} {
		t.Run(way, func(t *testing.T) {
			w := emptyWorld(t)
			bond, err := ecs.RegisterRelation[againBond](w)
			var set save.Set
			if err := errors.Join(err, set.Add("world", w), set.Seal()); err != nil {
				t.Fatal(err)
			}
			pair := func() (parent, child ecs.Entity) {
				parent, err := w.NewEntity()
				child, err2 := w.NewEntity()
				if err := errors.Join(err, err2, bond.Add(child, againBond{}, parent)); err != nil {
					t.Fatal(err)
				}
				return parent, child
			}
			write := func() *bytes.Buffer {
				var file bytes.Buffer
				var err error
				switch way {
				case "ReadBinary":
					err = w.WriteBinary(&file)
				case "ReadJSON":
					err = w.WriteJSON(&file)
				default:
					err = set.Write(&file)
				}
				if err != nil {
					t.Fatal(err)
				}
				return &file
			}
			read := func(file *bytes.Buffer) error {
				switch way {
				case "ReadBinary":
					w.Reset()
					return w.ReadBinary(file, nil)
				case "ReadJSON":
					w.Reset()
					return w.ReadJSON(file)
				}
				return set.Read(file, nil)
			}
			pair()
			first := write()
			pair() // the game goes on: another parent with a child
			if err := read(first); err != nil {
				t.Fatal("the first file: ", err)
			}
			if w.Len() != 2 {
				t.Fatal(w.Len())
			}
			second := write()
			if err := read(second); err != nil {
				t.Errorf("the second file: %v", err)
			}
			if w.Len() != 2 {
				t.Errorf("after it there are %d entities, want 2", w.Len())
			}
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

type (
	againAt   struct{ X int32 }
	againGone struct{ N int32 }
)

// The new version of a program drops a component. In the file some children have it and others do not, so that two
// archetypes with a relation become one, as two without a relation do.
func TestWorld_DroppedComponentsMergeArchetypesWithRelations(t *testing.T) {
	for _, parents := range []int{1, 2} {
		t.Run(fmt.Sprint(parents, " parents"), func(t *testing.T) {
			a := emptyWorld(t)
			at, err := ecs.Register[againAt](a)
			gone, err2 := ecs.Register[againGone](a)
			bond, err3 := ecs.RegisterRelation[againBond](a)
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(err)
			}
			var ps, es []ecs.Entity
			for range parents {
				p, err := a.NewEntity()
				if err != nil {
					t.Fatal(err)
				}
				ps = append(ps, p)
			}
			for i := range 4 {
				e, err := a.NewEntity()
				err = errors.Join(err, at.Add(e, againAt{int32(i)}))
				if i%2 == 1 {
					err = errors.Join(err, gone.Add(e, againGone{7}))
				}
				if err = errors.Join(err, bond.Add(e, againBond{}, ps[i%2%parents])); err != nil {
					t.Fatal(err)
				}
				es = append(es, e)
			}
			var file bytes.Buffer
			if err := a.WriteBinary(&file); err != nil {
				t.Fatal(err)
			}
			b := emptyWorld(t)
			at, err = ecs.Register[againAt](b)
			bond, err2 = ecs.RegisterRelation[againBond](b)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if err := b.ReadBinary(&file, &layout.Migration{Dropped: []string{"ecs_test.againGone"}}); err != nil {
				t.Fatalf("ReadBinary: %v", err)
			}
			for i, e := range es {
				v, ok := at.Get(e)
				p, ok2 := bond.Target(e)
				if !ok || !ok2 || v.X != int32(i) || p != ps[i%2%parents] {
					t.Errorf("entity %d: %v %t, target %v %t", i, v, ok, p, ok2)
				}
			}
			if err := b.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

type loopSpot struct{ X int64 }

// Set.Read replaces all rows. A loop over All that is under way must stop at its next step, as after Reset.
func TestWorld_ReadOfAFileStopsLoops(t *testing.T) {
	w := emptyWorld(t)
	m := ecs.NewMap1[loopSpot](w)
	var set save.Set
	if err := errors.Join(set.Add("world", w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, err := m.NewEntity(loopSpot{int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	f := ecs.NewFilter1[loopSpot](w)
	v := func() (v any) {
		defer func() { v = recover() }()
		for range f.All() {
			if err := set.Read(bytes.NewReader(file.Bytes()), nil); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}()
	if _, ok := v.(*memory.Misuse); !ok {
		t.Errorf("the step after the load: %v", v)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

type (
	mergedBond struct{}
	mergedAt   struct{ X int32 }
	mergedMark struct{ X int32 }
	mergedGone struct{ N int32 }
)

// An archetype without a relation that merges took a number of the order of targets from one that has one.
func TestWorld_AMergedPlainArchetypeTakesNoSince(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a := emptyWorld(t)
		bond, err := ecs.RegisterRelation[mergedBond](a)
		at, err2 := ecs.Register[mergedAt](a)
		mark, err3 := ecs.Register[mergedMark](a)
		gone, err4 := ecs.Register[mergedGone](a)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		var ps []ecs.Entity
		for range 300 {
			p, err := a.NewEntity()
			e, err2 := a.NewEntity()
			ps = append(ps, p)
			if rng.IntN(10) == 0 { // only archetypes without the relation have what is dropped
				if rng.IntN(2) == 0 {
					err = errors.Join(err, at.Add(e, mergedAt{}))
				}
				if rng.IntN(2) == 0 {
					err = errors.Join(err, mark.Add(e, mergedMark{}))
				}
				err = errors.Join(err, gone.Add(e, mergedGone{}))
			} else {
				err = errors.Join(err, bond.Add(e, mergedBond{}, ps[rng.IntN(len(ps))]))
			}
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				i := rng.IntN(len(ps))
				bond.RemoveTree(ps[i])
				ps[i], ps = ps[len(ps)-1], ps[:len(ps)-1]
				if len(ps) == 0 {
					break
				}
			}
		}
		var file bytes.Buffer
		if err := a.WriteBinary(&file); err != nil {
			t.Fatal(err)
		}
		b := emptyWorld(t)
		_, err = ecs.RegisterRelation[mergedBond](b)
		_, err2 = ecs.Register[mergedAt](b)
		_, err3 = ecs.Register[mergedMark](b)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if err := b.ReadBinary(&file, &layout.Migration{Dropped: []string{"ecs_test.mergedGone"}}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

type (
	againPlace struct{ X int32 }
	againMark  struct{}
	againExtra struct{ N int64 }
)

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
	a, b, score := emptyWorld(t), emptyWorld(t), int64(77)
	place, mark := registered[againPlace](t, a), registered[againMark](t, a)
	var set save.Set
	if err := errors.Join(set.Add("a", a), save.Value(&set, "score", &score), set.Add("b", b), set.Seal()); err != nil {
		t.Fatal(err)
	}
	places(t, a, 1)
	before := a.Hash(0)
	place.OnAdd(func(e ecs.Entity, _ *againPlace) { ecs.AddTo(a.Commands(), mark, e, againMark{}) })

	a2, b2, score2 := emptyWorld(t), emptyWorld(t), int64(5)
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
