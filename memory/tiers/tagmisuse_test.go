package tiers

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/pool"
)

// What a tag hands out besides is a type that anyone can make a zero value of.
func TestTag_ZeroWaysIntoArenasAndWorkersAreRefused(t *testing.T) {
	const none = "the tag is nil or zero; Manager.Tag returns one"
	for _, a := range []*TagArena{nil, new(TagArena)} {
		memtest.Misuse(t, func() { _, _ = a.Alloc(1, 1) }, "tiers.TagArena.Alloc", none)
		memtest.Misuse(t, func() { a.Free(nil, 0) }, "tiers.TagArena.Free", none)
		memtest.Misuse(t, func() { a.Resize(nil, 0, 0) }, "tiers.TagArena.Resize", none)
		memtest.Misuse(t, func() { a.Owns(nil) }, "tiers.TagArena.Owns", none)
		memtest.Misuse(t, func() { a.Taken() }, "tiers.TagArena.Taken", none)
	}
	const noWorker = "the tag of a worker is nil or zero; Worker.Tag returns one"
	for _, a := range []*WorkerTag{nil, new(WorkerTag)} {
		memtest.Misuse(t, func() { _, _ = a.Alloc(1, 1) }, "tiers.WorkerTag.Alloc", noWorker)
		memtest.Misuse(t, func() { a.Free(nil, 0) }, "tiers.WorkerTag.Free", noWorker)
		memtest.Misuse(t, func() { a.Resize(nil, 0, 0) }, "tiers.WorkerTag.Resize", noWorker)
		memtest.Misuse(t, func() { a.Stats() }, "tiers.WorkerTag.Stats", noWorker)
	}
	for _, bad := range []*Tag{nil, new(Tag)} {
		memtest.Misuse(t, func() { _ = bad.Name() }, "tiers.Name", none)
		memtest.Misuse(t, func() { bad.Base() }, "tiers.Base", none)
		memtest.Misuse(t, func() { bad.Extent() }, "tiers.Extent", none)
	}
}

// A frame in which a tag allocates and rewinds all the time takes more than there is, in sum.
func TestTagArena_WhatIsRewoundIsNeverMoreThanTheArenaHas(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for range 100 {
		f, l := m.Frame().Mark(), m.Level().Mark()
		alloc(t, a.Frame(), 50_000)
		alloc(t, a.Level(), 500_000)
		m.Frame().Rewind(f)
		m.Level().Rewind(l)
	}
	alloc(t, a.Frame(), 100)
	alloc(t, a.Level(), 100)
	must(t, m.Check())
	for _, x := range []*TagArena{a.Frame(), a.Level()} {
		if got := x.Taken(); got.Bytes != 100 || got.Blocks != 101 {
			t.Errorf("of an arena with 100 bytes in use %+v was taken", got)
		}
	}
	m.Frame().Rewind(m.Frame().Mark())
	var snap Snapshot
	m.Snapshot(&snap)
	if row := snap.Tags[0]; row.Frame.Bytes != 100 || snap.Tags[1].Frame.Bytes != 0 {
		t.Errorf("%+v", snap.Tags)
	}
}

// Free and Resize of a tag's arena refuse and do what Manager.Free and Resize refuse and do.
func TestTagArena_FreesWhatTheManagerFrees(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	old := alloc(t, a.Frame(), 100)
	p := alloc(t, a.Level(), 100)
	other := alloc(t, a, 100)
	must(t, m.EndFrame())
	if !a.Frame().Resize(old, 100, 90) || a.Frame().Resize(old, 90, 91) || a.Frame().Taken().Bytes != 90 {
		t.Errorf("between frames: %+v", a.Frame().Taken())
	}
	must(t, m.BeginFrame())
	a.Frame().Free(old, 90) // readable still, and dies with its frame
	a.Frame().Free(nil, 0)
	if a.Frame().Resize(old, 90, 80) || a.Frame().Taken() != (Bumped{}) {
		t.Errorf("a block of the frame before was resized: %+v", a.Frame().Taken())
	}
	memtest.Misuse(t, func() { a.Frame().Free(p, 100) }, "tiers.TagArena.Free", "the block does not lie in the frame tier")
	memtest.Misuse(t, func() { a.Level().Free(other, 100) }, "tiers.TagArena.Free", "the block does not lie in the level tier")
	memtest.Misuse(t, func() { a.Level().Resize(other, 100, 90) }, "tiers.TagArena.Resize", "the block does not lie in the level tier")
	memtest.Misuse(t, func() { a.Level().Free(unsafe.Add(p, 200), 100) }, "no live block of the level tier")
	memtest.Misuse(t, func() { a.Level().Free(p, 101) }, "arena.Free")
	a.Level().Free(p, 100)
	if a.Level().Taken().Bytes != 0 {
		t.Errorf("%+v", a.Level().Taken())
	}
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	memtest.Misuse(t, func() { a.Level().Free(p, 100) }, "freed with its level")
	must(t, m.Check())
	must(t, m.Close())
	memtest.Misuse(t, func() { a.Level().Free(p, 100) }, "the manager is closed")
}

