package ecs

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// manyTables returns a function that gives e the next of n combinations of components.
func manyTables(t *testing.T, w *World, bits int) (ids []ID) {
	for i := range bits {
		ids = append(ids, must[ID](t)(w.RegisterSize(string(rune('a'+i)), 8, 8)))
	}
	return ids
}

// TestSpareList_OneEntityPassesThrough1024Archetypes left 16 MiB until Shrink.
func TestSpareList_OneEntityPassesThrough1024Archetypes(t *testing.T) {
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
		if most := max(spareBudget, (spareTables)*uintptr(w.store.sizes[0])) + 2*w.store.sizes[0]; held > most+uintptr(len(mem.live))*chunkAlign {
			t.Errorf("%+v: %d bytes in %d blocks for one entity", cfg, held, len(mem.live))
		}
		if w.Stats().Archetypes != 1024 || w.Check() != nil {
			t.Error(w.Stats(), w.Check())
		}
	}
}

// TestSpareList_NoThrash has entities come and go in as many archetypes as may keep a chunk.
func TestSpareList_NoThrash(t *testing.T) {
	for _, tables := range []int{1, 2, spareTables, 60} {
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
		if n := testenv.LeastObjects(6, cycle); n != 0 {
			t.Errorf("%d tables: %v Go allocations a cycle", tables, n)
		}
	}
}

// TestSpareList_FourLargeChunksStay has batches fill and empty a few archetypes with large chunks in turn.
func TestSpareList_FourLargeChunksStay(t *testing.T) {
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
	for _, table := range w.store.tables {
		if len(table.chunks) > 1 {
			t.Errorf("table %d keeps %d chunks", table.index, len(table.chunks))
		}
	}
	if n := len(mem.live); n > spareTables {
		t.Errorf("%d blocks", n)
	}
	w.Shrink()
	if len(mem.live) != 0 || w.store.spareList != (spareList{}) {
		t.Errorf("%d blocks after Shrink, %+v", len(mem.live), w.store.spareList)
	}
}

// TestSpareList_WavesLeaveFewSpares has a wave of entities come as a batch to each of many archetypes, in which one
// entity stays. The large chunk of each wave stayed until Shrink.
func TestSpareList_WavesLeaveFewSpares(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	m := newMapper(w, child.ID(), must[ID](t)(w.RegisterSize("16", 16, 8)))
	for range 40 {
		p := must[Entity](t)(w.NewEntity())
		m.setTarget(child.ID(), p)
		_, _, err := m.spawn()
		check(t, err)
		var wave []Entity
		check(t, m.newColumns(2000, false, func(loc uint32, n int) { wave = append(wave, w.store.entitiesFrom(loc, n)...) }))
		for _, e := range slices.Backward(wave) {
			w.Remove(e)
		}
		check(t, w.Check())
	}
	if s := w.Stats(); s.Entities != 80 || s.SpareChunks > spareTables || len(mem.live) != s.Chunks {
		t.Errorf("%+v, %d blocks", s, len(mem.live))
	}
}

// TestSpareList_SparesCountTheirGoHeap empties archetypes whose columns are large and lie in the Go heap, beside small
// blocks. Each kept a megabyte until Shrink.
func TestSpareList_SparesCountTheirGoHeap(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	large := registerType(t, w, struct {
		_ *int
		_ [15 << 10]byte
	}{})
	m, all := newMapper(w, large, child.ID()), NewFilterOf(w, large)
	for range 8 {
		p := must[Entity](t)(w.NewEntity())
		m.setTarget(child.ID(), p)
		check(t, m.newColumns(70, true, nil))
		w.RemoveAll(all)
		check(t, w.Check())
	}
	if s := w.Stats(); s.SpareChunks > spareTables {
		t.Errorf("%+v", s)
	}
}

// TestSpareList_ShareIsOfWhatIsLeft empties many archetypes at once: the share was that of the full world.
func TestSpareList_ShareIsOfWhatIsLeft(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	ids := manyTables(t, w, 11)
	pos := mustRegisterTest[position](t, w)
	for i := range 1 << 11 {
		e := must[Entity](t)(w.NewEntity())
		for k, id := range ids {
			if i>>k&1 != 0 {
				mustPtr(t)(w.AddID(e, id))
			}
		}
		check(t, pos.Add(e, position{}))
	}
	w.RemoveAll(NewFilter1[position](w))
	if n := len(mem.live); w.Len() != 0 || n > spareBudget>>10 {
		t.Errorf("%d blocks of 1 KiB in an empty world", n)
	}
}

// TestSpareList_SpareThatRowsTookIsNoSpare has rows grow into a spare that the list names: it is not given back.
func TestSpareList_SpareThatRowsTookIsNoSpare(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1 << 10, MaxChunkBytes: 1 << 10})
	ids := manyTables(t, w, 8)
	var es []Entity
	for i := range 200 { // each archetype gets and loses an entity, and then gets one to keep
		for range 2 {
			e := must[Entity](t)(w.NewEntity())
			for k, id := range ids {
				if i>>k&1 != 0 {
					mustPtr(t)(w.AddID(e, id))
				}
			}
			es = append(es, e)
			if len(es)%2 == 1 {
				w.Remove(e)
			}
		}
	}
	for i, e := range es {
		if w.Alive(e) != (i%2 == 1) {
			t.Fatalf("entity %d", i)
		}
	}
	if s := w.Stats(); s.Entities != 200 || s.Chunks-s.SpareChunks != 200 || len(mem.live) != s.Chunks {
		t.Errorf("%+v", s)
	}
}

// TestCheck_NamesEachInvariantOfSpareList breaks them one by one.
func TestCheck_NamesEachInvariantOfSpareList(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	ids := manyTables(t, w, 3)
	for i := range 8 {
		e := must[Entity](t)(w.NewEntity())
		for k, id := range ids {
			if i>>k&1 != 0 {
				mustPtr(t)(w.AddID(e, id))
			}
		}
		w.Remove(e)
	}
	k := &w.store.spareList
	first, second := w.store.tables[k.oldest-1], w.store.tables[w.store.tables[k.oldest-1].spareLink.newer-1]
	if k.n != 8 {
		t.Fatalf("%+v", *k)
	}
	for _, c := range []fault{
		{"1 range", "the list meets table 98 of 8", set(&first.spareLink.newer, 99)},
		{"1 cycle", "or more than 8", set(&second.spareLink.newer, k.oldest)},
		{"1 back", "of the list, not", set(&second.spareLink.older, k.newest)},
		{"1 number", "names chunk 70 of 1024 bytes", set(&first.spareLink.number, 70)},
		{"1 number of another", "of 1024 bytes", set(&first.spareLink.number, second.spareLink.number)},
		{"1 bytes", "of 1023 bytes", set(&first.spareLink.bytes, 1023)},
		{"2 tables", "spares: 9 tables with 8192 bytes", set(&k.n, 9)},
		{"2 bytes", "spares: 8 tables with 8191 bytes", set(&k.bytes, 8191)},
		{"2 newest", "the newest 1, not", set(&k.newest, 1)},
		{"3 lost", "has 1 spares and names chunk 0 of 0 bytes", set(&first.spareLink, spareLink{newer: first.spareLink.newer})},
		{"3 unlisted", "8 tables are listed of 7", set(&k.oldest, first.spareLink.newer)},
	} {
		c.test(t, w.Check)
	}
}

func mustPtr(t *testing.T) func(unsafe.Pointer, error) {
	return func(_ unsafe.Pointer, err error) {
		t.Helper()
		check(t, err)
	}
}
