package tiers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
)

// tagged is small with tags.
func tagged() Config {
	cfg := small()
	cfg.Tags, cfg.GC.Keep = true, true
	return cfg
}

func newTag(t testing.TB, m *Manager, name string) *Tag {
	t.Helper()
	tag, err := m.Tag(name)
	must(t, err)
	return tag
}

// tagOf is a tag that takes its manager along.
type tagOf struct {
	*Tag
	m *Manager
}

func (a tagOf) Close() error { return a.m.Close() }
func (a tagOf) Check() error { return a.m.Check() }

// workerTagOf is a worker's tag that takes its manager along.
type workerTagOf struct {
	*WorkerTag
	m *Manager
}

func (a workerTagOf) Close() error { return a.m.Close() }
func (a workerTagOf) Check() error { return a.m.Check() }

var tagSubjects = map[string]memtest.Subject{
	"Tag": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: subjectReserve})
			if err != nil {
				return nil, err
			}
			tag, err := m.Tag("subject")
			return tagOf{tag, m}, err
		},
		MaxSize: 20_000, Lenient: slabLenient, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"ManagerWithTags": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: subjectReserve})
			if err != nil {
				return nil, err
			}
			return heapOf{m}, nil
		},
		MaxSize: 20_000, Lenient: slabLenient, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
	"WorkerTag": {
		New: func(src page.Source) (memory.Allocator, error) {
			m, err := New(Config{Source: src, GC: gcpace.Config{Keep: true}, Workers: 1, Tags: true, Reserve: smallReserve(func(r *[Count]uintptr) { r[Inbox] = 4 << 20 })})
			if err != nil {
				return nil, err
			}
			tag, err := m.Tag("subject")
			if err != nil {
				return nil, err
			}
			return workerTagOf{m.Worker(0).Tag(tag), m}, nil
		},
		MaxSize: 20_000, Closed: memory.ErrClosed, ClosesAnyway: true,
	},
}

var subjectReserve = smallReserve(func(r *[Count]uintptr) { r[Slab], r[Large] = 2<<20, 4<<20 })

// Short runs leave the manager's and the workers' part of both to the full ones: they have some
// without tags.
func TestTag_Suite(t *testing.T) {
	testenv.Long(t)
	for name, s := range tagSubjects {
		if testenv.Brief() && name != "Tag" {
			continue
		}
		t.Run(name, func(t *testing.T) { memtest.Run(t, s) })
	}
}

func TestTag_Faults(t *testing.T) {
	testenv.Long(t)
	for name, s := range tagSubjects {
		if testenv.Brief() && name != "Tag" {
			continue
		}
		t.Run(name, func(t *testing.T) { memtest.Faults(t, s) })
	}
}

func TestManager_TheSameNameIsTheSameTagAndNamesAreChecked(t *testing.T) {
	m := newManager(t, tagged())
	ai := newTag(t, m, "ai")
	if again := newTag(t, m, "ai"); again != ai || ai.Name() != "ai" {
		t.Errorf("%p and %p, %q", ai, again, ai.Name())
	}
	for name, want := range map[string]string{
		"": "tiers: tag \"\": a tag needs a name", strings.Repeat("x", 49): "the name has 49 bytes; allowed are 48",
		"\xff": "the name is not UTF-8", "a\nb": `the name has '\n', which cannot be printed`,
	} {
		if _, err := m.Tag(name); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("Tag(%q): %v; want %q", name, err, want)
		}
	}
	newTag(t, m, strings.Repeat("y", 48))
	for i := len(m.tags); i < MaxTags; i++ {
		newTag(t, m, fmt.Sprint(i))
	}
	if _, err := m.Tag("one more"); err == nil || err.Error() != `tiers: tag "one more": there are 255 tags already, and no more are possible` {
		t.Errorf("%v", err)
	}
	last := newTag(t, m, "254")
	p := alloc(t, last, 100)
	if last.id != 255 || m.Inspect().TagOf(p) != last || m.Inspect().TagOf(alloc(t, m, 100)) != nil {
		t.Errorf("tag %d, and the block is of %v", last.id, m.Inspect().TagOf(p))
	}
	m.Free(p, 100)
	must(t, m.Check())
}

