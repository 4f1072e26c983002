package ecs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/layout"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

type flagged struct {
	On     bool
	Target Entity
	_      uint16
	Deep   [2]struct{ A, B int8 }
}

// A binaryCast is a world of everything that a file may have, and how to change it at random.
type binaryCast struct {
	w        *World
	mem      *testMemory
	position Component[position]
	health   Component[health]
	flagged  Component[flagged]
	tag      Component[burning]
	childOf  Relation[childOf]
	likes    Relation[likes]
	heat     ID
	es       []Entity
}

func newBinaryCast(t testing.TB) *binaryCast {
	c := &binaryCast{}
	c.w, c.mem = newTestWorld(t, Config{MaxEntities: 5000})
	c.position, c.health = mustRegisterTest[position](t, c.w), mustRegisterTest[health](t, c.w)
	c.flagged, c.tag = mustRegisterTest[flagged](t, c.w), mustRegisterTest[burning](t, c.w)
	var errs [4]error
	c.childOf, errs[0] = RegisterRelation[childOf](c.w)
	c.likes, errs[1] = RegisterRelation[likes](c.w)
	c.heat, errs[2] = c.w.RegisterSize("heat", 12, 4)
	errs[3] = c.w.Track(c.health.ID())
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *binaryCast) play(t testing.TB, rng *rand.Rand, steps int) {
	t.Helper()
	var err error
	for range steps {
		if len(c.es) == 0 || rng.IntN(3) == 0 {
			e, err := c.w.NewEntity()
			if c.es = append(c.es, e); err != nil {
				t.Fatal(err)
			}
		}
		e, other := c.es[rng.IntN(len(c.es))], c.es[rng.IntN(len(c.es))]
		if !c.w.Alive(e) {
			continue
		}
		switch rng.IntN(10) {
		case 0, 1:
			err = c.position.Add(e, position{rng.Float32(), rng.Float32()})
		case 2:
			err = c.health.Add(e, health{rng.Int32(), 7})
		case 3:
			v := flagged{On: rng.IntN(2) == 0, Target: other}
			v.Deep[1].B = int8(rng.IntN(256) - 128)
			err = c.flagged.Add(e, v)
		case 4:
			err = c.tag.Add(e, burning{})
		case 5:
			if c.w.Alive(other) && !c.childOf.Has(e) {
				err = c.childOf.Add(e, childOf{}, other)
			}
		case 6:
			if c.w.Alive(other) && !c.likes.Has(e) {
				err = c.likes.Add(e, likes{rng.Int32()}, other)
			}
		case 7:
			_, err = c.position.Remove(e)
		case 8:
			_, err = c.flagged.Remove(e)
		case 9:
			if rng.IntN(2) == 0 {
				c.w.Remove(e)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func binaryFile(t testing.TB, w *World) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.WriteBinary(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A world that was read is the world that was written: now, and after the same further steps.
func TestBinary_ReadWorldGoesOnAsTheWritten(t *testing.T) {
	for seed := range uint64(20) {
		a, b := newBinaryCast(t), newBinaryCast(t)
		a.play(t, rand.New(rand.NewPCG(seed, 1)), int(seed*seed*5))
		file := binaryFile(t, a.w)
		if err := b.w.ReadBinary(bytes.NewReader(file), nil); err != nil {
			t.Fatal(seed, err)
		}
		if again := binaryFile(t, b.w); !bytes.Equal(file, again) {
			t.Errorf("seed %d: %d bytes written, %d bytes after reading, or others", seed, len(file), len(again))
		}
		b.es = slices.Clone(a.es)
		for round := range 3 {
			if err := b.w.Check(); err != nil || a.w.Hash(0) != b.w.Hash(0) || a.w.Len() != b.w.Len() {
				t.Fatalf("seed %d, round %d: %v; %d entities with hash %x, want %d with %x", seed, round, err, b.w.Len(), b.w.Hash(0), a.w.Len(), a.w.Hash(0))
			}
			a.play(t, rand.New(rand.NewPCG(seed, 9)), 200)
			b.play(t, rand.New(rand.NewPCG(seed, 9)), 200)
		}
	}
}

// refuses reads a file that is not valid, after which the world is as it was.
func (c *binaryCast) refuses(t testing.TB, in io.Reader, m *Migration, want string) {
	t.Helper()
	before, blocks := c.w.Hash(0), len(c.mem.live)
	err := c.w.ReadBinary(in, m)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v, want %s", err, want)
	}
	if c.w.Check() != nil || c.w.Len() != 0 || c.w.Hash(0) != before || len(c.mem.live) != blocks || c.w.Locked() {
		t.Fatalf("after %v: %v, %d entities, %d blocks", err, c.w.Check(), c.w.Len(), len(c.mem.live))
	}
}

func TestReadBinary_EveryTruncationAndFlippedBitIsRefused(t *testing.T) {
	testenv.Long(t)
	a, b := newBinaryCast(t), newBinaryCast(t)
	a.play(t, rand.New(rand.NewPCG(3, 3)), 60)
	file := binaryFile(t, a.w)
	for n := range file {
		b.refuses(t, bytes.NewReader(file[:n]), nil, "")
	}
	for bit := range len(file) * 8 {
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		b.refuses(t, bytes.NewReader(bad), nil, "")
	}
	b.refuses(t, bytes.NewReader(append(bytes.Clone(file), 0)), nil, "continues")
	b.refuses(t, iotest.ErrReader(io.ErrClosedPipe), nil, "closed pipe")
	if err := b.w.ReadBinary(iotest.OneByteReader(bytes.NewReader(file)), nil); err != nil {
		t.Fatal(err)
	}
	if err := b.w.ReadBinary(bytes.NewReader(file), nil); err == nil || !strings.Contains(err.Error(), "call Reset first") {
		t.Error(err)
	}
}

// resum writes length and sum of a file that was changed.
func resum(head, rows string) []byte {
	for len(head)%8 != 0 {
		head += " "
	}
	for len(rows)%8 != 0 {
		rows += "\x00"
	}
	size := binaryHead + len(head) + len(rows) + binarySum
	b := binary.LittleEndian.AppendUint64([]byte(binaryMagic), uint64(size))
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(head))), head+rows...)
	return binary.LittleEndian.AppendUint64(b, uint64(crc32.Checksum(b, castagnoli)))
}

// A file with a right sum may still be one that no program wrote.
func TestReadBinary_SaysWhatIsWrong(t *testing.T) {
	const head = `{"strata/ecs.binary":1,"types":[{"name":"heat","kind":"bytes","size":12},{"name":"ecs.health","kind":"struct","size":8,"fields":[` +
		`{"name":"Points","off":0,"type":{"kind":"int32","size":4}},{"name":"Max","off":4,"type":{"kind":"int32","size":4}}]}],"archetypes":[` +
		`{"components":[],"rows":1},{"components":["ecs.health","heat"],"rows":1}],"index":{"next":3}}`
	entity := func(i byte) string { return string([]byte{i, 0, 0, 0, 1, 0, 0, 0}) }
	rows := entity(1) + entity(2) + "\x07\x00\x00\x00\x09\x00\x00\x00" + "0123456789ab\x00\x00\x00\x00"
	good := newBinaryCast(t)
	if err := good.w.ReadBinary(bytes.NewReader(resum(head, rows)), nil); err != nil || good.w.Check() != nil || good.w.Len() != 2 {
		t.Fatal(err, good.w.Check(), good.w.Len())
	}
	c := newBinaryCast(t)
	for _, x := range []struct{ old, new, want string }{
		{`binary":1`, `binary":2`, "the text has version 2, not 1"},
		{`"types"`, `"kinds"`, `"kinds" instead of "types"`},
		{`"name":"heat","kind":"bytes","size":12`, `"name":"heat","kind":"bytes","size":8`, "heat was 8 bytes and is 12 bytes: values would be lost"},
		{`"name":"heat"`, `"name":"cold"`, `component "cold" is not registered`},
		{`"name":"ecs.health"`, `"name":"heat"`, `type "heat" occurs twice`},
		{`"name":"heat"`, `"name":"heat","more":1`, `unknown field "more"`},
		{`"kind":"int32"`, `"kind":"int33"`, `type "int33" of 4 bytes`},
		{`"off":4`, `"off":5`, `field "Max" at byte 5 of 8`},
		{`"off":0,"type":{"kind":"int32"`, `"off":0,"type":{"kind":"float32"`, "ecs.health.Points was float32 and is int32"},
		{`["ecs.health","heat"]`, `["ecs.health","cold"]`, `type "cold" is not described`},
		{`["ecs.health","heat"]`, `["heat","heat"]`, `component "heat" occurs twice`},
		{`"heat"],"rows":1`, `"heat"],"rows":2`, "rows of"},
		{`"heat"],"rows":1`, `"heat"],"rows":4294967296`, "4294967296 rows in"},
		{`"heat"],"rows":1`, `"heat"],"rows":0`, "the next slot is 3; it must be from 2"},
		{`"heat"],"rows":1`, `"heat"],"rows":-1`, "cannot unmarshal"},
		{`"heat"],"rows":1`, `"heat"],"entities":[]`, `"entities" is not allowed here`},
		{`"next":3`, `"next":2`, "the next slot is 2"},
	} {
		if !strings.Contains(head, x.old) {
			t.Fatal(x.old)
		}
		c.refuses(t, bytes.NewReader(resum(strings.Replace(head, x.old, x.new, 1), rows)), nil, x.want)
	}
	c.refuses(t, bytes.NewReader(resum(head, entity(1)+entity(1)+rows[16:])), nil, "slot 1 occurs twice")
	c.refuses(t, bytes.NewReader(resum(head, rows+entity(3))), nil, "8 bytes of rows belong to no archetype")
	c.refuses(t, bytes.NewReader(resum(head, entity(0)+rows[8:])), nil, `"0:1" is never valid`)
	c.refuses(t, strings.NewReader("PNG"+rows), nil, "not one of WriteBinary")
}

// A look-up of an Entity with an even generation would find the record of a vacant slot.
func TestReadBinary_RefusesAnEntityThatNeverWas(t *testing.T) {
	type pair struct {
		N  int32
		Of [2]struct{ A, B Entity }
	}
	for at := range 5 { // of pair, which is copied, and of flagged, which has a bool and is converted
		a, b := newBinaryCast(t), newBinaryCast(t)
		pairs := registerType(t, a.w, pair{})
		registerType(t, b.w, pair{})
		gone, e := must[Entity](t)(a.w.NewEntity()), must[Entity](t)(a.w.NewEntity())
		a.w.Remove(gone)
		if err := errors.Join(a.flagged.Add(e, flagged{}), addValue(a.w, e, pairs, pair{})); err != nil {
			t.Fatal(err)
		}
		p := (*pair)(a.w.Ptr(e, pairs))
		f, _ := a.flagged.Get(e)
		name, v := "ecs.pair", []*Entity{&p.Of[0].A, &p.Of[0].B, &p.Of[1].A, &p.Of[1].B, &f.Target}[at]
		if v == &f.Target {
			name = "ecs.flagged"
		}
		for _, bad := range []Entity{{gone.index, gone.gen + 1}, {gone.index, 0}, {0, 3}} {
			*v = bad
			b.refuses(t, bytes.NewReader(binaryFile(t, a.w)), nil, "component "+name+": it contains "+quote(bad)+"; slots begin at 1, and generations are odd")
		}
		*v = Entity{placeholderBit, 3} // of Spawn of a Task: it names nothing
		var file bytes.Buffer
		if err := a.w.WriteBinary(&file); err == nil || !strings.Contains(err.Error(), "component "+name+": it contains "+quote(*v)+", a placeholder") {
			t.Error(err)
		}
	}
}

type oldUnit struct {
	HP    int8
	Speed float32
	Old   [2]int32
	Name  [8]uint8
}

type newUnit struct {
	Armor  float64 // added
	Points int64   // HP
	Speed  float64
	Name   [12]uint8
}

// renamed gives a component type the name that it had in another version of the program.
func renamed(w *World, id ID, name string) { w.store.comps[id].name = name }

func TestMigration_TypesAndFieldsMayChange(t *testing.T) {
	a, _ := newTestWorld(t, Config{})
	unit, hp, gone := registerType(t, a, oldUnit{}), mustRegisterTest[health](t, a), mustRegisterTest[position](t, a)
	renamed(a, unit, "game.Unit")
	renamed(a, gone.ID(), "game.Gone")
	var es []Entity
	for i := range 300 {
		e, err := a.NewEntity()
		if err == nil {
			err = addValue(a, e, unit, oldUnit{HP: int8(i - 128), Speed: float32(i) / 4, Name: [8]uint8{'a', uint8(i)}})
		}
		if i%2 == 0 && err == nil {
			err = gone.Add(e, position{1, 2})
		}
		if i%3 == 0 && err == nil {
			err = hp.Add(e, health{int32(i), 9})
		}
		if es = append(es, e); err != nil {
			t.Fatal(err)
		}
	}
	file := binaryFile(t, a)
	b, _ := newTestWorld(t, Config{})
	now, points := registerType(t, b, newUnit{}), mustRegisterTest[health](t, b)
	renamed(b, now, "game.Ship")
	var changes []string
	m := &Migration{
		Renamed: map[string]string{"game.Unit": "game.Ship", "game.Unit.HP": "Points"},
		Dropped: []string{"game.Gone"},
		Changed: func(s string) { changes = append(changes, s) },
		Convert: map[string]func(OldValue, any) error{"game.Ship": func(old OldValue, v any) error {
			f, ok := old.Float("Speed")
			n, ok2 := old.Int("HP")
			if _, ok3 := old.Int("None"); !ok || !ok2 || ok3 || len(old.Bytes()) != 24 {
				return errors.New("the old value lacks a field")
			}
			v.(*newUnit).Armor = f * float64(n)
			return nil
		}},
	}
	if err := b.ReadBinary(bytes.NewReader(file), m); err != nil {
		t.Fatal(err)
	}
	for i, e := range es {
		v := (*newUnit)(b.Ptr(e, now))
		want := newUnit{Armor: float64(i) / 4 * float64(int8(i-128)), Points: int64(int8(i - 128)), Speed: float64(i) / 4, Name: [12]uint8{'a', uint8(i)}}
		if h, has := points.Get(e); v == nil || *v != want || has != (i%3 == 0) || has && h.Points != int32(i) {
			t.Fatalf("entity %d is %+v, want %+v; health %v", i, v, want, h)
		}
	}
	for _, want := range []string{"game.Unit was renamed to game.Ship", "game.Gone was dropped", "game.Ship.HP was renamed to Points", "game.Ship.Points: int8 became int64",
		"game.Ship.Old was removed", "game.Ship.Armor was added", "game.Ship.Name: 8 elements became 12"} {
		if !slices.Contains(changes, want) {
			t.Errorf("no %q in %q", want, changes)
		}
	}
}

func TestMigration_LostValuesAreErrors(t *testing.T) {
	a, _ := newTestWorld(t, Config{})
	wide := registerType(t, a, struct{ N int64 }{})
	renamed(a, wide, "game.N")
	e, err := a.NewEntity()
	if err == nil {
		err = addValue(a, e, wide, struct{ N int64 }{300})
	}
	if err != nil {
		t.Fatal(err)
	}
	file := binaryFile(t, a)
	b, mem := newTestWorld(t, Config{})
	narrow := registerType(t, b, struct{ N uint8 }{})
	renamed(b, narrow, "game.N")
	c := &binaryCast{w: b, mem: mem}
	c.refuses(t, bytes.NewReader(file), nil, `entity "1:1": component game.N.N: 300 does not fit uint8`)
	broken := errors.New("no")
	m := &Migration{Convert: map[string]func(OldValue, any) error{"game.N": func(OldValue, any) error { return broken }}}
	check(t, addValue(a, e, wide, struct{ N int64 }{200}))
	file = binaryFile(t, a)
	if err := b.ReadBinary(bytes.NewReader(file), m); !errors.Is(err, broken) || !strings.Contains(err.Error(), "component game.N: no") {
		t.Error(err)
	}
	c.refuses(t, bytes.NewReader(file), &Migration{Renamed: map[string]string{"game.N": "game.M"}}, `component "game.M" is not registered`)
	if err := b.ReadBinary(bytes.NewReader(file), nil); err != nil {
		t.Fatal(err)
	}
	if v := (*uint8)(b.Ptr(e, narrow)); *v != 200 {
		t.Error(*v)
	}
}

func TestMigration_MistakesNameWhatIsAllowed(t *testing.T) {
	a, _ := newTestWorld(t, Config{})
	unit, hp := registerType(t, a, oldUnit{}), mustRegisterTest[health](t, a)
	relation := mustRelation[likes](t, a)
	e, err := a.NewEntity()
	if err := errors.Join(err, addValue(a, e, unit, oldUnit{HP: 3}), hp.Add(e, health{}), relation.Add(e, likes{}, e)); err != nil {
		t.Fatal(err)
	}
	file := binaryFile(t, a)
	for want, m := range map[string]*Migration{
		`is not registered; allowed: ecs.oldUnit, ecs.health`:        {Renamed: map[string]string{"ecs.oldUnit": "ecs.Unit"}},
		"two types became ecs.oldUnit":                               {Renamed: map[string]string{"ecs.health": "ecs.oldUnit"}},
		"is Hulk, which ecs.oldUnit does not have; its fields: HP, ": {Renamed: map[string]string{"ecs.oldUnit.HP": "Hulk"}},
		`Convert["ecs.Unit"]: no such component is registered`:       {Convert: map[string]func(OldValue, any) error{"ecs.Unit": nil}},
		"Dropped has the relation":                                   {Dropped: []string{"ecs.likes"}},
	} {
		b, _ := newTestWorld(t, Config{})
		registerType(t, b, oldUnit{})
		mustRegisterTest[health](t, b)
		mustRelation[likes](t, b)
		if err := b.ReadBinary(bytes.NewReader(file), m); !errors.Is(err, layout.ErrMigration) || !strings.Contains(err.Error(), want) || b.Len() != 0 || b.Check() != nil {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestWriteBinary_RefusesByPath(t *testing.T) {
	type linked struct {
		N    int
		Next [2]struct{ H memory.Handle[position] }
	}
	for _, v := range []any{
		linked{}, knows{},
	} {
		w, _ := newTestWorld(t, Config{})
		newValue(t, w, v)
		err := w.WriteBinary(io.Discard)
		if err == nil || !strings.Contains(err.Error(), ".Next[].H: memory.Handle[github.com/strata-go/strata/ecs.position]: a handle of a pool") && !strings.Contains(err.Error(), ".Name: string: an address") {
			t.Error(err)
		}
	}
	c := newBinaryCast(t)
	c.play(t, rand.New(rand.NewPCG(1, 1)), 100)
	if err := c.w.WriteBinary(failing{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := c.w.WriteBinary(short{}); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) / 2, nil }

// A table has no chunks once its allocator was closed within a write.
func TestWriteBinary_TheAllocatorEndsMeanwhile(t *testing.T) {
	for at := 1; ; at++ {
		mem := &tellingMemory{testMemory: newTestMemory(t)}
		w := must[*World](t)(New(mem, Config{}))
		m := NewMap1[position](w)
		for range 300 { // one by one, so that small chunks come first
			must[Entity](t)(m.NewEntity(position{}))
		}
		if w.Stats().Chunks < 2 {
			t.Fatal("the rows are in one chunk")
		}
		f := &flaky{left: at, do: func() error { mem.close(); return nil }}
		err := w.WriteBinary(f)
		if f.left > 0 {
			break
		}
		if !errors.Is(err, memory.ErrClosed) || w.Check() != nil || w.Close() != nil {
			t.Errorf("call %d: %v, %v", at, err, w.Check())
		}
	}
}

func FuzzReadBinary(f *testing.F) {
	a := newBinaryCast(f)
	a.play(f, rand.New(rand.NewPCG(2, 2)), 80)
	file := binaryFile(f, a.w)
	n := binary.LittleEndian.Uint64(file[16:])
	f.Add(string(file[binaryHead:binaryHead+n]), string(file[binaryHead+n:len(file)-binarySum]))
	f.Fuzz(func(t *testing.T, head, rows string) {
		b := newBinaryCast(t)
		if err := b.w.ReadBinary(bytes.NewReader(resum(head, rows)), nil); err == nil {
			binaryFile(t, b.w)
		}
	})
}
