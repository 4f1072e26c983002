package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
)

// An operation is one call of the manager, with what the shadow notes of it.
type operation func(s *reentry)

// took notes a block that was handed out.
func (s *reentry) took(p unsafe.Pointer, err error, size uintptr, tier Tier) {
	if err != nil || p == nil {
		return
	}
	b := block{p: p, size: size, tier: tier, paint: s.serial}
	s.serial++
	if s.m.phase&inLevel != 0 {
		b.level = s.m.level.begun
	}
	*(*byte)(p), *(*byte)(unsafe.Add(p, size-1)) = b.paint, b.paint
	s.blocks = append(s.blocks, b)
}

func allocate(a func(s *reentry) memory.Allocator, tier Tier, least, most int) operation {
	return func(s *reentry) {
		size := uintptr(least + s.r.IntN(most-least))
		s.inWorker = s.inWorker || tier == Inbox
		p, err := a(s).Alloc(size, 16)
		s.took(p, err, size, tier)
		s.inWorker = false
	}
}

// release takes a block out of the shadow and frees it.
func release(free func(s *reentry, b block), tiers ...Tier) operation {
	return func(s *reentry) {
		if len(s.blocks) == 0 {
			return
		}
		i := s.r.IntN(len(s.blocks))
		b := s.blocks[i]
		for _, t := range tiers {
			if b.tier == t {
				s.blocks = append(s.blocks[:i], s.blocks[i+1:]...)
				free(s, b)
				return
			}
		}
	}
}

// onReset registers a hook of a tier, through the manager or on its arena.
func onReset(tier Tier, on func(s *reentry, f func())) operation {
	return func(s *reentry) {
		h := &hook{tier: tier, level: tier != Frame && tier != Inbox, late: s.border != ""}
		on(s, func() {
			h.ran++
			s.resetOps = s.resetOps || h.late // the pools were reset before it
			if s.reset && s.border != "" && !h.late && h.level {
				s.failf("a hook of %s runs after a reset in %s", tier, s.border)
			}
			s.callback("hook of "+tier.String(), operations, true)
		})
		s.hooks = append(s.hooks, h)
	}
}

func closeIt(s *reentry) {
	s.atBorder("Close", s.m.Close, func() {})
}

func endTheLevel(s *reentry) {
	var leaks Leaks
	level := s.m.level.begun
	s.atBorder("EndLevel", func() (err error) { leaks, err = s.m.EndLevel(); return err }, func() { s.ended(leaks, level) })
}

// readers change nothing; a border among them is refused in every callback.
var readers = []operation{
	func(s *reentry) { var snap Snapshot; s.m.Snapshot(&snap) },
	func(s *reentry) { s.m.Stats(Tier(s.r.IntN(Count))) },
	func(s *reentry) {
		s.m.Inspect().Leaks()
		s.m.Inspect().RemoteFrees()
		s.m.Inspect().InLevel()
		s.m.Inspect().InFrame()
		s.m.Frames().At(0)
	},
	func(s *reentry) { s.tag.Stats(); s.tag.Frame().Taken(); s.tag.Level().Taken() },
	func(s *reentry) { s.m.Owns(s.m.Base()); s.m.Inspect().TagOf(s.m.Base()) },
	func(s *reentry) { s.atBorder("BeginFrame", s.m.BeginFrame, func() {}) },
	func(s *reentry) { s.atBorder("EndFrame", s.m.EndFrame, func() {}) },
	func(s *reentry) {
		s.atBorder("BeginLevel", s.m.BeginLevel, func() {
			if n := s.m.level.arena.Used(); n != 0 {
				s.failf("the level begins with %d bytes", n)
			}
		})
	},
	endTheLevel,
}

// operations are all. They are filled in by init, since callbacks call them.
var operations []operation

