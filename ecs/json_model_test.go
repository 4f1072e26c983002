package ecs

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// tether is a component that names entities, in every way in which a value can.
type tether struct {
	To    Entity
	Pair  [2]Entity
	Exact uint64
	Low   int64
}

// roll is tether with Go pointers.
type roll struct {
	Crew  []Entity
	Posts map[Entity]string
}

// A cast is a world with types of every kind. What is asked of it is in bytes, so that two casts can
// be asked the same.
type cast struct {
	w      *World
	mem    *testMemory
	pos    Component[position]
	brain  Component[brain]
	tether Component[tether]
	roll   Component[roll]
	child  Relation[childOf]
	like   Relation[likes]
	heat   ID
	pair   *Map2[position, brain]
	born   *Map2[position, childOf]
	all    *Filter1[position]
	near   *Filter1[position]
	known  []Entity
	tick   uint64
}

func newCast(t testing.TB) *cast {
	c := &cast{mem: newTestMemory(t)}
	w, err := New(c.mem, Config{ChunkBytes: 1024, MaxEntities: 9000})
	if err != nil {
		t.Fatal(err)
	}
	c.w = w
	c.pos, c.brain = mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	c.tether, c.roll = mustRegisterTest[tether](t, w), mustRegisterTest[roll](t, w)
	c.child, c.like = mustRelation[childOf](t, w), mustRelation[likes](t, w)
	if c.heat, err = w.RegisterSize("heat", 12, 4); err != nil {
		t.Fatal(err)
	}
	c.pair, c.born = NewMap2[position, brain](w), NewMap2[position, childOf](w)
	c.all, c.near = NewFilter1[position](w), NewFilter1[position](w)
	return c
}

func (c *cast) pick(at byte) Entity {
	if len(c.known) == 0 {
		return Entity{}
	}
	return c.known[int(at)*7%len(c.known)]
}

// step does what three bytes say, and returns all that can be seen of it.
func (c *cast) step(op, a, b byte) string {
	c.tick++
	n := c.tick
	e, target := c.pick(a), c.pick(b)
	p := position{float32(n) / 3, -float32(b)}
	think := brain{Name: fmt.Sprint(n), Target: new(int)}
	add := func(e Entity, err error) string {
		if err == nil {
			c.known = append(c.known, e)
		}
		return fmt.Sprint(e, err)
	}
	switch op % 22 {
	case 0:
		return add(c.w.NewEntity())
	case 1:
		return add(c.pair.NewEntity(p, think))
	case 2, 3:
		return add(c.born.To(c.child.ID(), e).NewEntity(p, childOf{}))
	case 4:
		err := c.pair.NewBatch(int(b), nil)
		c.known = c.known[:0]
		for e := range c.all.All() {
			c.known = append(c.known, e)
		}
		return fmt.Sprint(err, c.known)
	case 5, 6:
		return fmt.Sprint(c.w.Remove(e))
	case 7:
		return fmt.Sprint(c.child.Add(e, childOf{}, target))
	case 8:
		return fmt.Sprint(c.like.Add(e, likes{int32(n)}, target))
	case 9:
		return fmt.Sprint(c.child.SetTarget(e, target))
	case 10:
		return fmt.Sprint(c.child.Remove(e))
	case 11:
		return fmt.Sprint(c.tether.Add(e, tether{target, [2]Entity{{}, e}, ^uint64(0) - n, -1 << 63}))
	case 12:
		return fmt.Sprint(c.roll.Add(e, roll{[]Entity{e, {}, target}, map[Entity]string{target: "<&>", e: think.Name}}))
	case 13:
		at, err := c.w.AddID(e, c.heat)
		if err == nil {
			*(*[3]uint32)(at) = [3]uint32{uint32(n), ^uint32(0), uint32(b)}
		}
		return fmt.Sprint(err)
	case 14:
		cmd := c.w.Commands()
		later, err := cmd.Spawn()
		AddTo(cmd, c.brain, later, think)
		AddRelation(cmd, c.like, later, likes{int32(b)}, target)
		cmd.Destroy(e)
		return add(later, err) + fmt.Sprint(cmd.Apply(), cmd.Skipped())
	case 15:
		return fmt.Sprint(c.child.RemoveTree(e))
	case 16:
		var es []Entity
		for e := range c.near.To(c.child.ID(), e).All() {
			es = append(es, e)
		}
		return fmt.Sprint(es)
	case 17:
		if b > 20 {
			return ""
		}
		c.w.Reset()
		return "reset"
	case 18: // the last removed slots are nearly worn out, and one is on its last life
		for i, n := c.w.store.index.free, b%4; i != 0 && n > 0; i, n = c.w.store.index.at(i).loc, n-1 {
			c.w.store.index.at(i).gen = lastGen - 1
		}
		return add(c.w.NewEntity())
	case 19, 20: // targets that come and go, until their archetypes are used again
		for range b % (2 * sweepAfter) {
			p, _ := c.w.NewEntity()
			e, err := c.born.To(c.child.ID(), p).NewEntity(position{}, childOf{})
			if a > 100 {
				c.like.Add(e, likes{1}, target)
			}
			if c.w.Remove(p); err == nil && a%3 > 0 {
				c.w.Remove(e)
			}
		}
		return ""
	default:
		if b > 100 {
			return ""
		}
		return fmt.Sprint(c.w.RemoveAll(c.all))
	}
}

