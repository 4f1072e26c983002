package ecs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type againBond struct{}

func relatedWorld(t *testing.T) *ecs.World {
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
			w := relatedWorld(t)
			if _, err := ecs.RegisterRelation[againBond](w); err != nil {
				t.Fatal(err)
			}
			if err := read(w); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	t.Run("Set.Read", func(t *testing.T) {
		w := relatedWorld(t)
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

// Save, play, load, save, load. An archetype of a target that came after the first save stays in the world without rows. Its
// target has a generation that the loaded world has not reached, so the second file is refused.
func TestWorld_FilesWrittenAfterALoadAreReadable(t *testing.T) {
	for _, way := range []string{"ReadBinary", "ReadJSON", "Set.Read"} {
		t.Run(way, func(t *testing.T) {
			w := relatedWorld(t)
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

// A quick save is loaded again and again, and between the loads the game plays. Relation says: "a world does not grow when its
// targets are removed and new ones are created". Each load adds the archetypes of the file, although as many wait to be
// reused.
func TestWorld_LoadingAFileAgainDoesNotGrowTheWorld(t *testing.T) {
	w := relatedWorld(t)
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
	for range 200 {
		pair()
	}
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	first := 0
	for load := range 40 {
		if err := set.Read(bytes.NewReader(file.Bytes()), nil); err != nil {
			t.Fatal(err)
		}
		if load == 0 {
			first = w.Stats().Archetypes
		}
		var all []ecs.Entity // everything goes, and other targets come
		all = append(all, entitiesOf(w)...)
		for _, e := range all {
			w.Remove(e)
		}
		for range 500 {
			parent, child := pair()
			w.Remove(child)
			w.Remove(parent)
		}
		if load%10 == 9 {
			t.Logf("after %d loads: %d archetypes", load+1, w.Stats().Archetypes)
		}
	}
	if n := w.Stats().Archetypes; n > 3*first {
		t.Errorf("%d archetypes after 40 loads of one file, %d after the first", n, first)
	}
}

// entitiesOf returns all entities of the lower slots that are alive.
func entitiesOf(w *ecs.World) (es []ecs.Entity) {
	for i := uint32(1); i < 2000; i++ {
		if e := ecs.MakeEntity(i, 1); w.Alive(e) {
			es = append(es, e)
		}
	}
	return es
}

type (
	againAt   struct{ X int32 }
	againGone struct{ N int32 }
)

// The new version of a program drops a component. In the file some children have it and others do not, so that two archetypes
// with a relation become one, as two without a relation do.
func TestWorld_DroppedComponentsMergeArchetypesWithRelations(t *testing.T) {
	for _, parents := range []int{1, 2} {
		t.Run(fmt.Sprint(parents, " parents"), func(t *testing.T) {
			a := relatedWorld(t)
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
			b := relatedWorld(t)
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
