package ecs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type (
	savedPlace  struct{ X, Y float32 }
	savedHealth struct{ Now, Most int16 }
	savedTag    struct{}
	savedWide   struct{ V [9]uint64 }
	savedName   struct{ Text string }
	savedBond   struct{ Strength int32 }
	savedLead   struct{}
)

// A savedWorld plays random programs in a world whose chunks lie in a heap of its own.
type savedWorld struct {
	t      testing.TB
	w      *ecs.World
	heap   *tlsf.Heap
	place  ecs.Component[savedPlace]
	health ecs.Component[savedHealth]
	tag    ecs.Component[savedTag]
	wide   ecs.Component[savedWide]
	bond   ecs.Relation[savedBond]
	leads  ecs.Relation[savedLead]
	walker *ecs.Map2[savedPlace, savedWide]
	set    save.Set
	rng    *rand.Rand
	es     []ecs.Entity
}

func newSavedWorld(t testing.TB, src page.Source) *savedWorld {
	t.Helper()
	x := &savedWorld{t: t, rng: rand.New(rand.NewPCG(1, 9))}
	var errs [9]error
	x.heap, errs[0] = tlsf.New(src, tlsf.Config{Reserve: 16 << 20, Granule: 1 << 10, Step: 16 << 10})
	x.w, errs[1] = ecs.New(x.heap, ecs.Config{Pages: src, MaxEntities: 20_000})
	x.place, errs[2] = ecs.Register[savedPlace](x.w)
	x.health, errs[3] = ecs.Register[savedHealth](x.w)
	x.tag, errs[4] = ecs.Register[savedTag](x.w)
	x.wide, errs[5] = ecs.Register[savedWide](x.w)
	x.walker = ecs.NewMap2[savedPlace, savedWide](x.w)
	x.bond, errs[7] = ecs.RegisterRelation[savedBond](x.w)
	x.leads, errs[8] = ecs.RegisterRelation[savedLead](x.w)
	errs[6] = x.w.Track(x.health.ID())
	must := errors.Join(errs[:]...)
	must = errors.Join(must, x.set.Add("heap", save.Metadata(x.heap)), x.set.Add("world", x.w), x.set.Seal())
	if must != nil {
		t.Fatal(must)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.w.Close(), x.heap.Close()); err != nil {
			t.Error(err)
		}
	})
	return x
}

// program makes random changes, and returns what the world is then.
func (x *savedWorld) program(steps int) (hash uint64) {
	var err error
	for range steps {
		switch n := x.rng.IntN(100); {
		case n < 4:
			e, err2 := x.walker.NewEntity(savedPlace{1, 2}, savedWide{[9]uint64{4}})
			x.es, err = append(x.es, e), errors.Join(err, err2)
		case n < 6 && len(x.es) > 0:
			if e := x.pick(); x.w.Alive(e) && !x.place.Has(e) && !x.wide.Has(e) {
				err = errors.Join(err, x.walker.Add(e, savedPlace{3, 4}, savedWide{}))
			}
		case n < 40 || len(x.es) == 0:
			for range 1 + x.rng.IntN(20) {
				e, err2 := x.w.NewEntity()
				if x.es = append(x.es, e); err2 != nil {
					x.t.Fatal(err2)
				}
			}
		case n < 60:
			err = errors.Join(err, ignoreStale(x.place.Add(x.pick(), savedPlace{x.rng.Float32(), 2})))
		case n < 75:
			err = errors.Join(err, ignoreStale(x.health.Add(x.pick(), savedHealth{int16(n), 9})))
		case n < 80:
			err = errors.Join(err, ignoreStale(x.wide.Add(x.pick(), savedWide{[9]uint64{1, 2, 3}})))
		case n < 83:
			err = errors.Join(err, ignoreStale(x.tag.Add(x.pick(), savedTag{})))
		case n < 85:
			err = errors.Join(err, ignoreStale(x.bond.Add(x.pick(), savedBond{int32(n)}, x.pick())))
		case n == 85:
			err = errors.Join(err, ignoreStale(x.leads.Add(x.pick(), savedLead{}, x.pick())))
		case n == 86:
			_, err2 := x.bond.SetTarget(x.pick(), x.pick())
			err = errors.Join(err, ignoreStale(err2))
		case n < 89:
			_, err2 := x.place.Remove(x.pick())
			err = errors.Join(err, err2)
		case n < 96:
			for range 1 + x.rng.IntN(15) {
				x.w.Remove(x.pick())
			}
		case n < 98:
			x.w.Shrink()
			err = errors.Join(err, x.heap.Trim())
		case n == 98 && x.rng.IntN(20) == 0:
			x.w.Reset()
		default:
			x.w.Tick()
		}
	}
	if err = errors.Join(err, x.w.Check(), x.heap.Check()); err != nil {
		x.t.Fatal(err)
	}
	return x.w.Hash(0)
}

