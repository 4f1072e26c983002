package tiers

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/tlsf"
)

// regionBytes is the unit of the route table: tiers begin on its multiples, so that a shift
// and a byte load find a pointer's tier. At 1 MiB a reservation of 1 GiB needs 1 KiB of table.
const (
	regionShift = 20
	regionBytes = 1 << regionShift
)

// New reserves the address space of all tiers, and raises GOGC for the whole process unless told
// not to, see [Config.KeepGC]. Nothing is committed yet, and the books take some 110 KiB of the Go
// heap. The error wraps memory.ErrConfig and names the field if the configuration is invalid, and
// memory.ErrOutOfMemory if the system refuses even the smallest tiers. Nothing is kept then.
func New(cfg Config) (_ *Manager, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{src: &ground{Source: cfg.Source}, cfg: cfg}
	if err := m.reserve(); err != nil {
		return nil, fmt.Errorf("tiers: reserve: %w", err)
	}
	built := false
	defer func() {
		if !built { // also where the source panics
			err = errors.Join(err, m.release())
		}
	}()
	if err := m.build(); err != nil {
		return nil, err
	}
	built = true
	m.pacer.start(&cfg)
	m.rss.open()
	m.watchDrop()
	m.watchSource()
	return m, nil
}

// A ground is what the manager's carves stand on: the configured source, whose memory need
// not be given back piece by piece once all of it is about to be released.
type ground struct {
	page.Source
	going bool
}

// Under returns the configured source.
func (g *ground) Under() page.Source { return g.Source }

// Pages returns what the options for huge pages and prefaulting of the manager's source have brought
// so far. Safe for concurrent use.
func (m *Manager) Pages() page.Granted { return page.GrantedBy(m.cfg.Source) }

// Decommit passes on, until the manager closes.
func (g *ground) Decommit(m page.Memory, off, size uintptr) error {
	if g.going {
		return nil
	}
	return g.Source.Decommit(m, off, size)
}

// reserve takes the one reservation, with space to begin each tier on a region: what was asked for,
// or, if the system refuses that or has too little left beside it, an eighth less of each tier, and
// so on. The least is taken without headroom: only the system can refuse it.
func (m *Manager) reserve() error {
	asked, err := m.cfg.total()
	for total := asked; err == nil; total, err = m.cfg.total() {
		smaller := m.cfg
		last := !smaller.shrink()
		err := m.take(total, last)
		if err == nil || !page.RefusedBySystem(err) {
			return err
		}
		if last {
			return fmt.Errorf("%d bytes were asked for, and %d, the least for these tiers, are refused, too: %w", asked, total, err)
		}
		m.cfg = smaller
	}
	return err
}

// Beside the reservation the Go heap must find space for the metadata, once all of it is in use, and
// for a start of the program's own, and the process for the stacks of threads and for libraries: Go
// ends it when either is refused.
const (
	booksShare = 32 // tlsf's metadata is 1/64 of its blocks, slab's up to a tenth of its
	goRoom     = 16 << 20
	headroom   = 128 << 20 // two arenas of the Go heap, or eight threads and one
)

// take reserves total bytes, and unless it is the last try only if the headroom is left beside it.
func (m *Manager) take(total uintptr, last bool) error {
	whole, err := m.src.Reserve(total)
	if err != nil {
		return err
	}
	if whole.Base == nil || whole.Size < total {
		err := fmt.Errorf("%T gave %d bytes at %p for %d", m.src.Source, whole.Size, whole.Base, total)
		if whole.Base != nil {
			err = errors.Join(err, m.src.Release(whole))
		}
		return err
	}
	err = page.ProbeHeap(total/booksShare + goRoom)
	if err == nil && !last {
		err = page.ProbeAddresses(headroom)
	}
	if err != nil {
		return errors.Join(err, m.src.Release(whole))
	}
	skip := align.Up(uintptr(whole.Base), regionBytes) - uintptr(whole.Base)
	m.whole, m.base, m.size = whole, unsafe.Add(whole.Base, skip), total-regionBytes
	m.route = make([]uint8, m.size>>regionShift)
	return nil
}

// cut hands the next n bytes from off to a route and returns a source that lives there.
func (m *Manager) cut(off *uintptr, n uintptr, route uint8) (*page.Carve, error) {
	c, err := page.NewCarve(m.src, page.Memory{Base: unsafe.Add(m.base, *off), Size: n})
	if err != nil {
		return nil, fmt.Errorf("tiers: %w", err)
	}
	for r := *off >> regionShift; r < (*off+n)>>regionShift; r++ {
		m.route[r] = route
	}
	*off += n
	m.carves = append(m.carves, c)
	return c, nil
}

// build makes the tiers in the order of their ranges.
func (m *Manager) build() error {
	off := uintptr(0)
	for t := range Inbox {
		c, err := m.cut(&off, m.cfg.span(t), m.cfg.route(t))
		if err != nil {
			return err
		}
		m.limits[t] = page.NewLimit(c, m.cfg.Budget[t])
		m.mark(t)
	}
	small, large := m.carves[Slab].Memory(), m.carves[Large].Memory()
	m.tags.slab = slabNotes{base: uintptr(small.Base), size: small.Size}
	m.tags.large = largeNotes{base: uintptr(large.Base), size: large.Size}
	if err := m.buildTiers(); err != nil {
		return err
	}
	for k := range m.cfg.Workers {
		c, err := m.cut(&off, m.cfg.span(Inbox), uint8(Count+k))
		if err != nil {
			return err
		}
		w, err := newWorker(m, c)
		if err != nil {
			return fmt.Errorf("tiers: worker %d: %w", k, err)
		}
		m.workers = append(m.workers, w)
		m.outbox = append(m.outbox, outbox{freer: w.inbox.NewFreer(), most: w.outboxMost()})
	}
	return nil
}