// A pool that cannot be registered is not made: it would hold its part of the tier for good.
func TestNewPool_ARefusalToRegisterMakesNoPool(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	make := []func() error{
		func() error { _, err := NewPool[[3]int64](m, objectsConfig); return err },
		func() error { _, err := NewPoolIn[[3]int64](a, objectsConfig); return err },
	}
	var inside func() error
	var got []any
	m.AddPool("maker", &Funcs{ResetFunc: func() {
		if inside == nil {
			return
		}
		defer func() { got = append(got, recover()) }()
		_ = inside()
	}, CloseFunc: func() error { return errInjected }})
	before := m.parts[Pools].Left()
	for _, inside = range make {
		must(t, m.BeginLevel())
		_, err := m.EndLevel()
		must(t, err)
	}
	inside = nil
	if len(got) != 2 || m.parts[Pools].Left() != before {
		t.Errorf("%v, and %d bytes of addresses are left of %d", got, m.parts[Pools].Left(), before)
	}
	for _, r := range got {
		if e, ok := r.(*memory.Misuse); !ok || e.Reason != "the pools are being reset or closed" {
			t.Errorf("%v", r)
		}
	}
	if err := m.Close(); !errors.Is(err, errInjected) {
		t.Errorf("%v", err)
	}
	for _, f := range make { // a Close has begun
		if err := f(); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	if m.parts[Pools].Left() != before {
		t.Error("a pool was made while the manager closes")
	}
	m.pools.all[0].pool = &Funcs{}
	must(t, m.Close())
}

// Whatever a hook or a pool does with tags while its arena is reset, the books are right after it.
func TestTag_HooksMayUseTagsAndPanicsLeaveThemRight(t *testing.T) {
	m := newManager(t, tagged())
	a, b := newTag(t, m, "a"), newTag(t, m, "b")
	w := m.Worker(0)
	var kept []unsafe.Pointer
	work := func(again *bool, self memory.Allocator) func() {
		return func() {
			kept = append(kept, alloc(t, b, 5000))
			m.Free(alloc(t, w.Tag(a), 300), 300)
			b.Free(alloc(t, a, 100), 100)
			kept = append(kept, alloc(t, a, 100))
			_ = protect(func() error { _, err := self.Alloc(10, 1); return err }) // refused or not: it is being reset
			if *again {
				*again = false
				panic(errInjected)
			}
		}
	}
	for range 3 {
		must(t, m.BeginLevel())
		must(t, m.BeginFrame())
		again := [3]bool{true, true, true}
		alloc(t, a.Level(), 10)
		alloc(t, a.Frame(), 10)
		m.Level().OnReset(work(&again[0], a.Level()))
		m.Frame().OnReset(work(&again[1], a.Frame()))
		s, err := w.BeginTask()
		must(t, err)
		s.OnReset(work(&again[2], s))
		if err := protect(w.EndTask); err != errInjected {
			t.Errorf("EndTask: %v", err)
		}
		must(t, m.Check())
		must(t, w.EndTask())
		must(t, m.EndFrame())
		for range 2 + 8 {
			if err := protect(m.BeginFrame); err != nil {
				must(t, m.Check())
				must(t, m.BeginFrame())
			}
			must(t, m.EndFrame())
		}
		if err := protect(func() error { _, err := m.EndLevel(); return err }); err != errInjected {
			t.Errorf("EndLevel: %v", err)
		}
		must(t, m.Check())
		_, err = m.EndLevel()
		must(t, err)
		must(t, m.Check())
	}
	for _, p := range kept {
		if m.Inspect().TagOf(p) == a {
			a.Free(p, 100)
		} else {
			a.Free(p, 5000)
		}
	}
	w.Settle()
	for _, tag := range []*Tag{a, b} {
		if s := tag.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 || s.Allocs < 9 {
			t.Errorf("%s: %+v", tag.Name(), s)
		}
	}
	must(t, m.Check())
}

// Each call of the page source and each callback fails once, or for good, in the midst of
// everything that tags and scratch arenas do; books and Check are right each time.
func TestTag_FaultsAtEveryCallLeaveTheBooksRight(t *testing.T) {
	testenv.Long(t)
	kinds := []string{"fails once", "fails for good", "panics"}
	for kind := range kinds {
		for at := 1; ; at++ {
			src := memtest.NewFaulty()
			m, err := New(Config{Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: subjectReserve, SoftMark: 0.01,
				OnSoft: func(Tier, uintptr, uintptr) {}, Scratch: 64 << 10})
			must(t, err)
			made := src.Calls()
			tag := newTag(t, m, "subject")
			switch kind {
			case 0:
				src.FailAt = made + at
			case 1:
				src.FailAt, src.ForGood = made+at, true
			case 2:
				src.PanicAt = made + at
			}
			tagFaultPlay(t, m, tag)
			struck := src.Calls() >= made+at
			src.FailAt, src.ForGood, src.PanicAt = 0, false, 0
			tagFaultPlay(t, m, tag) // and everything works again
			must(t, m.Check())
			if s := tag.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 || s.Allocs == 0 || s.Allocs != s.Frees {
				t.Fatalf("call %d %s: %+v", at, kinds[kind], s)
			}
			rows := 0
			m.Inspect().EachTag(func(TagStats) { rows++ })
			must(t, m.Close())
			if src.Reserved() != 0 || rows != 2 {
				t.Fatalf("call %d %s: %d reservations are left", at, kinds[kind], src.Reserved())
			}
			if !struck {
				if at < 6 {
					t.Errorf("%d calls", at)
				}
				break
			}
		}
	}
}

// tagFaultPlay allocates, resizes and frees under a tag wherever that can be; calls may fail.
func tagFaultPlay(t *testing.T, m *Manager, tag *Tag) {
	t.Helper()
	w := m.Worker(0)
	try := func(call func() error) {
		t.Helper()
		if err := protect(call); err != nil && !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) && !errors.Is(err, memtest.ErrInjected) {
			t.Fatal(err)
		}
		must(t, m.Check())
	}
	type block struct {
		a    memory.Allocator
		p    unsafe.Pointer
		size uintptr
	}
	var live []block
	v := w.Tag(tag)
	for _, a := range []memory.Allocator{tag, v} {
		for _, size := range []uintptr{0, 100, 4096, 5000, 300_000, 700_000} {
			try(func() error {
				p, err := a.Alloc(size, 64)
				if err == nil {
					live = append(live, block{a, p, size})
				}
				return err
			})
		}
	}
	for i := range live {
		b := &live[i]
		try(func() error {
			if b.a.(memory.Resizer).Resize(b.p, b.size, b.size*2) {
				b.size *= 2
			}
			return nil
		})
	}
	must(t, m.BeginLevel())
	try(m.BeginFrame)
	if m.phase&inFrame == 0 {
		must(t, m.BeginFrame())
	}
	for _, a := range []memory.Allocator{tag.Frame(), tag.Level()} {
		try(func() error { _, err := a.Alloc(200_000, 16); return err })
	}
	try(func() error {
		s, err := w.BeginTask()
		if err != nil {
			return err
		}
		_, err = s.Alloc(1000, 16)
		return errors.Join(err, w.EndTask())
	})
	if w.scratch.busy {
		t.Fatal("a task that could not begin is open")
	}
	must(t, m.EndFrame())
	try(func() error { _, err := m.EndLevel(); return err })
	if m.Inspect().InLevel() {
		_, err := m.EndLevel()
		must(t, err)
	}
	for i, b := range live {
		try(func() error {
			if i%2 == 0 {
				m.FreeAny(b.p)
			} else {
				b.a.Free(b.p, b.size)
			}
			return nil
		})
	}
	w.Settle()
}

