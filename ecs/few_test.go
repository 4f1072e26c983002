package ecs

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// few creates one entity with a T alone and returns the bytes that its archetype takes beyond the
// entity's own.
func few[T any](t *testing.T, cfg Config) (heap, blocks int) {
	t.Helper()
	w, mem := newTestWorld(t, cfg)
	must[Entity](t)(NewMap1[T](w).NewEntity(*new(T)))
	s, held := w.Stats(), uintptr(0)
	for _, size := range mem.live {
		held += size
	}
	size := int(unsafe.Sizeof(*new(T)))
	return int(s.PointerfulBytes) - size, int(held)
}

// TestTable_OneEntityTakesLittle has one entity of types of many sizes. One of 1 KiB with a pointer took 2 MiB
// of Go heap.
func TestTable_OneEntityTakesLittle(t *testing.T) {
	type pointers[A any] struct {
		_ *int
		_ A
	}
	for _, cfg := range []Config{{}, {ChunkBytes: 64 << 10}, {ChunkBytes: 16 << 10, MaxChunkBytes: 16 << 10}, {ChunkBytes: 1 << 10}} {
		for name, of := range map[string]func(*testing.T, Config) (int, int){
			"8":    few[*int],
			"16":   few[pointers[[8]byte]],
			"240":  few[pointers[[232]byte]],
			"960":  few[pointers[[952]byte]],
			"1024": few[pointers[[1016]byte]], "4K": few[pointers[[4088]byte]], "15K": few[pointers[[15 << 10]byte]],
			"array": few[[100]string],
		} {
			if cfg.ChunkBytes == 1<<10 && (name == "1024" || name == "4K" || name == "15K" || name == "array") {
				continue // the types are too large for Register
			}
			if heap, blocks := of(t, cfg); heap > 16<<10 || blocks > max(1<<10, cfg.MaxChunkBytes) {
				t.Errorf("%+v: an entity with a %s takes %d bytes of Go heap beside its own, and blocks of %d", cfg, name, heap, blocks)
			}
		}
	}
}

// TestTable_PointerfulChunksAreBounded grows archetypes entity by entity and in batches: no chunk takes more in the
// Go heap than 256 KiB, nor a block that its rows do not need.
func TestTable_PointerfulChunksAreBounded(t *testing.T) {
	type large struct {
		_ *int
		_ [1016]byte
	}
	n := 20_000
	if testenv.Short() {
		n = 6_000
	}
	for _, batch := range []int{1, 7, 500, n} {
		w, _ := newTestWorld(t, Config{MaxChunkBytes: 1 << 20})
		m := NewMap2[large, health](w)
		for i := 0; i < n; i += batch {
			if err := m.NewBatch(min(batch, n-i), nil); err != nil {
				t.Fatal(err)
			}
		}
		for i, k := range m.mapper.table.chunks {
			class := w.store.chunks[k.number].class
			if bytes := uintptr(k.cap) * unsafe.Sizeof(large{}); bytes > 256<<10 {
				t.Errorf("batches of %d: chunk %d has %d bytes of Go heap", batch, i, bytes)
			}
			if class > 0 && k.cap <= m.mapper.table.caps[class-1] {
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
			must[Entity](t)(NewMap2[brain, childOf](w).To(child.ID(), e).NewEntity(brain{}, childOf{}))
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
