package game

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/engine/stream/png"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// GroundView shows the ground. Its methods are called on the game goroutine, by Frame.
type GroundView interface {
	// Rows takes rows of a sector's picture, from row y on: premultiplied RGBA, ground.SectorSize
	// pixels each, gone when it returns. When the last has come the sector can be shown. An error
	// leaves the sector soft.
	Rows(s ground.Sector, y int, rows []byte) error
	// Hide lets a sector go, of which all rows or some have come.
	Hide(s ground.Sector)
}

// A StandIn is a GroundView where nobody looks: it takes rows as a GPU would, copies them once, and keeps count.
type StandIn struct {
	shown map[ground.Sector]bool
	last  []byte
	Peak  int // sectors that were held at once
}

// NewStandIn makes one, with a megabyte of the Go heap for the last rows.
func NewStandIn() *StandIn {
	return &StandIn{shown: map[ground.Sector]bool{}, last: make([]byte, ground.Bytes)}
}

// Rows copies them.
func (v *StandIn) Rows(s ground.Sector, y int, rows []byte) error {
	copy(v.last[4*ground.SectorSize*y:], rows)
	v.shown[s] = true
	v.Peak = max(v.Peak, len(v.shown))
	return nil
}

// Hide forgets a sector.
func (v *StandIn) Hide(s ground.Sector) { delete(v.shown, s) }

const (
	// GroundBytes is what pictures of sectors may take unless told.
	GroundBytes = 48 << 20
	// groundSlice is how many rows are handed over between two looks at the clock.
	groundSlice = 128
	// groundTime is how long a sector's hand-over may take in a frame before the rest waits for the next one.
	groundTime = time.Millisecond
)

// sceneryPicture is a sector's ground on its way.
type sceneryPicture struct {
	sector ground.Sector
	pixels []byte
	props  []ground.Prop // what its recipe has stand there, in a block of the worker's
	row    int           // rows that were handed over
}

// stampPicture is what the sectors of a realm have in common.
type stampPicture struct {
	pixels     []byte
	wide, high int
}

// scenery streams the ground of a realm: the plan says what will be seen how soon, workers compose it,
// the view gets it in slices. None of it reaches the rules.
//
// Workers read the stamps of their realm while they compose, wherever these lie. So the stamps outlive
// every sector: they have a ticket of their own, which is closed when every worker has let go. Where a
// streamer closes all tickets at once, the stamps go when the last worker has finished its rows.
type scenery struct {
	st        *stream.Streamer
	mem       *tiers.Manager
	files     [][ground.MaxRecipe]byte // of recipes, one for each worker
	view      GroundView
	budget    int
	sectors   int        // that may be there, or asked for
	begin     sync.Mutex // of workers, who take the room for a picture one after the other
	tiles     int        // sectors that the view has rows of
	plan      ground.Plan
	tickets   [ground.Sectors * ground.Sectors]stream.Ticket[sceneryPicture]
	names     [ground.Sectors * ground.Sectors]string // of the recipes' files
	palette   [5]ground.Color                         // of the realm that was requested
	stamps    atomic.Pointer[ground.Stamps]
	composing atomic.Int32 // workers that may read stamps
	kept      stream.Ticket[stampPicture]
	scope     *stream.Scope
	slice     time.Duration   // of a frame that a hand-over may take
	half      *sceneryPicture // of which some rows were handed over, and not all: one at a time
	peak      int64           // most bytes of pictures, on the GPU and in the workers' blocks
	rest      [ground.Sectors * ground.Sectors]patience
	stamping  patience        // of the stamps
	missing   int             // sectors that are wanted, and whose file could not be read
	told      map[string]bool // files whose failure was told, in this realm
	narrow    bool            // and that workers have no room
	props     *props
}

