package ecs

import (
	"errors"
	"math/bits"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
)

// flags registers nine types: 512 archetypes.
func flags(t testing.TB, w *World) (toggle []func(e Entity, on bool) error) {
	t.Helper()
	for i := range 9 {
		id := must[ID](t)(w.RegisterSize(string(rune('a'+i)), 2+i%3*2, 2))
		toggle = append(toggle, func(e Entity, on bool) (err error) {
			if on {
				_, err = w.AddID(e, id)
			} else {
				_, err = w.RemoveID(e, id)
			}
			return err
		})
	}
	return toggle
}

func TestWorld_OneEntityWalksFiveHundredArchetypesInFourChunks(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	mem.limit = 4
	all := flags(t, w)
	pos := NewMap1[position](w)
	e := must[Entity](t)(pos.NewEntity(position{3, 4}))
	gray := 0
	for i := 1; i < 512; i++ {
		bit := i &^ (i - 1) // of a Gray code: one component comes or goes
		gray ^= bit
		if err := all[bits.TrailingZeros(uint(bit))](e, gray&bit != 0); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	if s := w.Stats(); s.Archetypes < 500 || s.Chunks != 4 || s.SpareChunks != 3 {
		t.Errorf("%+v", s)
	}
	if p, ok := pos.Get(e); !ok || *p != (position{3, 4}) {
		t.Error("the entity lost its position on the way")
	}
	w.Remove(e)
	if s := w.Stats(); s.SpareChunks != s.Chunks || s.Chunks != 4 {
		t.Fatalf("%+v", s)
	}
	for i, m := range []func() error{
		func() error { _, err := NewMap1[velocity](w).NewEntity(velocity{}); return err },
		func() error {
			return newBatch(w, 20, mustRegisterTest[velocity](t, w).ID(), mustRegisterTest[brain](t, w).ID())
		},
		func() error { return NewMap1[armour](w).NewBatch(20, nil) },
		func() error { _, err := w.NewEntity(); return err },
	} {
		if err := m(); err != nil {
			t.Errorf("an empty world cannot make entity %d: %v", i, err)
		}
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func TestReserve_TakesSparesOnlyWhereTheySuffice(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	for _, f := range []func() error{
		func() error { return NewMap1[position](w).NewBatch(1, nil) },
		func() error { return NewMap1[velocity](w).NewBatch(1, nil) },
		func() error { return NewMap1[health](w).NewBatch(1, nil) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	w.RemoveAll(NewFilter1[position](w))
	w.RemoveAll(NewFilter1[velocity](w))
	mem.limit = 4 // one block, and two spares
	m := NewMap1[armour](w)
	per := int(must[*table](t)(m.mapper.target()).caps[0])
	before, stats := w.Hash(0), w.Stats()
	if err := m.NewBatch(3*per+1, nil); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatalf("four chunks of three: %v", err)
	}
	if w.Hash(0) != before || w.Stats() != stats || len(mem.live) != 3 {
		t.Errorf("the refused batch left %+v after %+v, %d blocks", w.Stats(), stats, len(mem.live))
	}
	if err := m.NewBatch(3*per, nil); err != nil {
		t.Error(err)
	}
	if s := w.Stats(); s.Chunks != 4 || s.SpareChunks != 0 || s.Entities != 3*per+1 {
		t.Errorf("%+v", s)
	}
}

func TestTakeSpare_OnlyWhenMemoryIsOut(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	e := must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	w.Remove(e)
	first := mem.allocs
	must[Entity](t)(NewMap1[velocity](w).NewEntity(velocity{}))
	if s := w.Stats(); mem.allocs != first+1 || s.SpareChunks != 1 || s.Chunks != 2 {
		t.Errorf("a spare was taken while there was memory: %+v", s)
	}
}

func TestWorld_FullMemoryRefusesWithoutAllocating(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	must[Entity](t)(w.NewEntity())
	mem.limit, mem.bare = 1, true
	m := NewMap1[position](w)
	_, err := m.NewEntity(position{})
	if !errors.Is(err, memory.ErrOutOfMemory) || err.Error() != "ecs: a chunk of 1024 bytes: memory: out of memory" {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.NewEntity(position{}) }); n != 0 {
		t.Errorf("refusing costs %v allocations", n)
	}
}

// An arena or pool that is full returns the same error again and again, and so must the world.
func TestWorld_FullPoolRefusesWithoutAllocating(t *testing.T) {
	chunks, err := pool.NewBlocks(page.Heap(), pool.BlocksConfig{Size: 4096, Align: chunkAlign, Capacity: 1})
	memtest.Opened(t, chunks, err)
	w, err := New(chunks, Config{ChunkBytes: 1024, MaxChunkBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMap1[position](w)
	for err == nil {
		_, err = m.NewEntity(position{})
	}
	if !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), " bytes: pool: no vacant block of 1, ") {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.NewEntity(position{}) }); n != 0 {
		t.Errorf("refusing costs %v allocations", n)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestShrink_GivesBackEverySpareAndNothingElse(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	all := flags(t, w)
	m := NewMap2[position, brain](w)
	var es []Entity
	for range 100 {
		es = append(es, must[Entity](t)(m.NewEntity(position{1, 2}, brain{Name: "b"})))
	}
	for i, set := range all {
		if err := set(es[i], true); err != nil {
			t.Fatal(err)
		}
		w.Remove(es[i])
	}
	cmd := w.Commands()
	for range 200 {
		AddTo(cmd, mustRegisterTest[position](t, w), es[20], position{1, 2})
		AddTo(cmd, mustRegisterTest[brain](t, w), es[20], brain{Name: "b"})
	}
	if w.Shrink(); cap(cmd.ops) == 0 || cmd.Len() != 400 {
		t.Error("Shrink drops commands that wait")
	}
	if err := cmd.Apply(); err != nil {
		t.Fatal(err)
	}
	for i, set := range all {
		if err := set(es[i+20], true); err != nil {
			t.Fatal(err)
		}
		w.Remove(es[i+20])
	}
	p, b, _ := m.Get(es[50])
	before, stats := w.Hash(0), w.Stats()
	if stats.SpareChunks < 9 {
		t.Fatalf("%+v", stats)
	}
	if n := w.Shrink(); n != uint64(stats.SpareChunks)*1024 {
		t.Errorf("Shrink = %d for %d spares", n, stats.SpareChunks)
	}
	want := stats
	want.Chunks -= stats.SpareChunks
	want.BytesCapacity -= uint64(stats.SpareChunks) * 1024
	want.PointerfulBytes = w.Column(int(mustRegisterTest[brain](t, w).ID())).BytesCapacity
	want.SpareChunks = 0
	if s := w.Stats(); s != want || len(mem.live) != want.Chunks || w.Hash(0) != before {
		t.Errorf("%+v\nwant %+v", s, want)
	}
	if p2, b2, _ := m.Get(es[50]); p2 != p || b2 != b {
		t.Error("Shrink moved a row")
	}
	if cap(cmd.ops)+cap(cmd.words)+cap(cmd.queues) != 0 {
		t.Error("Shrink keeps the buffers of commands")
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	if n := w.Shrink(); n != 0 {
		t.Errorf("a second Shrink = %d", n)
	}
}

func TestShrink_TrimsChunkNumbersAndKeepsThoseInUse(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	m, one := NewMap1[position](w), NewMap1[velocity](w)
	per := int(must[*table](t)(m.mapper.target()).caps[0])
	first := must[Entity](t)(one.NewEntity(velocity{}))
	if err := m.NewBatch(100*per, nil); err != nil {
		t.Fatal(err)
	}
	last := must[Entity](t)(NewMap1[health](w).NewEntity(health{7, 8})) // number 101
	w.RemoveAll(NewFilter1[position](w))
	w.Shrink()
	if n := len(w.store.chunks); n != 102 {
		t.Errorf("%d chunk numbers with the last one in use", n)
	}
	w.Remove(last)
	w.Shrink()
	if len(w.store.chunks) != 1 || len(w.store.columns) != minWidth || cap(w.store.chunks) > 4 {
		t.Errorf("%d chunk numbers, room for %d, for one chunk", len(w.store.chunks), cap(w.store.chunks))
	}
	if !w.Alive(first) || w.Check() != nil {
		t.Error(w.Check())
	}
	// A number in the middle of the free list stays on it.
	if err := m.NewBatch(40*per, nil); err != nil {
		t.Fatal(err)
	}
	h := must[Entity](t)(NewMap1[health](w).NewEntity(health{}))
	if err := NewMap1[armour](w).NewBatch(3000, nil); err != nil {
		t.Fatal(err)
	}
	w.RemoveAll(NewFilter1[armour](w))
	w.RemoveAll(NewFilter1[position](w))
	w.Shrink()
	if n := len(w.store.chunks); n != 42 || !w.Alive(h) {
		t.Errorf("%d chunk numbers", n)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	if err := m.NewBatch(60*per, nil); err != nil || w.Check() != nil {
		t.Error(err, w.Check())
	}
}

// TestTable_ReturnsAChunkAtOnce empties the last chunk by each operation that moves one row.
func TestTable_ReturnsAChunkAtOnce(t *testing.T) {
	for name, leave := range map[string]func(w *World, e Entity) error{
		"Remove":           func(w *World, e Entity) error { w.Remove(e); return nil },
		"Add":              func(w *World, e Entity) error { return mustRegisterTest[burning](t, w).Add(e, burning{}) },
		"Component.Remove": func(w *World, e Entity) error { _, err := mustRegisterTest[velocity](t, w).Remove(e); return err },
		"Map.Add":          func(w *World, e Entity) error { return NewMap1[burning](w).Add(e, burning{}) },
		"Map.Remove":       func(w *World, e Entity) error { _, err := NewMap1[velocity](w).Remove(e); return err },
		"Apply": func(w *World, e Entity) error {
			w.Commands().Destroy(e)
			return w.Commands().Apply()
		},
	} {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
		pos, vel, tag := mustRegisterTest[position](t, w).ID(), mustRegisterTest[velocity](t, w).ID(), mustRegisterTest[burning](t, w).ID()
		for _, err := range []error{ // where the rows go there is room
			newBatch(w, 1, pos, tag), newBatch(w, 1, pos, vel, tag), newBatch(w, 1, pos),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		m := NewMap2[position, velocity](w)
		per := int(must[*table](t)(m.mapper.target()).caps[0])
		if err := m.NewBatch(2*per+1, nil); err != nil {
			t.Fatal(err)
		}
		rows := w.store.entitiesFrom(m.mapper.table.chunks[1].number<<rowBits, per)
		es := append(append([]Entity{}, rows[1:]...), *w.store.entity(m.mapper.table.chunks[2].number << rowBits))
		held := len(mem.live)
		for i := len(es) - 1; i >= 0; i-- { // one row is left in the second chunk, the third is spare
			if len(mem.live) != held {
				t.Fatalf("%s: %d blocks after %d rows", name, len(mem.live), len(es)-i)
			}
			w.Remove(es[i])
		}
		if err := leave(w, rows[0]); err != nil { // now the second one is, and the third goes back
			t.Fatal(err)
		}
		if len(mem.live) != held-1 || w.store.pending != 0 {
			t.Errorf("%s: %d blocks, want %d", name, len(mem.live), held-1)
		}
	}
}

func TestAsk_RefusesWhenEveryChunkNumberIsTaken(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	books := w.store.segments
	w.store.segments = segments{chunks: make([]chunk, maxSegments)}
	asked := mem.allocs
	_, err := w.NewEntity()
	if !errors.Is(err, ErrLimit) || errors.Is(err, memory.ErrOutOfMemory) || err.Error() != "ecs: all 2097152 numbers of chunks are taken: ecs: limit reached" || mem.allocs != asked {
		t.Error(err)
	}
	w.store.segments = books
	must[Entity](t)(w.NewEntity())
}

func TestBatches_ReturnChunksAtOnce(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	m, tag, all := NewMap1[position](w), NewMap1[burning](w), NewFilter1[position](w)
	per := int(must[*table](t)(m.mapper.target()).caps[0]) // as many with the tag
	if err := m.NewBatch(10*per, nil); err != nil {
		t.Fatal(err)
	}
	for i, f := range []func() (int, error){
		func() (int, error) { return tag.AddAll(all, burning{}) },
		func() (int, error) { return tag.RemoveAll(all) },
	} {
		if n, err := f(); err != nil || n != 10*per {
			t.Errorf("step %d = %d, %v", i, n, err)
		}
		if len(mem.live) > 11 || w.store.pending != 0 {
			t.Errorf("step %d: %d blocks for ten and a spare", i, len(mem.live))
		}
	}
	if n := w.RemoveAll(all); n != 10*per || len(mem.live) > 2 {
		t.Errorf("RemoveAll = %d, %d blocks", n, len(mem.live))
	}
}
