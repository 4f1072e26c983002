package ecs

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// TestAll_FindsItsRowsWhereverTheyHaveCome has filters keep the place of their rows, and everything that may
// make it another one happen between two loops: All and Chunks go over what Query does.
func TestAll_FindsItsRowsWhereverTheyHaveCome(t *testing.T) {
	w, mem := newTestWorld(t, Config{ChunkBytes: 1024})
	pos, vel := mustRegisterTest[position](t, w), mustRegisterTest[velocity](t, w)
	one, both, think := NewMap1[position](w), NewMap2[position, velocity](w), NewMap2[position, brain](w)
	f, g, h := NewFilter1[position](w), NewFilter1[velocity](w), NewFilter1[brain](w)
	per := int(must[*table](t)(one.mapper.target()).caps[0])
	var es []Entity
	more := func(n int) {
		for range n {
			es = append(es, must[Entity](t)(one.NewEntity(position{float32(len(es)), 1})))
		}
	}
	fewer := func(n int) {
		for range n {
			w.Remove(es[len(es)-1])
			es = es[:len(es)-1]
		}
	}
	kept := 0 // loops that began where the one before did
	same := func(step string) {
		t.Helper()
		var want, got, chunks []Entity
		var at, where []*position
		if f.filter.main != nil && f.filter.main.layoutVersion == w.store.layoutVersion && f.filter.main.onlyTable.tail == f.filter.main.cached-1 && f.filter.main.onlyTable.tailN > 0 && f.filter.seen == len(w.store.tables) {
			kept++
		}
		for e, p := range f.All() {
			got, where = append(got, e), append(where, p)
		}
		q := f.Query()
		for q.Next() {
			want, at = append(want, q.Entity()), append(at, q.Get())
		}
		for range 2 {
			chunks = chunks[:0]
			for es, ps := range f.Chunks() {
				if chunks = append(chunks, es...); &ps[0] != at[len(chunks)-len(es)] {
					t.Errorf("%s: a chunk is elsewhere", step)
				}
			}
		}
		brains, hasty := 0, 0
		for range 2 {
			for e, b := range h.All() {
				if brains++; *b.Target != int(e.index) {
					t.Errorf("%s: %v thinks of %d", step, e, *b.Target)
				}
			}
			for e, v := range g.All() {
				if hasty++; v.X != float32(e.index) {
					t.Errorf("%s: %v has %v", step, e, *v)
				}
			}
		}
		if !slices.Equal(got, want) || !slices.Equal(where, at) || !slices.Equal(chunks, want) || brains != 2*h.Len() || hasty != 2*g.Len() {
			t.Errorf("%s: %d rows by All, %d by Chunks, %d by Query; %d brains, %d velocities", step, len(got), len(chunks), len(want), brains, hasty)
		}
		for _, err := range []error{w.Check(), f.Check(), g.Check(), h.Check()} {
			if err != nil {
				t.Errorf("%s: %v", step, err)
			}
		}
	}
	add := func(n int, thinks bool) {
		for range n {
			e := must[Entity](t)(w.NewEntity())
			i := int(e.index)
			if err := vel.Add(e, velocity{float32(i), 0}); err != nil {
				t.Fatal(err)
			}
			if thinks {
				if err := mustRegisterTest[brain](t, w).Add(e, brain{Target: &i}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var text bytes.Buffer
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"one", func() { more(1) }},
		{"the same", func() {}},
		{"two", func() { more(1) }},
		{"a full chunk", func() { more(per - 2) }},
		{"two chunks", func() { more(1) }},
		{"a chunk and its spare", func() { fewer(1) }},
		{"into the spare, which asks for nothing", func() { more(2) }},
		{"back again", func() { fewer(2) }},
		{"four chunks", func() { more(4*per - len(es)) }},
		{"the same four", func() {}},
		{"one row less in the last of them", func() { fewer(1) }},
		{"a fifth", func() { more(2) }},
		{"four of them", func() { fewer(1) }},
		{"three", func() { fewer(per) }},
		{"three and a row", func() { more(1) }},
		{"one in the second", func() { fewer(len(es) - per - 1) }},
		{"half", func() { fewer(per / 2) }},
		{"none, in a chunk that is kept", func() { fewer(len(es)) }},
		{"some again", func() { more(3) }},
		{"a block that another table took", func() { fewer(len(es)); w.Shrink(); add(2*per, false); more(3) }},
		{"with brains", func() { add(3, true) }},
		{"another type, which widens the books", func() { registerMany(t, w); more(1) }},
		{"another archetype", func() {
			e := must[Entity](t)(both.NewEntity(position{7, 7}, velocity{}))
			vel.Set(e, velocity{float32(e.index), 0})
		}},
		{"none in it", func() { w.RemoveAll(NewFilter2[position, velocity](w)) }},
		{"without it", func() { f.Without(vel.ID()) }},
		{"the same without it", func() {}},
		{"noted", func() { f.Writes(pos.ID()) }},
		{"the same noted", func() {}},
		{"thinking", func() {
			i := int(must[Entity](t)(think.NewEntity(position{}, brain{})).index)
			for e, b := range h.All() {
				if e.index == uint32(i) {
					b.Target = &i
				}
			}
		}},
		{"reset", func() { w.Reset(); es = nil }},
		{"after it", func() { more(4); add(1, false); add(1, true) }},
		{"saved", func() { w.RemoveAll(h); check(t, w.WriteJSON(&text)) }},
		{"read", func() {
			w.Reset()
			es = nil
			add(1, false)
			same("before")
			w.Reset()
			check(t, w.ReadJSON(&text))
		}},
		{"after that", func() { more(1) }},
	} {
		step.do()
		same(step.name)
		same(step.name + ", again")
	}
	if kept < 10 {
		t.Errorf("%d loops began where the one before did", kept)
	}
	if mem.allocs == 0 {
		t.Error("no chunk was asked for")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAll_OfATargetThatIsGoneFindsNothingWhereItsRowsStillLie: no chunk has come or gone.
func TestAll_OfATargetThatIsGoneFindsNothingWhereItsRowsStillLie(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	child := mustRelation[childOf](t, w)
	a, b := must[Entity](t)(w.NewEntity()), must[Entity](t)(w.NewEntity())
	must[Entity](t)(NewMap1[childOf](w).To(child.ID(), a).NewEntity(childOf{}))
	f := NewFilter1[childOf](w).To(child.ID(), a)
	count := func() (n int) {
		for range f.All() {
			n++
		}
		return n
	}
	for range 3 {
		if n := count(); n != 1 {
			t.Errorf("%d children", n)
		}
	}
	laid := w.store.layoutVersion
	w.Remove(a)
	if n := count(); n != 0 || w.store.layoutVersion != laid || w.Alive(a) || !w.Alive(b) {
		t.Errorf("%d children of nobody; chunks have moved %d times", n, w.store.layoutVersion-laid)
	}
}

// TestAll_InAPassIsRefusedThoughItKnowsItsRows looks at a filter that has been used before.
func TestAll_InAPassIsRefusedThoughItKnowsItsRows(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	check(t, NewMap1[position](w).NewBatch(10, nil))
	f, g := NewFilter1[position](w), NewFilter1[position](w)
	for range f.All() {
	}
	text := ""
	g.Parallel(newTestWorkers(t, 1), func(*Task, []Entity, []position) {
		text = misuse(t, func() {
			for range f.All() {
			}
		})
	})
	if text != "ecs.All: a parallel run is in progress" {
		t.Error(text)
	}
}

// TestCheck_NamesAPlaceThatIsAnother has the books of a filter say where its rows are not.
func TestCheck_NamesAPlaceThatIsAnother(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	check(t, NewMap2[position, velocity](w).NewBatch(10, nil))
	must[Entity](t)(NewMap1[brain](w).NewEntity(brain{}))
	f := NewFilter2[position, velocity](w)
	for range f.All() {
	}
	const other = "filter: its next loop goes over other rows than those of chunk 0"
	const many = "filter: its next loop goes over one archetype of "
	k, gone := f.filter.main, "filter: its next loop goes over a chunk that is not there"
	for _, c := range []fault{
		{"stock 3 entities", other, set(&k.runs[0].es, k.runs[0].es+8)},
		{"stock 3 first column", other, set(&k.runs[0].cols[0], k.runs[0].cols[1])},
		{"stock 3 second column", other, set(&k.runs[0].cols[1], k.runs[0].cols[0])},
		{"stock 3 further", other, set(&k.runs[0].following, &k.runs[1])},
		{"stock 3 last", many, set(&k.last, false)},
		{"stock 3 of another", other, set(&k.runs[0].it, nil)},
		{"stock 3 notes", many, set(&f.filter.usesTicks, true)},
		{"stock 3 table", many, set(&f.filter.matches, append(f.filter.matches, w.store.tables[0]))},
		{"stock 3 no chunk", gone, set(&k.onlyTable.chunks, nil)},
		{"stock 3 number", gone, set(&k.onlyTable.chunks[0].number, uint32(len(w.store.chunks)))},
	} {
		c.test(t, f.Check)
	}
	for _, c := range []func(){ // what the next loop looks for anew may be anything
		func() { k.layoutVersion-- },
		func() { k.runs[0].es, k.layoutVersion = 0, 0 },
	} {
		if c(); f.Check() != nil {
			t.Error(f.Check())
		}
	}
}

// TestCheck_NamesAWayThatLeadsElsewhere has three chunks, to which a filter knows the way.
func TestCheck_NamesAWayThatLeadsElsewhere(t *testing.T) {
	w, _ := newTestWorld(t, Config{FirstChunkBytes: 16 << 10})
	m := NewMap1[position](w)
	for range 3 * 1024 { // rows of 16 bytes
		must[Entity](t)(m.NewEntity(position{}))
	}
	f := NewFilter1[position](w)
	for range f.All() {
	}
	k := f.filter.main
	if k.cached != 3 || k.layoutVersion != w.store.layoutVersion {
		t.Fatalf("the filter knows %d chunks, laid %d of %d", k.cached, k.layoutVersion, w.store.layoutVersion)
	}
	other := func(n int) string {
		return fmt.Sprintf("filter: its next loop goes over other rows than those of chunk %d", n)
	}
	for _, c := range []fault{
		{"stock 3 ends early", other(0), set(&k.runs[0].following, nil)},
		{"stock 3 leaves out", other(0), set(&k.runs[0].following, &k.runs[2])},
		{"stock 3 rows", other(1), set(&k.runs[1].rows, 1023)},
		{"stock 3 end", other(1), set(&k.runs[1].end, 1023*8)},
		{"stock 3 fewer rows", other(1), func() func() {
			rows, end := set(&k.runs[1].rows, 1023)(), set(&k.runs[1].end, 1023*8)()
			return func() { rows(); end() }
		}},
		{"stock 3 second address", other(1), set(&k.runs[1].es, k.runs[0].es)},
		{"stock 3 third column", other(2), set(&k.runs[2].cols[0], k.runs[1].cols[0])},
		{"stock 3 goes on", other(2), set(&k.runs[2].following, &k.runs[0])},
	} {
		c.test(t, f.Check)
	}
}

// TestAll_IsStoppedAndLeftInEachOfTheChunksThatItKnows: where a loop goes on from one chunk to the next by what
// the one before it found.
func TestAll_IsStoppedAndLeftInEachOfTheChunksThatItKnows(t *testing.T) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap1[position](w)
	for range 200 {
		must[Entity](t)(m.NewEntity(position{}))
	}
	f := NewFilter1[position](w)
	whole := func(what string) {
		t.Helper()
		for range 3 { // the first finds out, the second knows
			n := 0
			for range f.All() {
				n++
			}
			if n != f.Len() || len(w.guard.running) != 0 || f.Check() != nil || w.Check() != nil {
				t.Fatalf("%s: %d rows of %d, %d loops, %v, %v", what, n, f.Len(), len(w.guard.running), f.Check(), w.Check())
			}
		}
		if f.filter.main.cached < 3 || f.filter.main.layoutVersion != w.store.layoutVersion {
			t.Fatalf("%s: the filter knows %d chunks", what, f.filter.main.cached)
		}
	}
	whole("at first")
	for at := 0; at < f.Len(); at += 9 {
		n := 0
		for range f.All() {
			if n++; n > at {
				break
			}
		}
		whole("left")
		n = 0
		text := misuse(t, func() {
			for e := range f.All() {
				if n++; n == at+1 {
					w.Remove(e)
				}
			}
		})
		if text != changedWithin || n != at+1 {
			t.Fatalf("changed at row %d: %d rows, %q", at, n, text)
		}
		whole("changed")
		func() {
			defer func() { _ = recover() }()
			for range f.All() {
				panic("a body")
			}
		}()
		must[Entity](t)(m.NewEntity(position{}))
		whole("panicked")
	}
}

// TestAll_WithinItselfTakesATicketOfItsOwnAndAllocatesNone nests loops over one filter, as for pairs.
func TestAll_WithinItselfTakesATicketOfItsOwnAndAllocatesNone(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	check(t, NewMap1[position](w).NewBatch(10, nil))
	f := NewFilter1[position](w)
	pairs := func() (n int) {
		for a := range f.All() {
			for b := range f.All() {
				if a != b {
					n++
				}
			}
		}
		return n
	}
	triples := func() (n int) {
		for range f.All() {
			n += pairs()
		}
		return n
	}
	if n := triples(); n != 900 || len(f.filter.others) != 2 || f.Check() != nil {
		t.Errorf("%d triples, %d tickets, %v", n, len(f.filter.others), f.Check())
	}
	if n := testenv.LeastObjects(11, func() { triples() }); n != 0 {
		t.Errorf("loops within loops allocate %v times", n)
	}
	for range f.All() { // left by a panic: it may be going on, for all that anybody knows
		caught(func() {
			for range f.All() {
				panic("body")
			}
		})
		break
	}
	if n := triples(); n != 900 || len(f.filter.others) != 3 || f.Check() != nil || w.Check() != nil {
		t.Errorf("%d triples, %d tickets, %v, %v", n, len(f.filter.others), f.Check(), w.Check())
	}
	must[Entity](t)(w.NewEntity()) // stops it for good
	if n := triples(); n != 900 || len(f.filter.others) != 2 || f.Check() != nil || len(w.guard.running) != 0 {
		t.Errorf("%d triples, %d tickets, %v, %d loops", n, len(f.filter.others), f.Check(), len(w.guard.running))
	}
}

// TestRecord_IsReadInOneWord: where its halves lie depends on the processor.
func TestRecord_IsReadInOneWord(t *testing.T) {
	r := record{gen: 0x01020305, loc: 7<<rowBits | 11}
	if v := r.word(); uint32(v>>genShift) != r.gen || uint32(v>>locShift) != r.loc || v>>(locShift+rowBits)%maxSegments != 7 || v>>locShift&rowMask != 11 {
		t.Errorf("%#x", v)
	}
}

// A transition is made when the first entity changes so, during play: it and its moves are an object each.
func TestTransition_CostsTwoObjects(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	mustRegisterTest[position](t, w)
	mustRegisterTest[velocity](t, w)
	mustRegisterTest[health](t, w)
	three := must[*table](t)(NewMap3[position, velocity, health](w).mapper.target())
	if n := testing.AllocsPerRun(10, func() { transitionBetween(three, three) }); n != 2 {
		t.Errorf("%v objects", n)
	}
	if n := cap(three.columns); n != 3 {
		t.Errorf("space for %d columns: they grew one by one", n)
	}
	if e := transitionBetween(three, three); len(e.moves) != 3 || cap(e.moves) != 3 {
		t.Errorf("%d moves, space for %d", len(e.moves), cap(e.moves))
	}
}
