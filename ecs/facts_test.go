package ecs

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// Where chunks grow, many a refusal is met by a smaller one.
func TestWorld_OutOfMemoryChangesNothing(t *testing.T) {
	for _, c := range []struct {
		largest, atLeast int
		persist          bool
	}{{1024, 10, false}, {1024, 10, true}, {0, 4, false}, {0, 10, true}} {
		n := everyRefusal(t, Config{ChunkBytes: 1024, MaxChunkBytes: c.largest}, c.persist, func(w *World, step stepper) { runScenario(t, w, step) })
		if n < c.atLeast {
			t.Errorf("%+v: only %d requests failed", c, n)
		}
	}
}

// runScenario uses every operation that asks for memory.
func runScenario(t *testing.T, w *World, step stepper) {
	m, pos := NewMap3[position, armour, brain](w), mustRegisterTest[position](t, w)
	tag, vel := mustRegisterTest[burning](t, w), NewMap1[velocity](w)
	all := NewFilter1[position](w)
	var es []Entity
	for range 60 {
		step("NewEntity", func() error {
			e, err := m.NewEntity(position{1, 2}, armour{}, brain{Name: "x"})
			if err == nil {
				es = append(es, e)
			}
			return err
		})
	}
	step("NewBatch", func() error { return m.NewBatch(20, nil) })
	step("NewBatch", func() error { return m.NewBatch(200, nil) })
	step("Add", func() error { return tag.Add(es[3], burning{}) })
	step("Add", func() error { return vel.Add(es[4], velocity{}) })
	step("Remove", func() error { _, err := pos.Remove(es[5]); return err })
	step("Spawn", func() error { _, err := w.Commands().Spawn(); return err })
	step("RemoveAll", func() error { _, err := m.RemoveAll(NewFilter1[velocity](w)); return err })
	AddTo(w.Commands(), vel.component(), es[6], velocity{5, 5})
	step("Apply", w.Commands().Apply)
	if w.Commands().Len() != 0 {
		t.Fatal("commands are left over")
	}
	w.RemoveAll(all)
}

// component lends the mapper's type to AddTo.
func (m *Map1[A]) component() Component[A] {
	return Component[A]{w: m.mapper.w, comp: m.mapper.w.store.comps[m.mapper.ids[0]]}
}

func TestAddAll_ReportsWhatWasDone(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, tag := mustRegisterTest[position](t, w).ID(), mustRegisterTest[burning](t, w).ID()
	for _, err := range []error{newBatch(w, 10, pos), newBatch(w, 100, pos, tag)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all, vel := NewFilter1[position](w), NewMap1[velocity](w)
	mem.failAt, mem.persist = mem.allocs+2, true // the spare of the first archetype is not enough for the second
	if n, err := vel.AddAll(all, velocity{1, 1}); n != 10 || !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("AddAll = %d, %v", n, err)
	}
	mem.heal()
	if n, err := vel.AddAll(all, velocity{2, 2}); n != 110 || err != nil {
		t.Errorf("AddAll = %d, %v", n, err)
	}
	q := NewFilter1[velocity](w).Query()
	for q.Next() {
		if *q.Get() != (velocity{2, 2}) {
			t.Error("an entity kept another value")
		}
	}
}

