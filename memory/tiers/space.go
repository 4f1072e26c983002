package tiers

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
	"github.com/strata-go/strata/memory/page"
)

// A space is the manager's reservation, divided into a part for each tier and worker.
//
//	| static | frame | level  | pools  | slab ... | worker 0 | worker 1 | ...
//	  parts begin on regions of 1 MiB; a byte per region names the tier or worker
//
// Invariants, verified by checker.space:
//
//	(1) the parts follow each other, in the order of the table, and fill size bytes from base
//	(2) every region routes to the tier or worker whose part contains it
//	(3) base and size lie in whole
type space struct {
	base   unsafe.Pointer
	size   uintptr // 0 once closed, so that no address is owned
	route  []uint8 // by region; tierOfRoute says what the values mean
	src    *backing
	whole  page.Memory        // the reservation; zero once released
	parts  [Count]*page.Carve // nil for the tier of the workers: see inboxTier.parts
	limits [Count]*page.Limit // the budgets; nil as parts

	unwatch func() // ends the watch for the end of the source; nil if the source has no end of its own
}

// The regions are the unit of the route table, so that a shift and a byte load find the tier of an address.
// With 1 MiB a reservation of 1 GiB needs 1 KiB of table.
const (
	regionShift = 20
	regionBytes = 1 << regionShift
)

// Routes. Those below Count are tiers, and Count+k is worker k. Regions of slab and large have other routes if
// there may be tags or a trace. Then Free, FreeAny and Resize take their slow path, and need not ask for them.
const (
	routeSlab  = Count + maxWorkers
	routeLarge = routeSlab + 1
)

// tierOfRoute has the tier of each route.
var tierOfRoute = func() (tiers [routeLarge + 1]Tier) {
	for t := range Tier(Count) {
		tiers[t] = t
		if r := table[t].tagRoute; r > 0 {
			tiers[r] = t
		}
	}
	for k := range maxWorkers {
		tiers[Count+k] = Inbox
	}
	return tiers
}()

// routeOf returns the route of an address, and false if it lies outside the reservation.
func (s *space) routeOf(p unsafe.Pointer) (route uint8, ok bool) {
	off := uintptr(p) - uintptr(s.base)
	if off >= s.size {
		return 0, false
	}
	return s.route[off>>regionShift], true
}

// tierOf returns the tier of an address, and false if it lies outside the reservation.
func (s *space) tierOf(p unsafe.Pointer) (t Tier, ok bool) {
	route, ok := s.routeOf(p)
	return tierOfRoute[route], ok
}

// A backing is the page source of the parts: the configured one, whose memory is not decommitted part
// by part when all of it is about to be released.
type backing struct {
	page.Source
	releasing bool
}

// Under returns the configured source.
func (b *backing) Under() page.Source { return b.Source }

// Decommit passes on until the manager closes.
func (b *backing) Decommit(m page.Memory, off, size uintptr) error {
	if b.releasing {
		return nil
	}
	return b.Source.Decommit(m, off, size)
}

// reserve makes the reservation: of what is configured or, if the system refuses that or has too little left
// besides, of an eighth less of each tier, and so on. The least is taken without a check of what is left, so
// that only the system can refuse it. reserve lowers cfg to what it has reserved.
func (s *space) reserve(cfg *Config) error {
	asked, err := cfg.total()
	for total := asked; err == nil; total, err = cfg.total() {
		smaller := *cfg
		last := !smaller.shrink()
		err := s.take(total, last)
		if err == nil || !page.RefusedBySystem(err) {
			return err
		}
		if last {
			return fmt.Errorf("%d bytes were requested, and %d, the least for these tiers, are refused, too: %w", asked, total, err)
		}
		*cfg = smaller
		cfg.shrunk = true
	}
	return err
}

// What must be left besides the reservation. The Go heap needs space for the metadata of the heaps when all
// of it is in use, and for the start of the program. The process needs space for threads and libraries. Go
// ends the process if either is refused.
const (
	metadataShare = 32 // the metadata of tlsf are 1/64 of its blocks, of slab up to a tenth of its blocks
	goStart       = 16 << 20
	headroom      = 128 << 20 // two arenas of the Go heap, or eight threads and one
)