// newScenery registers what the ground is made of. Where nobody looks there is none.
func newScenery(st *stream.Streamer, mem *tiers.Manager, view GroundView, budget int) (*scenery, error) {
	if view == nil {
		return nil, nil
	}
	if budget == 0 {
		budget = GroundBytes
	}
	g := &scenery{st: st, mem: mem, files: make([][ground.MaxRecipe]byte, mem.Workers()), view: view, budget: budget, sectors: GroundRoom(budget), slice: groundTime, told: map[string]bool{}}
	if g.sectors < 1 {
		return nil, fmt.Errorf("game: %d bytes for the ground; a sector takes %d, and %d are for those on their way", budget, ground.Bytes, groundOnWay(budget))
	}
	g.plan.Reset(g.sectors * ground.Bytes)
	var err error
	if g.props, err = newProps(mem); err != nil {
		return nil, err
	}
	var decoders [64]png.Decoder // each used by one worker
	return g, errors.Join(
		stream.Register(st, stream.Kind[stampPicture]{
			Name: "stamps", Stays: true,
			Decode: func(r *stream.Reader, heap *stream.Heap) (p stampPicture, err error) {
				h, err := decoders[heap.Worker()].Decode(r, func(h png.Header) ([]byte, error) {
					p.pixels, err = heap.Bytes(h.Bytes())
					return p.pixels, err
				}, 1<<22)
				p.wide, p.high = h.Width, h.Height
				return p, err
			},
			Deliver: func(name string, p, old *stampPicture) error {
				if old != nil { // its file has changed, and its block goes
					g.unstamp()
				}
				s, err := ground.NewStamps(name, p.pixels, p.wide, p.high, g.palette)
				if err == nil {
					g.stamps.Store(&s)
				}
				return err
			},
			Release: func(string, *stampPicture) { g.unstamp() },
		}),
		stream.Register(st, stream.Kind[sceneryPicture]{Name: "ground", Decode: g.compose, Deliver: g.deliver, Release: g.release}),
	)
}

func groundPalette(l *level.Level) (p [5]ground.Color) {
	for i, c := range l.Palette {
		p[i] = ground.Color{float32(c.R), float32(c.G), float32(c.B)}
	}
	return p
}

// unstamp takes the stamps from the workers. None begins with them after that, and who has them is
// cancelled, or done with his sector in some milliseconds: he waits for nobody.
func (g *scenery) unstamp() {
	g.stamps.Store(nil)
	for g.composing.Load() > 0 {
		runtime.Gosched()
	}
}

// deliver hands a sector over, where there is time all of it.
func (g *scenery) deliver(_ string, p, old *sceneryPicture) error {
	if g.half != nil && g.half != p {
		return stream.ErrMore
	}
	g.half = p
	const row = 4 * ground.SectorSize
	for began := time.Now(); ; {
		to := min(p.row+groundSlice, ground.SectorSize)
		if err := g.view.Rows(p.sector, p.row, p.pixels[p.row*row:to*row]); err != nil {
			g.hide(p)
			return err
		}
		if p.row == 0 {
			g.tiles++
		}
		if p.row = to; to == ground.SectorSize {
			break
		}
		if time.Since(began) > g.slice {
			return stream.ErrMore
		}
	}
	if old != nil && old.row > 0 { // its file has changed: it had the same tile
		old.row = 0
		g.tiles--
	}
	g.half = nil
	g.came(p.sector)
	g.props.place(p.sector, p.props)
	p.pixels, p.props = nil, nil
	g.plan.Ready(p.sector) // where it was dropped meanwhile, Release follows
	return nil
}

func (g *scenery) release(_ string, p *sceneryPicture) { g.hide(p) }

// hide takes from the view what it has of a picture.
func (g *scenery) hide(p *sceneryPicture) {
	if g.half == p {
		g.half = nil
	}
	if p.row > 0 {
		p.row = 0
		g.tiles--
		g.view.Hide(p.sector)
		g.props.leave(p.sector)
	}
}

// resident returns the bytes of sectors' pictures: on the GPU, and in the workers' blocks.
func (g *scenery) resident() int64 {
	coming, _ := stream.ResidentOf[sceneryPicture](g.st)
	return pictures(coming) + int64(g.tiles)*ground.Bytes
}

