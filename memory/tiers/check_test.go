package tiers

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestCheck_EveryFlippedBitIsNamedOrTolerated(t *testing.T) {
	testenv.Long(t)
	cfg := Config{GC: gcpace.Config{Keep: true}, OnSoft: func(Tier, uintptr, uintptr) {}} // as small as can be, for Check runs often
	for tier := range cfg.Reserve {
		cfg.Reserve[tier] = 1 << 20
	}
	m := furnish(t, cfg)
	freeElsewhere(t, m.Manager, m.ofSlab)
	m.Free(m.ofWorker, 10_000) // waits
	books := []any{
		&m.size, &m.route, &m.whole, &m.cfg, &m.parts, &m.limits, &m.phase, &m.pools.ending, &m.frame.tight, &m.pools.busy,
		&m.frame.begun, &m.level.begun, &m.atLevel, &m.atFrame, &m.history,
	}
	for i := range m.pools.all {
		books = append(books, &m.pools.all[i].ended, &m.pools.all[i].atLevel)
	}
	for k, w := range m.inbox.workers {
		books = append(books, w.limit, &w.told, &w.soft, &w.last.stats, &m.inbox.links[k].waiting, &m.inbox.links[k].most)
	}
	got := memtest.EveryNthBit(t, testenv.Step(4), m.Check, books...)
	t.Logf("%+v", got)
	if got.Integers < 200 || got.Named < got.Flipped/4 {
		t.Errorf("%+v: a quarter at least must be named", got)
	}
}

// A brokenPool has books that do not add up.
type brokenPool struct {
	memory.Stats
	fault error
}

func (p *brokenPool) Reset()              {}
func (p *brokenPool) Close() error        { return nil }
func (p *brokenPool) Check() error        { return p.fault }
func (p *brokenPool) books() memory.Stats { return p.Stats }

type brokenPoolIn struct{ *brokenPool }

func (p brokenPoolIn) Stats() memory.Stats { return p.books() }

