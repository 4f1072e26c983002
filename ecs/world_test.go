package ecs

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func TestNew_RefusesBadConfig(t *testing.T) {
	mem := newTestMemory(t)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{ChunkBytes: 512}, "power of two from 1024 to 65536"},
		{Config{ChunkBytes: 3000}, "ChunkBytes is 3000"},
		{Config{ChunkBytes: 128 << 10}, "ChunkBytes is 131072"},
		{Config{ChunkBytes: -1}, "ChunkBytes is -1"},
		{Config{MaxChunkBytes: 8 << 10}, "MaxChunkBytes is 8192; it must be a power of two from ChunkBytes, 16384, to 4194304"},
		{Config{MaxChunkBytes: 8 << 20}, "MaxChunkBytes is 8388608"},
		{Config{MaxChunkBytes: 48 << 10}, "MaxChunkBytes is 49152"},
		{Config{MaxChunkBytes: -1}, "MaxChunkBytes is -1"},
		{Config{MaxEntities: -5}, "MaxEntities is -5"},
		{Config{MaxEntities: 1<<28 + 1}, "from 1 to 268435456"},
	} {
		if _, err := New(mem, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v) says %v, want %q", c.cfg, err, c.want)
		}
	}
	for _, cfg := range []Config{{ChunkBytes: 1024, MaxEntities: 1}, {ChunkBytes: 64 << 10, MaxEntities: 1 << 28}} {
		if _, err := New(mem, cfg); err != nil {
			t.Errorf("New(%+v) says %v", cfg, err)
		}
	}
	if _, err := New(nil, Config{}); err == nil {
		t.Error("New accepts no allocator")
	}
	if mem.allocs != 0 {
		t.Error("New asks for memory")
	}
}

func TestWorld_CloseGivesEverythingBackOnce(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	m := NewMap2[position, brain](w)
	e := must[Entity](t)(m.NewEntity(position{}, brain{}))
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(mem.live) != 0 || w.Alive(e) || w.Len() != 0 {
		t.Error("something is left after Close")
	}
	if _, _, ok := m.Get(e); ok {
		t.Error("a pointer into a closed world")
	}
	text := misuse(t, func() { m.NewEntity(position{}, brain{}) })
	if text != "ecs.NewEntity: the world is closed" {
		t.Error(text)
	}
	if q := NewFilter1[position](w).Query(); q.Next() {
		t.Error("a closed world has entities")
	}
}

func TestWorld_ResetKeepsOldEntitiesStale(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	m := NewMap1[position](w)
	var old []Entity
	for range 10000 {
		old = append(old, must[Entity](t)(m.NewEntity(position{1, 1})))
	}
	w.Reset()
	if len(mem.live) != 0 || w.Len() != 0 || w.Stats().PeakEntities != 10000 {
		t.Errorf("after Reset: %d blocks, %+v", len(mem.live), w.Stats())
	}
	for i := range 5000 {
		e := must[Entity](t)(m.NewEntity(position{2, 2}))
		if e.Index() != old[i].Index() || e == old[i] {
			t.Fatalf("entity %d is %v after %v", i, e, old[i])
		}
	}
	for _, e := range old {
		if _, ok := pos.Get(e); ok || w.Alive(e) || w.Remove(e) || pos.Set(e, position{}) {
			t.Fatalf("%v is alive again", e)
		}
	}
}

func TestEntity_ZeroAndForeignAreStale(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	for range 2 {
		for _, e := range []Entity{{}, MakeEntity(7, 3), MakeEntity(1<<27, 1), MakeEntity(^uint32(0), ^uint32(0)), MakeEntity(0, retiredGen)} {
			if _, ok := pos.Get(e); ok || w.Alive(e) || w.Remove(e) || pos.Has(e) {
				t.Errorf("%v is alive", e)
			}
			if err := pos.Add(e, position{}); !errors.Is(err, ErrStale) {
				t.Errorf("Add to %v: %v", e, err)
			}
			if had, err := pos.Remove(e); had || err != nil {
				t.Errorf("Remove from %v: %v %v", e, had, err)
			}
		}
		must[Entity](t)(w.NewEntity())
	}
	if s := (Entity{index: 12, gen: 7}).String(); s != "#12.7" {
		t.Error(s)
	}
	if e := MakeEntity(12, 7); e.Index() != 12 || e.Generation() != 7 || e.IsZero() || !MakeEntity(3, 4).IsZero() || !MakeEntity(0, 3).IsZero() {
		t.Error("MakeEntity is not the inverse of Index and Generation")
	}
	if unsafe.Sizeof(Entity{}) != 8 {
		t.Error("an Entity is not 8 bytes")
	}
}

