package ecs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strata-go/strata/memory"
)

// Check verifies the world and returns an error that lists up to 32 broken invariants and the number of further ones,
// or nil. Check returns even if the metadata is corrupted: it reports and skips parts that cannot be read safely. Cost:
// proportional to slots, rows and chunks. Check allocates in the Go heap. Filters, Workers and Events have a Check of
// their own.
func (w *World) Check() error {
	var c checker
	c.guard(w)
	c.iterators(w)
	c.observers(w)
	c.index(w)
	sound := c.components(w)
	sound = c.ticks(w) && sound
	if sound && c.directory(w) {
		c.tables(w)
	}
	if sound && w.commands != nil {
		c.commands(w.commands)
	}
	return c.err()
}

// A checker collects findings. It stops after 32, because one broken link breaks thousands of rows.
type checker struct {
	found []error
	more  int
}

func (c *checker) that(ok bool, format string, args ...any) bool {
	switch {
	case ok:
	case len(c.found) < 32:
		c.found = append(c.found, fmt.Errorf("ecs: "+format, args...))
	default:
		c.more++
	}
	return ok
}

func (c *checker) err() error {
	if c.more > 0 {
		c.found = append(c.found, fmt.Errorf("ecs: and %d more", c.more))
	}
	return errors.Join(c.found...)
}

// count returns how many findings there are.
func (c *checker) count() int { return len(c.found) + c.more }

// guard verifies the invariants of guard.
func (c *checker) guard(w *World) {
	n := w.guard.openQueries()
	c.that(w.guard.fills >= 0 && w.guard.notifying >= 0 && n >= 0, "locks: open is %d with %d fills, %d observers, asking %v, parallel %v", w.guard.locked, w.guard.fills, w.guard.notifying, w.guard.allocating, w.guard.inParallel) // (1)
	c.that(w.guard.ended <= w.guard.serial && (n < 0 || uint64(n) <= w.guard.serial-w.guard.ended), "locks: %d walks from %d to %d", n, w.guard.ended+1, w.guard.serial)                                                              // (2)
	c.that(w.guard.inParallel || !w.guard.closedInRun.Load(), "locks: the allocator has ended in a pass that is over")                                                                                                                // (3)
	c.that(w.guard.texts >= 0 && w.guard.texts <= w.guard.fills, "locks: %d of %d fills are texts", w.guard.texts, w.guard.fills)                                                                                                     // (4)
	c.that(len(w.guard.left) == 0 || w.guard.closed() && !w.guard.blocksGone, "locks: %d blocks are left, closed %v, allocator closed %v", len(w.guard.left), w.guard.closed(), w.guard.blocksGone)                                   // (5)
}

// iterators verifies invariant (6) of guard.
func (c *checker) iterators(w *World) {
	met := make(map[*iterator]bool)
	for i, t := range w.guard.running {
		if !c.that(t != nil, "tickets: loop %d of %d has none", i, len(w.guard.running)) {
			continue
		}
		rows, ends := 0, true
		if t.cur != nil {
			rows, ends = t.cur.rows, t.cur.end == uintptr(t.cur.rows)*t.f.stride
		}
		c.that(ends, "tickets: loop %d of %d has %d rows that do not end at %d", i, len(w.guard.running), rows, t.cur.end)
		c.that(!met[t] && rows > 0 && t.busy, "tickets: loop %d of %d has %d rows of a ticket that is busy: %v, which another has: %v", i, len(w.guard.running), rows, t.busy, met[t])
		met[t] = true
	}
}