func TestCheck_NamesWhatIsCorrupt(t *testing.T) {
	m := furnish(t, small())
	pool := &brokenPool{}
	m.AddPool("broken", brokenPoolIn{pool})
	must(t, m.Check())
	region := func(i int) *uint8 { return &m.route[i] }
	level := m.cfg.space(Static) + m.cfg.space(Frame) // where it begins
	w := m.inbox.workers[0]
	for _, c := range []struct {
		want    string
		corrupt func() (restore func())
	}{
		{"region 0 of static routes to 1", func() func() { r := memtest.Keep(region(0)); *region(0) = 1; return r }},
		{"of level routes to 9", func() func() { i := int(level >> regionShift); r := memtest.Keep(region(i)); *region(i) = 9; return r }},
		{fmt.Sprintf("of inbox routes to %d", Count+1), func() func() {
			i := int(uintptr(m.inbox.parts[0].Memory().Base)-uintptr(m.base)) >> regionShift
			r := memtest.Keep(region(i))
			*region(i) = uint8(Count + 1)
			return r
		}},
		{fmt.Sprintf("%d regions route", len(m.route)+1), func() func() { r := memtest.Keep(&m.route); m.route = append(m.route, 0); return r }},
		{fmt.Sprintf("regions route %d bytes", m.size+1), func() func() { r := memtest.Keep(&m.size); m.size++; return r }},
		{"regions route", func() func() { r := memtest.Keep(&m.base); m.base = unsafe.Add(m.base, 2<<20); return r }},
		{"3 parts, 2 workers and 2 links, 2 configured", func() func() {
			r := memtest.Keep(&m.inbox.parts)
			m.inbox.parts = append(m.inbox.parts[:2:2], m.parts[0])
			return r
		}},
		{"2 parts, 2 workers and 1 links", func() func() { r := memtest.Keep(&m.inbox.links); m.inbox.links = m.inbox.links[:1]; return r }},
		{"2 links, 3 configured", func() func() { r := memtest.Keep(&m.cfg.Workers); m.cfg.Workers = 3; return r }},
		{fmt.Sprintf("bytes of level at %d are not whole regions", level), func() func() { r := memtest.Keep(&m.cfg); m.cfg.Reserve[Level]--; return r }},
		{fmt.Sprintf("bytes of level at %d are not whole regions", level), func() func() { r := memtest.Keep(&m.cfg); m.cfg.Reserve[Level] = 64 << 20; return r }},
		{fmt.Sprintf("the tiers end at %d of %d bytes", m.size-2<<20, m.size), func() func() { r := memtest.Keep(&m.cfg); m.cfg.Reserve[Inbox] -= 1 << 20; return r }},
		{"pools has the part", func() func() {
			r := memtest.Keep(&m.parts)
			m.parts[Pools] = m.parts[Large]
			return r
		}},
		{"level has committed 131072 bytes, at most 131072, of a budget of 4194304, configured 4194303", func() func() {
			r := memtest.Keep(&m.cfg)
			m.cfg.Budget[Level]--
			return r
		}},
		{"worker 0 has a budget of 4194304 bytes, want 4194303", func() func() { r := memtest.Keep(&m.cfg); m.cfg.Budget[Inbox] -= 2; return r }},
		{"worker 0:", func() func() { r := memtest.Keep(&w.limit); w.limit = m.limits[Slab]; return r }},
		{"0 blocks of 5 bytes wait for worker 0", func() func() { r := memtest.Keep(&m.inbox.links[0].waiting); m.inbox.links[0].waiting = 5; return r }},
		{"wait for worker 1, at most 262145 may", func() func() { r := memtest.Keep(&m.inbox.links[1].most); m.inbox.links[1].most++; return r }},
		{"the frame arenas are at frame 1, the manager at 2", func() func() { r := memtest.Keep(&m.frame.begun); m.frame.begun++; return r }},
		{"the frame arenas are at frame 1, the manager at 0", func() func() { r := memtest.Keep(&m.frame.begun); m.frame.begun--; return r }},
		{"the arena of the frame is", func() func() { r := memtest.Keep(&m.frame.cur); m.frame.cur = m.frame.shut; return r }},
		{"of the level", func() func() { r := memtest.Keep(&m.level.cur); m.level.cur = m.level.shut; return r }},
		{"there is no level, but its arena has 100 bytes in use", func() func() { r := memtest.Keep(&m.phase); m.phase &^= inLevel; return r }},
		{"there is no level, but static buffers are declared", func() func() { r := memtest.Keep(&m.phase); m.phase &^= inLevel; return r }},
		{"0 levels and 1 frames have begun", func() func() { r := memtest.Keep(&m.level.begun); m.level.begun = 0; return r }},
		{"slab is at sample 1, static at 0", func() func() { r := memtest.Keep(&m.history[Slab].at); m.history[Slab].at = 1; return r }},
		{"static is at sample 240", func() func() { r := memtest.Keep(&m.history); setSamples(m.Manager, HistoryLen); return r }},
		{"slab at BeginFrame had", func() func() {
			r := memtest.Keep(&m.atFrame)
			m.atFrame[Slab].Allocs = 9
			m.atFrame[Slab].Live = 9
			return r
		}},
		{"large at BeginFrame had", func() func() { r := memtest.Keep(&m.atFrame); m.atFrame[Large].Live = 9; return r }},
		{"level at BeginLevel had", func() func() { r := memtest.Keep(&m.atLevel); m.atLevel[Level].Failures = 9; return r }},
		{"inbox at BeginLevel had", func() func() { r := memtest.Keep(&m.atLevel); m.atLevel[Inbox].Peak = 1 << 40; return r }},
		{"frame at BeginLevel had", func() func() {
			r := memtest.Keep(&m.atLevel)
			m.atLevel[Frame].Frees, m.atLevel[Frame].Live = 1, ^uint64(0)
			return r
		}},
		{`pool "broken": so it is`, func() func() { pool.fault = errors.New("so it is"); return func() { pool.fault = nil } }},
		{`pool "broken" reports`, func() func() { pool.Live = 1; return func() { pool.Live = 0 } }},
		{`pool "broken" reports`, func() func() { pool.InUse, pool.Peak = 1, 1; return func() { pool.Stats = memory.Stats{} } }},
		{`pool "broken" reports`, func() func() { pool.Committed = 1; return func() { pool.Stats = memory.Stats{} } }},
		{`pool "broken" reports`, func() func() {
			pool.Stats = memory.Stats{InUse: 2, Peak: 1, Committed: 2, Reserved: 2}
			return func() { pool.Stats = memory.Stats{} }
		}},
		{"the pools have", func() func() {
			pool.Stats = memory.Stats{InUse: 1 << 30, Peak: 1 << 30, Committed: 1 << 30, Reserved: 1 << 30}
			return func() { pool.Stats = memory.Stats{} }
		}},
		{`pool "broken" was reset in ending 9`, func() func() { e := &m.pools.all[1].ended; *e = 9; return func() { *e = 0 } }},
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

func setSamples(m *Manager, at int) {
	for t := range m.history {
		m.history[t].at = at
	}
}

// bump adds one to an integer of another package's books, found by its path, and returns what
// takes that back.
func bump(book any, path string) (restore func()) {
	v := reflect.ValueOf(book).Elem()
	for name := range strings.SplitSeq(path, ".") {
		if v = v.FieldByName(name); v.Kind() == reflect.Slice {
			v = v.Index(0)
		}
	}
	n := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	add := func(by int64) {
		if n.CanUint() {
			n.SetUint(n.Uint() + uint64(by))
		} else {
			n.SetInt(n.Int() + by)
		}
	}
	add(1)
	return func() { add(-1) }
}

func TestCheck_HearsEveryTier(t *testing.T) {
	m := furnish(t, small())
	objects := m.pools.all[0].pool
	for _, c := range []struct {
		book       any
		path, want string
	}{
		{m.static.arena, "offsets", "plan: the arena's offsets"}, {m.frame.ring, "frame", "arena: frame 2 does not use buffer"},
		{m.level.arena, "lin.mem.committed", "page: committed"}, {m.slab.heap, "carved", "slab: "}, {m.large.heap, "counts.frees", "tlsf: "}, {m.returned, "at", "remote: "},
		{m.inbox.workers[1].heap, "counts.frees", "tiers: worker 1: tlsf: "}, {m.inbox.workers[0].inbox, "at", "tiers: worker 0: remote: "},
		{objects, "mem.committed", `tiers: pool "objects": `}, {m.parts[Slab], "next", "page: the next reservation"},
		{m.limits[Slab], "committed", "tiers: slab has committed"}, {m.inbox.workers[1].limit, "committed", "tiers: worker 1: "},
	} {
		restore := bump(c.book, c.path)
		err := m.Check()
		restore()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Check = %v; want %q", c.path, err, c.want)
		}
		must(t, m.Check())
	}
}
