package tiers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/plan"
)

// furnished is a manager inside a level and a frame, with a block in every tier.
type furnished struct {
	*Manager
	ofSlab, ofLarge, ofFrame, ofLevel, ofStatic, ofWorker, ofPool unsafe.Pointer
}

func furnish(t testing.TB, cfg Config) *furnished {
	t.Helper()
	m := &furnished{Manager: newManager(t, cfg)}
	must(t, m.BeginLevel())
	p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 5000, Birth: 0, Death: 2}, {ID: 1, Size: 3000, Birth: 2, Death: 3}, {ID: 2, Size: 4000, Birth: 0, Death: 3}})
	must(t, err)
	a, err := m.Declare(p)
	must(t, err)
	m.ofStatic = a.Get(0)
	must(t, m.BeginFrame())
	m.ofSlab, m.ofLarge = alloc(t, m, 100), alloc(t, m, 10_000)
	m.ofFrame, m.ofLevel = alloc(t, m.Frame(), 100), alloc(t, m.Level(), 100)
	m.ofWorker = alloc(t, m.Worker(0), 10_000)
	objects, err := NewPool[[3]int64](m.Manager, objectsConfig)
	must(t, err)
	_, v, err := objects.New()
	must(t, err)
	m.ofPool = unsafe.Pointer(v)
	return m
}

// A refusal is a block that the books of its tier can tell is none of that size.
type refusal struct {
	name string
	p    unsafe.Pointer
	size uintptr
	want string
}

// refusals are what Free and Resize refuse alike.
func (m *furnished) refusals(t testing.TB) []refusal {
	foreign := alloc(t, newManager(t, small()), 100)
	all := []refusal{
		{"slab, a size of another class", m.ofSlab, 200, "wrong size: no request of 200 bytes is served from the class of 112"},
		{"slab, a size of large", m.ofSlab, 10_000, "wrong size"},
		{"slab, far beyond", unsafe.Add(m.ofSlab, 1<<20), 100, "not live"},
		{"large, a byte less", m.ofLarge, 9_999, "wrong size: the block was requested with 10000 bytes, not 9999"},
		{"large, a size of slab", m.ofLarge, 100, "wrong size"},
		{"large, interior", unsafe.Add(m.ofLarge, 512), 10_000, "interior pointer"},
		{"static, another size", m.ofStatic, 5001, "wrong size: the static buffer has 5000 bytes, not 5001"},
		{"static, interior", unsafe.Add(m.ofStatic, 16), 5000, "no live block of the static tier"},
		{"frame, beyond what is in use", unsafe.Add(m.ofFrame, 200), 100, "no live block of the frame tier: it was freed with its frame"},
		{"frame, too long", m.ofFrame, 101, "arena."},
		{"level, beyond what is in use", unsafe.Add(m.ofLevel, 101), 0, "no live block of the level tier: it was freed with its level"},
		{"level, too long", m.ofLevel, 200, "arena."},
		{"a pool's", m.ofPool, 24, "the block belongs to a pool"},
		{"another manager's", foreign, 100, "no tier of this manager owns the address"},
		{"Go memory", unsafe.Pointer(new(int)), 8, "no tier of this manager owns the address"},
	}
	if invariant.Exact {
		all = append(all, refusal{"slab, interior", unsafe.Add(m.ofSlab, 16), 100, "interior pointer"})
	}
	return all
}

// refuse verifies that a call refuses a block, says what it wants, and changes nothing.
func (m *furnished) refuse(t *testing.T, op string, c refusal, call func()) {
	t.Helper()
	before := m.allStats()
	if got := memtest.Misuse(t, call, "."+op, c.want); t.Failed() {
		t.Fatalf("%s: %v", c.name, got)
	}
	if m.allStats() != before {
		t.Fatalf("%s: the refusal changed the books", c.name)
	}
}

func TestManager_FreeRefusesWhatTheBooksCanRefuse(t *testing.T) {
	m := furnish(t, small())
	for _, c := range m.refusals(t) {
		m.refuse(t, "Free", c, func() { m.Free(c.p, c.size) })
	}
	must(t, m.Check())
}

func TestManager_FreeGivesBackTheNewestOfAnArenaAndLeavesTheRest(t *testing.T) {
	m := furnish(t, small())
	for _, a := range []memory.Allocator{m.Frame(), m.Level()} {
		p, q := alloc(t, a, 64), alloc(t, a, 64)
		m.Free(p, 64)
		if r := alloc(t, a, 64); r == p || r == q {
			t.Error("an older block was handed out again")
		} else {
			m.Free(r, 64)
			if again := alloc(t, a, 64); again != r {
				t.Error("the newest block was not given back")
			}
			m.FreeAny(r) // without its size it only looks whether that can be
			if again := alloc(t, a, 64); again == r {
				t.Error("FreeAny gave back a block whose size it does not know")
			}
		}
	}
	m.Free(m.ofStatic, 5000) // lives on
	if s := m.Stats(Static); s.Live != 3 {
		t.Errorf("static: %d live", s.Live)
	}
	m.FreeAny(m.ofStatic)
	m.FreeAny(nil)
	m.Free(nil, 100)
	m.Free(m.ofWorker, 10_000)
	must(t, m.Check())
}

