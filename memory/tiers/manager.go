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

// A Manager holds a game's memory: one reservation, cut into tiers that die at different
// moments, the collector's pacing, and the books of it all.
//
// It belongs to the game goroutine. Workers use only their own [Worker]; other goroutines
// free blocks of the slab and large tiers through [Manager.NewFreer].
//
// Invariants, verified by Check:
//
//	(1) every tier passes its own Check
//	(2) every region of the reservation routes to the tier whose range holds it
//	(3) the committed bytes of each tier are within its budget
type Manager struct {
	base  unsafe.Pointer
	size  uintptr
	route []uint8 // by region: a Tier, or Count+k for worker k
	src   page.Source
	whole page.Memory
	cfg   Config

	carves  []*page.Carve      // by tier, then by worker
	limits  [Count]*page.Limit // Inbox: nil, the workers have one each
	static  static
	frames  *arena.Frames
	level   *arena.Growing
	slab    *slab.Heap
	large   *tlsf.Heap
	pools   []poolEntry
	workers []*Worker
	freers  []*remote.Freer // the game goroutine's, one per worker
	home    *remote.Inbox   // blocks of slab and large that other goroutines free

	phase   phase
	frame   uint64 // frames begun
	levels  uint64 // levels begun
	atLevel [Count]memory.Stats
	atFrame [Count]memory.Stats
	history [Count]ring
	pacer   pacer
	rss     rssReader
}

// New reserves the address space of all tiers, commits the frame buffers, and raises GOGC for the
// whole process unless told not to, see [Config.KeepGC]. The error names the tier that could not be made;
// nothing is kept then.
func New(cfg Config) (*Manager, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{src: cfg.Source, cfg: cfg}
	if err := m.reserve(); err != nil {
		return nil, fmt.Errorf("tiers: reserve: %w", err)
	}
	if err := m.build(); err != nil {
		return nil, errors.Join(err, m.release())
	}
	m.pacer.start(&cfg)
	m.rss.open()
	return m, nil
}

// reserve takes the one reservation, with room to begin each tier on a region.
func (m *Manager) reserve() error {
	total := uintptr(regionBytes)
	for t := range Tier(Count) {
		total += m.cfg.reserved(t)
	}
	whole, err := m.src.Reserve(total)
	if err != nil {
		return err
	}
	skip := align.Up(uintptr(whole.Base), regionBytes) - uintptr(whole.Base)
	m.whole, m.base, m.size = whole, unsafe.Add(whole.Base, skip), total-regionBytes
	m.route = make([]uint8, m.size>>regionShift)
	return nil
}

// cut hands the next n bytes from off to a route and returns them, and a source that lives there.
func (m *Manager) cut(off *uintptr, n uintptr, route uint8) *page.Carve {
	for r := *off >> regionShift; r < (*off+n)>>regionShift; r++ {
		m.route[r] = route
	}
	part := page.Memory{Base: unsafe.Add(m.base, *off), Size: n}
	*off += n
	c, err := page.NewCarve(m.src, part)
	if err != nil {
		panic(err) // the reservation is fresh: its parts are disjoint and nobody else's
	}
	m.carves = append(m.carves, c)
	return c
}

