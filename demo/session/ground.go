package session

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/tiers"
)

// GroundView shows the ground. The methods of Session call its methods on the game goroutine. Session.Close calls Hide
// for all sectors of which the view has rows.
type GroundView interface {
	// Rows receives rows of a sector's picture, from row y on. A row has ground.SectorSize pixels, premultiplied RGBA.
	// rows is valid during the call. After the last row the sector can be shown.
	//
	// If the file of a sector changes, Rows receives the new picture without a Hide before. The sector may be shown
	// meanwhile. If loading of the new picture is given up, the new rows stay.
	//
	// If Rows fails and the view has earlier rows of the sector, Hide is called. The sector is blurred until a later
	// attempt succeeds.
	Rows(s ground.Sector, y int, rows []byte) error
	// Hide releases a sector of which some or all rows were received. If the view has already released the sector in a
	// call of Rows that failed, Hide must do nothing.
	Hide(s ground.Sector)
}

// A StandIn is a GroundView without a screen: it copies rows once, as an upload to a GPU would, and counts sectors.
// Only NewStandIn makes one.
type StandIn struct {
	shown map[ground.Sector]bool
	last  []byte
	Peak  int // the most sectors at once
}

// NewStandIn makes a StandIn, with a megabyte of the Go heap for the last rows.
func NewStandIn() *StandIn {
	return &StandIn{shown: map[ground.Sector]bool{}, last: make([]byte, ground.Bytes)}
}

// Rows copies the rows to a buffer and counts the sector.
func (v *StandIn) Rows(s ground.Sector, y int, rows []byte) error {
	copy(v.last[4*ground.SectorSize*y:], rows)
	v.shown[s] = true
	v.Peak = max(v.Peak, len(v.shown))
	return nil
}

// Hide removes s from the sectors that are counted as shown. If s is not shown, Hide does nothing.
func (v *StandIn) Hide(s ground.Sector) { delete(v.shown, s) }

// GroundBytes is the default budget of the sectors' pictures in bytes.
const GroundBytes = 48 << 20

// A Ground streams the ground of a realm. A plan lists the sectors that will be visible soon, workers compose them, and
// the view receives them in slices. The rules do not read it. Without a view nothing is streamed.
//
// All methods belong to the game goroutine.
type Ground struct {
	view    GroundView // nil: nothing is streamed
	scope   *stream.Scope
	plan    ground.Plan
	sectors [ground.AllSectors]sectorRequest
	stamps  stamps
	props   props

	composer composer
	handOver handOver
	failures failures

	budget int   // bytes
	most   int   // sectors that may be requested or shown at once
	peak   int64 // most bytes of pictures, on the GPU and in the workers' blocks
}

// A sectorRequest is the state of one sector.
type sectorRequest struct {
	ticket stream.Handle[sectorPicture]
	name   string // of the recipe's file
	retry  retry
}

// sectorPicture is a sector's ground on its way from a worker to the view.
type sectorPicture struct {
	sector ground.Sector
	pixels []byte
	props  []ground.Prop // of its recipe, in a block of the worker's
	row    int           // rows that were handed over
	over   bool          // over those of a picture whose file has changed: that one has the tile until the last row
}

// newGround registers what the ground is made of.
func newGround(st *stream.Streamer, mem *tiers.Manager, view GroundView, budget int) (*Ground, error) {
	if view == nil {
		return &Ground{}, nil
	}
	budget = cmp.Or(budget, GroundBytes)
	g := &Ground{view: view, budget: budget, most: GroundRoom(budget)}
	if g.most < 1 {
		return nil, fmt.Errorf("session: %d bytes for the ground; a sector takes %d, and %d are for those in flight", budget, ground.Bytes, bytesInFlight(budget))
	}
	g.composer = composer{st: st, mem: mem, stamps: &g.stamps, inFlight: bytesInFlight(budget), files: make([][ground.MaxRecipe]byte, mem.Workers())}
	g.handOver.slice, g.failures.told = sliceTime, map[string]bool{}
	g.plan.Reset(g.most * ground.Bytes)
	if err := g.props.init(mem); err != nil {
		return nil, err
	}
	if err := g.stamps.register(st, mem.Workers()); err != nil {
		return nil, err
	}
	return g, stream.Register(st, stream.Kind[sectorPicture]{Name: sectorKind, Decode: g.composer.compose, Deliver: g.deliver, Release: g.release})
}

// request requests what all sectors need, before the realm begins.
func (g *Ground) request(st *stream.Streamer, sc *stream.Scope, m *manifest.File) {
	if g.view == nil {
		return
	}
	folder := "realms/" + m.Name + "/"
	g.scope = sc
	g.failures.reset()
	g.stamps.request(st, sc, folder+"stamps.png", groundPalette(m))
	for i := range g.sectors {
		g.sectors[i] = sectorRequest{name: folder + sectorFile(ground.SectorOf(i))}
	}
	g.plan.Reset(g.most * ground.Bytes)
}