func (x *savedWorld) pick() ecs.Entity { return x.es[x.rng.IntN(len(x.es))] }

func ignoreStale(err error) error {
	if errors.Is(err, ecs.ErrStale) {
		return nil
	}
	return err
}

func (x *savedWorld) save() *save.Slot {
	x.t.Helper()
	n, err := x.set.Size()
	slot := x.set.NewSlot(n)
	if err = errors.Join(err, x.set.Save(slot)); err != nil {
		x.t.Fatal(err)
	}
	return slot
}

func (x *savedWorld) load(slot *save.Slot) {
	x.t.Helper()
	if err := errors.Join(x.set.Load(slot), x.w.Check(), x.heap.Check()); err != nil {
		x.t.Fatal(err)
	}
}

func TestWorld_SavedStatesAreRestored(t *testing.T) {
	x := newSavedWorld(t, nil)
	filter := ecs.NewFilter1[savedPlace](x.w)
	type moment struct {
		slot        *save.Slot
		hash, after uint64
		es          []ecs.Entity
		seed        int
		sum         float32
		played      bool
	}
	sum := func() (s float32) {
		for _, r := range filter.All() {
			s += r.X
		}
		return s
	}
	var moments []*moment
	rounds := 200
	if testenv.Brief() {
		rounds = 60
	}
	for round := range rounds {
		x.program(x.rng.IntN(60))
		if round%3 == 0 {
			moments = append(moments[max(len(moments)-3, 0):], &moment{slot: x.save(), hash: x.w.Hash(0), es: slices.Clone(x.es), sum: sum(), seed: round})
			continue
		}
		m := moments[x.rng.IntN(len(moments))]
		x.load(m.slot)
		x.es = append(x.es[:0], m.es...)
		if x.w.Hash(0) != m.hash || sum() != m.sum {
			t.Fatalf("round %d: the hash is %x, was %x; the sum %v, was %v", round, x.w.Hash(0), m.hash, sum(), m.sum)
		}
		was := x.rng
		x.rng = rand.New(rand.NewPCG(uint64(m.seed), 0))
		after := x.program(60)
		if x.rng = was; m.played && after != m.after {
			t.Fatalf("round %d: the state after a second load is %x, was %x", round, after, m.after)
		}
		m.after, m.played = after, true
		x.load(m.slot)
		x.es = append(x.es[:0], m.es...)
	}
}

func TestWorld_SavingNamesWhatIsOpen(t *testing.T) {
	x := newSavedWorld(t, nil)
	x.program(30)
	slot := x.save()
	refused := func(want error, text string) {
		t.Helper()
		was := x.w.Hash(0)
		err := x.set.Load(slot)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), text) || x.w.Hash(0) != was {
			t.Errorf("Load: %v, want %q", err, text)
		}
	}
	filter := ecs.NewFilter1[savedPlace](x.w)
	q := filter.Query()
	refused(save.ErrBusy, "locked")
	q.Close()
	if _, err := x.w.Commands().Spawn(); err != nil {
		t.Fatal(err)
	}
	refused(save.ErrBusy, "1 commands wait")
	x.w.Commands().Discard()
	x.load(slot)
}

