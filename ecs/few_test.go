package ecs

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// few creates one entity with v alone and returns the bytes that its archetype takes beyond the
// entity's own.
func few(t *testing.T, cfg Config, v any) (heap, blocks int) {
	t.Helper()
	w, mem := newTestWorld(t, cfg)
	newValue(t, w, v)
	s, held := w.Stats(), uintptr(0)
	for _, size := range mem.live {
		held += size
	}
	return int(s.PointerfulBytes) - int(w.store.comps[0].size), int(held)
}

// TestTable_OneEntityTakesLittle has one entity of types of many sizes. One of 1 KiB with a pointer took 2 MiB
// of Go heap.
func TestTable_OneEntityTakesLittle(t *testing.T) {
	pointer := reflect.TypeFor[*int]()
	pointers := func(bytes int) any { // a struct of a pointer and bytes
		of := []reflect.StructField{{Name: "P", Type: pointer}, {Name: "B", Type: reflect.ArrayOf(bytes, reflect.TypeFor[byte]())}}
		return reflect.Zero(reflect.StructOf(of)).Interface()
	}
	for _, cfg := range []Config{{}, {ChunkBytes: 64 << 10}, {ChunkBytes: 16 << 10, MaxChunkBytes: 16 << 10}, {ChunkBytes: 1 << 10}} {
		for name, v := range map[string]any{
			"8": new(int), "16": pointers(8), "240": pointers(232), "960": pointers(952), "1024": pointers(1016),
			"4K": pointers(4088), "15K": pointers(15 << 10), "array": [100]string{},
		} {
			if cfg.ChunkBytes == 1<<10 && (name == "1024" || name == "4K" || name == "15K" || name == "array") {
				continue // the types are too large for Register
			}
			if heap, blocks := few(t, cfg, v); heap > 16<<10 || blocks > max(1<<10, cfg.MaxChunkBytes) {
				t.Errorf("%+v: an entity with a %s takes %d bytes of Go heap beside its own, and blocks of %d", cfg, name, heap, blocks)
			}
		}
	}
}

type large struct {
	_ *int
	_ [1016]byte
}

// TestTable_PointerfulChunksAreBounded grows archetypes entity by entity and in batches: no chunk takes more in the
// Go heap than 256 KiB, nor a block that its rows do not need.
func TestTable_PointerfulChunksAreBounded(t *testing.T) {
	n := 20_000
	if testenv.Short() {
		n = 6_000
	}
	for _, batch := range []int{1, 7, 500, n} {
		w, _ := newTestWorld(t, Config{MaxChunkBytes: 1 << 20})
		m := newMapper(w, registerType(t, w, large{}), mustRegisterTest[health](t, w).ID())
		for i := 0; i < n; i += batch {
			if err := m.newColumns(min(batch, n-i), true, nil); err != nil {
				t.Fatal(err)
			}
		}
		for i, k := range m.table.chunks {
			class := w.store.chunks[k.number].class
			if bytes := uintptr(k.cap) * unsafe.Sizeof(large{}); bytes > 256<<10 {
				t.Errorf("batches of %d: chunk %d has %d bytes of Go heap", batch, i, bytes)
			}
			if class > 0 && k.cap <= m.table.caps[class-1] {
				t.Errorf("batches of %d: chunk %d has a block of %d bytes for %d rows", batch, i, w.store.sizes[class], k.cap)
			}
		}
		s := w.Stats()
		if used := uint64(n) * uint64(unsafe.Sizeof(large{})); s.PointerfulBytes > 2*used+1<<20 {
			t.Errorf("batches of %d: %d bytes for %d", batch, s.PointerfulBytes, used)
		}
	}
}

// TestWorld_ManyArchetypesOfOneEntity is the short form of a row of ecs/bench.
func TestWorld_ManyArchetypesOfOneEntity(t *testing.T) {
	n := 1 << 13
	if testenv.Short() {
		n = 1 << 11
	}
	w, mem := newTestWorld(t, Config{})
	var ids []ID
	for i := range 13 {
		ids = append(ids, must[ID](t)(w.RegisterSize(string(rune('a'+i)), 8, 8)))
	}
	pos := mustRegisterTest[position](t, w)
	var es []Entity
	for i := range n {
		e := must[Entity](t)(w.NewEntity())
		for k, id := range ids {
			if i>>k&1 != 0 {
				must[unsafe.Pointer](t)(w.AddID(e, id))
			}
		}
		check(t, pos.Add(e, position{float32(i), 0}))
		es = append(es, e)
	}
	for i, e := range es {
		if p, ok := pos.Get(e); !ok || p.X != float32(i) {
			t.Fatalf("entity %d: %v %v", i, p, ok)
		}
	}
	f, seen := NewFilter1[position](w), 0
	for range f.All() {
		seen++
	}
	q := f.Query()
	for q.Next() {
		seen++
	}
	if seen != 2*n {
		t.Errorf("%d of %d entities", seen, 2*n)
	}
	w.Shrink()
	if len(mem.live) != n {
		t.Errorf("%d blocks for %d archetypes", len(mem.live), n)
	}
	if s := w.Stats(); s.BytesCapacity != uint64(n)<<10 {
		t.Errorf("%+v", s)
	}
}

// TestStats_EquationsHold compares the figures as their documentation does. It claimed that no chunk has less than
// Config.ChunkBytes.
func TestStats_EquationsHold(t *testing.T) {
	for _, cfg := range []Config{{}, {FirstChunkBytes: 4 << 10}, {ChunkBytes: 1 << 10}, {ChunkBytes: 64 << 10, MaxChunkBytes: 64 << 10}} {
		w, _ := newTestWorld(t, cfg)
		child := mustRelation[childOf](t, w)
		e := must[Entity](t)(w.NewEntity())
		for range 3 {
			m := newMapper(w, mustRegisterTest[brain](t, w).ID(), child.ID())
			m.setTarget(child.ID(), e)
			_, _, err := m.spawn()
			check(t, err)
			check(t, NewMap1[brain](w).NewBatch(100, nil))
			check(t, NewMap1[position](w).NewBatch(3000, nil))
			s := w.Stats()
			if s.Entities > s.PeakEntities || s.PeakEntities > w.store.cfg.MaxEntities || s.BytesUsed > s.BytesCapacity ||
				s.ChunkBytes != w.store.cfg.ChunkBytes || uint64(s.Chunks*w.store.cfg.FirstChunkBytes) > s.BytesCapacity {
				t.Errorf("%+v: %+v", cfg, s)
			}
			w.RemoveAll(NewFilter1[position](w))
		}
	}
}
