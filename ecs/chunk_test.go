package ecs

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// sizesMemory writes down what is asked of it, and refuses what is above most.
type sizesMemory struct {
	*testMemory
	asked []uintptr
	most  uintptr
	as    error
}

func (m *sizesMemory) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	m.asked = append(m.asked, size)
	if m.most > 0 && size > m.most {
		return nil, m.as
	}
	return m.testMemory.Alloc(size, align)
}

func newSizesWorld(t *testing.T, cfg Config) (*World, *sizesMemory) {
	mem := &sizesMemory{testMemory: newTestMemory(t)}
	w := must[*World](t)(New(mem, cfg))
	t.Cleanup(func() {
		if err := errors.Join(w.Check(), w.Close()); err != nil || len(mem.live) != 0 {
			t.Errorf("%v, %d blocks after Close", err, len(mem.live))
		}
	})
	return w, mem
}

func TestChunks_GrowFromTheFirstToTheLargest(t *testing.T) {
	testenv.Long(t)
	for _, c := range []struct {
		cfg  Config
		want []uintptr
	}{
		{Config{}, []uintptr{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{FirstChunkBytes: 4 << 10}, []uintptr{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{FirstChunkBytes: 16 << 10}, []uintptr{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{ChunkBytes: 1024}, []uintptr{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10}},
		{Config{ChunkBytes: 64 << 10}, []uintptr{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}},
		{Config{ChunkBytes: 8 << 10, MaxChunkBytes: 64 << 10}, []uintptr{1 << 10, 4 << 10, 8 << 10, 32 << 10, 64 << 10}},
		{Config{ChunkBytes: 1 << 10, MaxChunkBytes: 1 << 20}, []uintptr{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}},
		{Config{MaxChunkBytes: 16 << 10}, []uintptr{16 << 10}},
	} {
		w, mem := newSizesWorld(t, c.cfg)
		m := newMapper(w, must[ID](t)(w.RegisterSize("1000", 1000, 1)))
		for len(mem.asked) <= len(c.want)*perClass {
			_, _, err := m.spawn()
			check(t, err)
		}
		for i, size := range mem.asked {
			small := int(w.store.first) // one of each size below ChunkBytes
			at := min(i, small)
			if i > small {
				at += (i - small) / perClass
			}
			if want := c.want[min(at, len(c.want)-1)]; size != want {
				t.Errorf("%+v: chunk %d is of %d bytes, want %d", c.cfg, i, size, want)
			}
		}
	}
}

// TestChunks_OfABatchAreAsLargeAsItFillsByHalfOrAThird has rows of 1 KiB, with what belongs to them.
func TestChunks_OfABatchAreAsLargeAsItFillsByHalfOrAThird(t *testing.T) {
	for _, c := range []struct {
		had, rows int
		want      []uintptr // in KiB
	}{
		{0, 1, []uintptr{4}},
		{0, 4, []uintptr{4}},
		{0, 5, []uintptr{4, 16}}, // less than a third of 16
		{0, 6, []uintptr{16}},
		{0, 16, []uintptr{16}},
		{0, 21, []uintptr{16, 16}}, // less than a third of 64
		{0, 22, []uintptr{64}},
		{0, 64, []uintptr{64}},
		{0, 65, []uintptr{64, 16}},
		{0, 127, []uintptr{64, 64}}, // less than half of 256
		{0, 128, []uintptr{256}},
		{0, 1024 + 40, []uintptr{1024, 64}},
		{0, 2*1024 - 1, []uintptr{1024, 1024}},
		{0, 2*1024 + 512, []uintptr{4096}},
		{0, 2*4096 + 1024, []uintptr{4096, 4096, 1024}},
		{3, 1, nil},                // there is space
		{3, 1 + 32, []uintptr{64}}, // after it
		{4 + 16*4, 64, []uintptr{64}},
	} {
		w, mem := newSizesWorld(t, Config{})
		m := newMapper(w, must[ID](t)(w.RegisterSize("most", 1024-int(entityBytes), 1)))
		for range c.had {
			_, _, err := m.spawn()
			check(t, err)
		}
		mem.asked = nil
		if err := m.newColumns(c.rows, true, nil); err != nil {
			t.Fatal(err)
		}
		for i := range mem.asked {
			mem.asked[i] >>= 10
		}
		if !slices.Equal(mem.asked, c.want) {
			t.Errorf("%d rows beside %d ask for %d KiB, want %d", c.rows, c.had, mem.asked, c.want)
		}
	}
}

// TestChunks_HaveNoMoreRowsThanALocationNames: with rows of 8, 16, 24, 31 and 32 bytes. A larger block than
// the rows fill is not asked for, and is used as far as they go where it is the spare of another table.
func TestChunks_HaveNoMoreRowsThanALocationNames(t *testing.T) {
	testenv.Long(t)
	w, mem := newSizesWorld(t, Config{MaxEntities: 2 << 20})
	of := func(size int) ID { return must[ID](t)(w.RegisterSize(strings.Repeat("x", size), size, 1)) }
	seven, eight, more := of(7), of(8), of(16)
	for _, c := range []struct {
		ids  []ID
		last uintptr
		rows uint32
	}{
		{[]ID{mustRegisterTest[burning](t, w).ID()}, 1 << 20, 1 << 17},
		{[]ID{eight}, 1 << 20, 1 << 16},
		{[]ID{more}, 1 << 20, 1 << 20 / 24},
		{[]ID{more, seven}, 1 << 20, 1<<20/31 - 1}, // what lies between the columns
		{[]ID{more, eight}, 4 << 20, 1 << 17},
	} {
		mem.asked = nil
		if err := newBatch(w, 1<<18, c.ids...); err != nil {
			t.Fatal(err)
		}
		table := w.store.tables[len(w.store.tables)-1]
		if got := w.store.sizes[table.last]; got != c.last || table.caps[table.last] != c.rows || slices.Max(mem.asked) != c.last || slices.Max(table.caps[:]) > maxRows {
			t.Errorf("rows of %d bytes: chunks of %d, %d rows; asked for %d", table.rowBytes, got, table.caps[table.last], mem.asked)
		}
		if a := w.Archetype(table.index); a.Entities != 1<<18 {
			t.Errorf("%+v", a)
		}
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestChunks_AreSmallerWhereTheAllocatorHasNoLarger uses up a budget to the last small chunk.
func TestChunks_AreSmallerWhereTheAllocatorHasNoLarger(t *testing.T) {
	for _, as := range []error{memory.ErrTooLarge, memory.ErrOutOfMemory, &memory.Exhausted{Op: "test"}, fmt.Errorf("pool: %w", memory.ErrTooLarge)} {
		w, mem := newSizesWorld(t, Config{ChunkBytes: 1024})
		mem.most, mem.as = 1024, as
		m, pos := NewMap1[position](w), mustRegisterTest[position](t, w)
		var es []Entity
		for i := range 2000 {
			es = append(es, must[Entity](t)(m.NewEntity(position{float32(i), 0})))
		}
		if err := m.NewBatch(1000, nil); err != nil {
			t.Error(err)
		}
		per := int(m.mapper.table.caps[0])
		if s := w.Stats(); s.Chunks != (3000+per-1)/per || s.BytesCapacity != uint64(s.Chunks)*1024 {
			t.Errorf("%v: %+v", as, s)
		}
		mem.most = 4096 // a larger one is taken again as soon as there is one
		if err := m.NewBatch(1000, nil); err != nil || w.Check() != nil {
			t.Fatal(err, w.Check())
		}
		if s := w.Stats(); s.BytesCapacity == uint64(s.Chunks)*1024 {
			t.Errorf("%v: %+v", as, s)
		}
		for i, e := range es {
			if p, ok := pos.Get(e); !ok || p.X != float32(i) {
				t.Fatalf("entity %d is elsewhere", i)
			}
			if i%3 == 0 {
				w.Remove(e)
			}
		}
	}
}

func TestChunks_ASpareOfAnySizeServesAnyTable(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	large, small := NewMap1[position](w), NewMap1[velocity](w)
	n := perClass*int(must[*table](t)(large.mapper.target()).caps[0]) + 1
	for range n {
		must[Entity](t)(large.NewEntity(position{}))
	}
	w.Remove(*w.store.entity(large.mapper.table.tailLoc)) // the chunk of 4 KiB is spare
	mem.limit = 1
	if err := small.NewBatch(int(must[*table](t)(small.mapper.target()).caps[1]), nil); err != nil {
		t.Error(err)
	}
	if a := w.Archetype(small.mapper.table.index); a.Chunks != 1 || a.Capacity != int(small.mapper.table.caps[1]) || w.Check() != nil {
		t.Errorf("%+v, %v", a, w.Check())
	}
	if _, err := small.NewEntity(velocity{}); !errors.Is(err, memory.ErrOutOfMemory) || err.Error() != "ecs: a chunk of 1024 bytes: test: out of memory: need 1024 bytes, have 0 of 0" {
		t.Error(err)
	}
	mem.limit = 0
	must[Entity](t)(small.NewEntity(velocity{}))
}

// TestHash_DoesNotTellHowTheMemoryCame: two players whose budgets differ see the same world.
func TestHash_DoesNotTellHowTheMemoryCame(t *testing.T) {
	hash := func(w *World) uint64 {
		m := NewMap3[position, armour, odd](w)
		if err := m.NewColumns(3000, func(es []Entity, ps []position, as []armour, os []odd) {
			for i, e := range es {
				ps[i], as[i], os[i] = position{float32(e.index), 1}, armour{Value: uint64(e.index)}, odd{byte(e.index)}
			}
		}); err != nil {
			t.Fatal(err)
		}
		for i, e := range entities(w, NewFilter1[position](w)) {
			if i%7 == 0 {
				w.Remove(e)
			} else if i%5 == 0 {
				if err := mustRegisterTest[burning](t, w).Add(e, burning{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		return w.Hash(1)
	}
	grown, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	even, _ := newTestWorld(t, Config{ChunkBytes: 1024, MaxChunkBytes: 1024})
	short, mem := newSizesWorld(t, Config{ChunkBytes: 1024})
	mem.most, mem.as = 4096, memory.ErrOutOfMemory
	a, b, c := hash(grown), hash(even), hash(short)
	if a != b || a != c || grown.Stats().Chunks >= short.Stats().Chunks || short.Stats().Chunks >= even.Stats().Chunks {
		t.Errorf("%#x, %#x, %#x", a, b, c)
	}
}

// forgetful is an allocator on the Go heap that keeps no block itself.
type forgetful struct{}

func (forgetful) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([][chunkAlign]byte, size/chunkAlign))), nil
}

func (forgetful) Free(unsafe.Pointer, uintptr) {}

func TestBooks_HoldEveryBlock(t *testing.T) {
	w := must[*World](t)(New(forgetful{}, Config{ChunkBytes: 1024}))
	defer w.Close()
	m := NewMap1[position](w)
	var litter [][]uint64
	for i := range 3000 {
		must[Entity](t)(m.NewEntity(position{X: float32(i)}))
		if i%100 == 0 {
			runtime.GC()
		}
		litter = append(litter, slices.Repeat([]uint64{1 << 63}, 1<<(i%8))) // takes what was collected
	}
	i := 0
	for _, v := range NewFilter1[position](w).All() {
		if *v != (position{X: float32(i)}) {
			t.Fatalf("entity %d holds %v", i, *v)
		}
		i++
	}
	if runtime.KeepAlive(litter); i != 3000 || w.Check() != nil {
		t.Error(i, w.Check())
	}
}

// TestBooks_HoldPointerfulColumns: the books have a word for each column of each chunk, and the
// collector looks at none; what keeps the columns in the Go heap is beside them.
func TestBooks_HoldPointerfulColumns(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	for _, p := range []error{
		memory.PointerFree[address](), memory.PointerFree[tableChunk](),
		memory.PointerFree[record](), memory.PointerFree[move](),
	} {
		if p != nil {
			t.Error(p)
		}
	}
	m := NewMap2[position, brain](w)
	if err := m.NewBatch(2000, func(i int, _ *position, b *brain) { b.Target = &i }); err != nil {
		t.Fatal(err)
	}
	for range 3 { // nothing but held keeps the columns
		runtime.GC()
	}
	i := 0
	q := NewFilter2[position, brain](w).Query()
	for q.Next() {
		if _, b := q.Get(); *b.Target != i {
			t.Fatalf("entity %d points at %d", i, *b.Target)
		}
		i++
	}
}

// TestGrow_CopiesNoBooks: what a step allocates bounds what it copies, and what the collector
// makes it pay. The index and the rows are in other memory.
func TestGrow_CopiesNoBooks(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap2[position, velocity](w)
	table := must[*table](t)(m.mapper.target())
	must[Entity](t)(m.NewEntity(position{}, velocity{})) // with -race the index is in the Go heap, reserved at once
	var before, after runtime.MemStats
	for w.Len() < 300_000 {
		if table.tailN < table.limit && w.store.index.ready() {
			must[Entity](t)(m.NewEntity(position{}, velocity{}))
			continue
		}
		size := uint64(0)
		if table.tailN == table.limit {
			size = uint64(w.store.sizes[w.store.dueClass(table, len(table.chunks))]) + chunkAlign // testMemory's own
		}
		runtime.ReadMemStats(&before)
		must[Entity](t)(m.NewEntity(position{}, velocity{}))
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > size+64<<10 {
			t.Fatalf("entity %d: %d bytes for a chunk of %d", w.Len(), n, size)
		}
	}
}
