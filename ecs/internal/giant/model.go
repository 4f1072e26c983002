package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

// The components. self ties an entity to its record in the model; the values are integers, so that
// sums do not depend on an order.
type (
	self     struct{ at int32 }
	position struct{ x, y int32 }
	velocity struct{ x, y int32 }
	armour   struct{ points int64 }
	frozen   struct{}
	name     struct{ text string } // lies in the Go heap
	childOf  struct{ since int32 }
)

// A record is the model of an entity.
type record struct {
	e      ecs.Entity
	pos    position
	vel    velocity
	arm    int64
	child  childOf
	parent int32 // slot of the target in parents, -1 without the relation
	has    uint8 // bits below
	text   string
}

const (
	hasVel uint8 = 1 << iota
	hasArm
	hasFrozen
	hasName
)

// A scarce allocator refuses some requests at random.
type scarce struct {
	*tlsf.Heap
	rng *rand.Rand
	one int // refuses one in so many; 0 for none
}

func (s *scarce) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if s.one > 0 && s.rng.IntN(s.one) == 0 {
		return nil, memory.ErrOutOfMemory
	}
	return s.Heap.Alloc(size, align)
}

// A giant is a world of many entities and its model: a slice of records whose order does not depend on the world.
type giant struct {
	w      *ecs.World
	mem    *tlsf.Heap
	scarce scarce
	budget *page.Limit
	rng    *rand.Rand
	want   int // entities
	recs   []record
	tick   int32

	parents []ecs.Entity // of relations; a zero one is gone
	workers []*ecs.Workers

	self   ecs.Component[self]
	pos    ecs.Component[position]
	vel    ecs.Component[velocity]
	arm    ecs.Component[armour]
	frozen ecs.Component[frozen]
	name   ecs.Component[name]
	child  ecs.Relation[childOf]

	plain  *ecs.Map3[self, position, velocity]
	armed  *ecs.Map1[armour]
	swap   *ecs.Map1[frozen]
	born   *ecs.Map4[self, position, velocity, childOf]
	moving *ecs.Filter2[position, velocity]
	all    *ecs.Filter2[self, position]
	kin    *ecs.Filter2[self, childOf]
	plates *ecs.Filter2[self, armour]

	told   tally // by observers
	counts counts
}

// A tally is what observers add up, and what the model says it must be.
type tally struct {
	entities, armoured, frozen, named, children int
	points                                      int64
}

// counts say what a run has done.
type counts struct {
	Ticks, Created, Destroyed, Changed, Related, Refused, Passes, Verified int
}

func (c counts) String() string {
	return fmt.Sprintf("%d ticks: %d created, %d destroyed, %d changed, %d related, %d refused for lack of memory, %d parallel passes, %d verified",
		c.Ticks, c.Created, c.Destroyed, c.Changed, c.Related, c.Refused, c.Passes, c.Verified)
}

// addressSpace is the reservation for n entities and more, about 2 KB for each. Small worlds reserve less, for
// systems with 32 bits of addresses.
func addressSpace(n int) uintptr { return uintptr(min(64<<20+2000*uint64(n), uint64(^uintptr(0)>>1))) }

// newGiant makes a world for n entities, with a budget that they sometimes reach.
func newGiant(n int, seed uint64) (_ *giant, err error) {
	g := &giant{want: n, rng: rand.New(rand.NewPCG(seed, 0x6769616e74)), budget: page.NewLimit(nil, 0)}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if g.mem, err = tlsf.New(g.budget, tlsf.Config{Reserve: addressSpace(n), Step: 1 << 20}); err != nil {
		return nil, err
	}
	// The index lies in the same budget.
	g.scarce = scarce{Heap: g.mem, rng: g.rng}
	if g.w, err = ecs.New(&g.scarce, ecs.Config{MaxEntities: n + n/4, Pages: g.budget, ChunkBytes: 1 << (10 + g.rng.IntN(5))}); err != nil {
		return nil, err
	}
	for _, count := range []int{1, 2, min(4, max(2, runtime.NumCPU()))} {
		ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: count})
		if err != nil {
			return nil, err
		}
		g.workers = append(g.workers, ws)
	}
	return g, g.register()
}