func groundPalette(m *manifest.File) (p [5]ground.Color) {
	for i, c := range m.Palette {
		p[i] = ground.Color{float32(c.R), float32(c.G), float32(c.B)}
	}
	return p
}

// tick requests what will be visible, and cancels what will not.
func (g *Ground) tick(p, v vec) {
	if g.view == nil {
		return
	}
	g.peak = max(g.peak, g.resident())
	g.plan.Tick(p[0], p[1], v[0], v[1])
	for _, s := range g.plan.Drop() {
		g.cancel(s)
	}
	if g.failures.missing = 0; !g.stamps.ready() { // while they cannot be read all of the realm is blurred
		if g.stamps.retry.failed() {
			g.failures.missing = len(g.plan.Want())
		}
		return
	}
	for _, w := range g.plan.Want() {
		s := &g.sectors[w.Index()]
		if s.ticket == (stream.Handle[sectorPicture]{}) {
			s.ticket = stream.Request[sectorPicture](g.scope, s.name, stream.ETA(w.ETA))
			continue
		}
		if s.ticket.State() == stream.Loaded { // a reload has failed and taken the picture with it
			g.cancel(w.Sector)
			continue
		}
		s.ticket.Priority(stream.ETA(w.ETA))
		if s.retry.due(s.ticket.State()) {
			if errors.Is(s.ticket.Err(), stream.ErrFull) { // the request was refused, which Retry does not change
				s.ticket = stream.Request[sectorPicture](g.scope, s.name, stream.ETA(w.ETA))
			}
			s.ticket.Retry()
		}
		g.failures.miss(&s.retry)
	}
}

func (g *Ground) cancel(at ground.Sector) {
	s := &g.sectors[at.Index()]
	s.ticket.Close()
	s.ticket = stream.Handle[sectorPicture]{}
}

// leave ends a realm's ground, when no worker composes any more.
func (g *Ground) leave() {
	if g.view == nil {
		return
	}
	for i := range g.sectors { // the scope has closed their tickets
		g.sectors[i].ticket = stream.Handle[sectorPicture]{}
	}
	g.stamps.kept.Close()
}

// resident returns the bytes of sectors' pictures: on the GPU, and in the workers' blocks.
func (g *Ground) resident() int64 { return g.composer.coming() + int64(g.handOver.tiles)*ground.Bytes }

// Stats returns the statistics of the streaming since the realm began.
func (g *Ground) Stats() ground.PlanStats { return g.plan.Stats() }

// Resident returns the sizes in bytes of the ground's pictures, on the GPU and in the workers' blocks together. now is
// the present size, peak the largest size at a tick since New, and budget the limit. Without a view all are 0.
func (g *Ground) Resident() (now, peak, budget int64) {
	if g.view == nil {
		return 0, 0, 0
	}
	return g.resident(), g.peak, int64(g.budget)
}

// Shown reports whether the view has the whole picture of a sector.
func (g *Ground) Shown(at ground.Sector) bool { return g.plan.Shown(at) }

// Missing returns the number of failed sectors, as of the last tick. It counts only sectors that are visible or soon
// will be. A sector fails if its request is refused (see [stream.ErrFull]), if its file or the realm's stamps cannot be
// used, if its worker has no space, or if GroundView.Rows fails. Failed sectors are retried.
func (g *Ground) Missing() int { return g.failures.missing }

// Narrow reports whether sectors are missing, and the last failure was that a worker had no space.
func (g *Ground) Narrow() bool { return g.failures.narrow && g.failures.missing > 0 }

// Props returns the props of a sector. If the sector is not shown or has no props, or if there was no space for them,
// Props returns nil. The slice is valid until the next call of a method of the Session that plays, loads or closes.
func (g *Ground) Props(at ground.Sector) []Prop { return g.props.of[at.Index()] }

// PropsLost returns how often since New a sector was shown without its props because there was no space for them.
func (g *Ground) PropsLost() int { return g.props.lost }

// GroundRoom returns the number of sectors for which the view needs space, given the budget in bytes. For the default
// pass GroundBytes, not 0. Sectors in flight do not count. A number above 64 is rounded down to a multiple of 4, and
// one above 256 to a multiple of 16, so that the sectors fill whole pages. If the result is below 1, New fails, unless
// Config.View is nil.
func GroundRoom(budget int) (sectors int) {
	sectors = (budget - bytesInFlight(budget)) / ground.Bytes
	switch {
	case sectors > 4*64:
		return sectors &^ 15
	case sectors > 64:
		return sectors &^ 3
	}
	return sectors
}

// bytesInFlight returns the part of a budget that is for pictures in the workers' blocks.
func bytesInFlight(budget int) int {
	if budget < 32<<20 {
		return ground.Bytes
	}
	return 4 * ground.Bytes
}