func init() {
	worker := func(s *reentry) memory.Allocator { return s.m.Worker(0) }
	operations = append(operations, readers...)
	operations = append(operations, readers...) // borders and looks are as frequent as the rest
	operations = append(operations, closeRarely,
		allocate(func(s *reentry) memory.Allocator { return s.m }, Slab, 1, 4000),
		allocate(func(s *reentry) memory.Allocator { return s.tag }, Slab, 1, 4000),
		allocate(func(s *reentry) memory.Allocator { return s.m }, Large, 5000, 40_000),
		allocate(func(s *reentry) memory.Allocator { return s.tag }, Large, 5000, 40_000),
		allocate(func(s *reentry) memory.Allocator { return s.m.Large() }, Large, 5000, 9000),
		allocate(worker, Inbox, 1, 20_000),
		allocate(func(s *reentry) memory.Allocator { return s.m.Worker(0).Tag(s.tag) }, Inbox, 1, 20_000),
		func(s *reentry) { _, _ = s.m.Level().Alloc(uintptr(s.r.IntN(50_000)), 16) },
		func(s *reentry) { _, _ = s.tag.Level().Alloc(uintptr(s.r.IntN(50_000)), 16) },
		func(s *reentry) { _, _ = s.m.Frame().Alloc(uintptr(s.r.IntN(5000)), 16) },
		func(s *reentry) { _, _ = s.m.Frames().Alloc(uintptr(s.r.IntN(5000)), 16) },
		release(func(s *reentry, b block) { s.m.Free(b.p, b.size) }, Slab, Large, Inbox),
		release(func(s *reentry, b block) { s.m.FreeAny(b.p) }, Slab, Large, Inbox),
		release(func(s *reentry, b block) { s.tag.Free(b.p, b.size) }, Slab, Large),
		release(func(s *reentry, b block) { s.m.Worker(0).Free(b.p, b.size) }, Inbox),
		release(func(s *reentry, b block) { s.freer.FreeAny(b.p); _ = s.freer.Flush() }, Slab, Large, Inbox),
		release(func(s *reentry, b block) { f := s.m.Worker(0).NewFreer(); f.FreeAny(b.p); _ = f.Close() }, Inbox),
		func(s *reentry) { s.m.Worker(0).Settle() },
		func(s *reentry) {
			if len(s.blocks) > 0 {
				if b := &s.blocks[s.r.IntN(len(s.blocks))]; b.tier != Inbox && b.size > 1 && s.m.Resize(b.p, b.size, b.size-1) {
					b.size--
					*(*byte)(unsafe.Add(b.p, b.size-1)) = b.paint
				}
			}
		},
		newObject, newObject, freeObject,
		func(s *reentry) {
			if len(s.objects) < 4 {
				if p, err := NewPoolIn[[3]int64](s.tag, pool.Config{Name: fmt.Sprint("pool ", len(s.objects)), Capacity: 50}); err == nil {
					s.objects = append(s.objects, p)
				}
			}
		},
		addFuncs, addFuncs,
		func(s *reentry) {
			if len(s.objects) > 1 { // what is not registered is not reset
				p := s.objects[len(s.objects)-1]
				if s.m.RemovePool(p) {
					s.objects = s.objects[:len(s.objects)-1]
				}
			}
		},
		onReset(Pools, func(s *reentry, f func()) { s.m.OnReset(Pools, f) }),
		onReset(Level, func(s *reentry, f func()) { s.m.OnReset(Level, f) }),
		onReset(Static, func(s *reentry, f func()) { s.m.OnReset(Static, f) }),
		onReset(Frame, func(s *reentry, f func()) { s.m.OnReset(Frame, f) }),
		onReset(Level, func(s *reentry, f func()) { openLevel(s).OnReset(f) }),
		func(s *reentry) {
			a := openLevel(s)
			mark := a.Mark()
			s.do(onReset(Level, func(s *reentry, f func()) { a.OnReset(f) }))
			a.Rewind(mark)
		},
		func(s *reentry) {
			s.inWorker = true
			a, err := s.m.Worker(0).BeginTask()
			s.inWorker = false
			if err == nil && s.r.IntN(2) == 0 {
				s.do(onReset(Inbox, func(s *reentry, f func()) { a.OnReset(f) }))
			}
		},
		func(s *reentry) { _ = s.m.Worker(0).EndTask() },
		func(s *reentry) { _ = s.m.Worker(0).EndTask() },
		func(s *reentry) {
			if p, err := plan.Fast([]plan.Buffer{{Size: uintptr(1 + s.r.IntN(50_000)), Death: 1}}); err == nil {
				_, _ = s.m.Declare(p)
			}
		},
		func(s *reentry) {
			s.m.Inspect().EachPool(func(string, memory.Stats) { s.callback("EachPool", operations, false) })
		},
		func(s *reentry) { s.m.Inspect().EachTag(func(TagStats) { s.callback("EachTag", operations, false) }) },
		func(s *reentry) { _ = s.m.SetBudget(Tier(s.r.IntN(int(Inbox))), uintptr(1+s.r.IntN(2<<20))) },
		func(s *reentry) { _, _ = s.m.Tag(fmt.Sprint("tag ", s.r.IntN(5))) },
	)
}

// closeRarely closes, so that most programs run to their end.
func closeRarely(s *reentry) {
	if s.r.IntN(4) == 0 {
		closeIt(s)
	}
}

// openLevel returns the level's arena where hooks may be registered on it.
func openLevel(s *reentry) *arena.Growing { return s.m.Level() }

func newObject(s *reentry) {
	if n := len(s.objects); n > 0 {
		i := s.r.IntN(n)
		if h, _, err := s.objects[i].New(); err == nil && i == 0 {
			s.handles = append(s.handles, h)
		}
	}
}

func freeObject(s *reentry) {
	if n := len(s.handles); n > 0 {
		h := s.handles[n-1]
		s.handles = s.handles[:n-1]
		s.objects[0].Free(h)
	}
}

// addFuncs registers callbacks of a pool: statistics that read, a reset and a close.
func addFuncs(s *reentry) {
	if len(s.m.pools.all) > 12 {
		return
	}
	stats := func() (st memory.Stats) { s.callback("stats", readers, true); return st }
	reset := func() {
		s.reset = true
		s.callback("reset", operations, true)
	}
	end := func() error {
		s.callback("close", operations, true)
		if s.r.IntN(4) == 0 {
			return errInjected
		}
		return nil
	}
	if s.r.IntN(2) == 0 {
		stats = nil
	}
	if s.r.IntN(4) == 0 {
		reset = nil
	}
	s.m.AddPool("funcs", &Funcs{StatsFunc: stats, ResetFunc: reset, CloseFunc: end})
}