// iteratorCache verifies the invariants of iteratorCache.
func (c *checker) iteratorCache(f *filter) {
	all, busy := f.others, 0
	if f.main != nil {
		all = append(slices.Clone(all), f.main)
	}
	for i, t := range all {
		if !c.that(t != nil && t.f == f && !slices.Contains(all[:i], t), "filter: ticket %d of %d is none of its own", i, len(all)) {
			continue
		}
		if t.busy {
			busy++
		}
		c.that(t.busy == slices.Contains(f.w.guard.running, t), "filter: ticket %d of %d is busy: %v, its loop is elsewhere", i, len(all), t.busy)
	}
	for _, t := range f.others {
		c.that(t == nil || t.layoutVersion == 0, "filter: a ticket but the first has addresses")
	}
	c.cachedRuns(f)
	for _, t := range f.w.guard.running {
		if t != nil && t.f == f {
			busy--
		}
	}
	c.that(busy == 0, "filter: %d of its tickets are busy and in no loop", busy)
}

// cachedRuns verifies invariant (3) of iteratorCache.
func (c *checker) cachedRuns(f *filter) {
	t, w := f.main, f.w
	if t == nil || t.layoutVersion != w.store.layoutVersion || t.onlyTable.tail != t.cached-1 || t.onlyTable.tailN == 0 || f.seen != w.store.laid {
		return
	}
	c.that(!f.usesTicks && t.last && slices.Equal(f.matches, []*table{t.onlyTable}), "filter: its next loop goes over one archetype of %d", len(f.matches))
	for i := range t.cached {
		if !c.that(i < len(t.runs) && i < len(t.onlyTable.chunks) && uint64(t.onlyTable.chunks[i].number) < uint64(len(w.store.chunks)), "filter: its next loop goes over a chunk that is not there") {
			return
		}
		c.rowRun(f, i)
	}
}

// rowRun verifies the one that leads to a chunk of onlyTable.
func (c *checker) rowRun(f *filter, i int) {
	t, w := f.main, f.w
	s, k := &t.runs[i], t.onlyTable.chunks[i]
	right := s.it == t && s.es == address(uintptr(w.store.chunks[k.number].base))
	if i == t.cached-1 {
		right = right && s.following == nil
	} else {
		right = right && i+1 < len(t.runs) && s.following == &t.runs[i+1] && s.rows == int(k.cap) && s.end == uintptr(s.rows)*f.stride
	}
	columns := w.store.row(k.number)
	for i, id := range f.ids[:f.n] {
		right = right && s.cols[i] == columns[id]
	}
	c.that(right, "filter: its next loop goes over other rows than those of chunk %d", k.number)
}

// observers verifies the invariants of observers.
func (c *checker) observers(w *World) {
	for k := range eventKinds {
		var watched mask
		for i, o := range w.observers.lists[k] { // (1)
			c.that(o.w == w && o.kind == k && (k < addEvent || int(o.id) < len(w.store.comps) && o.size == w.store.comps[o.id].size) &&
				!slices.Contains(w.observers.lists[k][:i], o), "observers: number %d of kind %d is of kind %d, component %d, stopped %v", i, k, o.kind, o.id, o.w == nil)
			watched = watched.with(o.mask())
		}
		c.that(w.observers.watched[k] == watched, "observers: %v is watched in kind %d, the book says %v", watched, k, w.observers.watched[k])                                        // (2)
		c.that(w.observers.observed>>k&1 != 0 == (len(w.observers.lists[k]) > 0), "observers: kind %d has %d, the book says %#x", k, len(w.observers.lists[k]), w.observers.observed) // (3)
	}
	for i, o := range w.observers.lists[loadEvent] {
		c.that(o.w == w && o.kind == loadEvent && !slices.Contains(w.observers.lists[loadEvent][:i], o), "observers: number %d of OnLoad is of kind %d, stopped %v", i, o.kind, o.w == nil) // (1)
	}
	c.that(w.observers.observed < tracking<<1, "observers: the book says %#x", w.observers.observed)
}