// pictures returns what are pictures of the blocks of sectors that are coming. The rest are their props, some tens of
// bytes each, which go to the pools.
func pictures(coming int64) int64 { return coming / ground.Bytes * ground.Bytes }

// request asks for what all sectors need, before the level begins.
func (g *scenery) request(st *stream.Streamer, sc *stream.Scope, l *level.Level) {
	if g == nil {
		return
	}
	name := "realms/" + l.Name + "/stamps.png"
	g.scope, g.palette, g.narrow = sc, groundPalette(l), false
	clear(g.told)
	g.rest, g.stamping = [len(g.rest)]patience{}, patience{}
	g.kept = stream.Request[stampPicture](st, name, stream.ETA(0))
	stream.Request[stampPicture](sc, name, stream.ETA(0)) // the level waits for it
	for i := range g.names {
		g.names[i] = "realms/" + l.Name + "/" + sectorFile(ground.Sector{X: uint8(i % ground.Sectors), Y: uint8(i / ground.Sectors)})
	}
	g.plan.Reset(g.sectors * ground.Bytes)
}

// tick asks for what will be seen, and lets go of what will not.
func (g *scenery) tick(p, v vec) {
	if g == nil {
		return
	}
	g.peak = max(g.peak, g.resident())
	g.plan.Tick(p[0], p[1], v[0], v[1])
	for _, s := range g.plan.Drop() {
		t := &g.tickets[sectorIndex(s)]
		t.Close()
		*t = stream.Ticket[sceneryPicture]{}
	}
	if g.stamping.again(g.kept.State()) {
		g.kept.Retry()
	}
	if g.missing = 0; g.stamps.Load() == nil { // they could not be read: all of the realm is soft
		if g.stamping.failed() {
			g.missing = len(g.plan.Want())
		}
		return
	}
	for _, w := range g.plan.Want() {
		i := sectorIndex(w.Sector)
		t := &g.tickets[i]
		if *t == (stream.Ticket[sceneryPicture]{}) {
			*t = stream.Request[sceneryPicture](g.scope, g.names[i], stream.ETA(w.ETA))
			continue
		}
		t.Priority(stream.ETA(w.ETA))
		if g.rest[i].again(t.State()) {
			t.Retry()
		}
		g.miss(i)
	}
}

// news reports whether a failure is told for the first time: what has failed is asked for again when
// it comes into sight again, and where workers have no room that is so for every sector.
func (g *scenery) news(err error) bool {
	var failed *stream.LoadError
	if g == nil || !errors.As(err, &failed) || failed.Kind != "ground" && failed.Kind != "stamps" {
		return true
	}
	if errors.Is(err, memory.ErrOutOfMemory) {
		first := !g.narrow
		g.narrow = true
		return first
	}
	first := !g.told[failed.Name]
	g.told[failed.Name] = true
	return first
}

// leave ends a realm's ground, when no worker composes any more.
func (g *scenery) leave() {
	if g == nil {
		return
	}
	clear(g.tickets[:]) // the scope has closed them
	g.kept.Close()
}

// GroundStats returns how the streaming of the ground goes, since the realm began; zero where nobody
// looks.
func (s *Session) GroundStats() ground.PlanStats {
	if s.scenery == nil {
		return ground.PlanStats{}
	}
	return s.scenery.plan.Stats()
}

// GroundResident returns the bytes of the ground's pictures, on the GPU and in the workers' blocks: now, the most
// that there were after a tick, and what there may be; zero where nobody looks.
func (s *Session) GroundResident() (now, peak, budget int64) {
	if s.scenery == nil {
		return 0, 0, 0
	}
	return s.scenery.resident(), s.scenery.peak, int64(s.scenery.budget)
}

// GroundShown reports whether a sector's picture is there.
func (s *Session) GroundShown(at ground.Sector) bool {
	return s.scenery != nil && s.scenery.plan.Shown(at)
}