// A loop whose body panicked was taken for one in progress, and no state could be loaded until a structural change.
func TestWorld_LoadsInALoopAndAfterOneThatPanicked(t *testing.T) {
	x := newSavedWorld(t, nil)
	x.program(30)
	for range 3 {
		if _, err := x.walker.NewEntity(savedPlace{X: 1}, savedWide{}); err != nil {
			t.Fatal(err)
		}
	}
	slot, was := x.save(), x.w.Hash(0)
	filter := ecs.NewFilter1[savedPlace](x.w)
	panicked := func(body func(p *savedPlace)) (v any) {
		defer func() { v = recover() }()
		for _, p := range filter.All() {
			body(p)
		}
		return nil
	}
	if v := panicked(func(*savedPlace) { panic("body") }); v != "body" {
		t.Fatalf("the body panics: %v", v)
	}
	x.load(slot)
	v := panicked(func(p *savedPlace) {
		p.X += 5
		x.load(slot)
	})
	if _, ok := v.(*memory.Misuse); !ok {
		t.Errorf("the step after the load: %v", v)
	}
	sum := float32(0)
	for _, p := range filter.All() {
		sum += p.X
	}
	if err := x.w.Check(); err != nil || x.w.Hash(0) != was || sum < 3 {
		t.Errorf("after the loads: %v, sum %v", err, sum)
	}
}

