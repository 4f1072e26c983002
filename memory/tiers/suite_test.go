package tiers

import (
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// heapOf is the manager as what the suite asks for: its general heap. The manager's own Stats
// wants a tier. Slab keeps no requests, so that those of both together are not kept either.
type heapOf struct{ *Manager }

func (h heapOf) Stats() memory.Stats {
	s := h.Manager.Stats(Slab).Add(h.Manager.Stats(Large))
	s.Requested, s.Measured = 0, 0
	return s
}

// slabLenient: in memfast builds slab keeps no live bits.
var slabLenient = map[bool]memtest.Misuses{false: memtest.DoubleFree | memtest.Interior}[invariant.Exact]

var subjects = map[string]memtest.Subject{
	"Manager": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{
				Source: src, GC: gcpace.Config{Keep: true}, Workers: 1,
				Reserve: smallReserve(func(r *[Count]uintptr) { r[Slab], r[Large] = 2<<20, 4<<20 }),
			})
			if err != nil {
				return nil, err
			}
			return heapOf{m}, nil
		},
		MaxSize: 20_000, Lenient: slabLenient, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Worker": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{
				Source: src, GC: gcpace.Config{Keep: true}, Workers: 1,
				Reserve: smallReserve(func(r *[Count]uintptr) { r[Inbox] = 4 << 20 }),
			})
			if err != nil {
				return nil, err
			}
			return workerOf{m.Worker(0), m}, nil
		},
		MaxSize: 20_000, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
}

// options are managers with values of Config that change how the general heap works.
var options = map[string]memtest.Subject{
	"Slab to 64 KiB": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{
				Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, SlabMax: 64 << 10,
				Reserve: smallReserve(func(r *[Count]uintptr) { r[Slab], r[Large] = 4<<20, 2<<20 }),
			})
			if err != nil {
				return nil, err
			}
			return heapOf{m}, nil
		},
		MaxSize: 20_000, Lenient: slabLenient, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"Quick": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{
				Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, SlabMax: 512, QuickBytes: 256 << 10,
				Reserve: smallReserve(func(r *[Count]uintptr) { r[Slab], r[Large] = 2<<20, 4<<20 }),
			})
			if err != nil {
				return nil, err
			}
			return heapOf{m}, nil
		},
		MaxSize: 20_000, Lenient: slabLenient, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
}

// smallReserve is 1 MiB for each tier but what set changes: the sources of the suite have little space.
func smallReserve(set func(*[Count]uintptr)) (r [Count]uintptr) {
	for t := range r {
		r[t] = 1 << 20
	}
	set(&r)
	return r
}

// workerOf is a worker's heap that takes its manager along.
type workerOf struct {
	*Worker
	m *Manager
}

func (w workerOf) Close() error { return w.m.Close() }
func (w workerOf) Check() error { return w.m.Check() }

func TestSuite(t *testing.T) { memtest.Each(t, subjects, memtest.Run) }
func TestSuite_Options(t *testing.T) {
	testenv.Long(t)
	memtest.Each(t, options, memtest.Run)
}

func TestFaults(t *testing.T) { memtest.Each(t, testenv.Some(subjects, "Worker"), memtest.Faults) }

func TestManager_TypedHelpersWorkThroughIt(t *testing.T) {
	m := newManager(t, small())
	v, err := memory.New[[3]int64](m)
	must(t, err)
	s, err := memory.MakeSlice[uint32](m, 5000)
	must(t, err)
	if tier, _ := m.Inspect().TierOf(unsafe.Pointer(v)); tier != Slab || *v != [3]int64{} {
		t.Errorf("a small object %v lies in %v", *v, tier)
	}
	if tier, _ := m.Inspect().TierOf(unsafe.Pointer(&s[0])); tier != Large {
		t.Errorf("a large slice lies in %v", tier)
	}
	memtest.Misuse(t, func() { memory.FreeSlice(m, s[:4999]) }, "wrong size")
	memory.FreeSlice(m, s)
	memory.Free(m, v)
	memory.Free[int](m, nil)
	if a, b := m.Stats(Slab).Live, m.Stats(Large).Live; a != 0 || b != 0 {
		t.Errorf("%d and %d blocks live", a, b)
	}
}