// A budget that is reached at any step is told by an error, and the books are right.
func TestTag_ABudgetReachedAtAnyStepLeavesTheBooksRight(t *testing.T) {
	for kib := uintptr(64); kib <= 2048; kib += 64 {
		cfg := Config{GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: subjectReserve, Scratch: 64 << 10}
		cfg.Budget[Slab], cfg.Budget[Large], cfg.Budget[Inbox], cfg.Budget[Level] = kib<<10, kib<<10, kib<<10, kib<<10
		m := newManager(t, cfg)
		tag := newTag(t, m, "subject")
		tagFaultPlay(t, m, tag)
		if s := tag.Stats(); s.Live != 0 || s.InUse != 0 || kib < 256 && s.Failures == 0 {
			t.Fatalf("with %d KiB: %+v", kib, s)
		}
		var sum, all memory.Stats
		m.Inspect().EachTag(func(s TagStats) { sum = sum.Add(s.Stats) })
		for _, tier := range []Tier{Slab, Large, Pools, Inbox} {
			all = all.Add(m.Stats(tier))
		}
		if sum.Failures != all.Failures || sum.Allocs != all.Allocs {
			t.Errorf("with %d KiB the rows have %d failures and %d allocations, the tiers %d and %d", kib, sum.Failures, sum.Allocs, all.Failures, all.Allocs)
		}
		must(t, m.Close())
	}
}