// route returns what the regions of a tier are called in the route table.
func (c *Config) route(t Tier) uint8 {
	switch {
	case c.Tags && t == Slab:
		return routeSlab
	case c.Tags && t == Large:
		return routeLarge
	}
	return uint8(t)
}

// mark has a tier tell Config.OnSoft. The buffers of the frame tier are committed as a whole, and
// have a mark of another kind, in EndFrame.
func (m *Manager) mark(t Tier) {
	if m.cfg.OnSoft == nil || t == Frame {
		return
	}
	m.limits[t].OnSoft(m.cfg.softMark(m.cfg.Budget[t]), func(c, b uintptr) { m.onSoft(t, c, b) })
}

func (c *Config) softMark(bytes uintptr) uintptr { return uintptr(float64(bytes) * c.SoftMark) }

// largeStep is how much the large tier commits at a time: a system call costs what faulting in one
// or two of its pages costs, and of a heap of 600 KiB that grew the last step is half empty on
// average, which is less than a twentieth.
const largeStep = 32 << 10

func (m *Manager) buildTiers() (err error) {
	m.static.carve = m.carves[Static]
	perFrame, err := m.cfg.perFrame()
	if err != nil {
		return err
	}
	if m.frames, err = arena.NewFrames(m.limits[Frame], arena.FramesConfig{Buffers: m.cfg.Frames, Bytes: perFrame, Idle: true}); err != nil {
		return fmt.Errorf("tiers: frame: %w", err)
	}
	if m.level, err = arena.NewGrowing(m.limits[Level], arena.GrowingConfig{Reserve: m.cfg.Reserve[Level]}); err != nil {
		return fmt.Errorf("tiers: level: %w", err)
	}
	if m.large, err = tlsf.New(m.limits[Large], tlsf.Config{Reserve: m.cfg.Reserve[Large], Step: min(largeStep, m.cfg.Reserve[Large]), Blocks: fewBlocks}); err != nil {
		return fmt.Errorf("tiers: large: %w", err)
	}
	if m.slab, err = slab.New(m.limits[Slab], slab.Config{Reserve: m.cfg.Reserve[Slab], Large: m.large}); err != nil {
		return fmt.Errorf("tiers: slab: %w", err)
	}
	if m.home, err = remote.New(gameTarget{target{m, page.Memory{Base: m.base, Size: m.size}}, m, m.slab}, remote.Config{Batch: m.cfg.FreeItems, Bytes: m.cfg.FreeBytes}); err != nil {
		return fmt.Errorf("tiers: inbox: %w", err)
	}
	if err := m.shut.init(); err != nil {
		return fmt.Errorf("tiers: %w", err)
	}
	m.cur, m.lev = m.shut.frame, m.shut.level
	m.slab.OnShort(m.takeHome)
	m.large.OnShort(func() { m.takeHome(true) })
	return nil
}

// fewBlocks is how many descriptors a large heap starts with: as many as fit beside its anchors
// into 18 KiB. Their number doubles as it must, 32 bytes copied for each.
const fewBlocks = 32

// perFrame returns the capacity of a frame buffer: an equal share of the budget, less what
// the carve spends on the room between buffers.
func (c *Config) perFrame() (uintptr, error) {
	n := uintptr(c.Frames)
	share := c.Budget[Frame] / n
	if room := c.Reserve[Frame] / n; room > page.BaseAlign {
		share = min(share, room-page.BaseAlign)
	} else {
		share = 0
	}
	if share < page.Granule {
		return 0, fmt.Errorf("tiers: Budget[frame] %d of Reserve[frame] %d: want at least %d and %d for each of %d buffers: %w",
			c.Budget[Frame], c.Reserve[Frame], page.Granule, page.BaseAlign+page.Granule, n, memory.ErrConfig)
	}
	return align.Down(share, page.Granule), nil
}

// span returns the address space that a tier is cut, in whole regions; for Inbox that of one
// worker. It is Reserve, but that the frame tier and the workers of builds whose expired frames rest
// ([arena.RestingFrames]) has room for those, too.
func (c *Config) span(t Tier) uintptr {
	if arena.RestingFrames == 0 || t != Frame && t != Inbox {
		return c.Reserve[t]
	}
	if t == Inbox {
		_, each := c.scratchBytes()
		return align.Up(c.Reserve[t]+arena.RestingFrames*each, regionBytes)
	}
	each := c.Reserve[Frame]/uintptr(max(c.Frames, 1)) + page.BaseAlign
	return align.Up(c.Reserve[Frame]+arena.RestingFrames*each, regionBytes)
}

// shut are arenas that are closed: what Frame and Level return while there is no frame or
// level, so that nothing is allocated where it would die at the wrong moment.
type shut struct {
	frame *arena.Linear
	level *arena.Growing
}

func (s *shut) init() (err error) {
	if s.frame, err = arena.NewLinear(page.Heap(), arena.LinearConfig{Bytes: page.Granule}); err != nil {
		return err
	}
	if s.level, err = arena.NewGrowing(page.Heap(), arena.GrowingConfig{Reserve: page.Granule, Step: page.Granule}); err != nil {
		return err
	}
	return errors.Join(s.frame.Close(), s.level.Close())
}

// homeSome bounds the blocks that are taken home before a class carves new ones: as many as it
// would carve.
const homeSome = 32

// takeHome frees what other goroutines have freed: all of it, or some.
func (m *Manager) takeHome(all bool) {
	switch {
	case m.phase >= closing:
	case all:
		m.home.Drain()
	default:
		m.home.DrainSome(homeSome)
	}
}