func TestManager_FreeAnyMakesEveryOtherCheck(t *testing.T) {
	m := furnish(t, small())
	for _, c := range []struct {
		p    unsafe.Pointer
		want string
	}{
		{unsafe.Add(m.ofSlab, 1<<20), "slab.FreeAny"}, {unsafe.Add(m.ofLarge, 512), "tlsf.FreeAny"},
		{unsafe.Add(m.ofStatic, 16), "tiers.FreeAny"}, {unsafe.Add(m.ofFrame, 200), "tiers.FreeAny"},
		{unsafe.Add(m.ofLevel, 200), "tiers.FreeAny"}, {m.ofPool, "free it through its pool's handle"},
		{unsafe.Pointer(m), "no tier"},
	} {
		memtest.Misuse(t, func() { m.FreeAny(c.p) }, c.want)
	}
	m.FreeAny(m.ofSlab)
	m.FreeAny(m.ofLarge)
	if invariant.Exact {
		memtest.Misuse(t, func() { m.FreeAny(m.ofSlab) }, "double free")
	}
	memtest.Misuse(t, func() { m.FreeAny(m.ofLarge) }, "double free")
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	memtest.Misuse(t, func() { m.Free(m.ofLevel, 100) }, "freed with its level")
	memtest.Misuse(t, func() { m.Free(m.ofStatic, 5000) }, "freed with its level")
	for range m.cfg.Frames {
		m.FreeAny(m.ofFrame) // still readable
		must(t, m.BeginFrame())
		must(t, m.EndFrame())
	}
	memtest.Misuse(t, func() { m.Free(m.ofFrame, 100) }, "freed with its frame")
}

func TestManager_AFreeThatCameFromElsewhereIsRefusedAlike(t *testing.T) {
	m := furnish(t, small())
	must(t, m.EndFrame())
	freeElsewhere(t, m.Manager, m.ofPool)
	memtest.Misuse(t, func() { _ = m.BeginFrame() }, "remote.Drain", "free it through its pool's handle")
	freeElsewhere(t, m.Manager, m.ofWorker, m.ofSlab, m.ofLevel)
	must(t, m.BeginFrame())
	m.Worker(0).Settle()
	if a, b := m.Stats(Slab).Live, m.Stats(Inbox).Live; a != 0 || b != 0 {
		t.Errorf("%d blocks of slab and %d of the worker live", a, b)
	}
}

func TestManager_SizeOfKnowsWhatTheBooksKnow(t *testing.T) {
	m := furnish(t, small())
	for _, c := range []struct {
		p    unsafe.Pointer
		want uintptr
	}{{m.ofSlab, 112}, {m.ofLarge, 10_000}, {m.ofStatic, 5000}} {
		if got := m.SizeOf(c.p); got != c.want {
			t.Errorf("SizeOf = %d, want %d", got, c.want)
		}
	}
	for want, p := range map[string]unsafe.Pointer{
		"the frame tier keeps no sizes": m.ofFrame, "the level tier keeps no sizes": m.ofLevel, "the pools tier keeps": m.ofPool,
		"the inbox tier keeps": m.ofWorker, "no static buffer starts there": unsafe.Add(m.ofStatic, 16),
		"no tier of this manager": unsafe.Pointer(m), "slab.SizeOf": unsafe.Add(m.ofSlab, 1<<20), "tlsf.SizeOf": unsafe.Add(m.ofLarge, 512),
	} {
		memtest.Misuse(t, func() { m.SizeOf(p) }, "SizeOf", want)
	}
}

func TestManager_TierOfEndsWithTheReservation(t *testing.T) {
	cfg := small()
	cfg.Source = memtest.NewMargins() // for the address in front of the reservation
	m := furnish(t, cfg)
	for i, part := range append(m.parts[:], m.inbox.parts...) {
		if part == nil {
			continue
		}
		part, want := part.Memory(), Tier(i)
		if i >= Count {
			want = Inbox
		}
		for _, off := range []uintptr{0, part.Size - 1} {
			p := unsafe.Add(part.Base, off)
			if got, ok := m.Inspect().TierOf(p); got != want || !ok || !m.Owns(p) {
				t.Errorf("byte %d of part %d is in %v, %t; want %v", off, i, got, ok, want)
			}
		}
	}
	for _, off := range []int{-1, int(m.size)} {
		if got, ok := m.Inspect().TierOf(unsafe.Add(m.base, off)); ok || got != 0 {
			t.Errorf("byte %d is in %v", off, got)
		}
	}
}

