package main

import (
	"errors"
	"math"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/tiers"
)

// managed models tiers.Manager through levels and frames: the general heap, frame and level
// arenas, static buffers, a pool, the workers' heaps and a goroutine that frees.
type managed struct {
	s       *segment
	m       *tiers.Manager
	general *shadow // slab and large
	level   *shadow
	frames  []*shadow // a ring: what Frame handed out
	static  []place
	things  *pool.Pool[thing]
	handles []memory.Handle[thing]
	hands   []*hand
	freer   *remote.Freer
	frame   int
	inFrame bool
	inLevel bool
	corpse  block
}

func openTiers(s *segment) model {
	var cfg tiers.Config
	for t, most := range map[tiers.Tier]uintptr{tiers.Static: 1, tiers.Frame: 4, tiers.Level: 4, tiers.Pools: 4, tiers.Slab: 16, tiers.Large: 16, tiers.Inbox: 8} {
		cfg.Reserve[t] = most << 20
	}
	cfg.Frames, cfg.Workers, cfg.GC.Keep = 1+s.n(3), 1+s.n(3), true
	man, err := tiers.New(cfg)
	s.must("New", err)
	m := &managed{s: s, m: man, general: newShadow(s, 4), level: newShadow(s, 0), frames: make([]*shadow, cfg.Frames), freer: man.NewFreer()}
	m.level.taken = taken{maps: map[uintptr]*[takenWords]uint64{}}
	for i := range m.frames {
		m.frames[i] = newShadow(s, 0)
		m.frames[i].taken = m.level.taken // arenas of the manager must not meet
	}
	m.things, err = pool.New[thing](man.PoolSource(), pool.Config{Capacity: 4000})
	s.must("pool.New", err)
	man.AddPool("things", m.things)
	for k := range cfg.Workers {
		m.hands = append(m.hands, &hand{rand: rand{s.uint64()}, w: man.Worker(k), ids: uint64(k+1) << 56})
	}
	return m
}

func (m *managed) step() {
	s := m.s
	switch roll := s.n(1000); {
	case roll < 12:
		m.toggleFrame()
	case roll == 12 && s.one(8):
		m.toggleLevel()
	case roll < 15:
		m.round()
	case roll < 18:
		m.wrong()
	case roll < 100 && m.inFrame:
		now := m.frames[m.frame%len(m.frames)]
		m.bump(now, m.m.Frame(), 2048)
	case roll < 140 && m.inLevel:
		m.bump(m.level, m.m.Level(), 1024)
	case roll < 200 && m.inLevel:
		m.thing()
	case roll < 260 && len(m.general.live) > 0:
		m.giveAway()
	case roll < 620 && len(m.general.live) < 1500:
		m.alloc()
	case len(m.general.live) > 0:
		m.free(s.n(len(m.general.live)))
	}
}

func (m *managed) alloc() {
	most := uintptr(4096)
	if m.s.one(8) {
		most = 128 << 10
	}
	size, align := m.s.size(most), m.s.align(4096)
	m.s.note("Alloc size align", 0, uint64(size), uint64(align))
	p, err := m.m.Alloc(size, align)
	if err == nil {
		m.general.born(p, size, align)
	} else if !errors.Is(err, memory.ErrOutOfMemory) || len(m.general.live) == 0 {
		m.s.failf("Alloc(%d, %d) with %d live: %v", size, align, len(m.general.live), err)
	}
}

func (m *managed) free(i int) {
	b := m.general.dies(i)
	m.s.note("Free p size id", uintptr(b.p), uint64(b.size), b.id)
	if m.s.one(2) {
		m.m.FreeAny(b.p)
	} else {
		m.m.Free(b.p, b.size)
	}
	m.corpse = b
}

// giveAway frees a block as another goroutine does: it returns to its tier with a later frame.
func (m *managed) giveAway() {
	b := m.general.dies(m.s.n(len(m.general.live)))
	m.s.note("Freer.Free p size id", uintptr(b.p), uint64(b.size), b.id)
	m.freer.FreeAny(b.p)
}

// bump allocates what dies with its frame or level.
func (m *managed) bump(sh *shadow, a memory.Allocator, most uintptr) {
	size, align := max(m.s.size(most), 1), m.s.align(64)
	m.s.note("bump size align", 0, uint64(size), uint64(align))
	p, err := a.Alloc(size, align)
	if err == nil {
		sh.born(p, size, align)
	} else if !errors.Is(err, memory.ErrOutOfMemory) || len(sh.live) == 0 {
		m.s.failf("Alloc(%d, %d) with %d live: %v", size, align, len(sh.live), err)
	}
}

func (m *managed) thing() {
	if n := len(m.handles); n > 0 && m.s.one(2) {
		i := m.s.n(n)
		x := m.handles[i]
		m.handles[i] = m.handles[n-1]
		m.handles = m.handles[:n-1]
		if t, ok := m.things.Get(x); !ok || t.Words[8] != x.Generation() || !m.things.Free(x) {
			m.s.failf("the thing %v is lost", x)
		}
		return
	}
	if x, t, err := m.things.New(); err == nil {
		t.Words[8] = x.Generation()
		m.handles = append(m.handles, x)
	} else if len(m.handles) < m.things.Cap() {
		m.s.failf("New of thing %d of %d: %v", len(m.handles), m.things.Cap(), err)
	}
}

func (m *managed) toggleFrame() {
	m.inFrame = !m.inFrame
	if !m.inFrame {
		m.s.note("EndFrame", 0, 0, 0)
		m.s.must("EndFrame", m.m.EndFrame())
		return
	}
	m.s.note("BeginFrame", 0, 0, 0)
	m.frame++
	m.frames[m.frame%len(m.frames)].diesAll(0)
	m.s.must("BeginFrame", m.m.BeginFrame())
}