func TestTag_OfAnotherManagerOrNoneOrClosedIsRefused(t *testing.T) {
	m, other := newManager(t, tagged()), newManager(t, tagged())
	ai, foreign := newTag(t, m, "ai"), newTag(t, other, "ai")
	const none = "the tag is nil or zero; Manager.Tag returns one"
	for _, bad := range []*Tag{nil, new(Tag)} {
		memtest.Misuse(t, func() { _, _ = bad.Alloc(1, 1) }, none, "tiers.Alloc")
		memtest.Misuse(t, func() { bad.Free(nil, 0) }, none, "tiers.Free")
		memtest.Misuse(t, func() { bad.FreeAny(nil) }, none)
		memtest.Misuse(t, func() { bad.Resize(nil, 0, 0) }, none)
		memtest.Misuse(t, func() { bad.SizeOf(nil) }, none)
		memtest.Misuse(t, func() { bad.Owns(nil) }, none)
		memtest.Misuse(t, func() { bad.Stats() }, none)
		memtest.Misuse(t, func() { bad.Frame() }, none)
		memtest.Misuse(t, func() { bad.Level() }, none)
		memtest.Misuse(t, func() { bad.AddPool("", nil) }, none)
		memtest.Misuse(t, func() { bad.AddPool("", &Funcs{}) }, none)
		memtest.Misuse(t, func() { _, _ = NewPoolIn[[3]int64](bad, objectsConfig) }, none)
		memtest.Misuse(t, func() { m.Worker(0).Tag(bad) }, none)
	}
	memtest.Misuse(t, func() { m.Worker(0).Tag(foreign) }, "the tag is another manager's")
	p := alloc(t, ai, 100)
	memtest.Misuse(t, func() { foreign.Free(p, 100) }, "no tier of this manager owns the address")
	w := m.Worker(0).Tag(ai)
	q := alloc(t, w, 100)
	must(t, m.Check())
	must(t, m.Close())
	for _, a := range []memory.Allocator{ai, w} {
		if _, err := a.Alloc(10, 1); !errors.Is(err, memory.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	memtest.Misuse(t, func() { ai.Free(p, 100) }, "the manager is closed")
	memtest.Misuse(t, func() { w.Free(q, 100) }, "closed")
	if s := ai.Stats(); s.InUse != 0 || s.Requested != 0 || s.Live != 0 || s.Allocs != 2 || s.Frees != 2 || s.Failures != 0 || ai.Owns(p) {
		t.Errorf("after Close: %+v", s)
	}
	if _, err := m.Tag("late"); !errors.Is(err, memory.ErrClosed) || err.Error() != `tiers: tag "late": memory: allocator is closed` {
		t.Errorf("after Close: %v", err)
	}
}

func TestTag_BooksFollowTheBlockWhoeverFreesIt(t *testing.T) {
	m := newManager(t, tagged())
	ai, audio := newTag(t, m, "ai"), newTag(t, m, "audio")
	freer := m.NewFreer()
	for _, size := range []uintptr{0, 1, 100, 4096, 4097, 20_000} {
		for how, free := range map[string]func(p unsafe.Pointer){
			"by the tag":         func(p unsafe.Pointer) { ai.Free(p, size) },
			"by another tag":     func(p unsafe.Pointer) { audio.Free(p, size) },
			"by the manager":     func(p unsafe.Pointer) { m.Free(p, size) },
			"by address alone":   func(p unsafe.Pointer) { m.FreeAny(p) },
			"by another routine": func(p unsafe.Pointer) { freer.FreeAny(p); must(t, freer.Flush()); m.returned.Drain() },
		} {
			before := ai.Stats()
			p := alloc(t, ai, size)
			s := ai.Stats()
			if s.InUse-before.InUse < uint64(size) || s.Requested != before.Requested+uint64(size) || s.Live != 1 || s.Measured != s.InUse || m.Inspect().TagOf(p) != ai {
				t.Fatalf("%d bytes: %+v", size, s)
			}
			must(t, m.Check())
			free(p)
			if s = ai.Stats(); s.InUse != 0 || s.Requested != 0 || s.Live != 0 || s.Frees != before.Frees+1 || s.Peak < uint64(size) {
				t.Errorf("%d bytes freed %s: %+v", size, how, s)
			}
			must(t, m.Check())
		}
	}
	if s := audio.Stats(); s != (memory.Stats{}) {
		t.Errorf("audio has %+v", s)
	}
}

func TestTag_AFreeWithAnotherSizeIsRefusedToTheByte(t *testing.T) {
	m := newManager(t, tagged())
	ai := newTag(t, m, "ai")
	p, q := alloc(t, ai, 100), alloc(t, ai, 5000)
	before := ai.Stats()
	memtest.Misuse(t, func() { m.Free(p, 99) }, `tiers.Free`, `wrong size: the block, of tag "ai", was requested with 100 bytes, not 99`)
	memtest.Misuse(t, func() { ai.Resize(p, 99, 100) }, `tiers.Resize`, `wrong size: the block, of tag "ai", was requested with 100 bytes, not 99`)
	memtest.Misuse(t, func() { ai.Free(q, 5001) }, `was requested with 5000 bytes, not 5001`)
	if invariant.Exact {
		memtest.Misuse(t, func() { ai.Free(unsafe.Add(p, 16), 100) }, "interior pointer")
		memtest.Misuse(t, func() { m.FreeAny(unsafe.Add(p, 16)) }, "interior pointer")
	}
	memtest.Misuse(t, func() { m.FreeAny(unsafe.Add(q, 256)) }, "interior pointer")
	if ai.Stats() != before {
		t.Errorf("a refusal changed %+v to %+v", before, ai.Stats())
	}
	if !ai.Resize(p, 100, 101) || !ai.Resize(q, 5000, 6000) || !m.Resize(q, 6000, 5900) || ai.SizeOf(q) != 5900 {
		t.Error("blocks that can be resized in place are not")
	}
	if s := ai.Stats(); s.Requested != 6001 || s.InUse != 112+6144 || s.Peak != 112+6144 || s.Live != 2 {
		t.Errorf("resized: %+v", s)
	}
	if ai.Resize(p, 101, 3000) || ai.Resize(q, 5900, 100) && ai.SizeOf(q) != 100 {
		t.Error("a block of slab grew in place")
	}
	must(t, m.Check())
	ai.Free(p, 101)
	memory.Grow(ai, nil, 0, 0, 1)
	if invariant.Exact {
		memtest.Misuse(t, func() { ai.Free(p, 101) }, "double free")
	}
}

func TestTag_FailuresAreCountedForTheTag(t *testing.T) {
	cfg := tagged()
	cfg.Budget[Large], cfg.Budget[Slab], cfg.Budget[Inbox] = 64<<10, 64<<10, 128<<10
	m := newManager(t, cfg)
	ai := newTag(t, m, "ai")
	w := m.Worker(0).Tag(ai)
	for _, a := range []memory.Allocator{ai, w} {
		if _, err := a.Alloc(1<<20, 16); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%v", err)
		}
		if _, err := a.Alloc(1<<28, 16); err == nil {
			t.Error("no heap is that large")
		}
		if _, err := a.Alloc(10, 3); !errors.Is(err, memory.ErrAlign) {
			t.Errorf("%v", err)
		}
	}
	if s := ai.Stats(); s.Failures != 4 || s.Allocs != 0 || w.Stats().Failures != 2 {
		t.Errorf("%+v", s)
	}
	must(t, m.Check())
}

func TestTag_OffItPassesOnAndCountsNothing(t *testing.T) {
	cfg := tagged()
	cfg.Tags = false
	m := newManager(t, cfg)
	ai := newTag(t, m, "ai")
	w := m.Worker(0).Tag(ai)
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for _, a := range []memory.Allocator{ai, w, ai.Frame(), ai.Level()} {
		p := alloc(t, a, 100)
		a.Free(p, 100)
	}
	p := alloc(t, ai, 100)
	if tier, ok := m.Inspect().TierOf(p); tier != Slab || !ok || m.Inspect().TagOf(p) != nil {
		t.Errorf("%v, tag %v", tier, m.Inspect().TagOf(p))
	}
	var snap Snapshot
	m.Snapshot(&snap)
	m.Inspect().EachTag(func(s TagStats) { t.Errorf("a row %+v", s) })
	if s := ai.Stats(); s != (memory.Stats{}) || w.Stats() != s || ai.Frame().Taken() != (Bumped{}) || ai.Level().Taken() != (Bumped{}) || snap.Tags != nil {
		t.Errorf("%+v, %+v", s, snap.Tags)
	}
	if n := len(m.slab.notes.units) + len(m.large.notes.units); n != 0 || m.inbox.workers[0].tags != nil {
		t.Errorf("%d units of notes", n)
	}
	m.Free(p, 100)
	must(t, m.Check())
}