func TestEntity_WornOutSlotIsRetired(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 2})
	a := must[Entity](t)(w.NewEntity())
	w.Remove(a)
	w.store.index.at(a.index).gen = lastGen - 1
	last := must[Entity](t)(w.NewEntity())
	if last.gen != lastGen || last.index != a.index {
		t.Fatalf("%v is not the last life of %v", last, a)
	}
	w.Remove(last)
	other := must[Entity](t)(w.NewEntity())
	if other.index == a.index || w.Stats().RetiredSlots != 1 {
		t.Errorf("%v lives in a worn-out slot", other)
	}
	if _, err := w.NewEntity(); !errors.Is(err, ErrLimit) {
		t.Errorf("the retired slot counts as free: %v", err)
	}
	w.Reset()
	must[Entity](t)(w.NewEntity())
	if _, err := w.NewEntity(); err == nil {
		t.Error("Reset revives a retired slot")
	}
}

func TestEntity_SlotOnItsLastLifeIsRetiredByReset(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 3})
	a := must[Entity](t)(w.NewEntity())
	w.Remove(a)
	w.store.index.at(a.index).gen = lastGen - 1
	must[Entity](t)(w.NewEntity())
	w.Reset()
	if err := NewMap1[position](w).NewBatch(3, nil); !errors.Is(err, ErrLimit) {
		t.Errorf("three slots of which one is worn out: %v", err)
	}
	if err := NewMap1[position](w).NewBatch(2, nil); err != nil {
		t.Error(err)
	}
}

func TestEntity_BatchTakesASlotToItsLastLife(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 3})
	a := must[Entity](t)(w.NewEntity())
	w.Remove(a)
	w.store.index.at(a.index).gen = lastGen - 1
	if err := NewMap1[position](w).NewBatch(2, nil); err != nil || w.store.index.lastLife != 1 || w.Check() != nil {
		t.Errorf("%v, %d on their last life, %v", err, w.store.index.lastLife, w.Check())
	}
	w.Reset()
	if s := w.Stats(); s.RetiredSlots != 1 || w.Check() != nil {
		t.Errorf("%+v, %v", s, w.Check())
	}
}

func TestWorld_OpenQueryLocksStructure(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap2[position, velocity](w)
	pos := mustRegisterTest[position](t, w)
	e := must[Entity](t)(m.NewEntity(position{}, velocity{}))
	f := NewFilter1[position](w)
	q := f.Query()
	q.Next()
	for op, change := range map[string]func(){
		"NewEntity": func() { m.NewEntity(position{}, velocity{}) },
		"NewBatch":  func() { m.NewBatch(1, nil) },
		"Remove":    func() { w.Remove(e) },
		"Add":       func() { pos.Add(e, position{}) },
		"RemoveAll": func() { w.RemoveAll(f) },
		"AddAll":    func() { m.AddAll(f, position{}, velocity{}) },
		"Reset":     w.Reset,
		"Close":     func() { w.Close() },
		"Apply":     func() { w.Commands().Apply() },
		"Discard":   func() { w.Commands().Discard() },
	} {
		want := "ecs." + op + ": the world is locked by an open query; use World.Commands, or end the query with Close"
		if text := misuse(t, change); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	inner := f.Query()
	for inner.Next() {
		*inner.Get() = position{3, 3}
	}
	if !w.Locked() {
		t.Error("the inner query unlocked the outer one")
	}
	q.Close()
	q.Close()
	if w.Locked() || q.Next() || q.NextChunk() || q.Next() {
		t.Error("a closed query goes on")
	}
	w.Remove(e)
}

func TestWorld_BatchCallbackIsLockedAlsoWhenItPanics(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap1[position](w)
	misuse(t, func() { m.NewBatch(2, func(int, *position) { w.NewEntity() }) })
	if w.Locked() || w.Len() != 2 {
		t.Error("a panic in the callback leaves the world locked")
	}
}

func TestWorld_FullWorldRefusesAndRecovers(t *testing.T) {
	w, _ := newTestWorld(t, Config{MaxEntities: 3})
	m := NewMap1[position](w)
	if err := m.NewBatch(4, nil); !errors.Is(err, ErrLimit) || w.Len() != 0 {
		t.Errorf("a batch past the limit: %v, %d entities", err, w.Len())
	}
	for range 3 {
		must[Entity](t)(m.NewEntity(position{}))
	}
	if err := m.NewBatch(1, nil); !errors.Is(err, ErrLimit) || w.Len() != 3 || w.Check() != nil {
		t.Errorf("a batch beside three of three: %v, %d entities", err, w.Len())
	}
	_, err := m.NewEntity(position{})
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "all 3 entities") {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.NewEntity(position{}) }); n != 0 {
		t.Errorf("refusing costs %v allocations", n)
	}
	if n := w.RemoveAll(NewFilter1[position](w)); n != 3 {
		t.Errorf("RemoveAll = %d", n)
	}
	must[Entity](t)(m.NewEntity(position{}))
}