func (g *giant) register() (err error) {
	w := g.w
	take := func(e error) { err = errors.Join(err, e) }
	var e error
	g.child, e = ecs.RegisterRelation[childOf](w)
	take(e)
	g.self, e = ecs.Register[self](w)
	take(e)
	g.pos, e = ecs.Register[position](w)
	take(e)
	g.vel, e = ecs.Register[velocity](w)
	take(e)
	g.arm, e = ecs.Register[armour](w)
	take(e)
	g.frozen, e = ecs.Register[frozen](w)
	take(e)
	g.name, e = ecs.Register[name](w)
	if take(e); err != nil {
		return err
	}
	g.plain, g.born = ecs.NewMap3[self, position, velocity](w), ecs.NewMap4[self, position, velocity, childOf](w)
	g.armed = ecs.NewMap1[armour](w)
	g.swap = ecs.NewMap1[frozen](w).Removes(g.vel.ID())
	g.moving, g.all = ecs.NewFilter2[position, velocity](w), ecs.NewFilter2[self, position](w)
	g.kin, g.plates = ecs.NewFilter2[self, childOf](w), ecs.NewFilter2[self, armour](w)
	g.observe()
	return nil
}

// observe keeps the tally.
func (g *giant) observe() {
	t := &g.told
	g.self.OnAdd(func(ecs.Entity, *self) { t.entities++ })
	g.self.OnRemove(func(ecs.Entity, *self) { t.entities-- })
	// Observers of a write receive the new value; noted has the one before.
	noted := make([]int64, g.want+g.want/4+2)
	note := func(e ecs.Entity, points int64) {
		t.points += points - noted[e.Index()]
		noted[e.Index()] = points
	}
	g.arm.OnAdd(func(e ecs.Entity, a *armour) { t.armoured++; note(e, a.points) })
	g.arm.OnSet(func(e ecs.Entity, a *armour) { note(e, a.points) })
	g.arm.OnRemove(func(e ecs.Entity, a *armour) { t.armoured--; note(e, 0) })
	g.frozen.OnAdd(func(ecs.Entity, *frozen) { t.frozen++ })
	g.frozen.OnRemove(func(ecs.Entity, *frozen) { t.frozen-- })
	g.name.OnAdd(func(ecs.Entity, *name) { t.named++ })
	g.name.OnRemove(func(ecs.Entity, *name) { t.named-- })
	g.child.OnAdd(func(ecs.Entity, *childOf) { t.children++ })
	g.child.OnRemove(func(ecs.Entity, *childOf) { t.children-- })
}

// close gives everything back and says what was kept.
func (g *giant) close() (err error) {
	if g.w != nil {
		err = g.w.Close()
	}
	for _, ws := range g.workers {
		err = errors.Join(err, ws.Close())
	}
	if g.mem != nil {
		if s := g.mem.Stats(); s.Live != 0 {
			err = errors.Join(err, fmt.Errorf("%d chunks of the world are left", s.Live))
		}
		err = errors.Join(err, g.mem.Close())
	}
	if n := g.budget.Committed(); n != 0 && err == nil {
		err = fmt.Errorf("%d bytes are committed still", n)
	}
	return err
}

// refused reports whether err says that memory is missing; any other error is a failure of the run.
func (g *giant) refused(err error) (bool, error) {
	if err == nil {
		return false, nil
	}
	if errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, ecs.ErrLimit) {
		g.counts.Refused++
		return true, nil
	}
	return false, err
}

// add takes a new entity into the model.
func (g *giant) add(r record) { g.recs = append(g.recs, r) }

// moved stores the index of record i in its entity.
func (g *giant) moved(i int) {
	if s, ok := g.self.Get(g.recs[i].e); ok {
		s.at = int32(i)
	}
}

// drop removes record i; the last one takes its place.
func (g *giant) drop(i int) {
	last := len(g.recs) - 1
	if i != last {
		g.recs[i] = g.recs[last]
		g.moved(i)
	}
	g.recs[last] = record{}
	g.recs = g.recs[:last]
}