// Sizes and alignments up to the ends, on blocks that lie in slab, large and with a worker.
func TestTag_SizesAndAlignmentsToTheEnds(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Large], cfg.Reserve[Inbox] = 64<<20, 32<<20
	m := newManager(t, cfg)
	tag := newTag(t, m, "a")
	before := *newTag(t, m, "other")
	for _, a := range []memory.Allocator{tag, m.Worker(0).Tag(tag)} {
		for align := uintptr(1); align <= memory.MaxAlign; align *= 2 {
			for _, size := range []uintptr{0, 1, 15, 16, 17, 4095, 4096, 4097, 65535, 65536, 1<<20 - 1, 1<<20 + 1} {
				p, err := a.Alloc(size, align)
				must(t, err)
				if uintptr(p)%align != 0 {
					t.Fatalf("%d bytes at %d lie at %p", size, align, p)
				}
				if s := tag.Stats(); s.Requested != uint64(size) || s.InUse < uint64(max(size, 1)) || s.Live != 1 {
					t.Fatalf("%d bytes at %d: %+v", size, align, s)
				}
				must(t, m.Check())
				a.Free(p, size)
				if s := tag.Stats(); s.Requested != 0 || s.InUse != 0 {
					t.Fatalf("%d bytes at %d were freed: %+v", size, align, s)
				}
			}
		}
		for _, size := range []uintptr{^uintptr(0), ^uintptr(0) - 15, ^uintptr(0) - 255, ^uintptr(0) >> 1, 1 << 31, 64<<20 + 1} {
			for _, align := range []uintptr{1, 4096} {
				if p, err := a.Alloc(size, align); err == nil {
					t.Errorf("%d bytes at %d lie at %p", size, align, p)
				}
			}
		}
		for _, align := range []uintptr{0, 3, 48, 2 * memory.MaxAlign, 2 << 20, ^uintptr(0)>>1 + 1, ^uintptr(0)} {
			if _, err := a.Alloc(1, align); !errors.Is(err, memory.ErrAlign) {
				t.Errorf("at %d: %v", align, err)
			}
		}
	}
	if before.Stats() != (memory.Stats{}) {
		t.Error("another tag has changed")
	}
	must(t, m.Check())
}