// ticks verifies invariants (1) to (3) of ticks, without which stamps cannot be found.
func (c *checker) ticks(w *World) bool {
	before := c.count()
	var tracked, hidden mask
	for i, k := range w.store.comps[:min(len(w.store.comps), MaxComponents)] {
		if k.ticks != nil {
			tracked = tracked.with(maskBit(ID(i)))
		}
		if k.owner != nil {
			hidden = hidden.with(maskBit(ID(i)))
		}
	}
	c.that(tracked == w.store.tracked && hidden == w.store.companions, "ticks: %v are tracked by %v, the book says %v by %v", tracked, hidden, w.store.tracked, w.store.companions)
	c.that((w.observers.observed&tracking != 0) == !tracked.empty(), "ticks: %v are tracked, observed says %#x", tracked, w.observers.observed)
	c.that(w.store.tick >= w.store.clamped && w.store.tick-w.store.clamped < clampEvery && Tick(w.store.tick) != 0, "ticks: tick %d, clamped at %d", w.store.tick, w.store.clamped)
	return before == c.count()
}

// components verifies the invariants of component and that the sizes are those of Config.
// Nothing else can be measured when they are broken.
func (c *checker) components(w *World) bool {
	before := c.count()
	cfg, err := w.store.cfg.withDefaults()
	named := w.store.cfg
	cfg.Pages, named.Pages = nil, nil
	c.that(err == nil && cfg == named, "%+v is no Config", named)
	if err == nil {
		sizes, first := cfg.sizes()
		c.that(slices.Equal(w.store.sizes, sizes) && w.store.first == uint32(first),
			"directory: chunks of %d bytes from class %d, Config says %d to %d", w.store.sizes, w.store.first, cfg.ChunkBytes, cfg.MaxChunkBytes)
	}
	companions := 0
	for i, k := range w.store.comps {
		c.that(k.ticks == nil || k.owner == nil && k.ticks.owner == k && slices.Contains(w.store.comps, k.ticks), "component %d: %s has the ticks of another", i, k.name)
		if k.owner != nil { // (4)
			companions++
			c.that(int(k.id) == i && k.owner.ticks == k && k.typ == nil && len(k.words) == 0 && k.size == tickBytes && !k.pointerful,
				"component %d: %s has ID %d and %d bytes, pointers %v", i, k.name, k.id, k.size, k.pointerful)
			continue
		}
		if k.typ == nil {
			c.that(int(k.id) == i && w.store.byName[k.name] == k, "component %d: %s has ID %d", i, k.name, k.id) // (1)
			c.that(k.align > 0 && k.align <= columnAlign && k.align&(k.align-1) == 0 && k.size%uintptr(k.align) == 0 && k.size <= maxFirstBytes && !k.pointerful,
				"component %d: %s has %d bytes aligned to %d, pointers %v", i, k.name, k.size, k.align, k.pointerful) // (2)
			c.that(k.size > maxFirstBytes || slices.Equal(k.words, rawWords(k.size)), "component %d: Hash reads %s at %v", i, k.name, k.words) // (3)
			continue
		}
		c.that(int(k.id) == i && w.store.byType[k.typ] == k, "component %d: %s has ID %d", i, k.typ, k.id) // (1)
		pointerful := memory.PointerFreeType(k.typ) != nil
		c.that(k.size == k.typ.Size() && k.pointerful == pointerful, "component %d: %s has %d bytes, pointers %v", i, k.typ, k.size, k.pointerful) // (2)
		var words []word
		if !pointerful {
			words = hashWords(k.typ)
		}
		c.that(slices.Equal(k.words, words), "component %d: Hash reads %s at %v", i, k.typ, k.words) // (3)
	}
	c.that(len(w.store.comps) == len(w.store.byType)+len(w.store.byName)+companions && len(w.store.comps) <= MaxComponents,
		"%d component types, %d by type, %d by name, %d ticks", len(w.store.comps), len(w.store.byType), len(w.store.byName), companions)
	c.that(w.store.relating.below(len(w.store.comps)) && !w.store.relating.any(&w.store.companions), "relations %v of %d component types", w.store.relating, len(w.store.comps))
	return before == c.count()
}