func TestWorld_AddressesNeverMoveWhileGrowing(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap2[position, brain](w)
	pos := mustRegisterTest[position](t, w)
	type at struct {
		e Entity
		p *position
		b *brain
	}
	var ats []at
	for range 5000 {
		e := must[Entity](t)(m.NewEntity(position{}, brain{}))
		p, b, _ := m.Get(e)
		ats = append(ats, at{e, p, b})
	}
	registerMany(t, w) // widens the directory under the columns
	for _, a := range ats {
		p, b, _ := m.Get(a.e)
		if one, _ := pos.Get(a.e); p != a.p || b != a.b || one != a.p {
			t.Fatalf("%v moved", a.e)
		}
	}
}

func TestRegister_RefusesWhatIsOneTooMany(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	mustRegisterTest[velocity](t, w)
	registerMany(t, w)
	if _, err := Register[position](w); !errors.Is(err, ErrTooManyComponents) || !strings.Contains(err.Error(), "ecs.position") {
		t.Error(err)
	}
	text := misuse(t, func() { NewMap1[position](w) })
	if !strings.HasPrefix(text, "ecs.NewMap1: ecs: a world holds at most 256") {
		t.Error(text)
	}
	if _, err := Register[velocity](w); err != nil {
		t.Error("a known type is refused:", err)
	}
}

func TestRegister_AllTypesFitOneEntity(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	registerMany(t, w)
	e := must[Entity](t)(w.NewEntity())
	for id, c := range w.store.comps {
		if _, err := w.store.addComponent(e, ID(id), c.size); err != nil {
			t.Fatal(err)
		}
	}
	if !w.HasID(e, MaxComponents-1) || w.Column(MaxComponents-1).Entities != 1 || w.Stats().Archetypes != MaxComponents+1 {
		t.Errorf("%+v", w.Stats())
	}
}

func TestRegister_RefusesWhatFitsNoChunk(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	if _, err := w.RegisterSize("large", 1024-int(entityBytes), 1); !errors.Is(err, memory.ErrTooLarge) {
		t.Error(err)
	}
	a, b := registerType(t, w, [1000]byte{}), mustRegisterTest[odd](t, w)
	e := newValue(t, w, [1000]byte{1})
	before := w.Hash(0)
	err := b.Add(e, odd{})
	if !errors.Is(err, memory.ErrTooLarge) || !strings.Contains(err.Error(), "[1000]uint8, ecs.odd") {
		t.Error(err)
	}
	if w.Hash(0) != before || !w.HasID(e, a) || b.Has(e) {
		t.Error("a refused Add changed the world")
	}
}

func TestNewMap_RefusesATypeTwice(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w).ID()
	if text := misuse(t, func() { newMapper(w, pos, pos) }); text != "ecs.NewMap: component ecs.position is named twice" {
		t.Error(text)
	}
	if text := misuse(t, func() { NewFilter1[position](w).With(40) }); text != "ecs.With: the world does not have this component ID" {
		t.Error(text)
	}
	other, _ := newTestWorld(t, Config{})
	f := NewFilter1[position](other)
	if text := misuse(t, func() { w.RemoveAll(f) }); text != "ecs.RemoveAll: the filter belongs to another world" {
		t.Error(text)
	}
}

func TestQuery_GetOutsideNextIsANilDereference(t *testing.T) {
	if runtime.GOARCH == "wasm" {
		return // address 0 can be read
	}
	w, _ := newTestWorld(t, Config{})
	must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	f := NewFilter1[position](w)
	q := f.Query()
	defer func() {
		if recover() == nil {
			t.Error("Get before Next reads something")
		}
		q.Close()
	}()
	q.Get().X++
}

func TestColumns_AreAlignedTo16(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	mustRegisterTest[odd](t, w) // as the first, so that its column comes before the others
	if err := NewMap3[position, armour, odd](w).NewColumns(1000, func(es []Entity, ps []position, as []armour, os []odd) {
		for _, p := range []unsafe.Pointer{unsafe.Pointer(&es[0]), unsafe.Pointer(&os[0]), unsafe.Pointer(&ps[0]), unsafe.Pointer(&as[0])} {
			if uintptr(p)%16 != 0 {
				t.Errorf("a column at %p", p)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
}
