package ecs

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"pgregory.net/rapid"
)

// untyped changes the component that is known at run time.
func (m *model) untyped(t *rapid.T) {
	e := m.pick(t)
	v := m.ents[e]
	m.stamp()
	if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		ok, err := m.w.RemoveID(e, m.heat)
		if err == nil && ok != (v != nil && v.heat != nil) {
			t.Fatalf("RemoveID(%v) = %v", e, ok)
		}
		if err == nil && ok {
			v.heat = nil
		}
		m.oom(t, err)
		return
	}
	p, err := m.w.AddID(e, m.heat)
	if m.oom(t, err) {
		if errors.Is(err, ErrStale) != (v == nil) {
			t.Fatal(err)
		}
		return
	}
	at := (*[3]uint32)(p)
	if v.heat == nil && *at != [3]uint32{} || v.heat != nil && *at != *v.heat {
		t.Fatalf("AddID(%v) gives %v", e, *at)
	}
	*at = [3]uint32{uint32(m.tick), 7, ^uint32(m.tick)}
	is := *at
	v.heat = &is
	m.w.TouchID(e, m.heat)
}

// byID compares what is reached by ID with the model.
func (m *model) byID(t *rapid.T) {
	n := 0
	for e, v := range m.ents {
		if p := (*[3]uint32)(m.w.Ptr(e, m.heat)); (p != nil) != (v.heat != nil) || p != nil && *p != *v.heat || m.w.HasID(e, m.heat) != (p != nil) {
			t.Fatalf("%v has another heat", e)
		}
		if v.heat != nil && v.pos != nil {
			n++
		}
	}
	f := NewFilterOf(m.w, m.heat, m.pos.ID())
	for e, at := range f.All() {
		if v := m.ents[e]; v == nil || *(*[3]uint32)(at[0]) != *v.heat || *(*position)(at[1]) != *v.pos || at[2] != nil {
			t.Fatalf("FilterOf meets %v wrongly", e)
		}
		n--
	}
	if n != 0 || f.Check() != nil {
		t.Fatalf("FilterOf is off by %d, %v", n, f.Check())
	}
}