func TestManager_WhatIsNoTierOrWorkerIsToldSo(t *testing.T) {
	m := newManager(t, small())
	var h [HistoryLen]float32
	h[3] = 1
	m.Inspect().History(99, &h)
	if s := m.Stats(99); s != (memory.Stats{}) || h != [HistoryLen]float32{} || m.cfg.Reserved(99) != 0 || Tier(99).String() != "tier(99)" {
		t.Errorf("Tier(99): stats %+v, history %v, reserved %d", s, h[3], m.cfg.Reserved(99))
	}
	memtest.Misuse(t, func() { m.Worker(2) }, "tiers.Worker", "there is no worker 2 of 2; they count from 0")
	memtest.Misuse(t, func() { m.Worker(-1) }, "there is no worker -1")
	if m.Workers() != 2 || m.Worker(1) == m.Worker(0) {
		t.Error("two workers are expected")
	}
}

func TestManager_FrameAndLevelAreClosedOutsideOfTheirTime(t *testing.T) {
	m := newManager(t, small())
	outside := func(a func() memory.Allocator, want string) {
		t.Helper()
		if invariant.Debug {
			memtest.Misuse(t, func() { a() }, want)
			return
		}
		want, _, _ = strings.Cut(want, ";")
		want = strings.NewReplacer("tiers.Frame:", "tiers: Frame", "tiers.Level:", "tiers: Level", "the manager is closed", "after Close").Replace(want)
		memtest.Misuse(t, func() { a().(interface{ Mark() arena.Mark }).Mark() }, want)
		for _, size := range []uintptr{0, 1, 100} {
			if p, err := a().Alloc(size, 1); p != nil || !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("Alloc(%d) outside = %v, %v; want %q", size, p, err, want)
			}
		}
	}
	frame := func() memory.Allocator { return m.Frame() }
	level := func() memory.Allocator { return m.Level() }
	for range 2 {
		outside(frame, "tiers.Frame: outside a frame; NextFrame or BeginFrame first")
		outside(level, "tiers.Level: outside a level; BeginLevel first")
		must(t, m.BeginLevel())
		outside(frame, "outside a frame")
		alloc(t, m.Level(), 10)
		must(t, m.BeginFrame())
		alloc(t, m.Frame(), 10)
		alloc(t, m.Level(), 10)
		_, err := m.Frame().Alloc(1<<30, 1)
		if want := fmt.Sprintf("buffer of %d bytes, one of 2; raise tiers.Config.Reserve[Frame]", m.Frame().Available()+10); !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), want) {
			t.Errorf("more than the frame: %v; want %q", err, want)
		}
		must(t, m.EndFrame())
		_, err = m.EndLevel()
		must(t, err)
		must(t, m.Check())
	}
	if f, l := m.Stats(Frame), m.Stats(Level); f.Allocs != 2 || l.Allocs != 4 {
		t.Errorf("%d and %d allocations", f.Allocs, l.Allocs)
	}
	must(t, m.Close())
	outside(frame, "the manager is closed")
	outside(level, "the manager is closed")
}

func TestManager_AnExpiredFrameRestsWhereTheBuildHasIt(t *testing.T) {
	cfg := small()
	cfg.Frames = 3
	m := newManager(t, cfg)
	seen := map[unsafe.Pointer]int{}
	for i := range 4 * (3 + arena.RestingFrames) {
		must(t, m.BeginFrame())
		p := alloc(t, m.Frame(), 100)
		if last, again := seen[p]; again && i-last != 3+arena.RestingFrames {
			t.Fatalf("frame %d uses the memory of frame %d again; want %d frames between", i, last, 3+arena.RestingFrames)
		}
		seen[p] = i
		must(t, m.EndFrame())
		must(t, m.Check())
	}
	if len(seen) != 3+arena.RestingFrames {
		t.Errorf("%d buffers in turn", len(seen))
	}
	if s := m.Stats(Frame); s.Reserved != 1<<20 || s.Committed > 1<<20 {
		t.Errorf("frame: %+v", s)
	}
}

// IDs with gaps, and an alignment beyond that of any reservation, which moves the block away from
// the start of the tier.
func TestManager_KnowsTheSizesOfAnyStaticBuffers(t *testing.T) {
	m := newManager(t, Config{})
	must(t, m.BeginLevel())
	p, err := plan.Fast([]plan.Buffer{{ID: 7, Size: 5000, Align: 256 << 10, Death: 2}, {ID: 1 << 31, Size: 3000, Death: 1}})
	must(t, err)
	a, err := m.Declare(p)
	must(t, err)
	for id, want := range map[uint32]uintptr{7: 5000, 1 << 31: 3000} {
		if size, ok := m.static.sizeOf(m, a.Get(id)); !ok || size != want {
			t.Errorf("buffer %d: %d bytes, %t; want %d", id, size, ok, want)
		}
	}
	if m.static.holds(a.Get(7), 4999, true) || !m.static.holds(a.Get(7), 5000, true) {
		t.Error("the size does not count")
	}
}
