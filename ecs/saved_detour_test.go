package ecs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// A detourWorld is a world with filters that stay, and a trace of all that its operations return.
type detourWorld struct {
	*savedWorld
	limit  *page.Limit
	alone  save.Set // without the heap, whose free blocks debug builds save
	bytes  *save.Slot
	any    *ecs.Filter1[savedPlace]
	exact  *ecs.Filter1[savedHealth]
	bonded *ecs.Filter1[savedBond]
	to     *ecs.Filter1[savedBond]
	fresh  *ecs.Filter1[savedHealth]
	pair   *ecs.Filter2[savedPlace, savedHealth]
	batch  *ecs.Map2[savedPlace, savedHealth]
	since  ecs.Tick
	trace  []string
}

func newDetourWorld(t testing.TB) *detourWorld {
	limit := page.NewLimit(nil, 0)
	x := &detourWorld{savedWorld: newSavedWorld(t, limit), limit: limit}
	x.any, x.bonded = ecs.NewFilter1[savedPlace](x.w), ecs.NewFilter1[savedBond](x.w)
	x.exact = ecs.NewFilter1[savedHealth](x.w)
	x.exact.Exclusive()
	x.to, x.pair = ecs.NewFilter1[savedBond](x.w), ecs.NewFilter2[savedPlace, savedHealth](x.w)
	x.fresh = ecs.NewFilter1[savedHealth](x.w)
	x.batch = ecs.NewMap2[savedPlace, savedHealth](x.w)
	if err := errors.Join(x.alone.Add("world", x.w), x.alone.Seal()); err != nil {
		t.Fatal(err)
	}
	x.bytes = x.alone.NewCanonical(1 << 20)
	return x
}

func (x *detourWorld) note(op string, v ...any) { x.trace = append(x.trace, op+" "+fmt.Sprint(v...)) }

// at returns the offset of a component, so that two worlds can be compared.
func (x *detourWorld) at(p unsafe.Pointer) uintptr {
	if p == nil {
		return 0
	}
	return uintptr(p) - uintptr(x.heap.Base())
}

// play makes random changes and notes what they return.
func (x *detourWorld) play(steps int) {
	for range steps {
		n := x.rng.IntN(26)
		if len(x.es) == 0 {
			n = 0
		}
		switch n {
		case 0, 1, 2:
			e, err := x.batch.NewEntity(savedPlace{float32(n), 1}, savedHealth{1, 2})
			x.add(e)
			x.note("new", e, err)
		case 3:
			k := x.rng.IntN(40)
			err := x.batch.NewBatch(k, func(i int, p *savedPlace, h *savedHealth) {
				*p, *h = savedPlace{float32(i), 7}, savedHealth{int16(i), 8}
				x.note("cell", x.at(unsafe.Pointer(p)))
			})
			x.note("batch", err)
		case 4, 5:
			e, err := x.w.NewEntity()
			x.add(e)
			x.note("bare", e, err)
		case 6:
			e, err := x.w.CopyEntity(x.pick())
			if x.note("copy", e, err); err == nil {
				x.add(e)
			}
		case 7, 8, 9:
			x.note("remove", x.w.Remove(x.pick()))
		case 10:
			x.note("place", x.place.Add(x.pick(), savedPlace{9, x.rng.Float32()}))
		case 11:
			x.note("wide", x.wide.Add(x.pick(), savedWide{[9]uint64{x.rng.Uint64()}}))
		case 12:
			had, err := x.place.Remove(x.pick())
			x.note("unplace", had, err)
		case 13, 14, 15:
			x.note("bond", x.bond.Add(x.pick(), savedBond{int32(n)}, x.target()))
		case 16:
			had, err := x.bond.SetTarget(x.pick(), x.target())
			x.note("target", had, err)
		case 17:
			x.note("lead", x.leads.Add(x.pick(), savedLead{}, x.target()))
		case 18:
			had, err := x.bond.Remove(x.pick())
			x.note("unbond", had, err)
		case 19:
			if x.rng.IntN(4) == 0 {
				x.note("tree", x.bond.RemoveTree(x.pick()))
			}
		case 20:
			x.commands()
		case 21:
			x.note("shrink", x.w.Shrink(), x.heap.Trim())
		case 22:
			x.note("touch", x.w.TouchID(x.pick(), x.health.ID()))
			x.fresh.ChangedSince(x.since, x.health.ID())
			x.note("changed", x.fresh.Len())
			if x.rng.IntN(2) == 0 {
				x.since = x.w.Tick()
			}
		case 23:
			if x.rng.IntN(30) == 0 {
				x.w.Reset()
				x.es = x.es[:0]
			}
		default:
			x.look()
		}
	}
	x.note("stats", x.w.Stats(), x.heap.Stats(), x.w.Hash(0))
	if err := x.w.Check(); err != nil {
		x.t.Fatal(err)
	}
	if err := x.heap.Check(); err != nil {
		x.t.Fatal(err)
	}
}