func TestWorld_SteadyStateAllocatesNothing(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m, vel := NewMap2[position, health](w), mustRegisterTest[velocity](t, w)
	think, pos := mustRegisterTest[brain](t, w), mustRegisterTest[position](t, w)
	if err := m.NewBatch(2000, nil); err != nil {
		t.Fatal(err)
	}
	f, moving := NewFilter2[position, health](w), NewMap1[velocity](w)
	cmd := w.Commands()
	var e Entity
	var sink float32
	for name, op := range map[string]func(){
		"query": func() {
			q := f.Query()
			for q.Next() {
				p, h := q.Get()
				p.X += float32(h.Points)
				e = q.Entity()
			}
		},
		"columns": func() {
			q := f.Query()
			for q.NextChunk() {
				_, ps, _ := q.Columns()
				sink += ps[0].X
			}
		},
		"all": func() {
			for n, r := range f.All() {
				r.A.X += float32(r.B.Points)
				e = n
			}
		},
		"all in all": func() {
			for range f.All() {
				for range f.All() {
					break
				}
			}
		},
		"chunks": func() {
			for _, c := range f.Chunks() {
				sink += c.A[0].X
			}
		},
		"create and remove": func() {
			e, _ := m.NewEntity(position{}, health{})
			w.Remove(e)
		},
		"batch": func() {
			m.NewBatch(50, func(i int, p *position, h *health) { p.X = float32(i) })
			moving.AddAll(f, velocity{1, 1})
			moving.RemoveAll(f)
		},
		"get and set":    func() { pos.Get(e); pos.Set(e, position{}); m.Get(e) },
		"add and remove": func() { vel.Add(e, velocity{}); vel.Remove(e) },
		"pointerful":     func() { think.Add(e, brain{Name: "n"}); think.Remove(e) },
		"stats":          func() { w.Stats(); w.Column(0); w.Archetype(1); w.Hash(1) },
		"commands": func() {
			q := f.Query()
			q.Next()
			AddTo(cmd, vel, e, velocity{})
			AddTo(cmd, think, e, brain{Name: "n"})
			n, _ := cmd.Spawn()
			AddTo(cmd, pos, n, position{})
			cmd.Destroy(n)
			n, _ = m.Spawn(cmd, position{}, health{})
			cmd.Destroy(n)
			q.Close()
			cmd.Apply()
			RemoveFrom(cmd, vel, e)
			RemoveFrom(cmd, think, e)
			cmd.Apply()
		},
	} {
		op()
		if n := testing.AllocsPerRun(50, op); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	_ = sink
}

func TestPointerfulColumns_SurviveTheCollector(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m, tag := NewMap2[position, brain](w), mustRegisterTest[burning](t, w)
	var es []Entity
	for i := range 500 {
		n := i
		es = append(es, must[Entity](t)(m.NewEntity(position{}, brain{Name: strings.Repeat("x", i%7), Target: &n})))
	}
	for i := 0; i < 500; i += 3 {
		w.Remove(es[i])
	}
	for i := 1; i < 500; i += 3 {
		if err := tag.Add(es[i], burning{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		runtime.GC()
		garbage := make([][]byte, 1000)
		for i := range garbage {
			garbage[i] = make([]byte, 64)
		}
	}
	for i, e := range es {
		_, b, ok := m.Get(e)
		if ok != (i%3 != 0) || ok && (*b.Target != i || len(b.Name) != i%7) {
			t.Fatalf("entity %d lost its brain", i)
		}
	}
}

func TestPointerfulColumns_LetGoOfVacatedRows(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap1[brain](w)
	freed := make(chan bool, 1)
	target := &new([8]int)[0] // alone in its block: the runtime packs smaller objects together
	runtime.AddCleanup(target, func(int) { freed <- true }, 0)
	e := must[Entity](t)(m.NewEntity(brain{Target: target}))
	must[Entity](t)(m.NewEntity(brain{}))
	target = nil
	w.Remove(e)
	testenv.Until(t, "the world lets go of what a removed entity pointed to", time.Millisecond, func() bool {
		runtime.GC()
		return len(freed) > 0 // cleanups run in a goroutine of their own
	})
}

func TestHash_FollowsOperationsAndIgnoresPadding(t *testing.T) {
	run := func(garbage byte, tail uint16) uint64 {
		w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
		dirty, _ := mem.Alloc(1024, 64)
		for i := range 1024 {
			*(*byte)(unsafeAdd(dirty, i)) = garbage
		}
		mem.free[1024] = append(mem.free[1024], dirty)
		delete(mem.live, dirty)
		m := NewMap2[armour, position](w)
		var es []Entity
		for i := range 30 {
			e := must[Entity](t)(m.NewEntity(armour{}, position{float32(i), 0}))
			a, _, _ := m.Get(e)
			a.Kind, a.Value, a.Tail = 1, uint64(i), tail
			es = append(es, e)
		}
		w.Remove(es[4])
		return w.Hash(7)
	}
	want := run(0x00, 5)
	if got := run(0xEE, 5); got != want {
		t.Error("the hash reads padding")
	}
	if got := run(0x00, 6); got == want {
		t.Error("the hash misses a field")
	}
}

func TestHashWords_CoverFieldsWithoutPaddingAndBlanks(t *testing.T) {
	type mixed struct {
		A uint8
		_ [3]byte
		B [3]float32
		C complex128
		D struct {
			E bool
			F int16
		}
	}
	w, _ := newTestWorld(t, Config{})
	id := registerType(t, w, mixed{})
	want := []word{{0, 1, plainWord}, {4, 8, floatPairWord}, {12, 4, floatWord}, {16, 8, floatWord}, {24, 8, floatWord}, {32, 1, plainWord}, {34, 2, plainWord}}
	got := w.store.comps[id].words
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("word %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestStats_AddUp(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 4096, MaxChunkBytes: 4096})
	if err := NewMap2[position, brain](w).NewBatch(1000, nil); err != nil {
		t.Fatal(err)
	}
	s := w.Stats()
	const brainBytes = unsafe.Sizeof(brain{})
	per := 4096 / max(8+8, int(brainBytes))
	chunks := (1000 + per - 1) / per
	want := Stats{Entities: 1000, PeakEntities: 1000, Components: 2, Archetypes: 2, Chunks: chunks, ChunkBytes: 4096,
		BytesUsed: 1000 * 16, BytesCapacity: uint64(chunks) * 4096, PointerfulBytes: uint64(chunks*per) * uint64(brainBytes)}
	if s != want {
		t.Errorf("%+v\nwant %+v", s, want)
	}
	if c := w.Column(1); !c.Pointerful || c.Name != "ecs.brain" || c.Entities != 1000 || c.BytesUsed != 1000*uint64(brainBytes) || c.BytesCapacity != s.PointerfulBytes {
		t.Errorf("%+v", c)
	}
	if a := w.Archetype(1); a.Capacity != chunks*per || !a.Has(0) || !a.Has(1) || a.Has(2) || a.Entities != 1000 || a.RowBytes != 16 {
		t.Errorf("%+v", a)
	}
	w.RemoveAll(NewFilter1[position](w))
	if s := w.Stats(); s.Chunks != 1 || s.SpareChunks != 1 || s.Entities != 0 || s.BytesUsed != 0 {
		t.Errorf("%+v", s)
	}
}

func TestTable_KeepsOneSpareChunk(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	m := NewMap1[position](w)
	caps := must[*table](t)(m.mapper.target()).caps
	for range caps[0] + caps[1] + 3*caps[w.store.first] {
		must[Entity](t)(m.NewEntity(position{}))
	}
	first := mem.allocs
	for range 100 { // come and go at the edge of a chunk
		e := must[Entity](t)(m.NewEntity(position{}))
		w.Remove(e)
	}
	if mem.allocs != first+1 || w.Stats().SpareChunks != 1 {
		t.Errorf("%d requests at the edge of a chunk, %+v", mem.allocs-first, w.Stats())
	}
}

func TestAddAll_CompletesEntitiesThatHaveSome(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	some := must[Entity](t)(NewMap2[position, velocity](w).NewEntity(position{1, 1}, velocity{1, 1}))
	both := must[Entity](t)(NewMap2[position, velocity](w).NewEntity(position{1, 1}, velocity{1, 1}))
	check(t, mustRegisterTest[health](t, w).Add(both, health{1, 1}))
	m := NewMap2[position, health](w)
	if n, err := m.AddAll(NewFilter1[velocity](w), position{2, 2}, health{3, 3}); n != 2 || err != nil {
		t.Fatalf("AddAll = %d, %v", n, err)
	}
	for _, e := range []Entity{some, both} {
		if v, h, ok := m.Get(e); !ok || *v != (position{2, 2}) || *h != (health{3, 3}) {
			t.Errorf("%v has %v and %v", e, v, h)
		}
	}
}

func TestHash_IsTheSameForEveryNaN(t *testing.T) {
	type floats struct {
		A float32
		B float64
		C [3]float32
		D [2]float64
		E complex64
		F complex128
		G [3]uint32 // of whatever bits: no floats
	}
	nan32 := func(sign uint32) float32 { return math.Float32frombits(sign<<31 | 0x7F800001 + sign) }
	nan64 := func(sign uint64) float64 { return math.Float64frombits(sign<<63 | 0x7FF0000000000001 + sign) }
	hash := func(f func(v *floats, sign uint32), sign uint32) uint64 {
		w, _ := newTestWorld(t, Config{})
		var v floats
		f(&v, sign)
		newValue(t, w, v)
		return w.Hash(0)
	}
	for name, c := range map[string]struct {
		same bool
		f    func(v *floats, sign uint32)
	}{
		"float32":          {true, func(v *floats, s uint32) { v.A = nan32(s) }},
		"float64":          {true, func(v *floats, s uint32) { v.B = nan64(uint64(s)) }},
		"first of a pair":  {true, func(v *floats, s uint32) { v.C[0] = nan32(s) }},
		"second of a pair": {true, func(v *floats, s uint32) { v.C[1] = nan32(s) }},
		"odd one out":      {true, func(v *floats, s uint32) { v.C[2] = nan32(s) }},
		"array of float64": {true, func(v *floats, s uint32) { v.D[1] = nan64(uint64(s)) }},
		"complex64":        {true, func(v *floats, s uint32) { v.E = complex(nan32(s), nan32(1-s)) }},
		"complex128":       {true, func(v *floats, s uint32) { v.F = complex(nan64(uint64(s)), nan64(uint64(1-s))) }},
		"bits of integers": {false, func(v *floats, s uint32) { v.G[0] = math.Float32bits(nan32(s)) }},
		"signs of zero":    {false, func(v *floats, s uint32) { v.A = math.Float32frombits(s << 31) }},
		"NaN or number":    {false, func(v *floats, s uint32) { v.B = math.Float64frombits(0x7FF8000000000000 >> s) }},
		"where it stands":  {false, func(v *floats, s uint32) { v.C[s] = nan32(0) }},
	} {
		if same := hash(c.f, 0) == hash(c.f, 1); same != c.same {
			t.Errorf("%s: hashes are equal: %v", name, same)
		}
	}
}

func TestHash_HoldsItsValues(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, arm := mustRegisterTest[position](t, w), mustRegisterTest[armour](t, w)
	trio := registerType(t, w, [3]int32{})
	check(t, newBatch(w, 3, pos.ID(), arm.ID(), trio))
	i := 0
	for e, p := range NewFilter1[position](w).All() {
		a, n := must2(arm.Get(e)), (*[3]int32)(w.Ptr(e, trio))
		*p, *a, *n = position{float32(i), -1.5}, armour{uint8(i), 1 << 40, 9}, [3]int32{1, int32(i), -1}
		i++
	}
	const want = 0xce47f0ac34eb9455
	if h := w.Hash(1); h != want {
		t.Errorf("%#x, want %#x: recorded games compare this number", h, uint64(want))
	}
}

func TestRegister_BoundsTypesWithPointersToo(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	_, _, err := w.register(reflect.TypeFor[[1 << 20]*int]()) // a column of it would be a gigabyte and more
	if !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "raise Config.ChunkBytes") {
		t.Error(err)
	}
	if _, _, err := w.register(reflect.TypeFor[[1024 - 16 - 8]byte]()); err != nil {
		t.Error("the largest type that fits is refused:", err)
	}
	if _, _, err := w.register(reflect.TypeFor[[1024 - 16 - 8 + 1]byte]()); !errors.Is(err, memory.ErrTooLarge) {
		t.Error(err)
	}
}

func TestAddAll_TakesPointersAlong(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap2[position, brain](w)
	if err := m.NewBatch(200, func(i int, p *position, b *brain) {
		p.X, b.Name, b.Target = float32(i), strings.Repeat("b", i), &i
	}); err != nil {
		t.Fatal(err)
	}
	tags := NewMap1[burning](w)
	look := func(after string) {
		t.Helper()
		q := NewFilter2[position, brain](w).Query()
		for q.Next() {
			if p, b := q.Get(); len(b.Name) != int(p.X) || *b.Target != int(p.X) {
				t.Fatalf("after %s entity %v has %q", after, p.X, b.Name)
			}
		}
	}
	if n := must[int](t)(tags.AddAll(NewFilter1[position](w), burning{})); n != 200 {
		t.Errorf("AddAll = %d", n)
	}
	look("AddAll")
	if n := must[int](t)(tags.RemoveAll(NewFilter1[position](w))); n != 200 {
		t.Errorf("RemoveAll = %d", n)
	}
	look("RemoveAll")
}

func TestHash_SeesEveryWord(t *testing.T) {
	type words struct {
		A [2]float32
		B [2]uint32
		C complex128
		D [3]uint16
		E float64
	}
	hash := func(f func(v *words)) uint64 {
		w, _ := newTestWorld(t, Config{})
		var v words
		f(&v)
		newValue(t, w, v)
		return w.Hash(0)
	}
	seen := map[uint64]string{hash(func(*words) {}): "nothing"}
	for name, f := range map[string]func(v *words){
		"A0": func(v *words) { v.A[0] = 1 }, "A1": func(v *words) { v.A[1] = 1 },
		"B0": func(v *words) { v.B[0] = 1 }, "B1": func(v *words) { v.B[1] = 1 },
		"C real": func(v *words) { v.C = 1 }, "C imag": func(v *words) { v.C = 1i },
		"D0": func(v *words) { v.D[0] = 1 }, "D2": func(v *words) { v.D[2] = 1 }, "E": func(v *words) { v.E = 1 },
	} {
		h := hash(f)
		if other, ok := seen[h]; ok {
			t.Errorf("%s hashes as %s", name, other)
		}
		seen[h] = name
	}
}

func TestColumn_CountsItsOwnArchetypesOnly(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	for _, err := range []error{
		NewMap1[position](w).NewBatch(5, nil), NewMap2[position, velocity](w).NewBatch(7, nil), NewMap1[velocity](w).NewBatch(9, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if c := w.Column(0); c.ID != 0 || c.Size != 8 || c.Pointerful || c.Archetypes != 2 || c.Entities != 12 || c.BytesUsed != 96 {
		t.Errorf("%+v", c)
	}
	if c := w.Column(1); c.ID != 1 || c.Archetypes != 2 || c.Entities != 16 {
		t.Errorf("%+v", c)
	}
}

// A tag has no bytes, and an edge has nothing to do for it.
func TestEdge_MovesNoTag(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap3[position, burning, brain](w)
	e := must[Entity](t)(m.NewEntity(position{1, 2}, burning{}, brain{}))
	if err := mustRegisterTest[velocity](t, w).Add(e, velocity{}); err != nil {
		t.Fatal(err)
	}
	tr := m.mapper.table.byComponent[mustRegisterTest[velocity](t, w).ID()]
	if len(tr.moves) != 1 || tr.moves[0].size != 8 || len(tr.heap) != 1 {
		t.Errorf("%+v", tr)
	}
	if p, _, _, ok := m.Get(e); !ok || *p != (position{1, 2}) {
		t.Error("the entity has not all that it had")
	}
}

// A type with pointers takes no space in a block, which has 131,072 rows of 8 bytes in 1 MiB: a column of the largest
// type had 8 GiB then, and one entity of 1 KiB took 2 MiB of Go heap. A chunk counts the bytes of its pointerful columns.
func TestTable_BoundsColumnsInTheGoHeap(t *testing.T) {
	type huge [65000 / unsafe.Sizeof(uintptr(0))]*int
	w, _ := newTestWorld(t, Config{ChunkBytes: 64 << 10})
	tab := must[*table](t)(newMapper(w, registerType(t, w, huge{})).target())
	for i, size := range w.store.sizes {
		if rows := w.store.rowsAt(tab, uint32(i), tab.last); uintptr(rows)*unsafe.Sizeof(huge{}) > max(size, unsafe.Sizeof(huge{})) {
			t.Errorf("a chunk of class %d has %d rows", i, rows)
		}
	}
	if got := tab.caps[w.store.first]; got != 64<<10/8 || tab.step != got {
		t.Errorf("a block of ChunkBytes has %d rows, of which Hash reads %d at once: a bound moves neither", got, tab.step)
	}
}