func TestWorld_WhatCannotBeSavedIsRefusedByName(t *testing.T) {
	for want, register := range map[string]func(*ecs.World) error{
		"savedName.Text": func(w *ecs.World) error { _, err := ecs.Register[savedName](w); return err },
	} {
		h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
		w, err2 := ecs.New(h, ecs.Config{MaxEntities: 1000})
		var set save.Set
		if err = errors.Join(err, err2, register(w)); err != nil {
			t.Fatal(err)
		}
		if err = set.Add("world", w); err == nil || !strings.Contains(err.Error(), want) || set.Parts() != 0 {
			t.Errorf("Add: %v, want %q", err, want)
		}
		if err := errors.Join(w.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestWorld_LoadWithoutMemoryChangesNothing(t *testing.T) {
	limit := page.NewLimit(nil, 0)
	x := newSavedWorld(t, limit)
	x.program(200)
	slot := x.save()
	x.w.Reset()
	x.w.Shrink()
	if err := x.heap.Trim(); err != nil {
		t.Fatal(err)
	}
	limit.SetBudget(1)
	if err := x.set.Load(slot); !errors.Is(err, memory.ErrOutOfMemory) || x.w.Len() != 0 {
		t.Errorf("Load beyond the budget: %v, %d entities", err, x.w.Len())
	}
	limit.SetBudget(0)
	x.load(slot)
}

func TestSet_DiffNamesTheEntityAndTheField(t *testing.T) {
	x := newSavedWorld(t, nil)
	x.program(100)
	var set save.Set // without the heap, whose contents debug builds save
	if err := errors.Join(set.Add("world", x.w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	slots := [2]*save.Slot{set.NewCanonical(1 << 20), set.NewCanonical(1 << 20)}
	if err := set.Save(slots[0]); err != nil {
		t.Fatal(err)
	}
	var changed ecs.Entity
	for _, e := range x.es {
		if v, ok := x.place.Get(e); ok {
			changed = e
			v.Y = 77
			break
		}
	}
	if err := set.Save(slots[1]); err != nil {
		t.Fatal(err)
	}
	d, differ, err := set.Diff(slots[0], slots[1])
	if err != nil || !differ || d.Entity != changed.String() || d.Field != ".Y" || !strings.Contains(d.Path, "savedPlace") || d.A != "2" || d.B != "77" {
		t.Errorf("Diff: %s, %v, %v; want the Y of %v", d, differ, err, changed)
	}
}

func TestWorld_IndexThatGrewSinceIsLoaded(t *testing.T) {
	x := newSavedWorld(t, nil)
	x.program(50)
	slot := x.save()
	hash := x.w.Hash(0)
	for range 3 {
		for range 15_000 {
			if _, err := x.w.NewEntity(); err != nil {
				t.Fatal(err)
			}
		}
		if x.load(slot); x.w.Hash(0) != hash {
			t.Fatalf("the hash is %x, was %x", x.w.Hash(0), hash)
		}
	}
}

// A world without an entity is the same state before its first entity and after a load drops all of them, and so is what
// follows. After a Reset it is another state, whose generations count.
func TestWorld_EmptyStateHasOneHash(t *testing.T) {
	x := newSavedWorld(t, nil)
	var alone save.Set // without the heap, whose free blocks are part of a state in debug builds
	if err := errors.Join(alone.Add("world", x.w), alone.Seal()); err != nil {
		t.Fatal(err)
	}
	first, second, later := alone.NewCanonical(1<<20), alone.NewCanonical(1<<20), alone.NewCanonical(1<<20)
	empty := x.save()
	hash := func(slot *save.Slot) uint64 {
		t.Helper()
		h, err := alone.SaveHash(slot)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one := func(slot *save.Slot) uint64 {
		if _, err := x.w.NewEntity(); err != nil {
			t.Fatal(err)
		}
		return hash(slot)
	}
	none := hash(first)
	single := one(second)
	for range 3 {
		x.program(60)
		if hash(later) == none {
			t.Fatal("with entities the hash is that of no entity")
		}
		for range 5000 { // the index grows
			if _, err := x.w.NewEntity(); err != nil {
				t.Fatal(err)
			}
		}
		if x.w.Reset(); hash(later) == none {
			t.Fatal("after a Reset the hash is that of a new world")
		}
		x.load(empty)
		if x.es = x.es[:0]; hash(later) != none {
			d, differ, err := alone.Diff(first, later)
			t.Fatalf("after a load without entities: %v, %v, %v", d, differ, err)
		}
		again := x.save()
		if one(later) != single {
			d, differ, err := alone.Diff(second, later)
			t.Fatalf("after a load and an entity: %v, %v, %v", d, differ, err)
		}
		x.load(again)
	}
}

// A refusal commits or decommits nothing while on is true, of least bytes or more.
type refusal struct {
	page.Source
	on    bool
	least uintptr
}

func (r *refusal) Commit(m page.Memory, off, size uintptr) error {
	if r.on && size >= r.least {
		return memory.ErrOutOfMemory
	}
	return r.Source.Commit(m, off, size)
}

func (r *refusal) Decommit(m page.Memory, off, size uintptr) error {
	if r.on && size >= r.least {
		return memory.ErrOutOfMemory
	}
	return r.Source.Decommit(m, off, size)
}

// A state may have addresses for its index and no memory. The load of a state without entities may leave memory
// committed.
func TestWorld_IndexWithoutMemoryIsLoaded(t *testing.T) {
	src := &refusal{Source: page.OS()}
	x := newSavedWorld(t, src)
	src.on = true
	if _, err := x.w.NewEntity(); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Fatal(err)
	}
	empty := x.save()
	hash := x.w.Hash(0)
	for _, refused := range []bool{false, true} {
		src.on = false
		x.program(60)
		src.on = refused
		x.load(empty)
		if x.es = x.es[:0]; x.w.Hash(0) != hash {
			t.Errorf("refused %v: the hash is %x, was %x", refused, x.w.Hash(0), hash)
		}
		src.on = false
		if e, err := x.w.NewEntity(); err != nil || e != ecs.MakeEntity(1, 1) {
			t.Errorf("refused %v: the first entity is %v, %v", refused, e, err)
		}
		x.load(empty)
	}
}

// After a load the world goes on as one that was never loaded, also if other archetypes come about than before.
func TestWorld_LoadedStateContinuesLikeAFreshOne(t *testing.T) {
	order := func(x *savedWorld) (es []ecs.Entity) {
		filter := ecs.NewFilter1[savedPlace](x.w)
		for e := range filter.All() {
			es = append(es, e)
		}
		return es
	}
	rounds := uint64(40)
	if testenv.Brief() {
		rounds = 12
	}
	for seed := range rounds {
		loaded, fresh := newSavedWorld(t, nil), newSavedWorld(t, nil)
		kept := ecs.NewFilter1[savedPlace](loaded.w)
		for _, x := range []*savedWorld{loaded, fresh} {
			x.rng = rand.New(rand.NewPCG(seed, 1))
			x.program(12)
		}
		slot, es := loaded.save(), slices.Clone(loaded.es)
		loaded.rng = rand.New(rand.NewPCG(seed, 2))
		loaded.program(60)
		later, laterHash := loaded.save(), loaded.w.Hash(0)
		loaded.load(slot)
		loaded.es = es
		for _, x := range []*savedWorld{loaded, fresh} {
			x.rng = rand.New(rand.NewPCG(seed, 3))
			x.program(60)
		}
		if a, b := order(loaded), order(fresh); !slices.Equal(a, b) || loaded.w.Hash(0) != fresh.w.Hash(0) {
			t.Fatalf("seed %d: %d rows after a load, %d in a fresh world, or in another order", seed, len(a), len(b))
		}
		var again []ecs.Entity
		for e := range kept.All() {
			again = append(again, e)
		}
		if !slices.Equal(again, order(fresh)) {
			t.Fatalf("seed %d: an old filter has %d rows", seed, len(again))
		}
		if loaded.load(later); loaded.w.Hash(0) != laterHash {
			t.Fatalf("seed %d: the state with the dropped archetypes is not loaded", seed)
		}
	}
}

// Records beyond those of a state are zero after the load, also if their memory stays committed.
func TestWorld_SlotsBeyondALoadedIndexAreNew(t *testing.T) {
	src := &refusal{Source: page.OS()}
	x := newSavedWorld(t, src)
	if _, err := x.w.NewEntity(); err != nil {
		t.Fatal(err)
	}
	slot := x.save()
	for range 3 {
		for i := range 5000 { // a second run of records
			if e, err := x.w.NewEntity(); err != nil || e != ecs.MakeEntity(uint32(i)+2, 1) {
				t.Fatal(e, err)
			}
		}
		src.on = true
		x.load(slot)
		src.on = false
	}
}

// A Read that finds no memory for its entities keeps the addresses of the index, which other states need.
func TestWorld_ReadWithoutMemoryKeepsTheIndex(t *testing.T) {
	src := &refusal{Source: page.OS(), least: page.Granule + 1}
	x := newSavedWorld(t, src)
	var set save.Set
	if err := errors.Join(set.Add("world", x.w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	empty := x.save()
	x.program(100)
	full := x.save()
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	x.load(empty)
	src.on = true
	if err := set.Read(&file, nil); !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), "the index of") {
		t.Errorf("Read: %v", err)
	}
	src.on = false
	x.load(full)
}

// Without its allocator a world would be loaded into blocks that other data has by then. A Set for files has none, and
// may still be hashed.
func TestWorld_NeedsItsAllocatorInTheSet(t *testing.T) {
	x := newSavedWorld(t, nil)
	x.program(50)
	var file, late save.Set
	err := errors.Join(file.Add("world", x.w), file.Seal(), late.Add("world", x.w), late.Add("heap", save.Metadata(x.heap)), late.Seal())
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]*save.Set{"alone": &file, "late": &late} {
		same := set.NewCanonical(8 << 20)
		if err := set.Save(same); err != nil {
			t.Fatal(err)
		}
		_, sized := set.Size()
		for what, err := range map[string]error{"Size": sized, "Save": set.Save(set.NewSlot(8 << 20)), "Load": set.Load(same)} {
			if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), "world") || !strings.Contains(err.Error(), "save.Metadata") {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
	var out bytes.Buffer
	if err := errors.Join(x.w.Check(), file.Write(&out), file.Read(&out, nil), x.w.Check()); err != nil {
		t.Error(err)
	}
}