// commands defers some changes.
func (x *detourWorld) commands() {
	cmd := x.w.Commands()
	e, err := cmd.Spawn()
	ecs.AddTo(cmd, x.place, e, savedPlace{5, 5})
	cmd.Destroy(x.pick())
	x.note("commands", e, err, cmd.Apply())
	x.add(e)
}

func (x *detourWorld) add(e ecs.Entity) {
	if len(x.es) < 300 {
		x.es = append(x.es, e)
		return
	}
	x.es[x.rng.IntN(len(x.es))] = e
}

// target is one of a few entities most of the time.
func (x *detourWorld) target() ecs.Entity {
	if x.rng.IntN(3) > 0 {
		return x.es[x.rng.IntN(min(len(x.es), 5))]
	}
	return x.pick()
}

// look notes what the filters see, and where.
func (x *detourWorld) look() {
	sum := uintptr(0)
	for e, p := range x.any.All() {
		sum = sum*31 + x.at(unsafe.Pointer(p)) + uintptr(e.Index())
	}
	for e := range x.bonded.All() {
		target, ok := x.bond.Target(e)
		sum = sum*31 + uintptr(e.Index())
		if ok {
			sum += uintptr(target.Index())
		}
	}
	e := x.target()
	if x.w.Alive(e) {
		x.to.To(x.bond.ID(), e)
		for of := range x.to.All() {
			sum = sum*31 + uintptr(of.Index())
		}
		sum += uintptr(x.to.Len())
	}
	for e, r := range x.pair.All() {
		r.A.X += float32(r.B.Now)
		sum = sum*31 + uintptr(e.Index())
	}
	x.note("look", sum, x.any.Len(), x.exact.Len(), x.bonded.Batches())
	for _, f := range []interface{ Check() error }{x.any, x.exact, x.bonded, x.to, x.pair} {
		if err := f.Check(); err != nil {
			x.t.Fatal(err)
		}
	}
}

// A detourMoment is a state with what the program knows then.
type detourMoment struct {
	slot  *save.Slot
	es    []ecs.Entity
	since ecs.Tick
}

func (x *detourWorld) moment() *detourMoment {
	return &detourMoment{x.save(), slices.Clone(x.es), x.since}
}

func (x *detourWorld) back(m *detourMoment) {
	x.load(m.slot)
	x.es, x.since = append(x.es[:0], m.es...), m.since
}

func (x *detourWorld) canonical() *save.Slot {
	if err := x.alone.Save(x.bytes); err != nil {
		x.t.Fatal(err)
	}
	return x.bytes
}

// A world that plays other programs in between, and loads, returns from all operations what a world returns that never
// left, and has the same canonical bytes.
func TestWorld_DetoursLeaveNoTrace(t *testing.T) {
	worlds, rounds := uint64(60/testenv.Step(20)), 12
	for seed := range worlds {
		loaded, straight := newDetourWorld(t), newDetourWorld(t)
		chaos := rand.New(rand.NewPCG(seed, 77))
		var ring []*detourMoment
		for round := range rounds {
			for _, x := range []*detourWorld{loaded, straight} {
				x.trace = x.trace[:0]
				x.rng = rand.New(rand.NewPCG(seed, uint64(round)))
				x.play(80)
			}
			for i, was := range straight.trace {
				if got := loaded.trace[i]; got != was {
					t.Fatalf("seed %d, round %d, operation %d: %s, without a load %s", seed, round, i, got, was)
				}
			}
			if a, b := loaded.canonical().Bytes(), straight.canonical().Bytes(); !bytes.Equal(a, b) {
				t.Fatalf("seed %d, round %d: after loads the world has other canonical bytes than without: %d, %d", seed, round, len(a), len(b))
			}
			now := loaded.moment()
			ring = append(ring[max(0, len(ring)-9):], now)
			for range chaos.IntN(4) {
				loaded.rng = chaos
				loaded.play(chaos.IntN(80))
				if chaos.IntN(2) == 0 {
					loaded.back(ring[chaos.IntN(len(ring))])
				}
				if chaos.IntN(4) == 0 { // a load that may fail
					loaded.limit.SetBudget(1)
					m := ring[chaos.IntN(len(ring))]
					if err := loaded.set.Load(m.slot); err == nil {
						loaded.es, loaded.since = slices.Clone(m.es), m.since
					}
					loaded.limit.SetBudget(0)
					if err := loaded.w.Check(); err != nil {
						t.Fatal(err)
					}
				}
			}
			loaded.back(now)
		}
	}
}