// index verifies the invariants of entityIndex.
func (c *checker) index(w *World) {
	x := &w.store.index
	inUse := uint32(len(x.recs))
	if inUse > 0 {
		c.that(x.recs[0].gen == retiredGen, "index: slot 0 is not retired") // (1)
	}
	c.that(x.bump >= 1 && x.bump <= max(inUse, 1) && inUse%runRecords == 0, "index: bump %d of %d slots in use", x.bump, inUse) // (2)
	if err := x.mem.Check(); err != nil {
		c.that(false, "index: %w", err)
	}
	c.that(x.peak <= x.max && int(x.max) == w.store.cfg.MaxEntities, "index: peak %d, max %d, Config says %d", x.peak, x.max, w.store.cfg.MaxEntities)
	onList := c.freeSlots(x, inUse)
	live, last := uint32(0), uint32(0)
	for i := uint32(1); i < inUse; i++ {
		gen := x.at(i).gen
		alive := gen&1 == 1
		if i >= x.bump { // (5)
			c.that(!alive, "index: slot %d was never used and is alive", i)
			continue
		}
		if alive {
			live++
		}
		if gen == lastGen {
			last++
		}
		c.that(alive || onList[i] || gen == retiredGen, "index: slot %d is neither alive nor free nor retired", i) // (4)
	}
	c.that(live == x.live, "index: %d slots are alive, the book says %d", live, x.live) // (6)
	c.that(x.live <= x.usable && x.usable <= x.max, "index: live %d, room %d, max %d", x.live, x.usable, x.max)
	worn := x.worn()
	c.that(x.usable == x.max-worn, "index: %d slots are worn out, room %d of max %d", worn, x.usable, x.max)      // (7)
	c.that(last == x.lastLife, "index: %d live slots are on their last life, the book says %d", last, x.lastLife) // (8)
}

// freeSlots verifies invariant (3) of entityIndex and returns the slots on the free list.
func (c *checker) freeSlots(x *entityIndex, inUse uint32) map[uint32]bool {
	on := make(map[uint32]bool)
	for i := x.free; i != 0; i = x.at(i).loc {
		if i >= min(x.bump, inUse) || on[i] {
			c.that(false, "index: the free list meets slot %d, which is out of range or met before", i)
			break
		}
		gen := x.at(i).gen
		c.that(gen&1 == 0 && gen != retiredGen, "index: slot %d on the free list has generation %d", i, gen)
		on[i] = true
	}
	return on
}

// worn counts the slots that will not live again, idle runs included: what was alive there
// on its last life when Reset came is retired as soon as its run is brought.
func (x *entityIndex) worn() (n uint32) {
	for i, r := range x.recs[:cap(x.recs)] {
		if r.gen == retiredGen && i > 0 || r.gen == lastGen && i >= len(x.recs) {
			n++
		}
	}
	return n
}

// commands verifies the invariants of Commands.
func (c *checker) commands(cmd *Commands) {
	for i := range cmd.ops {
		op := &cmd.ops[i]
		c.that(cmd.validPlaceholder(op.e) && cmd.validPlaceholder(op.target) && (op.kind != commandCreate || isPlaceholder(op.e) && cmd.resolve(op.e) == Entity{}),
			"command %d: kind %d, for %v and %v of %d that were asked for", i, op.kind, op.e, op.target, len(cmd.resolved)) // (3)
		relates := op.kind == commandRelate || op.kind == commandTurn
		if !c.that(op.kind <= commandCreate && (int(op.id) < len(cmd.w.store.comps) || op.kind == commandSpawn || op.kind >= commandDestroy) &&
			(!relates || cmd.w.store.relating.has(op.id)), "command %d: kind %d of component %d", i, op.kind, op.id) ||
			op.kind != commandAdd && op.kind != commandRelate { // (1)
			continue
		}
		comp := cmd.w.store.comps[op.id]
		room, need := len(cmd.words), int((comp.size+7)/8)
		if comp.pointerful {
			room, need = 0, 1
			if int(op.id) < len(cmd.queues) && cmd.queues[op.id] != nil {
				room = cmd.queues[op.id].len()
			}
		}
		c.that(need == 0 || op.at >= 0 && op.at <= room-need, "command %d: its value is at %d of %d", i, op.at, room) // (2)
	}
}
