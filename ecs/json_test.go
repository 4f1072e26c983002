package ecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// written returns the text of w.
func written(t testing.TB, w *World) string {
	t.Helper()
	var b bytes.Buffer
	if err := w.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("no JSON: %s", b.String())
	}
	return b.String()
}

func TestWriteJSON_OneEntityALineInOrder(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	pos, child := mustRegisterTest[position](t, w), mustRelation[childOf](t, w)
	heat := must[ID](t)(w.RegisterSize("<heat>", 3, 1))
	m := NewMap2[position, childOf](w)
	p, bare := must[Entity](t)(w.NewEntity()), must[Entity](t)(w.NewEntity())
	m.To(child.ID(), p)
	a := must[Entity](t)(m.NewEntity(position{1, 2.5}, childOf{}))
	must[Entity](t)(m.NewEntity(position{3, 0}, childOf{}))
	w.Remove(a)
	must[Entity](t)(NewMap1[position](w).NewEntity(position{4, 4}))
	at, err := w.AddID(p, heat)
	if err != nil {
		t.Fatal(err)
	}
	*(*[3]byte)(at) = [3]byte{1, 0xab, 0}
	w.Remove(must[Entity](t)(w.NewEntity()))
	if err := pos.Add(bare, position{5, 5}); err != nil {
		t.Fatal(err)
	}
	const want = `{"strata/ecs":1,"archetypes":[
{"components":[]},
{"components":["ecs.position","ecs.childOf"],"targets":{"ecs.childOf":"1:1"},"sweep":7,"entities":[
{"entity":"4:1","ecs.position":{"X":3,"Y":0},"ecs.childOf":{}}
]},
{"components":["ecs.position"],"entities":[
{"entity":"3:3","ecs.position":{"X":4,"Y":4}},
{"entity":"2:1","ecs.position":{"X":5,"Y":5}}
]},
{"components":["<heat>"],"entities":[
{"entity":"1:1","<heat>":"01ab00"}
]}
],"index":{"next":6,
"free":["5:2"]}}
`
	if got := written(t, w); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// exact has a value of every kind that encoding/json might bend.
type exact struct {
	Low   int64
	High  uint64
	Tiny  float32
	Small float64
	Zero  float64
	Third float32
	Max   float64
	Grid  [2][3]int8
	On    bool
	cache int `json:"-"`
	Aim   tether
}

// grade writes itself as a word.
type grade uint8

func (g grade) MarshalText() ([]byte, error) { return []byte(strings.Repeat("*", int(g))), nil }

func (g *grade) UnmarshalText(text []byte) error {
	if *g = grade(len(text)); strings.Trim(string(text), "*") != "" {
		return errors.New("a grade is stars")
	}
	return nil
}

func TestReadJSON_ValuesAreWhatTheyWere(t *testing.T) {
	v, _ := newTestWorld(t, Config{})
	w, _ := newTestWorld(t, Config{})
	e := newValue(t, v, exact{
		Low: math.MinInt64, High: math.MaxUint64, Tiny: math.SmallestNonzeroFloat32, Small: math.SmallestNonzeroFloat64,
		Zero: math.Copysign(0, -1), Third: 1. / 3, Max: math.MaxFloat64, Grid: [2][3]int8{{1, 2, 3}, {-4, -5, -128}}, On: true, cache: 7,
		Aim: tether{To: MakeEntity(1, 1), Pair: [2]Entity{{}, MakeEntity(2000000000, lastGen)}, Exact: 1<<63 + 1, Low: -1<<53 - 1},
	}, grade(3), roll{[]Entity{{}, MakeEntity(1, 1)}, map[Entity]string{{}: "none", MakeEntity(9, 3): "<&>\" \x00"}}, brain{"ß", new(int)})
	var ids []ID
	for _, v := range []any{exact{}, grade(0), roll{}, brain{}} {
		ids = append(ids, registerType(t, w, v))
	}
	if err := w.ReadJSON(strings.NewReader(written(t, v))); err != nil {
		t.Fatal(err)
	}
	x, g, r, b := (*exact)(w.Ptr(e, ids[0])), (*grade)(w.Ptr(e, ids[1])), (*roll)(w.Ptr(e, ids[2])), (*brain)(w.Ptr(e, ids[3]))
	if *g != 3 || *b.Target != 0 || b.Name != "ß" || !slices.Equal(r.Crew, []Entity{{}, e}) || r.Posts[Entity{}] != "none" || r.Posts[MakeEntity(9, 3)] != "<&>\" \x00" {
		t.Errorf("%v %v %v", *g, *r, *b)
	}
	was := (*exact)(v.Ptr(e, ids[0]))
	if x.cache != 0 || was.cache != 7 {
		t.Errorf("what is tagged away is %d", x.cache)
	}
	was.cache = 0
	if *x != *was || !math.Signbit(x.Zero) || v.Hash(3) != w.Hash(3) {
		t.Errorf("%+v is not %+v", *x, *was)
	}
}

// What a line does not say is zero, and not what the line before said; nor do two values share a slice.
func TestReadJSON_ValuesKnowNothingOfEachOther(t *testing.T) {
	c := newCast(t)
	err := c.w.ReadJSON(strings.NewReader(`{"strata/ecs":1,"archetypes":[{"components":["ecs.position","ecs.roll"],"entities":[
		{"entity":"1:1","ecs.position":{"X":1,"Y":2},"ecs.roll":{"Crew":["1:1","2:1"],"Posts":{"1:1":"a"}}},
		{"entity":"2:1","ecs.roll":{"Crew":["7:7"]},"ecs.position":{"Y":3}},
		{"entity":"3:1","ecs.roll":{"Posts":{"2:1":"b"}},"ecs.position":null}]}],"index":{"next":4}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		p     position
		crew  []Entity
		posts string
	}{{position{1, 2}, []Entity{{1, 1}, {2, 1}}, "map[#1.1:a]"}, {position{0, 3}, []Entity{{7, 7}}, "map[]"}, {position{}, nil, "map[#2.1:b]"}} {
		e := MakeEntity(uint32(i+1), 1)
		p, r := must2(c.pos.Get(e)), must2(c.roll.Get(e))
		if *p != want.p || !slices.Equal(r.Crew, want.crew) || fmt.Sprint(r.Posts) != want.posts {
			t.Errorf("%v: %v, %v", e, *p, *r)
		}
	}
}

func TestReadJSON_FindsTypesByNameInAnyOrder(t *testing.T) {
	v, _ := newTestWorld(t, Config{})
	w, _ := newTestWorld(t, Config{})
	mustRegisterTest[position](t, v)
	child, like := mustRelation[childOf](t, v), mustRelation[likes](t, v)
	again, also := mustRelation[likes](t, w), mustRelation[childOf](t, w)
	mustRegisterTest[health](t, w)
	pos := mustRegisterTest[position](t, w)
	ps := newEntities(t, v, 2)
	e := must[Entity](t)(NewMap2[position, likes](v).To(like.ID(), ps[1]).NewEntity(position{1, 2}, likes{3}))
	check(t, child.Add(e, childOf{}, ps[0]))
	if err := w.ReadJSON(strings.NewReader(written(t, v))); err != nil {
		t.Fatal(err)
	}
	a, _ := also.Target(e)
	b, _ := again.Target(e)
	if a != ps[0] || b != ps[1] || *must2(pos.Get(e)) != (position{1, 2}) || *must2(again.Get(e)) != (likes{3}) {
		t.Errorf("%v, %v", a, b)
	}
}

// secret cannot be written as it is; the others hide one, each in its way.
type (
	secret   struct{ Open, shut int }
	inSlice  struct{ All []*[2]secret }
	inMap    map[string]secret
	embeds   struct{ secret }
	replaced struct {
		Entity
		Weight int
	}
	noNumber  struct{ At [2]float64 }
	unwilling struct{ N int }
	complexes struct{ C complex64 }
)

func (unwilling) MarshalJSON() ([]byte, error) { return nil, errors.New("it will not") }

func writeError(t *testing.T, v any) string {
	t.Helper()
	w, _ := newTestWorld(t, Config{})
	must[Entity](t)(w.NewEntity())
	newValue(t, w, v)
	err := w.WriteJSON(new(bytes.Buffer))
	if err == nil {
		t.Fatalf("%T is written", v)
	}
	if w.Locked() {
		t.Errorf("%T leaves the world locked", v)
	}
	return err.Error()
}

func TestWriteJSON_SaysWhatItCannotWrite(t *testing.T) {
	type twin struct{}
	for _, c := range []struct{ got, want string }{
		{writeError(t, noNumber{[2]float64{1, math.NaN()}}), "ecs: WriteJSON: entity #2.1, component ecs.noNumber: json: unsupported value: NaN"},
		{writeError(t, noNumber{[2]float64{math.Inf(-1), 1}}), "entity #2.1, component ecs.noNumber: json: unsupported value: -Inf"},
		{writeError(t, complexes{}), "component ecs.complexes: json: unsupported type: complex64"},
		{writeError(t, unwilling{}), "it will not"},
		{writeError(t, tether{To: Entity{index: placeholderBit, gen: 513}}), "is not created before Apply"},
		{writeError(t, secret{1, 2}), "component ecs.secret: field shut of ecs.secret is omitted; export it, tag it json:\"-\" to omit it, or give the type MarshalJSON and UnmarshalJSON"},
		{writeError(t, inSlice{}), "component ecs.inSlice: field shut of ecs.secret is omitted"},
		{writeError(t, inMap{}), "component ecs.inMap: field shut of ecs.secret is omitted"},
		{writeError(t, embeds{}), "component ecs.embeds: field shut of ecs.secret is omitted"},
		{writeError(t, replaced{}), "component ecs.replaced: it embeds ecs.Entity, whose MarshalJSON or MarshalText replaces its other fields"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s\nnot\n%s", c.got, c.want)
		}
	}
	w, _ := newTestWorld(t, Config{})
	newValue(t, w, twin{})
	text := written(t, w)
	registerType(t, w, inMap{})
	if got := written(t, w); got != text {
		t.Error("a type that nobody has is in the text")
	}
	otherTwin(t, w)
	if err := w.WriteJSON(new(bytes.Buffer)); err == nil || err.Error() != "ecs: WriteJSON: two component types have the name ecs.twin" {
		t.Error(err)
	}
	if err := w.CanWrite(); err == nil || !strings.Contains(err.Error(), "two component types have the name ecs.twin") {
		t.Error(err)
	}
	w.Reset()
	if err := w.ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "two component types have the name ecs.twin") {
		t.Error(err)
	}
}

// The ticks of a tracked component have a name that only messages use, so that another type may have it.
func TestWriteJSON_TypeMayHaveTheNameOfTicks(t *testing.T) {
	type pos struct{ X int32 }
	w, _ := newTestWorld(t, Config{})
	id := registerType(t, w, pos{})
	if err := w.Track(id); err != nil {
		t.Fatal(err)
	}
	raw, err := w.RegisterSize("ticks of "+w.Name(id), 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddID(must[Entity](t)(w.NewEntity()), raw); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.CanWrite(), w.WriteJSON(io.Discard), w.WriteBinary(io.Discard)); err != nil {
		t.Error(err)
	}
}

// otherTwin registers another type of the same name.
func otherTwin(t *testing.T, w *World) ID {
	type twin struct{ N int32 }
	return registerType(t, w, twin{})
}

func TestReadJSON_TellsObserversWhenAllIsRead(t *testing.T) {
	v, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	must[Entity](t)(v.NewEntity())
	for _, err := range []error{NewMap2[position, brain](v).NewBatch(200, nil), NewMap1[brain](v).NewBatch(2, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	brains, pos := mustRegisterTest[brain](t, w), mustRegisterTest[position](t, w)
	var told, born []Entity
	w.OnCreate(func(e Entity) {
		if w.Len() < 203 || len(born) == 0 && w.Len() != 203 {
			t.Errorf("told of %v beside %d", e, w.Len())
		}
		if born = append(born, e); len(born) < 4 {
			later := must[Entity](t)(w.Commands().Spawn())
			AddTo(w.Commands(), pos, later, position{7, 7})
		}
	})
	brains.OnAdd(func(e Entity, b *brain) {
		told = append(told, e)
		if text := misuse(t, func() { w.Remove(e) }); text != "ecs.Remove: the world is locked while an observer is called; use World.Commands" {
			t.Error(text)
		}
	})
	text := written(t, v)
	if err := w.ReadJSON(strings.NewReader(text[:len(text)-3])); err == nil || born != nil || told != nil {
		t.Errorf("%v, told of %v", err, born)
	}
	if err := w.ReadJSON(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if len(told) != 202 || w.Locked() || w.Check() != nil {
		t.Errorf("told of %d, locked %v, %v", len(told), w.Locked(), w.Check())
	}
	seen := map[Entity]bool{}
	if err := w.Commands().Apply(); err != nil { // reports what the observer spawned
		t.Error(err)
	}
	for _, e := range born {
		if seen[e] || !w.Alive(e) {
			t.Errorf("%v is born twice, or not", e)
		}
		seen[e] = true
	}
	if w.Len() != len(seen) || len(seen) != 206 {
		t.Errorf("%d of %d are told of", len(seen), w.Len())
	}
}

// A slot that is on its last life, or past it, is so in the world that was read.
func TestReadJSON_WornOutSlotsStayWornOut(t *testing.T) {
	worn := func(w *World) {
		for i, e := range newEntities(t, w, 6) {
			if w.Remove(e); i < 4 {
				w.store.index.at(e.index).gen = lastGen - 1
				e = must[Entity](t)(w.NewEntity())
			}
			if i < 2 {
				w.Remove(e)
			}
		}
	}
	for _, reset := range []bool{false, true} {
		v, _ := newTestWorld(t, Config{MaxEntities: 8})
		w, _ := newTestWorld(t, Config{MaxEntities: 8})
		if worn(v); reset {
			v.Reset()
		}
		text := written(t, v)
		if err := w.ReadJSON(strings.NewReader(text)); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for range 3 {
			a, b := v.Stats(), w.Stats()
			if v.store.index.usable != w.store.index.usable || v.store.index.lastLife != w.store.index.lastLife || a.RetiredSlots != b.RetiredSlots || a.Entities != b.Entities || w.Check() != nil {
				t.Errorf("%+v\n%+v\n%v", a, b, w.Check())
			}
			for {
				e, err := v.NewEntity()
				f, also := w.NewEntity()
				if e != f || errors.Is(err, ErrLimit) != errors.Is(also, ErrLimit) {
					t.Fatalf("%v, %v and %v, %v", e, err, f, also)
				}
				if err != nil {
					break
				}
			}
			if v.Hash(0) != w.Hash(0) {
				t.Error("another hash")
			}
			for i := range uint32(9) {
				for _, u := range []*World{v, w} {
					u.Remove(MakeEntity(i, lastGen))
					u.Remove(MakeEntity(i, 1))
				}
			}
		}
	}
}

// nosy does something to the world when it is written or read.
type nosy struct{ N int }

var nose func() error

func (n nosy) MarshalJSON() ([]byte, error) { return fmt.Append(nil, n.N), nose() }

func (n *nosy) UnmarshalJSON(text []byte) error {
	return errors.Join(json.Unmarshal(text, &n.N), nose())
}

func TestJSON_TheWorldIsLockedMeanwhile(t *testing.T) {
	v, _ := newTestWorld(t, Config{})
	w, _ := newTestWorld(t, Config{})
	must[Entity](t)(NewMap1[nosy](v).NewEntity(nosy{4}))
	c := mustRegisterTest[nosy](t, w)
	for _, u := range []*World{v, w} {
		calls := 0
		nose = func() error {
			calls++
			for _, c := range append(structural(u, NewMap2[position, velocity](u), mustRegisterTest[position](t, u), NewFilter1[position](u), MakeEntity(1, 1)),
				change{"Spawn", func() { u.Commands().Spawn() }}, change{"ReadJSON", func() { u.ReadJSON(strings.NewReader("")) }}, change{"Close", func() { u.Close() }},
				change{"Track", func() { u.Track(c.ID()) }}, change{"Track", func() { u.Track() }}) { // what was read had columns without ticks
				if text := misuse(t, c.f); text != "ecs."+c.op+": the world is locked while it is written or read" {
					t.Errorf("%s: %q", c.op, text)
				}
			}
			u.EndQueries()
			if err := u.Check(); err != nil {
				t.Error(err)
			}
			return nil
		}
		if u == v {
			q := NewFilter1[nosy](v).Query() // EndQueries ends it
			q.Next()
			written(t, v)
		} else {
			text := `{"strata/ecs":1,"archetypes":[{"components":["ecs.nosy"],"entities":[{"entity":"1:1","ecs.nosy":5}]}],"index":{"next":2}}`
			if err := w.ReadJSON(strings.NewReader(text)); err != nil || must2(c.Get(MakeEntity(1, 1))).N != 5 {
				t.Error(err)
			}
		}
		if calls == 0 || u.Locked() {
			t.Errorf("%d calls, locked %v", calls, u.Locked())
		}
	}
}

func TestJSON_Misuse(t *testing.T) {
	w, mem := newTestWorld(t, Config{})
	write, read := func() { w.WriteJSON(new(bytes.Buffer)) }, func() { w.ReadJSON(strings.NewReader("")) }
	expect := func(f func(), want string) {
		t.Helper()
		if text := misuse(t, f); text != want {
			t.Errorf("%q, not %q", text, want)
		}
	}
	expect(func() { w.WriteJSON(nil) }, "ecs.WriteJSON: the writer is nil")
	expect(func() { w.ReadJSON(nil) }, "ecs.ReadJSON: the reader is nil")
	mem.onAlloc = func() {
		expect(write, "ecs.WriteJSON: the allocator called the world")
		expect(read, "ecs.ReadJSON: the allocator called the world")
	}
	must[Entity](t)(NewMap1[position](w).NewEntity(position{}))
	mem.onAlloc = nil
	f := NewFilter1[position](w)
	f.Parallel(newTestWorkers(t, 1), func(*Task, []Entity, []position) {
		expect(write, "ecs.WriteJSON: a parallel run is in progress")
		expect(read, "ecs.ReadJSON: a parallel run is in progress")
	})
	q := f.Query()
	expect(read, "ecs.ReadJSON: the world is locked by an open query; use World.Commands, or end the query with Close")
	q.Close()
	text := misuse(t, func() {
		for range f.All() {
			w.WriteJSON(new(bytes.Buffer)) // is no change
			read()
		}
	})
	if !strings.Contains(text, "changed") {
		t.Error(text)
	}
	before := w.Hash(0)
	if err := w.ReadJSON(strings.NewReader("")); err == nil || err.Error() != "ecs: ReadJSON: the world has 1 entities; call Reset first" || w.Hash(0) != before {
		t.Error(err)
	}
	w.Close()
	expect(write, "ecs.WriteJSON: the world is closed")
	expect(read, "ecs.ReadJSON: the world is closed")
}

func TestEntity_TextIsSlotAndGeneration(t *testing.T) {
	for _, e := range []Entity{{}, MakeEntity(12, 7), MakeEntity(1<<31-1, ^uint32(0))} {
		var back Entity
		text, err := json.Marshal(e)
		if err != nil || json.Unmarshal(text, &back) != nil || back != e {
			t.Errorf("%v is %s, %v", e, text, back)
		}
	}
	if text, _ := MakeEntity(12, 7).MarshalText(); string(text) != "12:7" {
		t.Errorf("%s", text)
	}
	for _, e := range []Entity{{index: placeholderBit, gen: 513}, {index: 1<<32 - 1, gen: 1}, {gen: 3}, {12, 8}} { // the first two as Spawn of a task returns it
		if text, err := e.MarshalText(); err == nil {
			t.Errorf("%v has the text %s", e, text)
		}
	}
	for _, text := range []string{"2147483648:513", "", "1", "1:", ":1", "1:2", "0:1", "1:0", "1:1:1", "-1:1", "1:4294967297", "4294967296:1", " 1:1", "1.5:1", strings.Repeat("1", 1000)} {
		e := MakeEntity(3, 3)
		if err := e.UnmarshalText([]byte(text)); err == nil || e != MakeEntity(3, 3) || len(err.Error()) > 300 {
			t.Errorf("%q is %v, %v", text, e, err)
		}
	}
}

func TestReadJSON_IsAWriteOfWhatIsTracked(t *testing.T) {
	src, _ := newTestWorld(t, Config{})
	if err := NewMap1[position](src).NewBatch(3, nil); err != nil {
		t.Fatal(err)
	}
	text := written(t, src)
	w, _ := newTestWorld(t, Config{})
	c := mustRegisterTest[position](t, w)
	if err := w.Track(c.ID()); err != nil {
		t.Fatal(err)
	}
	before := w.Tick()
	if err := w.ReadJSON(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	f := NewFilter1[position](w)
	if n := f.ChangedSince(before, c.ID()).Len(); n != 3 || w.Hash(1) != src.Hash(1) {
		t.Errorf("%d of 3 are new; hashes %#x and %#x", n, w.Hash(1), src.Hash(1))
	}
	if n := f.ChangedSince(w.Tick(), c.ID()).Len(); n != 0 || w.Check() != nil {
		t.Errorf("%d were written since; %v", n, w.Check())
	}
	w.Reset()
	if err := w.ReadJSON(strings.NewReader(`{"strata/ecs":1,"archetypes":[{"components":["ticks of ecs.position"]}]}`)); err == nil {
		t.Error("the ticks of a component are one")
	}
}