// take reserves total bytes. Unless it is the last try, the headroom must be left.
func (s *space) take(total uintptr, last bool) error {
	whole, err := s.src.Reserve(total)
	if err != nil {
		return err
	}
	if whole.Base == nil || whole.Size < total {
		err := fmt.Errorf("%T gave %d bytes at %p for %d", s.src.Source, whole.Size, whole.Base, total)
		if whole.Base != nil {
			err = errors.Join(err, s.src.Release(whole))
		}
		return err
	}
	err = page.ProbeHeap(total/metadataShare + goStart)
	if err == nil && !last {
		err = page.ProbeAddresses(headroom)
	}
	if err != nil {
		return errors.Join(err, s.src.Release(whole))
	}
	skip := align.Up(uintptr(whole.Base), regionBytes) - uintptr(whole.Base)
	s.whole, s.base, s.size = whole, unsafe.Add(whole.Base, skip), total-regionBytes
	s.route = make([]uint8, s.size>>regionShift)
	return nil
}

// divide makes the parts and limits of all tiers.
func (m *Manager) divide() (err error) {
	off := uintptr(0)
	for t := range m.cfg.layout {
		size := m.cfg.space(t)
		if table[t].PerWorker {
			for k := range m.cfg.Workers {
				part, err := m.cut(&off, size, uint8(Count+k))
				if err != nil {
					return err
				}
				m.inbox.parts = append(m.inbox.parts, part)
			}
			continue
		}
		if m.parts[t], err = m.cut(&off, size, m.cfg.route(t)); err != nil {
			return err
		}
		m.limits[t] = page.NewLimit(m.parts[t], m.cfg.Budget[t]).Name("tiers: " + t.String()).Advise(m.cfg.advice(t))
		m.markSoft(t)
	}
	return nil
}

// advice returns what helps if a tier is full.
func (c *Config) advice(t Tier) page.Advice {
	field := func(f string) string {
		return "raise tiers.Config." + f + "[" + strings.ToUpper(t.String()[:1]) + t.String()[1:] + "]"
	}
	a := page.Advice{Budget: field("Budget"), Carve: field("Reserve"), Reserve: field("Reserve")}
	if table[t].PerWorker {
		a.Budget += ", which " + strconv.Itoa(c.Workers) + " workers share"
	}
	if c.shrunk {
		a.Carve = "the system refused to reserve more"
		a.Reserve = a.Carve
	}
	if table[t].shared {
		a.Carve += ", or lower the Capacity or Reserve of what is made"
		a.Reserve = ""
	}
	return a
}

// cut gives the next size bytes from off a route and returns a source of these bytes.
func (s *space) cut(off *uintptr, size uintptr, route uint8) (*page.Carve, error) {
	part, err := page.NewCarve(s.src, page.Memory{Base: unsafe.Add(s.base, *off), Size: size})
	if err != nil {
		return nil, err
	}
	for r := *off >> regionShift; r < (*off+size)>>regionShift; r++ {
		s.route[r] = route
	}
	*off += size
	return part, nil
}

// eachPart yields the parts with their routes, in the order of addresses.
func (m *Manager) eachPart(yield func(route uint8, part *page.Carve) bool) {
	for t := range m.cfg.layout {
		if !table[t].PerWorker {
			if !yield(m.cfg.route(t), m.parts[t]) {
				return
			}
			continue
		}
		for k, part := range m.inbox.parts {
			if !yield(uint8(Count+k), part) {
				return
			}
		}
	}
}

// layout yields the tiers in the order of their parts.
func (c *Config) layout(yield func(Tier) bool) {
	for t := range Tier(Count) {
		if c.order != nil {
			t = c.order[t]
		}
		if !yield(t) {
			return
		}
	}
}

// route returns the route of a tier's regions.
func (c *Config) route(t Tier) uint8 {
	if r := table[t].tagRoute; c.watched() && r > 0 {
		return r
	}
	return uint8(t)
}

// space returns the address space of a tier's part in whole regions, with PerWorker that of one worker.
func (c *Config) space(t Tier) uintptr {
	if f := table[t].space; f != nil {
		return f(c)
	}
	return c.Reserve[t]
}

// markSoft makes the tier's limit call Config.OnSoft.
func (m *Manager) markSoft(t Tier) {
	if m.cfg.OnSoft == nil || table[t].ownSoft {
		return
	}
	m.limits[t].OnSoft(m.cfg.softMark(m.cfg.Budget[t]), func(c, b uintptr) { m.onSoft(t, c, b) })
}

func (c *Config) softMark(bytes uintptr) uintptr { return uintptr(float64(bytes) * c.SoftMark) }

// close releases the reservation.
func (s *space) close() error {
	s.base, s.size = nil, 0
	if s.whole.Base != nil {
		if err := s.src.Release(s.whole); err != nil {
			return err
		}
		s.whole = page.Memory{}
	}
	return nil
}
