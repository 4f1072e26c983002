package ecs

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// everything is a small world in which every book has something to say: pointerful columns,
// tags, free slots, retired ones, idle pages, free chunk numbers, edges of both kinds,
// commands that wait.
func everything(t *testing.T) (*World, *Filter2[position, armour]) {
	w, _ := newTestWorld(t, Config{ChunkBytes: 1024, MaxEntities: 9000})
	trio := NewMap3[position, armour, brain](w)
	pos, think := mustRegisterTest[position](t, w), mustRegisterTest[brain](t, w)
	for range 5000 { // two pages, of which one is idle after Reset, and numbers of chunks that are free
		must[Entity](t)(trio.NewEntity(position{}, armour{}, brain{}))
	}
	all := NewFilter1[position](w)
	w.store.index.at(entities(w, all)[4500].index).gen = lastGen
	w.store.index.lastLife++
	w.Reset()
	for range 60 {
		must[Entity](t)(trio.NewEntity(position{}, armour{}, brain{}))
	}
	es := entities(w, all)
	e := es[0]
	w.Remove(e)
	w.store.index.at(e.index).gen = lastGen - 1
	worn := must[Entity](t)(w.NewEntity())
	w.Remove(worn) // retired
	last := es[1]
	w.Remove(last)
	w.store.index.at(last.index).gen = lastGen - 1
	must[Entity](t)(w.NewEntity()) // on its last life
	for _, gone := range es[2:10] {
		w.Remove(gone)
	}
	for i, e := range es[10:20] {
		if err := NewMap2[velocity, burning](w).Add(e, velocity{}, burning{}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := think.Remove(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := w.Commands()
	AddTo(cmd, pos, must[Entity](t)(cmd.Spawn()), position{1, 1})
	AddTo(cmd, think, es[30], brain{Name: "w"})
	RemoveFrom(cmd, pos, es[31])
	cmd.Destroy(es[32])
	NewFilter1[armour](w).With(think.ID()).Parallel(newTestWorkers(t, 1), func(task *Task, _ []Entity, _ []armour) {
		if task.Index() == 0 {
			later, _ := task.Commands().Spawn()
			AddTo(task.Commands(), mustRegisterTest[burning](t, w), later, burning{})
		}
	})
	f := NewFilter2[position, armour](w).With(think.ID()).Without(mustRegisterTest[burning](t, w).ID())
	return w, f
}

// TestCheck_EndsWhateverTheBooksHold flips every bit of every integer.
func TestCheck_EndsWhateverTheBooksHold(t *testing.T) {
	testenv.Long(t)
	w, f := everything(t)
	var edges []*transition
	var rows [][]Entity
	for _, t := range w.store.tables {
		edges = append(append(edges, t.byComponent...), t.multi...)
		for i := range t.used() {
			rows = append(rows, w.store.entitiesFrom(t.chunks[i].number<<rowBits, t.rowsIn(i)))
		}
	}
	n := memtest.EveryNthBit(t, testenv.Step(12), w.Check, w, &edges, &rows)
	if n.Integers < 300 || n.Named < n.Flipped*3/4 { // generations of vacant slots are anybody's guess
		t.Errorf("%+v", n)
	}

	q := f.Query()
	q.Next()
	inner := f.Query()
	if n = memtest.EveryNthBit(t, testenv.Step(4), f.Check, f); n.Named < tried(n, 300) {
		t.Errorf("%+v", n)
	}
	inner.Close()
	q.Close()

	events := must[*Events[position]](t)(NewEvents[position](newTestMemory(t), 8))
	events.Send(position{})
	events.Swap()
	if n = memtest.EveryNthBit(t, testenv.Step(4), events.Check, events); n.Named < tried(n, 2*bits.UintSize) {
		t.Errorf("%+v", n)
	}
}

// tried returns how many bits must be named, of named ones if each bit is flipped. Every fourth is flipped unless the
// long tests run, and in short runs of debug builds.
func tried(n memtest.Flips, named int) int {
	if n.Flipped < 16*n.Integers {
		return named / 4
	}
	return named
}

// A fault is one corruption, the sentence that names it, and how it is taken back.
type fault struct {
	name, want string
	corrupt    func() (restore func())
}

func (f fault) test(t *testing.T, check func() error) {
	t.Run(f.name, func(t *testing.T) {
		if err := check(); err != nil {
			t.Fatalf("before: %v", err)
		}
		restore := f.corrupt()
		err := check()
		restore()
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("Check says %v, want %q", err, f.want)
		}
		if err := check(); err != nil {
			t.Fatalf("after: %v", err)
		}
	})
}

// set is a corruption that writes v.
//
//go:noinline
func set(p, v any) func() func() {
	return func() func() {
		at := reflect.ValueOf(p).Elem()
		was := reflect.New(at.Type()).Elem()
		was.Set(at)
		if v == nil {
			at.SetZero()
		} else {
			at.Set(reflect.ValueOf(v).Convert(at.Type()))
		}
		return func() { at.Set(was) }
	}
}

// TestCheck_NamesEachInvariant breaks every invariant that is written above a type.
func TestCheck_NamesEachInvariant(t *testing.T) {
	w, f := everything(t)
	ents, d, cmd := &w.store.index, &w.store.directory, w.commands
	trio := w.store.byKey[key{mask: mask{7}}]
	pair := w.store.byKey[key{mask: mask{7 | 1<<3 | 1<<4}}] // position, armour, brain, velocity, burning
	brains := w.store.comps[2]
	held := trio.chunks[0].number
	nothing := func() { recover() }
	func() {
		defer nothing()
		for range f.All() {
			for range f.All() {
				for range f.Chunks() {
					panic("three loops are under way")
				}
			}
		}
	}()
	var far *transition
	for _, e := range trio.multi {
		if e.to == pair {
			far = e
		}
	}
	vacant, live := ents.free, w.store.chunks[held].base
	order := slices.IndexFunc(d.vacant[:], func(first uint32) bool { return first != 0 })
	vacantRun := &d.vacant[order]
	alive := *entityAt(live, 5)
	for _, c := range []fault{
		{"locks 1 open", "locks: open is -1 with 0 fills", set(&w.guard.locked, -1)},
		{"locks 1 fills", "locks: open is 0 with 3 fills", set(&w.guard.fills, 3)},
		{"locks 1 asking", "locks: open is 0 with 0 fills", set(&w.guard.allocating, true)},
		{"locks 4 texts", "locks: 1 of 0 fills are texts", set(&w.guard.texts, 1)},
		{"locks 5 left", "locks: 1 blocks are left", set(&w.guard.left, []leftBlock{{}})},
		{"locks 2 more than began", "walks from 1 to", set(&w.guard.locked, 1000)},
		{"locks 2 ended ahead", "locks: 0 walks from", set(&w.guard.ended, w.guard.serial+1)},

		{"tickets 1", "tickets: loop 0 of 3 has none", set(&w.guard.running[0], nil)},
		{"tickets 2 rows", "tickets: loop 1 of 3 has 0 rows", set(&w.guard.running[1].cur.rows, 0)},
		{"tickets 2 end", "rows that do not end at 0", set(&w.guard.running[1].cur.end, 0)},
		{"tickets 2 busy", "that is busy: false", set(&w.guard.running[1].busy, false)},
		{"tickets 2 twice", "which another has: true", set(&w.guard.running[2], w.guard.running[0])},

		{"index 1", "index: slot 0 is not retired", set(&ents.recs[0].gen, 4)},
		{"index 3 cycle", "the free list meets slot", set(&ents.at(vacant).loc, vacant)},
		{"index 3 range", "the free list meets slot 8000", set(&ents.free, 8000)},
		{"index 3 bump", fmt.Sprintf("the free list meets slot %d,", ents.bump), set(&ents.free, ents.bump)},
		{"index 3 past bump", "the free list meets slot 70", set(&ents.free, 70)},
		{"index 3 alive", "on the free list has generation", set(&ents.at(vacant).gen, ents.at(vacant).gen+1)},
		{"index 3 retired", "on the free list has generation 4294967294", set(&ents.at(vacant).gen, uint32(retiredGen))},
		{"index 4", "is neither alive nor free nor retired", set(&ents.free, 0)},
		{"index 6 live", "slots are alive, the book says", set(&ents.live, ents.live+1)},
		{"index 6 room below live", "index: live ", set(&ents.usable, 5)},
		{"index 6 room above max", "room 9001, max 9000", set(&ents.usable, 9001)},
		{"index 5", "was never used and is alive", set(&ents.recs[4000].gen, 77)},
		{"index 7 room", "slots are worn out, room", set(&ents.usable, ents.usable-1)},
		{"index 7 idle last life", "1 slots are worn out", set(&ents.recs[:8192][4501].gen, 8)},
		{"index 7 retired", "3 slots are worn out", set(&ents.recs[:8192][4096+9].gen, uint32(retiredGen))},
		{"index 8", "are on their last life, the book says 7", set(&ents.lastLife, 7)},
		{"index 2 bump", "index: bump 5000 of 4096 slots in use", set(&ents.bump, 5000)},
		{"index 2 peak", "index: peak 9001, max 9000", set(&ents.peak, 9001)},
		{"index 2 max", "Config says 9000", set(&ents.max, 9001)},

		{"config", "is no Config", set(&w.store.cfg.ChunkBytes, 1025)},
		{"sizes", "chunks of [1024 2048 16384 65536 262144] bytes from class 0, Config says 1024 to 262144", set(&d.sizes[1], 2048)},
		{"config largest", "is no Config", set(&w.store.cfg.MaxChunkBytes, 512)},
		{"config smaller", "Config says 1024 to 4096", set(&w.store.cfg.MaxChunkBytes, 4096)},
		{"component 1", "component 2: ecs.brain has ID 3", set(&brains.id, 3)},
		{"component 1 by type", "component types, 0 by type", set(&w.store.byType, nil)},
		{"component 2 size", "component 2: ecs.brain has 99 bytes", set(&brains.size, 99)},
		{"component 2 pointers", "pointers false", set(&brains.pointerful, false)},
		{"component 3", "component 0: Hash reads ecs.position at []", set(&w.store.comps[0].words, nil)},

		{"segments 2 cycle", "the free segments meet", set(&d.chunks[*vacantRun-1].pos, *vacantRun)},
		{"segments 2 range", "the free segments meet 999", set(vacantRun, 1000)},
		{"segments 2 held", "or no free run of order", set(vacantRun, held+1)},
		{"directory 1 waiting and held", "is one of the waiting blocks: block true", set(&d.pending, held+1)},
		{"directory 1 waiting range", "the waiting blocks meet 999", set(&d.pending, 1000)},
		{"segments 2 lost", "free runs are listed", set(vacantRun, 0)},
		{"segments 2 link back", "or no free run of order", set(&d.chunks[*vacantRun-1].class, 3)},
		{"segments 1 order", "begins a run of order -1", set(&d.chunks[held].run, 0)},
		{"segments 1 long", "begins a run of order 6", set(&d.chunks[held].run, 7)},
		{"directory 2", "bytes, the book says 1 of", set(&d.live, 1)},
		{"directory 2 bytes", "the book says", set(&d.bytes, d.bytes+1)},
		{"directory 2 class", "is of class 5 of 5", set(&d.chunks[held].class, 5)},
		{"directory 3 width", "of width 16 for", set(&d.width, 16)},
		{"directory 3 huge", "directory: ", set(&d.width, minWidth|1<<(bits.UintSize-2))},
		{"directory 3 narrow", "columns of width 4 for", set(&d.width, 4)},
		{"directory 4", "has component 0 at a wrong address", set(&d.row(held)[0], 0)},
		{"directory 4 no such column", "has component 7 at a wrong address", set(&d.row(held)[7], address(uintptr(live)))},
		{"directory 4 heap", "has component 2 at a wrong address", set(&d.row(held)[2], 0)},
		{"directory 4 lane", "component 0: its lane leads to a wrong address in chunk", set(&w.store.comps[0].addresses[held], 0)},
		{"directory 4 lane of another", "component 3: its lane leads to a wrong address in chunk", set(&w.store.comps[3].addresses[held], w.store.comps[0].addresses[held])},
		{"directory 4 of nobody", "has no table and has component 1", set(&d.row(*vacantRun - 1)[1], 64)},
		{"directory 4 lane of nobody", "has no table and has component 1", set(&w.store.comps[1].addresses[*vacantRun-1], 64)},
		{"directory 4 short lane", "component 0: its lane is of", set(&w.store.comps[0].addresses, w.store.comps[0].addresses[1:])},

		{"table index", "not where its mask", set(&trio.index, 9)},
		{"table 1 mask", "for 5 component types", set(&trio.mask, mask{1<<5 | 7})},
		{"table 1 mask high", "for 5 component types", set(&trio.mask, mask{7, 0, 0, 1})},
		{"table 1 columns", "other columns than mask", set(&trio.mask, mask{5})},
		{"table 1 size", "other columns than mask", set(&trio.heap[0].size, 9)},
		{"table 1 fewer rows", fmt.Sprintf("rows of %d bytes from class 0 to 4, not [", trio.rowBytes), set(&trio.caps[3], trio.caps[3]-1)},
		{"table 1 more rows", fmt.Sprintf("rows of %d bytes from class 0 to 4, not [", trio.rowBytes), set(&trio.caps[0], trio.caps[0]+1)},
		{"table 1 row bytes", fmt.Sprintf("rows of %d bytes", trio.rowBytes+1), set(&trio.rowBytes, trio.rowBytes+1)},
		{"table 2 tail", "rows in chunk 5 of", set(&trio.tail, 5)},
		{"table 2 negative", "rows in chunk -9 of", set(&trio.tail, -9)},
		{"table 2 rows", "the tail is not chunk", set(&trio.tailN, trio.limit+1)},
		{"table 2 empty tail", "at the end is empty", set(&trio.tailN, 0)},
		{"table 3", "chunks for", func() func() {
			a, b := memtest.Keep(&trio.tail), memtest.Keep(&trio.tailN)
			trio.tail, trio.tailN = 0, 0
			return func() { a(); b() }
		}},
		{"table 4 number", "has number 4000000000 of", set(&trio.chunks[0].number, uint32(4_000_000_000))},
		{"table 4 position", "is not what the directory says", set(&d.chunks[held].pos, 1)},
		{"table 4 table", "is not what the directory says", set(&d.chunks[held].table, uint32(pair.index)+1)},
		{"table 4 class", "rows from 0, not", set(&trio.chunks[0].cap, trio.caps[1])},
		{"table 4 first", "rows from 1, not", set(&trio.chunks[0].first, 1)},
		{"table 4 aligned", "is not aligned", set(&d.chunks[held].base, unsafe.Add(live, 8))},
		{"table 7", "columns are held for", set(&trio.held, trio.held[1:])},
		{"table 7 none", "has no column ecs.brain", set(&trio.held[0], nil)},
		{"table tail block", "the tail is not chunk", set(&trio.tailBase, live)},
		{"table tail location", "the tail is not chunk", set(&trio.tailLoc, trio.tailLoc+1)},
		{"table tail limit", "the tail is not chunk", set(&trio.limit, trio.limit-1)},
		{"table 5 dead", "which is not alive", set(entityAt(live, 5), Entity{alive.index, alive.gen + 2})},
		{"table 5 vacant", "which is not alive", set(entityAt(live, 5), Entity{vacant, ents.at(vacant).gen})},
		{"table 5 twice", "whose record says", set(entityAt(live, 5), *entityAt(live, 6))},
		{"table 5 elsewhere", "whose record says", set(&ents.at(alive.index).loc, 3)},
		{"table 6", "keeps a ecs.brain of an entity that left", set((*brain)(w.store.cell(trio.tailLoc+trio.tailN, 2, unsafe.Sizeof(brain{}))), brain{Name: "left"})},
		{"tables masks", "masks and targets name", set(&w.store.byKey, map[key]*table{{}: w.store.tables[0]})},
		{"tables rows", "rows for", set(&w.store.tables[0].tailN, 0)},

		{"edge 1 toggle", "the way for component 2 leads to mask", set(&pair.byComponent[2], far)},
		{"edge 1 near in far", "is not far", set(&trio.multi, append(slices.Clone(trio.multi), transitionBetween(trio, w.store.byKey[key{mask: mask{3 | 1<<3 | 1<<4}}]), transitionBetween(trio, trio)))},
		{"edge 1 two", "two ways to mask", set(&trio.multi, append(slices.Clone(trio.multi), far))},
		{"edge 2 moves", "moves other cells than both have", set(&far.moves[0].size, far.moves[0].size+8)},
		{"edge 2 heap", "moves other cells than both have", set(&far.heap, nil)},
		{"edge 2 table", "moves other cells than both have", set(&far.to, must[*table](t)(newTable(pair.mask, w.store.comps, d, false)))},

		{"command 1 kind", "command 0: kind 7 of component", set(&cmd.ops[0].kind, commandCreate+1)},
		{"command 1 component", "kind 1 of component 5", set(&cmd.ops[1].id, 5)},
		{"command 1 removal", "kind 2 of component 255", set(&cmd.ops[3].id, 255)},
		{"command 2 words", "command 1: its value is at 1 of 1", set(&cmd.ops[1].at, 1)},
		{"command 2 negative", "command 1: its value is at -1 of 1", set(&cmd.ops[1].at, -1)},
		{"command 2 queue", "command 2: its value is at 1 of 1", set(&cmd.ops[2].at, 1)},
		{"command 3 place", "command 6: kind 1, for #2147483657.0 and #0.0 of 1 that were asked for", set(&cmd.ops[6].e, placeholder(9))},
		{"command 3 target", "command 6: kind 1, for #2147483648.0 and #2147483649.0 of 1", set(&cmd.ops[6].target, placeholder(1))},
		{"command 3 creation", "command 5: kind 6, for #0.0 and #0.0 of 1 that were asked for", set(&cmd.ops[5].e, Entity{})},
		{"command 3 not yet", "command 5: kind 6, for #2147483648.0", set(&cmd.resolved[0], alive)},
		{"command 2 no queue", "command 2: its value is at 0 of 0", set(&cmd.queues[2], nil)},
	} {
		c.test(t, w.Check)
	}

	w2, mem2 := newTestWorld(t, Config{ChunkBytes: 1024})
	m := NewMap1[brain](w2)
	if err := m.NewBatch(int(w2.store.rowsAt(must[*table](t)(m.mapper.target()), 0, 0)), nil); err != nil {
		t.Fatal(err)
	}
	w2.Remove(must[Entity](t)(m.NewEntity(brain{}))) // behind a full chunk lies the spare
	fault{"table 6 spare", "keeps a ecs.brain", set((*brain)(w2.store.column(m.mapper.table.chunks[1].number, 0)), brain{Name: "left"})}.test(t, w2.Check)
	if len(mem2.live) != 2 {
		t.Errorf("%d blocks", len(mem2.live))
	}
	if err := NewFilter1[brain](w2).Check(); err != nil {
		t.Errorf("a filter that has seen nothing: %v", err)
	}

	q := f.Query()
	inner := f.Query()
	for _, c := range []fault{
		{"filter 1 columns", "filter: 9 columns", set(&f.filter.n, 9)},
		{"filter 1 negative", "filter: -1 columns", set(&f.filter.n, -1)},
		{"filter 1 need", "need 0x2000000007", set(&f.filter.need, f.filter.need.with(maskBit(37)))},
		{"filter 1 deny", "deny 0x2000000000", set(&f.filter.deny, maskBit(37))},
		{"filter 1 id", "filter: column 1 is component 3", set(&f.filter.ids[1], 3)},
		{"filter 1 id range", "filter: column 1 is component 200", set(&f.filter.ids[1], 200)},
		{"filter 2 seen", "filter: 99 archetypes of", set(&f.filter.seen, 99)},
		{"filter 2 negative", "filter: -1 archetypes of", set(&f.filter.seen, -1)},
		{"filter 2 matches", "filter: 0 matches, not", set(&f.filter.matches, nil)},
		{"filter 3 newest", "filter: walk 1000 beside", set(&f.filter.newest, 1000)},
		{"filter 3 order", "beside [1000]", set(&f.filter.nested[0], 1000)},
		{"filter 3 twice", "filter: walk", set(&f.filter.nested[0], f.filter.newest)},
		{"stock 1 of another", "is none of its own", set(&f.filter.main.f, nil)},
		{"stock 1 nil", "filter: ticket 0 of 3 is none of its own", set(&f.filter.others[0], nil)},
		{"stock 1 twice", "is none of its own", set(&f.filter.others[0], f.filter.others[1])},
		{"stock 1 first twice", "filter: ticket 2 of 3 is none of its own", set(&f.filter.main, f.filter.others[0])},
		{"stock 2 idle", "its loop is elsewhere", set(&f.filter.main.busy, false)},
		{"stock 2 lost", "filter: -1 of its tickets are busy", set(&f.filter.main, nil)},
		{"stock 2 nowhere", "its loop is elsewhere", set(&w.guard.running, w.guard.running[:2])},
		{"stock 3 others", "a ticket but the first has addresses", set(&f.filter.others[0].layoutVersion, 1)},
	} {
		c.test(t, f.Check)
	}
	inner.Close()
	q.Close()

	mem := newTestMemory(t)
	events := must[*Events[position]](t)(NewEvents[position](mem, 4))
	for _, c := range []fault{
		{"events 1 write", "events: buffer 2 is written", set(&events.write, 2)},
		{"events 1 negative", "events: buffer 1 holds -1 of 4", set(&events.n[1], -1)},
		{"events 1 many", "events: buffer 0 holds 5 of 4", set(&events.n[0], 5)},
		{"events 2 lengths", "events: buffers for 3 and 4", set(&events.buf[0], events.buf[0][:3])},
		{"events 2 closed", "events: buffers for 4 and 4", set(&events.mem, nil)},
	} {
		c.test(t, events.Check)
	}
}