func TestRegisterSize_IsFoundByNameAndRefusesWhatCannotBe(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos := mustRegisterTest[position](t, w)
	heat := must[ID](t)(w.RegisterSize("heat", 12, 4))
	if again := must[ID](t)(w.RegisterSize("heat", 12, 4)); again != heat {
		t.Error("a name is registered twice")
	}
	if id, ok := w.ID("heat"); !ok || id != heat || w.Name(heat) != "heat" || w.Name(pos.ID()) != "ecs.position" || !slices.Equal(slices.Collect(w.IDs()), []ID{0, 1}) {
		t.Errorf("heat is %d", id)
	}
	if _, ok := w.ID("cold"); ok {
		t.Error("a name out of nothing")
	}
	for range w.IDs() {
		break
	}
	for _, c := range []struct {
		name        string
		size, align int
		want        string
	}{
		{"heat", 16, 4, `component "heat" of 16 bytes, aligned to 4, is already registered with 12, aligned to 4`}, {"heat", 12, 2, "registered with 12, aligned to 4"},
		{"", 4, 4, "want a name"}, {"a", 6, 4, "a multiple of it"}, {"a", 4, 3, "alignment of 1, 2, 4, 8 or 16"}, {"a", 32, 32, "alignment"},
		{"a", 0, 0, "alignment"}, {"a", -4, 4, "of -4 bytes"}, {"a", 16 << 10, 16, "does not fit a chunk of 16384"},
	} {
		if _, err := w.RegisterSize(c.name, c.size, c.align); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if s := w.Column(int(heat)); s.Name != "heat" || s.Size != 12 || s.Pointerful {
		t.Errorf("%+v", s)
	}
	for _, c := range []fault{
		{"component 1 name", "component types, 1 by type, 0 by name", set(&w.store.byName, nil)},
		{"component 1 id", "component 1: heat has ID 0", set(&w.store.comps[1].id, 0)},
		{"component 2 size", "component 1: heat has 13 bytes", set(&w.store.comps[1].size, 13)},
		{"component 2 align", "aligned to 3", set(&w.store.comps[1].align, 3)},
		{"component 2 pointers", "pointers true", set(&w.store.comps[1].pointerful, true)},
		{"component 3", "Hash reads heat at []", set(&w.store.comps[1].words, nil)},
	} {
		c.test(t, w.Check)
	}
	registerMany(t, w)
	if _, err := w.RegisterSize("one more", 1, 1); !errors.Is(err, ErrTooManyComponents) {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if text := misuse(t, func() { w.RegisterSize("heat", 12, 4) }); text != "ecs.RegisterSize: the world is closed" {
		t.Error(text)
	}
}

// registerMany fills w up to MaxComponents, by names: as many Go types would take the compiler
// twice as long as all the tests beside them.
func registerMany(t testing.TB, w *World) {
	t.Helper()
	for n := len(w.store.comps); n < MaxComponents; n++ {
		must[ID](t)(w.RegisterSize(strings.Repeat("x", n+1), 1, 1))
	}
}

func TestUntyped_MeetsTheSameComponentsAsTyped(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	dirty(mem, 8)
	pos, br := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	child := mustRelation[childOf](t, w)
	blob := must[ID](t)(w.RegisterSize("blob", 24, 8))
	e, p := must[Entity](t)(NewMap1[position](w).NewEntity(position{3, 4})), must[Entity](t)(w.NewEntity())
	var said []string
	pos.OnAdd(func(_ Entity, v *position) { said = append(said, "add") })
	br.OnAdd(func(_ Entity, b *brain) { said = append(said, "brain "+b.Name) })
	child.OnAdd(func(Entity, *childOf) { said = append(said, "child") })
	child.OnSet(func(Entity, *childOf) { said = append(said, "turn") })
	if at := must[unsafe.Pointer](t)(w.AddID(e, pos.ID())); *(*position)(at) != (position{3, 4}) {
		t.Error("AddID changes what is there")
	}
	if at := must[unsafe.Pointer](t)(w.AddID(p, pos.ID())); *(*position)(at) != (position{}) {
		t.Error("AddID begins with old bytes")
	}
	if at := must[unsafe.Pointer](t)(w.AddID(e, blob)); *(*[24]byte)(at) != [24]byte{} || uintptr(at)%8 != 0 {
		t.Error("AddID begins with old bytes, or not aligned")
	}
	must[unsafe.Pointer](t)(w.AddID(e, br.ID()))
	*must2(br.Get(e)) = brain{Name: "b"}
	must[unsafe.Pointer](t)(w.RelateID(e, child.ID(), p))
	must[unsafe.Pointer](t)(w.RelateID(e, child.ID(), e))
	if at, ok := w.TargetID(e, child.ID()); !ok || at != e || (*brain)(w.Ptr(e, br.ID())).Name != "b" || *(*position)(w.Ptr(e, pos.ID())) != (position{3, 4}) {
		t.Errorf("%v", at)
	}
	if got := strings.Join(said, "; "); got != "add; brain ; child; turn" {
		t.Error(got)
	}
	f := NewFilterOf(w, pos.ID(), br.ID()).With(blob).To(child.ID(), e)
	for got, at := range f.All() {
		if got != e || (*brain)(at[1]).Name != "b" {
			t.Errorf("%v", got)
		}
	}
	if ok, err := w.RemoveID(e, blob); !ok || err != nil || w.HasID(e, blob) {
		t.Error(ok, err)
	}
	dead := must[Entity](t)(w.NewEntity())
	w.Remove(dead)
	_, err1 := w.AddID(dead, blob)
	_, err2 := w.RelateID(dead, child.ID(), e)
	_, err3 := w.RelateID(e, child.ID(), dead)
	if err1 != ErrStale || err2 != ErrStale || !errors.Is(err3, ErrStale) || w.Ptr(dead, blob) != nil || w.Ptr(e, 200) != nil {
		t.Error(err1, err2, err3)
	}
	ids := []ID{0, 0, 0, 0, 0, 0, 0, 0, 0}
	for want, do := range map[string]func(){
		"ecs.NewFilterOf: the world is nil":                                                              func() { NewFilterOf(nil) },
		"ecs.NewFilterOf: a filter reads up to 8 columns, not 9; name others with With":                  func() { NewFilterOf(w, ids...) },
		"ecs.Filter: component ecs.position is named twice":                                              func() { NewFilterOf(w, 0, 0) },
		"ecs.AddID: the world does not have this component ID":                                           func() { w.AddID(e, 9) },
		"ecs.RemoveID: the world does not have this component ID":                                        func() { w.RemoveID(e, 9) },
		"ecs.Name: the world does not have this component ID":                                            func() { w.Name(9) },
		"ecs.RelateID: component blob is no relation":                                                    func() { w.RelateID(e, blob, p) },
		"ecs.Add: relation ecs.childOf needs a target; use Relation.Add, AddRelation, or To of a mapper": func() { w.AddID(p, child.ID()) },
	} {
		if text := misuse(t, do); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	w.Shrink() // no spare helps out
	mem.failNext(true)
	before := w.Hash(0)
	if _, err := w.AddID(e, must[ID](t)(w.RegisterSize("late", 8, 8))); !errors.Is(err, memory.ErrOutOfMemory) || w.Hash(0) != before {
		t.Error(err)
	}
}

func TestFilterOf_WalksAsTheTypedOne(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	child := mustRelation[childOf](t, w)
	p := must[Entity](t)(w.NewEntity())
	check(t, newBatch(w, 100, mustRegisterTest[position](t, w).ID(), mustRegisterTest[brain](t, w).ID(), mustRegisterTest[velocity](t, w).ID()))
	if err := NewMap2[position, childOf](w).To(child.ID(), p).NewBatch(70, func(n int, p *position, _ *childOf) { p.X = float32(n) }); err != nil {
		t.Fatal(err)
	}
	pos, vel := mustRegisterTest[position](t, w).ID(), mustRegisterTest[velocity](t, w).ID()
	g := NewFilter1[position](w)
	for name, c := range map[string]struct {
		f *FilterOf
		n int
	}{
		"all": {NewFilterOf(w, pos), 170}, "with": {NewFilterOf(w, pos).With(vel), 100}, "without": {NewFilterOf(w, pos).Without(vel), 70},
		"exclusive": {NewFilterOf(w, pos).Exclusive(), 0}, "to": {NewFilterOf(w, pos).To(child.ID(), p), 70}, "to any": {NewFilterOf(w, pos).To(child.ID(), Entity{}).ToAny(), 70},
	} {
		n, rows := 0, 0
		for e, at := range c.f.All() {
			if (*position)(at[0]) != must2(Component[position]{w: w, comp: w.store.comps[pos]}.Get(e)) {
				t.Fatalf("%s: %v is elsewhere", name, e)
			}
			n++
		}
		for es, at := range c.f.Chunks() {
			ps := unsafe.Slice((*position)(at[0]), len(es))
			if &ps[len(ps)-1] != must2(Component[position]{w: w, comp: w.store.comps[pos]}.Get(es[len(es)-1])) {
				t.Fatalf("%s: a column is elsewhere", name)
			}
			rows += len(es)
		}
		if n != c.n || rows != c.n || c.f.Len() != c.n || c.f.Check() != nil {
			t.Errorf("%s: %d by All, %d by Chunks of %d, %v", name, n, rows, c.n, c.f.Check())
		}
	}
	f := NewFilterOf(w, pos)
	for range f.All() {
		break
	}
	for range f.Chunks() {
		break
	}
	if len(w.guard.running) != 0 || g.Len() != 170 {
		t.Error("a loop that was left goes on")
	}
}

func TestHash_ReadsEveryBitOfWhatHasNoType(t *testing.T) {
	const size = 13
	seen := map[uint64]int{}
	for at := -1; at < size*8; at++ {
		w, _ := newTestWorld(t, Config{})
		id := must[ID](t)(w.RegisterSize("raw", size, 1))
		p := must[unsafe.Pointer](t)(w.AddID(must[Entity](t)(w.NewEntity()), id))
		if at >= 0 {
			*(*byte)(unsafe.Add(p, at/8)) = 1 << (at % 8)
		}
		seen[w.Hash(0)] = at
	}
	if len(seen) != size*8+1 {
		t.Errorf("%d hashes of %d", len(seen), size*8+1)
	}
}

// TestArities_TheLargestReadAndWriteEachColumn goes through the widest mapper and filter.
func TestArities_TheLargestReadAndWriteEachColumn(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	m := NewMap12[wide1, wide2, wide3, wide4, wide5, wide6, wide7, wide8, wide9, wide10, wide11, wide12](w)
	if err := m.NewBatch(499, func(n int, a *wide1, b *wide2, c *wide3, d *wide4, e *wide5, f *wide6, g *wide7, h *wide8, i *wide9, j *wide10, k *wide11, l *wide12) {
		v := uint16(n)
		a[0], b[1], c[2], d[0], e[1], f[2], g[0], h[1], i[2], j[0], k[1], l[2] = v, v+1, v+2, v+3, v+4, v+5, v+6, v+7, v+8, v+9, v+10, v+11
	}); err != nil {
		t.Fatal(err)
	}
	must[Entity](t)(m.Spawn(w.Commands(), wide1{499}, wide2{1: 500}, wide3{2: 501}, wide4{502}, wide5{1: 503}, wide6{2: 504}, wide7{505}, wide8{1: 506}, wide9{2: 507}, wide10{508}, wide11{1: 509}, wide12{2: 510}))
	check(t, w.Commands().Apply())
	f := NewFilter8[wide1, wide2, wide3, wide4, wide5, wide6, wide7, wide8](w)
	n := uint16(0)
	q := f.Query()
	for e, r := range f.All() {
		_, _, _, _, _, _, _, _, i, j, k, l, ok := m.Get(e)
		q.Next()
		a, b, c, d, e, f, g, h := q.Get()
		if r.A[0] != n || r.B[1] != n+1 || r.C[2] != n+2 || r.D[0] != n+3 || r.E[1] != n+4 || r.F[2] != n+5 || r.G[0] != n+6 || r.H[1] != n+7 ||
			a != r.A || b != r.B || c != r.C || d != r.D || e != r.E || f != r.F || g != r.G || h != r.H ||
			!ok || i[2] != n+8 || j[0] != n+9 || k[1] != n+10 || l[2] != n+11 {
			t.Fatalf("row %d", n)
		}
		n++
	}
	if q.Next() || n != 500 {
		t.Errorf("%d rows", n)
	}
	for es, c := range f.Chunks() {
		if len(c.A) != len(es) || len(c.H) != len(es) || c.H[len(es)-1][1] != c.A[len(es)-1][0]+7 {
			t.Error("columns differ")
		}
	}
}