func TestTag_ItsBlocksCountFromTheManagersBase(t *testing.T) {
	m := newManager(t, tagged())
	tag := newTag(t, m, "a")
	if tag.Base() != m.Base() || tag.Extent() != m.Extent() || m.Base() == nil {
		t.Errorf("%p and %d, the manager's %p and %d", tag.Base(), tag.Extent(), m.Base(), m.Extent())
	}
	var _ interface {
		memory.Allocator
		memory.Baser
		memory.Owner
		memory.Sizer
		memory.Resizer
		memory.AnyFreer
		memory.StatsReporter
	} = tag
	must(t, m.Close())
	if tag.Base() != nil || tag.Extent() != 0 {
		t.Error("closed, and there is a base")
	}
}

// Two goroutines that use one tag, or one worker's tag, are named in builds that check.
func TestTag_TwoGoroutinesAtOnceAreForbiddenAndWorkersAreNot(t *testing.T) {
	m := newManager(t, tagged())
	tag := newTag(t, m, "a")
	var both sync.WaitGroup
	for k := range 2 {
		both.Go(func() {
			v := m.Worker(k).Tag(tag)
			for range 500 {
				p, err := v.Alloc(1000, 16)
				if err != nil {
					t.Error(err)
					return
				}
				v.Free(p, 1000)
			}
		})
	}
	for range 500 {
		p := alloc(t, tag, 1000)
		tag.Free(p, 1000)
		tag.Stats()
	}
	both.Wait()
	if s := tag.Stats(); s.Allocs != 1500 || s.Live != 0 {
		t.Errorf("%+v", s)
	}
	must(t, m.Check())
}

// What was freed past the manager is a misuse that its documentation names; the manager says so
// where it meets it, and the books never count below nothing.
func TestTag_ABlockFreedPastTheManagerIsToldToWhoeverMeetsIt(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	for _, size := range []uintptr{100, 5000} {
		p := alloc(t, a, size)
		if size == 100 {
			m.Slab().Free(p, size)
		} else {
			m.Large().Free(p, size)
		}
		q := alloc(t, m, size-1) // its place, without a tag
		if q != p {
			t.Fatalf("%p, not %p", q, p)
		}
		memtest.Misuse(t, func() { m.Free(q, size-1) }, "was requested with", "or it was freed past the manager, and this is another one")
		m.FreeAny(q)
		if s := a.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 {
			t.Errorf("%+v", s)
		}
		must(t, m.Check())
	}
}

func TestTag_CloseWithLiveBlocksCountsThemAsGone(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	must(t, m.BeginLevel())
	p, err := NewPoolIn[[3]int64](a, pool.Config{Capacity: 10})
	must(t, err)
	_, _, err = p.New()
	must(t, err)
	for _, size := range []uintptr{10, 5000} {
		alloc(t, a, size)
		alloc(t, m.Worker(0).Tag(a), size)
	}
	alloc(t, a.Level(), 10)
	must(t, m.Close())
	if s := a.Stats(); s.Live != 0 || s.InUse != 0 || s.Requested != 0 || s.Allocs != 4 || s.Frees != 4 || a.Level().Taken() != (Bumped{}) {
		t.Errorf("%+v", s)
	}
	m.Inspect().EachTag(func(s TagStats) {
		if s.Live != 0 || s.InUse != 0 || s.Frame != (Bumped{}) || s.Level != (Bumped{}) {
			t.Errorf("%+v", s)
		}
	})
	_, err = NewPoolIn[[3]int64](a, pool.Config{Capacity: 10})
	if !errors.Is(err, memory.ErrClosed) {
		t.Errorf("%v", err)
	}
	if !invariant.Debug {
		if _, err := a.Level().Alloc(1, 1); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

func TestManager_WhatIsWrongWithATagsNameIsTold(t *testing.T) {
	m := newManager(t, tagged())
	for _, name := range []string{"a,b", `a"b`, "=1", "ä", "敵"} {
		if got := newTag(t, m, name); got.Name() != name {
			t.Errorf("%q", got.Name())
		}
	}
	for _, name := range []string{"\u202e", "\x00", "a\u00a0", "\ufeff"} {
		if _, err := m.Tag(name); err == nil || !strings.Contains(err.Error(), "cannot be printed") {
			t.Errorf("Tag(%q): %v", name, err)
		}
	}
}