// toggleLevel begins a level, or ends it with nothing left behind or something.
func (m *managed) toggleLevel() {
	if m.inFrame {
		m.toggleFrame()
	}
	m.inLevel = !m.inLevel
	if m.inLevel {
		m.s.note("BeginLevel", 0, 0, 0)
		m.dropGeneral() // so that all that is live at its end is the level's own
		m.s.must("BeginLevel", m.m.BeginLevel())
		m.declare()
		return
	}
	m.s.note("EndLevel", 0, uint64(len(m.general.live)), 0)
	for i, p := range m.static {
		if off, ok := p.intact(); !ok {
			m.s.failf("byte %d of static buffer %d has changed", off, i)
		}
	}
	m.flush()
	m.level.diesAll(0)
	gone := m.handles
	m.handles, m.static = nil, nil
	leaks, err := m.m.EndLevel()
	m.s.must("EndLevel", err)
	if n := leaks.Tiers[tiers.Slab].Blocks + leaks.Tiers[tiers.Large].Blocks; n != uint64(len(m.general.live)) {
		m.s.failf("the level left %d blocks, the manager says %v", len(m.general.live), leaks)
	}
	for _, x := range gone {
		if _, ok := m.things.Get(x); ok {
			m.s.failf("the thing %v outlived its level", x)
		}
	}
}

func (m *managed) declare() {
	var set []plan.Buffer
	for i := range m.s.n(12) {
		set = append(set, plan.Buffer{ID: uint32(i), Size: m.s.size(4096), Align: 64, Birth: 0, Death: 1})
	}
	p, err := plan.Fast(set)
	m.s.must("Fast", err)
	a, err := m.m.Declare(p)
	m.s.must("Declare", err)
	a.Begin(0)
	for _, b := range set {
		at := place{unsafe.Slice((*byte)(a.Get(b.ID)), b.Size), m.s.uint64()}
		at.fill()
		m.static = append(m.static, at)
	}
}

// flush makes every block that was given away return to its tier, in a frame.
func (m *managed) flush() {
	m.s.must("Freer.Flush", m.freer.Flush())
	m.toggleFrame()
	m.toggleFrame()
}

func (m *managed) dropGeneral() {
	for len(m.general.live) > 0 {
		m.free(len(m.general.live) - 1)
	}
	m.flush()
}

// wrong makes calls out of order and frees what may not be freed.
func (m *managed) wrong() {
	m.s.note("wrong call", 0, 0, 0)
	order := func(what string, err error) {
		if !errors.Is(err, tiers.ErrOrder) {
			m.s.failf("%s out of order: %v", what, err)
		}
	}
	if m.inFrame {
		order("BeginFrame", m.m.BeginFrame())
		order("Close", m.m.Close())
		_, err := m.m.EndLevel()
		order("EndLevel", err)
	} else {
		order("EndFrame", m.m.EndFrame())
	}
	if m.inLevel {
		order("BeginLevel", m.m.BeginLevel())
	}
	books := func() memory.Stats { return m.m.Stats(tiers.Slab).Add(m.m.Stats(tiers.Large)) }
	alien := new([64]byte)
	m.s.refused("a foreign pointer", books, func() { m.m.FreeAny(unsafe.Pointer(alien)) })
	if n := len(m.general.live); n > 0 {
		b := m.general.live[m.s.n(n)]
		if b.size > 1 {
			m.s.refused("an interior pointer", books, func() { m.m.FreeAny(unsafe.Add(b.p, 1)) })
		}
		if m.m.Owns(unsafe.Pointer(alien)) || !m.m.Owns(b.p) {
			m.s.failf("the manager does not know what it owns")
		}
	}
}

func (m *managed) check() {
	if m.inFrame {
		m.toggleFrame()
	}
	m.flush()
	m.s.must("Check", m.m.Check())
	m.general.verifyAll()
	m.level.verifyAll()
	for _, f := range m.frames {
		f.verifyAll()
	}
	want := map[tiers.Tier]int{tiers.Level: len(m.level.live), tiers.Slab: 0, tiers.Large: 0}
	for _, b := range m.general.live {
		t, ok := m.m.Inspect().TierOf(b.p)
		if _, known := want[t]; !ok || !known || t == tiers.Level {
			m.s.failf("%v is of tier %v, %v", b, t, ok)
		}
		want[t]++
	}
	for t, n := range want {
		if st := m.m.Stats(t); st.Live != uint64(n) || st.InUse > st.Committed || st.Committed > st.Reserved {
			m.s.failf("%d blocks live in %v; the books say %+v", n, t, st)
		}
	}
	if st := m.things.Stats(); st.Live != uint64(len(m.handles)) {
		m.s.failf("%d things live; the books say %+v", len(m.handles), st)
	}
}

func (m *managed) finish() {
	if m.inFrame {
		m.toggleFrame()
	}
	if m.inLevel {
		m.toggleLevel()
	}
	for _, w := range m.hands {
		for _, b := range w.live {
			m.general.verify(b)
			m.m.FreeAny(b.p)
		}
		w.live = nil
	}
	m.dropGeneral()
	for range m.frames {
		m.toggleFrame()
		m.toggleFrame()
	}
	for _, w := range m.hands {
		w.w.Settle()
	}
	m.check()
	for t := range tiers.Tier(math.MaxUint8) {
		if t == tiers.Count {
			break
		}
		if st := m.m.Stats(t); st.Live != 0 {
			m.s.failf("all is freed; tier %v says %+v", t, st)
		}
	}
	m.s.must("Freer.Close", m.freer.Close())
	m.s.must("Close", m.m.Close())
	m.s.must("Close again", m.m.Close())
}