// build makes the tiers in the order of their ranges.
func (m *Manager) build() (err error) {
	off := uintptr(0)
	for t := range Inbox {
		c := m.cut(&off, m.cfg.Reserve[t], uint8(t))
		l := page.NewLimit(c, m.cfg.Budget[t])
		if t := t; m.cfg.OnSoft != nil {
			l.OnSoft(uintptr(float64(m.cfg.Budget[t])*m.cfg.SoftMark), func(c, b uintptr) { m.cfg.OnSoft(t, c, b) })
		}
		m.limits[t] = l
		if t == Static {
			m.static.carve = c
		}
	}
	n := uintptr(m.cfg.Frames)
	perFrame := align.Down(min(m.cfg.Budget[Frame], m.cfg.Reserve[Frame]-n*page.BaseAlign)/n, page.Granule)
	if perFrame == 0 {
		return fmt.Errorf("tiers: a frame budget of %d bytes leaves less than %d for each of %d buffers: %w",
			m.cfg.Budget[Frame], page.Granule, n, memory.ErrOutOfMemory)
	}
	if m.frames, err = arena.NewFrames(m.limits[Frame], arena.FramesConfig{Buffers: m.cfg.Frames, Bytes: perFrame}); err != nil {
		return fmt.Errorf("tiers: frame: %w", err)
	}
	if m.level, err = arena.NewGrowing(m.limits[Level], arena.GrowingConfig{Reserve: m.cfg.Reserve[Level]}); err != nil {
		return fmt.Errorf("tiers: level: %w", err)
	}
	if m.large, err = tlsf.New(m.limits[Large], tlsf.Config{Reserve: m.cfg.Reserve[Large]}); err != nil {
		return fmt.Errorf("tiers: large: %w", err)
	}
	if m.slab, err = slab.New(m.limits[Slab], slab.Config{Reserve: m.cfg.Reserve[Slab], Large: m.large}); err != nil {
		return fmt.Errorf("tiers: slab: %w", err)
	}
	if m.home, err = remote.New(target{m, page.Memory{Base: m.base, Size: m.size}}, remote.Config{}); err != nil {
		return fmt.Errorf("tiers: inbox: %w", err)
	}
	for k := range m.cfg.Workers {
		share := m.cfg.Budget[Inbox] / uintptr(m.cfg.Workers)
		c := m.cut(&off, m.cfg.Reserve[Inbox], uint8(Count+k))
		w, err := newWorker(page.NewLimit(c, share), c.Memory())
		if err != nil {
			return fmt.Errorf("tiers: worker %d: %w", k, err)
		}
		m.workers = append(m.workers, w)
		m.freers = append(m.freers, w.inbox.NewFreer())
	}
	return nil
}

// Frame returns this frame's arena, valid until EndFrame hands over to the next BeginFrame.
func (m *Manager) Frame() *arena.Linear { return m.frames.Current() }

// Frames returns the ring of frame arenas, for [arena.RefTo] and [arena.Ref.Get].
func (m *Manager) Frames() *arena.Frames { return m.frames }

// Level returns the arena of the level.
func (m *Manager) Level() *arena.Growing { return m.level }

// Slab returns the heap for blocks up to 4 KiB; larger ones it passes on to Large.
func (m *Manager) Slab() *slab.Heap { return m.slab }

// Large returns the heap for blocks above 4 KiB.
func (m *Manager) Large() *tlsf.Heap { return m.large }

// Worker returns the heap of worker k, for the use of one goroutine.
func (m *Manager) Worker(k int) *Worker { return m.workers[k] }

// Workers returns how many worker heaps there are.
func (m *Manager) Workers() int { return len(m.workers) }

// Close ends the manager: pools and arenas run their hooks, all memory is released, and the
// GOGC is as the program wants it, once no other manager paces. The workers' goroutines must have ended, and no
// pointer into any tier may be used any more. It fails inside a frame. A second Close does
// nothing.
func (m *Manager) Close() error {
	if m.phase == closed {
		return nil
	}
	if m.phase&inFrame != 0 {
		return m.order("Close", "inside a frame", "EndFrame first")
	}
	m.resetPools()
	m.phase = closed
	m.pacer.stop()
	m.rss.close()
	return m.release()
}

// release closes what has been made, in reverse, and the reservation.
func (m *Manager) release() error {
	var errs []error
	for k, w := range m.workers {
		errs = append(errs, m.freers[k].Close(), w.close())
	}
	if m.home != nil {
		errs = append(errs, m.home.Close())
	}
	if m.slab != nil {
		errs = append(errs, m.slab.Close())
	}
	if m.large != nil {
		errs = append(errs, m.large.Close())
	}
	if m.level != nil {
		errs = append(errs, m.level.Close())
	}
	if m.frames != nil {
		errs = append(errs, m.frames.Close())
	}
	errs = append(errs, m.static.end())
	for i := len(m.pools) - 1; i >= 0; i-- {
		if p := m.pools[i]; p.close != nil {
			errs = append(errs, p.close())
		}
	}
	for _, c := range m.carves {
		c.Close()
	}
	return errors.Join(append(errs, m.src.Release(m.whole))...)
}