func (c *cast) text(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.w.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// values are all components with pointers, which Hash does not know.
func (c *cast) values() (s string) {
	f := NewFilter1[brain](c.w)
	for e, v := range f.All() {
		s += fmt.Sprintln(e, v.Name, v.Target == nil)
	}
	for e, v := range NewFilter1[roll](c.w).All() {
		s += fmt.Sprintln(e, v.Crew, v.Posts)
	}
	return s
}

// steps draws what casts are asked, three bytes in an int each. The tests draw nothing but ints and bools: the compiler
// makes all of a generator again for each type that one draws.
var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int {
	one := rapid.IntRange(0, 255)
	return one.Draw(t, "op") | one.Draw(t, "a")<<8 | one.Draw(t, "b")<<16
}), 0, 60)

// A world that was written and read does for ever what the other one does.
func TestReadJSON_TheFutureIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newCast(t2(t))
		for _, s := range steps.Draw(t, "past") {
			a.step(byte(s), byte(s>>8), byte(s>>16))
		}
		b := newCast(t2(t))
		text := a.text(t2(t))
		if err := b.w.ReadJSON(bytes.NewReader(text)); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again := b.text(t2(t)); !bytes.Equal(again, text) {
			t.Fatalf("read and written again it is\n%s\nand was\n%s", again, text)
		}
		b.known, b.tick = slices.Clone(a.known), a.tick
		alike(t, a, b)
		for i, s := range steps.Draw(t, "future") {
			if was, is := a.step(byte(s), byte(s>>8), byte(s>>16)), b.step(byte(s), byte(s>>8), byte(s>>16)); was != is {
				t.Fatalf("step %d, %v: %s, not %s\n%s", i, s, is, was, text)
			}
			alike(t, a, b)
		}
		for _, c := range []*cast{a, b} {
			if err := c.w.Close(); err != nil || len(c.mem.live) != 0 {
				t.Fatalf("%v, %d blocks after Close", err, len(c.mem.live))
			}
		}
	})
}

func alike(t *rapid.T, a, b *cast) {
	if err := b.w.Check(); err != nil {
		t.Fatal(err)
	}
	x, y := &a.w.store.index, &b.w.store.index
	if a.w.Hash(1) != b.w.Hash(1) || a.values() != b.values() || x.live != y.live || x.usable != y.usable || x.lastLife != y.lastLife {
		t.Fatalf("two worlds: %d entities of %d, %d of %d", x.live, x.usable, y.live, y.usable)
	}
}

// A world that had entities before takes what is read as well, but for the order of archetypes.
func TestReadJSON_IntoAWorldThatWasReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := newCast(t2(t)), newCast(t2(t))
		for _, c := range []*cast{a, b} {
			for _, s := range steps.Draw(t, "past") {
				c.step(byte(s), byte(s>>8), byte(s>>16))
			}
		}
		if rapid.Bool().Draw(t, "one by one") {
			for _, table := range b.w.store.tables {
				b.w.store.destroyRows(table)
			}
			b.w.store.freePending()
		} else {
			b.w.Reset()
		}
		if err := b.w.ReadJSON(bytes.NewReader(a.text(t2(t)))); err != nil {
			t.Fatal(err)
		}
		if err := b.w.Check(); err != nil {
			t.Fatal(err)
		}
		if was, is := a.rows(), b.rows(); !slices.Equal(was, is) {
			t.Fatalf("%s\nnot\n%s", is, was)
		}
		b.known, b.tick = slices.Clone(a.known), a.tick
		for i, s := range steps.Draw(t, "future") {
			op := byte(s) % 17 // what goes by the order of archetypes does other things then
			if op == 4 || op == 15 || op == 16 {
				continue
			}
			if was, is := a.step(op, byte(s>>8), byte(s>>16)), b.step(op, byte(s>>8), byte(s>>16)); was != is {
				t.Fatalf("step %d: %s, not %s", i, is, was)
			}
			if err := b.w.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if was, is := a.rows(), b.rows(); !slices.Equal(was, is) {
			t.Fatalf("%s\nnot\n%s", is, was)
		}
	})
}

// rows are the lines of the text that say what entities there are, in order of the text.
func (c *cast) rows() (lines []string) {
	var b bytes.Buffer
	if err := c.w.WriteJSON(&b); err != nil {
		panic(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		if bytes.HasPrefix(line, []byte(`{"entity":`)) {
			lines = append(lines, string(bytes.TrimRight(line, ",\n")))
		}
	}
	slices.Sort(lines)
	return lines
}
