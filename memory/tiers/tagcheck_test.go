package tiers

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/pool"
)

// tagParty is a manager with tags, and blocks under them in every tier.
func tagParty(t *testing.T, cfg Config) (m *Manager, a, b *Tag) {
	m = newManager(t, cfg)
	a, b = newTag(t, m, "a"), newTag(t, m, "b")
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for _, size := range []uintptr{10, 16, 100, 3000, 5000} {
		alloc(t, a, size)
		alloc(t, m, size)
		alloc(t, b, size)
		m.Free(alloc(t, a, size), size)
	}
	alloc(t, m.Worker(1).Tag(b), 700)
	alloc(t, m.Worker(1), 800)
	alloc(t, a.Frame(), 100)
	alloc(t, b.Level(), 200)
	must(t, m.Check())
	return m, a, b
}

func TestTagCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	cfg := Config{GC: gcpace.Config{Keep: true}, Tags: true}
	for tier := range cfg.Reserve {
		cfg.Reserve[tier] = 1 << 20
	}
	m, a, b := tagParty(t, cfg)
	w := m.inbox.workers[1]
	books := []any{
		&a.id, &a.peak, &b.id, &a.frame.begun, &a.frame.taken, &a.frame.level, &b.level.taken, &b.level.level,
		&w.scratch.stats, &w.scratch.busy,
	}
	s := &m.slab.notes
	m.slab.notes.settle(3, 1024) // so that there are spare leaves
	words := s.chunks[0][:s.next]
	books = append(books, &s.base, &s.size, &s.units, &words, &s.next, &s.spare, &s.counts)
	for _, s := range []*largeNotes{&m.large.notes, w.tags} {
		words := s.chunks[0][:s.next]
		books = append(books, &s.base, &s.size, &s.units, &words, &s.next, &s.counts)
	}
	got := memtest.EveryNthBit(t, testenv.Step(4), m.Check, books...)
	t.Logf("%+v", got)
	if got.Integers < 100 || got.Named < got.Flipped/2 {
		t.Errorf("%+v: half at least must be named", got)
	}
}

func TestTagCheck_NamesWhatIsCorrupt(t *testing.T) {
	cfg := tagged()
	cfg.Reserve[Large] = 32 << 20
	m, a, _ := tagParty(t, cfg)
	s, large := &m.slab.notes, &m.large.notes
	p, q := alloc(t, a, 200), alloc(t, a, 20<<20)
	note := func(p unsafe.Pointer) *note { n, _ := s.at(p); return n }
	u := (uintptr(p) - s.base) >> unitShift
	word := func(p unsafe.Pointer) *uint32 { return large.word(uintptr(p) - large.base) }
	at := (uintptr(q) - large.base) / largeUnit
	for _, c := range []struct {
		want    string
		corrupt func() (restore func())
	}{
		{"tiers: slab: tag 1 counts", func() func() { s.counts[1].used++; return func() { s.counts[1].used-- } }},
		{"tiers: slab: tag 1 counts", func() func() { s.counts[1].requested++; return func() { s.counts[1].requested-- } }},
		{"tiers: large: tag 2 counts", func() func() { large.counts[2].frees++; return func() { large.counts[2].frees-- } }},
		{"tiers: slab: the tags have", func() func() {
			s.counts[2].frees += 1000
			s.counts[2].allocs += 1000
			return func() { s.counts[2].frees -= 1000; s.counts[2].allocs -= 1000 }
		}},
		{"has 208 bytes, its note says 224", func() func() { r := memtest.Keep(&s.units[u]); s.units[u] += 1 << 32; return r }},
		{"is of tag 9 of 2", func() func() { n := note(p); *n ^= 8 << 24; return func() { *n ^= 8 << 24 } }},
		{"is of tag 1 of 2", func() func() { n := note(p); *n ^= 32 << 16; return func() { *n ^= 32 << 16 } }},
		{"is of tag 1 of 2", func() func() { n := note(p); *n += 300; return func() { *n -= 300 } }},
		{"the leaves have 65 words of", func() func() { r := memtest.Keep(&s.next); s.next = 65; return r }},
		{"does not lie in 64 words", func() func() { r := memtest.Keep(&s.next); s.next = 64; return r }},
		{"is there twice", func() func() {
			r := memtest.Keep(&s.units[0])
			s.units[0] = s.units[u]
			return r
		}},
		{"has blocks of 0 bytes", func() func() { r := memtest.Keep(&s.units[u]); s.units[u] &= 1<<32 - 1; return r }},
		{"the spare leaf", func() func() {
			for kind, leaf := range s.spare {
				if leaf != 0 && leafWords(uint(kind)) > 1 {
					*s.word(leaf + 1) = 7
					return func() { *s.word(leaf + 1) = 0 }
				}
			}
			t.Fatal("there is no spare leaf")
			return nil
		}},
		{"the leaves have", func() func() { r := memtest.Keep(&s.spare); s.spare = [leafKinds]uint32{}; return r }},
		{"is of tag 77 of 2", func() func() { r := memtest.Keep(word(q)); *word(q) = 77<<24 | 5; return r }},
		{"its note says 5", func() func() { r := memtest.Keep(word(q)); *word(q) = 1<<24 | 5; return r }},
		{"and no note", func() func() { r := memtest.Keep(word(q)); *word(q) = 0; return r }},
		{"which is no large size, or is there twice", func() func() { r := memtest.Keep(&large.huge[0].size); large.huge[0].size = 9; return r }},
		{"20971520 bytes, which is no large size, or is there twice", func() func() {
			large.huge = append(large.huge, large.huge[0])
			return func() { large.huge = large.huge[:1] }
		}},
		{"large: the leaves have 17 words", func() func() { r := memtest.Keep(&large.next); large.next = 17; return r }},
		{"which is no leaf, or is there twice", func() func() { r := memtest.Keep(&large.next); large.next = 16; return r }},
		{"which is no leaf, or is there twice", func() func() { r := memtest.Keep(&large.units[at]); large.units[at] = large.units[0]; return r }},
		{"which is no leaf, or is there twice", func() func() { r := memtest.Keep(&large.units[at]); large.units[at]++; return r }},
		{"large: the leaves have", func() func() { r := memtest.Keep(&large.units[at]); large.units[at] = 0; return r }},
		{"and had 0 at most", func() func() { r := memtest.Keep(&a.peak); a.peak = 0; return r }},
		{`tag 1, "a", calls itself 3`, func() func() { a.id = 3; return func() { a.id = 1 } }},
		{"bytes of frame 9, and it is frame 1", func() func() { r := memtest.Keep(&a.frame.begun); a.frame.begun = 9; return r }},
		{`tag "a" took 1099511627776 bytes in 0 blocks of the level`, func() func() { r := memtest.Keep(&a.level.taken); a.level.taken.Bytes = 1 << 40; return r }},
		{"the notes of slab are of", func() func() { s.size++; return func() { s.size-- } }},
		{"worker 1: tags: tag 2 counts", func() func() {
			m.inbox.workers[1].tags.counts[2].used++
			return func() { m.inbox.workers[1].tags.counts[2].used-- }
		}},
		{"no task is open, and scratch has", func() func() {
			w := m.inbox.workers[0]
			w.scratch.stats.Allocs++
			return func() { w.scratch.stats.Allocs-- }
		}},
	} {
		restore := c.corrupt()
		err := m.Check()
		restore()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check = %v; want %q", err, c.want)
		}
		must(t, m.Check())
	}
}

