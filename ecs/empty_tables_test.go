package ecs

import (
	"testing"
	"unsafe"
)

// manyTables returns a function that gives e the next of n combinations of components.
func manyTables(t *testing.T, w *World, bits int) (ids []ID) {
	for i := range bits {
		ids = append(ids, must[ID](t)(w.RegisterSize(string(rune('a'+i)), 8, 8)))
	}
	return ids
}

// TestEmpties_OneEntityPassesThrough1024Archetypes left 16 MiB until Shrink.
func TestEmpties_OneEntityPassesThrough1024Archetypes(t *testing.T) {
	for _, cfg := range []Config{{}, {FirstChunkBytes: 16 << 10}, {ChunkBytes: 1 << 10, MaxChunkBytes: 1 << 10}} {
		w, mem := newTestWorld(t, cfg)
		ids := manyTables(t, w, 10)
		e := must[Entity](t)(w.NewEntity())
		for i := 1; i < 1024; i++ { // a Gray code: one component at a time
			for k, id := range ids {
				has, want := w.HasID(e, id), (i^i>>1)>>k&1 != 0
				if want && !has {
					mustPtr(t)(w.AddID(e, id))
				} else if has && !want {
					must[bool](t)(w.RemoveID(e, id))
				}
			}
		}
		held := uintptr(0)
		for _, size := range mem.live {
			held += size
		}
		if most := max(keptBytes, (keptEmpties)*uintptr(w.sizes[0])) + 2*w.sizes[0]; held > most+uintptr(len(mem.live))*chunkAlign {
			t.Errorf("%+v: %d bytes in %d blocks for one entity", cfg, held, len(mem.live))
		}
		if w.Stats().Archetypes != 1024 || w.Check() != nil {
			t.Error(w.Stats(), w.Check())
		}
	}
}

// TestEmpties_NoThrash has entities come and go in as many archetypes as may keep a chunk.
func TestEmpties_NoThrash(t *testing.T) {
	for _, tables := range []int{1, 2, keptEmpties, 60} {
		w, mem := newTestWorld(t, Config{})
		ids := manyTables(t, w, 6)
		cycle := func() {
			for i := range tables {
				e := must[Entity](t)(w.NewEntity())
				for k, id := range ids {
					if i>>k&1 != 0 {
						mustPtr(t)(w.AddID(e, id))
					}
				}
				w.Remove(e)
			}
		}
		cycle()
		asked := mem.allocs
		for range 50 {
			cycle()
		}
		if mem.allocs != asked {
			t.Errorf("%d tables: %d requests in 50 cycles", tables, mem.allocs-asked)
		}
		if n := testing.AllocsPerRun(5, cycle); n != 0 {
			t.Errorf("%d tables: %v Go allocations a cycle", tables, n)
		}
	}
}

// TestEmpties_FourLargeChunksStay has batches fill and empty a few archetypes with large chunks in turn.
func TestEmpties_FourLargeChunksStay(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	ids := manyTables(t, w, 3)
	one, two, three := NewFilterOf(w, ids[0]), NewFilterOf(w, ids[1]), NewFilterOf(w, ids[2])
	fill := func() {
		for i, f := range []*FilterOf{one, two, three} {
			e := must[Entity](t)(w.NewEntity())
			mustPtr(t)(w.AddID(e, ids[i]))
			for range 3000 {
				must[Entity](t)(w.CopyEntity(e))
			}
			w.RemoveAll(f)
		}
	}
	fill()
	for _, table := range w.tables {
		if len(table.chunks) > 1 {
			t.Errorf("table %d keeps %d chunks", table.index, len(table.chunks))
		}
	}
	if n := len(mem.live); n > keptEmpties {
		t.Errorf("%d blocks", n)
	}
	w.Shrink()
	if len(mem.live) != 0 || w.emptyTables != (emptyTables{}) {
		t.Errorf("%d blocks after Shrink, %+v", len(mem.live), w.emptyTables)
	}
}

func mustPtr(t *testing.T) func(unsafe.Pointer, error) {
	return func(_ unsafe.Pointer, err error) {
		t.Helper()
		check(t, err)
	}
}