// Check names a block that was freed through the tier's allocator, until a tag reuses its address.
func TestTagCheck_NamesABlockFreedPastTheManagerUntilItsReuse(t *testing.T) {
	m := newManager(t, tagged())
	a, b := newTag(t, m, "a"), newTag(t, m, "b")
	p := alloc(t, a, 100)
	q := alloc(t, a, 5000)
	m.Slab().Free(p, 100)
	m.Large().Free(q, 5000)
	if err := m.Check(); err == nil || invariant.Exact && strings.Count(err.Error(), "is not live, and was freed past the manager") != 2 {
		t.Errorf("Check = %v", err)
	}
	if r := alloc(t, b, 100); r != p {
		t.Fatalf("%p, not %p", r, p)
	}
	alloc(t, b, 5000)
	must(t, m.Check())
	if s := a.Stats(); s.Live != 0 || s.InUse != 0 || s.Frees != 2 {
		t.Errorf("%+v", s)
	}
}

func TestTag_RowsTogetherAreTheTiersAndNothingOfGoIsAllocated(t *testing.T) {
	m, a, b := tagParty(t, tagged())
	pooled, err := NewPoolIn[[3]int64](a, pool.Config{Name: "of a", Capacity: 100})
	must(t, err)
	_, _, err = pooled.New()
	must(t, err)
	b.AddPool("of b", &Funcs{})
	other, err := NewPool[[3]int64](m, objectsConfig)
	must(t, err)
	_, _, err = other.New()
	must(t, err)
	alloc(t, m.Frame(), 50)
	var snap Snapshot
	m.Snapshot(&snap)
	var sum TagStats
	for _, row := range snap.Tags {
		sum.Stats = sum.Add(row.Stats)
		sum.Frame.add(row.Frame)
		sum.Level.add(row.Level)
	}
	all := m.Stats(Slab).Add(m.Stats(Large)).Add(m.Stats(Pools)).Add(m.Stats(Inbox))
	if sum.InUse != all.InUse || sum.Live != all.Live || sum.Allocs != all.Allocs || sum.Frees != all.Frees || sum.Failures != all.Failures {
		t.Errorf("the rows sum up to %+v, the tiers to %+v", sum.Stats, all)
	}
	if want := (Bumped{uint64(m.Frame().Used()), 2}); sum.Frame != want || sum.Level != (Bumped{uint64(m.Level().Used()), 1}) {
		t.Errorf("frame %+v, want %+v; level %+v", sum.Frame, want, sum.Level)
	}
	if len(snap.Tags) != 3 || snap.Tags[0].Name != "a" || snap.Tags[1].Name != "b" || snap.Tags[2].Name != "" || snap.Tags[0].Live != 6 || snap.Tags[1].Live != 6 {
		t.Errorf("%+v", snap.Tags)
	}
	var text strings.Builder
	must(t, snap.WriteText(&text))
	for _, want := range []string{"tag ", "\na ", "\nb ", "\n(none) "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
	if n := testing.AllocsPerRun(50, func() {
		m.Snapshot(&snap)
		p, _ := a.Alloc(100, 16)
		m.Free(p, 100)
		m.Inspect().EachTag(func(TagStats) {})
	}); n != 0 && !invariant.Debug {
		t.Errorf("%v Go allocations", n)
	}
}

func TestTag_LeaksAreToldByTag(t *testing.T) {
	m := newManager(t, tagged())
	a, b := newTag(t, m, "ai"), newTag(t, m, "audio")
	alloc(t, a, 100) // before the level
	must(t, m.BeginLevel())
	alloc(t, a, 100)
	alloc(t, a, 100)
	alloc(t, b, 5000)
	alloc(t, m.Worker(0).Tag(b), 1000)
	alloc(t, m, 100)
	l, err := m.EndLevel()
	must(t, err)
	want := "level 1 left behind 3 blocks of 336 bytes in slab, 1 block of 5120 bytes in large, 1 block of 1024 bytes in inbox; by tag: ai 2 blocks of 224 bytes, audio 2 blocks of 6144 bytes"
	if l.String() != want {
		t.Errorf("%s; want %s", l, want)
	}
	must(t, m.BeginLevel())
	if l, err = m.EndLevel(); err != nil || len(l.Tags) != 0 {
		t.Errorf("%v, %v", l, err)
	}
}

func TestTagArena_TakesFromTheArenasAndIsClearedWithThem(t *testing.T) {
	m := newManager(t, tagged())
	a := newTag(t, m, "a")
	if !invariant.Debug {
		for _, x := range []*TagArena{a.Frame(), a.Level()} {
			if _, err := x.Alloc(1, 1); err == nil {
				t.Error("memory outside of a frame or level")
			}
		}
	}
	must(t, m.BeginLevel())
	must(t, m.BeginFrame())
	for _, x := range []*TagArena{a.Frame(), a.Level()} {
		p := alloc(t, x, 100)
		q := alloc(t, x, 50)
		if !x.Owns(p) || x.Owns(unsafe.Pointer(m)) || x.Taken().Blocks != 2 || x.Taken().Bytes != 162 {
			t.Errorf("%+v", x.Taken())
		}
		if !x.Resize(q, 50, 60) || x.Taken().Bytes != 172 || x.Resize(p, 100, 200) {
			t.Errorf("%+v", x.Taken())
		}
		x.Free(q, 60)
		if got := x.Taken(); got.Bytes > 112 || got.Bytes < 100 || got.Blocks != 2 {
			t.Errorf("%+v", got)
		}
	}
	if a.Frame().Owns(alloc(t, m.Level(), 1)) || a.Level().Owns(alloc(t, m.Frame(), 1)) {
		t.Error("a frame owns a level's block, or the other way about")
	}
	must(t, m.EndFrame())
	if a.Frame().Taken().Blocks != 2 {
		t.Errorf("between frames: %+v", a.Frame().Taken())
	}
	must(t, m.BeginFrame())
	if a.Frame().Taken() != (Bumped{}) {
		t.Errorf("in the next frame: %+v", a.Frame().Taken())
	}
	must(t, m.EndFrame())
	_, err := m.EndLevel()
	must(t, err)
	if a.Level().Taken() != (Bumped{}) {
		t.Errorf("after the level: %+v", a.Level().Taken())
	}
	must(t, m.Check())
}

func ExampleManager_Tag() {
	m, err := New(Config{Tags: true, GC: gcpace.Config{Keep: true}})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	ai, _ := m.Tag("ai")
	p, _ := ai.Alloc(100, 16)
	q, _ := ai.Alloc(10_000, 16)
	m.FreeAny(q) // whoever frees it: the books follow
	s := ai.Stats()
	fmt.Println(s.Live, "block,", s.Requested, "bytes asked for,", s.InUse, "taken, at most", s.Peak)
	ai.Free(p, 100)
	// Output: 1 block, 100 bytes asked for, 112 taken, at most 10352
}

func ExampleWorker_BeginTask() {
	m, err := New(Config{GC: gcpace.Config{Keep: true}})
	if err != nil {
		panic(err)
	}
	defer m.Close()
	done := make(chan uintptr)
	go func(w *Worker) { // a system that runs in parallel
		scratch, _ := w.BeginTask()
		_, _ = scratch.Alloc(100, 4)
		mark := scratch.Mark()
		_, _ = scratch.Alloc(1000, 4)
		scratch.Rewind(mark)
		used := scratch.Used()
		_ = w.EndTask()
		done <- used
	}(m.Worker(0))
	fmt.Println(<-done, "bytes were in use")
	// Output: 100 bytes were in use
}
