package overlay

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"time"
	"unsafe"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// An Overlay is the instrument panel of one manager. An Overlay belongs to the goroutine that calls Ebitengine's Update
// and Draw. Without Config.Watch an overlay that shows nothing measures nothing. While the game is frozen, the overlay
// measures only the ticks that Shift+F5 runs. If it was not measuring before the freeze, it also measures the first
// frozen frame, to have figures.
//
// Update and Draw may be called after the manager's Close. The overlay then measures nothing. If any [Part] is open, it
// shows that the manager is closed.
//
// A game can run with a nil Overlay if New failed. These methods of a nil Overlay do nothing: Update, Draw, DrawFinal,
// Close, Avoid, Within, Density and Hide. Frozen and Shown return false. Leave only checks its arguments. All other
// methods need an Overlay.
type Overlay struct {
	// Invariants, verified in this order by check:
	//
	//	(1) open has valid indices of parts, none twice
	//	(2) while faults are injected, was has the budget of every tier whose budget was changed
	//	(3) the clock stands while nothing is measured

	m     *tiers.Manager
	own   *tiers.Manager // m, if New has made it
	cfg   Config
	meter *meter.Meter
	clock clock

	atlas   *render.Atlas
	font    *render.Font
	q       render.Quads
	verts   []render.Vertex
	indices []uint32
	panel   render.Panel // the one that is drawn now

	corner Corner // never Free
	shown  bool   // the last Draw had something to show
	hidden bool   // see Hide
	parts  []part // the package's own, then the game's
	open   []int  // indices of parts, in the order in which they were opened
	placed []place
	scr    screen
	final  ebiten.GeoM // from the game's picture to the one that the overlay is drawn on, see DrawFinal

	dense   bool    // Density was called
	monitor monitor // whose factor counts in DrawFinal if it was not

	crowded int // parts that are open and do not fit

	read    func(*input)
	in, was input
	fingers []ebiten.TouchID // reused
	tick    int64            // Ebitengine's, whose presses were read
	blind   bool             // frames have passed that the meter did not see
	frozen  bool
	step    bool // one tick is let through
	halted  bool // this tick is not
	asked   bool // the game has called Frozen
	begun   bool // Update was called before, so a game that asks has asked

	settled time.Time
	behind  int       // pending steps of settle
	drawn   time.Time // of the last frame
	rates   rates
	heap    meter.Heap
	cost    cost
	slots   []float32 // widths of the strip's figures
	verdict struct {
		tags, pools top
		less        int // last lines of the panel that have no space: the worst frame, then rows
	}
	kept   bool // the worst frame is kept
	maps   maps
	untold int // last lines of the help that have no space
	leaks  leakage
	memory accounts
	sites  sites
	faults faults
	dump   dump
	scrub  scrub
	note   note
	told   uint64 // failures of tiers.Inspector.ReturnErr that were shown
	buf    [160]byte
}

// Enough for all panels at once in a window of 4K: 8,000 quads, and the strips of curves, which share corners.
const (
	vertexCount = 4 * 8000
	indexCount  = 6 * 11000
)

// New returns an overlay of m. At first no part is open. New allocates about 2 MiB of the Go heap. The first frame
// allocates 1 MiB of the GPU's memory. If cfg or cfg.Meter is invalid, or if the overlay's own manager or pictures
// cannot be made, New fails.
//
// If m is nil, New makes an empty manager that does not control the garbage collector. Overlay.Close closes this
// manager, and so does a New that fails. The panels of such an overlay show frame times, the Go heap and the process,
// without tiers and budgets.
func New(m *tiers.Manager, cfg Config) (*Overlay, error) { return newOverlay(m, cfg, readDevices) }

func newOverlay(m *tiers.Manager, cfg Config, read func(*Overlay, *input)) (o *Overlay, err error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	var own *tiers.Manager
	if m == nil {
		if own, err = tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}}); err != nil {
			return nil, fmt.Errorf("overlay: %w", err)
		}
		m = own
		defer func() {
			if err != nil {
				err = errors.Join(err, own.Close())
			}
		}()
	}
	o = &Overlay{own: own, m: m, cfg: cfg, blind: true, open: make([]int, 0, partCount+mostPanels), placed: make([]place, 0, partCount+mostPanels)}
	o.corner, o.monitor.ask = max(cfg.Corner, TopLeft), scaleFactor
	o.clock = clock{now: cfg.Meter.Now, standing: true, at: cfg.Meter.Now()}
	o.read = func(in *input) { read(o, in) }
	watched := cfg.Meter
	watched.Now = o.clock.read
	if o.meter, err = meter.New(m, watched); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if o.atlas, err = render.NewAtlas(render.AtlasConfig{Page: render.MinPage, Regions: 1}); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if o.font, err = render.NewFont(o.atlas); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	o.verts, o.indices = make([]render.Vertex, vertexCount), make([]uint32, indexCount)
	o.parts = append(make([]part, 0, partCount+mostPanels), ownParts[:]...)
	if own != nil {
		o.parts[Tiers].name = "growth" // a strip without space names it
	}
	o.maps.init(o)
	o.dump.init()
	return o, nil
}

// Meter returns the meter. Use it to register the game's monitors and timers, and to read the figures. While the
// overlay does not measure, the meter's clock stands still.
func (o *Overlay) Meter() *meter.Meter { return o.meter }

// Close ends [Overlay.Starve], waits for a dump and for queries in flight, and closes the manager if New made it. Close
// returns the errors of Starve, of the dump and of the manager's Close, joined. A failed query is no error. The overlay
// must not be used afterwards.
func (o *Overlay) Close() error {
	if o == nil {
		return nil
	}
	err := errors.Join(o.Starve(false), o.dump.wait())
	o.memory.wait()
	o.sites.wait()
	if o.own != nil {
		err = errors.Join(err, o.own.Close())
	}
	return err
}

// Show opens a part if on is true, and closes it if on is false. If the part is in this state already, Show does
// nothing. If there is no such part, Show panics with a [*memory.Misuse].
func (o *Overlay) Show(p Part, on bool) {
	if uint(p) >= uint(len(o.parts)) {
		panic(misuse("Show", fmt.Sprintf("there is no part %d; allowed are 0 to %d", p, len(o.parts)-1)))
	}
	o.show(int(p), on)
}

// Shown reports whether a part is open. A part that does not fit on the screen may be open and not drawn. If there is
// no such part, Shown returns false.
func (o *Overlay) Shown(p Part) bool { return o != nil && o.at(int(p)) >= 0 }

// at returns the position of part k among those that are open, or -1.
func (o *Overlay) at(k int) int { return slices.Index(o.open, k) }

func (o *Overlay) show(k int, on bool) {
	i := o.at(k)
	switch {
	case on && i < 0:
		o.open = append(o.open, k)
		if f := o.parts[k].opened; f != nil && !o.closed() {
			f(o)
		}
	case !on && i >= 0:
		o.open = append(o.open[:i], o.open[i+1:]...)
	}
}

// Frozen reports whether the game must stand still in this tick. The result changes only in [Overlay.Update]. If Frozen
// returns true, the game's Update must return after Overlay.Update, before it ends the memory frame. So Draw can draw
// the open frame again.
//
// F5 freezes the game or lets it go on. Shift+F5 freezes the game, or lets one tick of a frozen game run. With
// Config.Timeline the player selects earlier ticks of a frozen game. If the game has never called Frozen, F5 freezes
// nothing and shows a message.
func (o *Overlay) Frozen() bool {
	if o == nil {
		return false
	}
	o.asked = true
	return o.halted
}

// Bottom returns the lower edge of the overlay in the last Draw, in pixels from the top of the picture. A game can place
// its own text below this edge. On a screen higher than wide, panels below the rectangle of [Overlay.Avoid] do not
// count. If nothing was shown, or if the overlay begins in a lower corner, Bottom returns 0.
func (o *Overlay) Bottom() float32 {
	if o.corner.bottom() {
		return 0
	}
	over, _, split := o.avoided()
	most := float32(0)
	for _, p := range o.placed {
		if !split || p.y < over {
			most = max(most, o.scr.y+(p.y+p.h)*o.scr.scale)
		}
	}
	return most
}

// Leave changes Config.Top and Config.Bottom: the shares of the screen's height that the overlay leaves to the game.
// Call Leave before Draw if they depend on the window's shape. If a share is not at least 0 and below 0.4, Leave panics
// with a [*memory.Misuse].
func (o *Overlay) Leave(top, bottom float32) {
	if !validShare(top) || !validShare(bottom) {
		panic(misuse("Leave", fmt.Sprintf("top is %v and bottom %v; allowed are at least 0 and below 0.4", top, bottom)))
	}
	if o != nil {
		o.cfg.Top, o.cfg.Bottom = top, bottom
	}
}

// Avoid sets a rectangle, in pixels of the picture, that panels leave to the game, such as the place of the player. An
// empty r, the default, removes the rectangle. Call Avoid before Draw.
//
// On a screen higher than wide, Avoid has an effect if panels in the corner would reach the rectangle. Panels then lie
// above and below the rectangle, and their lines are closer together. The strip may cover the rectangle (see [Strip]).
// A panel that fits at neither side may cover it, too, if it is the only panel.
//
// On any other screen panels leave one of two rectangles to the game: r, or its mirror image at the other side of the
// picture. It is the one that is farther from the overlay's corner. [Overlay.Covers] reports which one is free. Panels
// become narrow or smaller if necessary. Panels that do not fit are not drawn, and a line names them. The strip is above
// or below the rectangle, with fewer lines if necessary, but at least one.
func (o *Overlay) Avoid(r image.Rectangle) {
	if o != nil {
		o.scr.spared = r
	}
}

// Within sets the screen of the overlay: a part of the picture, in pixels, in which all panels lie. Other comments call
// it the screen. For example, buttons for fingers can be beside it. The default is an empty r. If r has no pixel of the
// picture, the whole picture is the screen. Call Within before Draw.
func (o *Overlay) Within(r image.Rectangle) {
	if o != nil {
		o.scr.within = r
	}
}

// Density sets how many pixels of the picture a device-independent pixel has. If the picture is as large as the window
// in physical pixels, d is the monitor's scale factor. Values of d below 1 count as 1, and values above 8 as 8. Call
// Density before Draw. If Config.Scale is not 0, Density has no effect.
//
// A pixel of the overlay is at least d pixels of the picture large, with d rounded down to a multiple of one half. On a
// narrow screen it may be smaller, see Config.Scale. On a phone it is at least 1.2 d large, and letters are 12
// device-independent pixels high. A phone is a screen whose shorter side has less than 500 device-independent pixels.
// If a panel of this size is too wide for the screen, it fills the width.
func (o *Overlay) Density(d float32) {
	if o == nil {
		return
	}
	o.dense, o.scr.density = true, clampDensity(d)
}

func clampDensity(d float32) float32 {
	if d > 1 {
		return min(d, 8)
	}
	return 1
}

// Hide makes Draw draw nothing while on is true. Hide(true) is for a screen of the game that would lie over panels. Parts
// stay open, keys work as usual, and the overlay measures. Bottom and Covers describe where the parts would be.
func (o *Overlay) Hide(on bool) {
	if o != nil {
		o.hidden = on
	}
}

// Covers reports whether the last Draw put the strip or a panel over any part of a rectangle. The rectangle has its top
// left corner at (x, y) and size w × h, in pixels of the picture.
func (o *Overlay) Covers(x, y, w, h float32) bool {
	for _, p := range o.placed {
		k := o.scr.scale
		px, py := o.scr.x+p.x*k, o.scr.y+p.y*k
		if px < x+w && px+p.w*k > x && py < y+h && py+p.h*k > y {
			return true
		}
	}
	return false
}

// Update reads keys, mouse and touch, and does what they request. While the overlay measures, Update also records how
// much of the frame arena the previous tick has used. Call Update once a tick, first in Ebitengine's Update. End the
// memory frame of the previous tick after this call.
func (o *Overlay) Update() {
	if o == nil {
		return
	}
	o.rates.ticks++
	if o.seen() {
		o.meter.Tick()
	}
	o.was = o.in
	o.in = input{}
	o.read(&o.in)
	o.keys()
	o.begun = true
	o.halted = o.frozen && !o.step
	if o.step { // the clock goes on for this tick, until it is drawn
		o.clock.start()
	}
	o.step = false
}

// Draw measures the frame and draws the open parts on a picture, in one draw call. Call it at the end of each Draw of
// Ebitengine. If Ebitengine's Draw ends a memory frame, call Overlay.Draw before the end. If nothing is shown and
// Config.Watch is not set, Draw only ends the measuring. If the picture is nil, Draw panics with a [*memory.Misuse].
//
// Apart from the draw call of Ebitengine, Draw allocates only for new tags, pools and monitors, for dumps and temporary
// messages, and for queries of the parts Memory and Heap. In the part Leaks it also allocates when more rows have
// changed since mark A (see [meter.Meter.Mark]) than at any time before. With Corner Free, opening the overlay reads
// the picture from the GPU. Reading the picture allocates and takes some milliseconds.
func (o *Overlay) Draw(on *ebiten.Image) {
	if o == nil {
		return
	}
	if on == nil {
		panic(misuse("Draw", "it needs a picture"))
	}
	o.final.Reset()
	if !o.dense {
		o.scr.density = 0
	}
	o.draw(on, on)
}

// draw is Draw on a picture, above the game's picture.
func (o *Overlay) draw(on, game *ebiten.Image) {
	b := on.Bounds()
	if r := o.scr.within.Intersect(b); !r.Empty() {
		b = r
	}
	o.scr.right, o.scr.mirror = o.corner.right(), on.Bounds().Min.X+on.Bounds().Max.X
	o.scr.set(o.cfg.Scale, b.Min.X, b.Min.Y, b.Dx(), b.Dy(), o.cfg.Preset) // also for a tap while nothing is shown
	o.rates.draws++
	opens := o.showing() && !o.shown
	if o.shown = o.showing(); !o.shown && !o.cfg.Watch {
		o.rest()
		return
	}
	if opens && o.cfg.Corner == Free {
		cols, _ := o.size(int(Strip))
		width := float32(cols*render.Grid) * o.scr.scale * float32(game.Bounds().Dx()) / float32(b.Dx())
		o.corner = freeCorner(game, int(width), o.cfg.Top, o.cfg.Bottom)
	}
	began := time.Now()
	if o.compose(b.Min.X, b.Min.Y, b.Dx(), b.Dy()) {
		o.atlas.Submit(on, &o.q)
	}
	o.cost.add(time.Since(began))
	if o.dump.wanted {
		o.writeDump(game)
	}
}

// closed reports whether the manager is closed.
func (o *Overlay) closed() bool { return o.m.Extent() == 0 }

// bytes is what the overlay has on the Go heap.
func (o *Overlay) bytes() uint64 {
	return uint64(unsafe.Sizeof(*o) + o.meter.Footprint() + vertexCount*unsafe.Sizeof(render.Vertex{}) + 4*indexCount)
}

func (o *Overlay) check() error {
	var errs []error
	for i, k := range o.open {
		if k < 0 || k >= len(o.parts) || o.at(k) != i {
			errs = append(errs, fmt.Errorf("overlay: part %d is open at %d", k, i))
		}
	}
	for t, was := range o.faults.was {
		if (was != 0) != (o.faults.on && o.faults.done[t]) {
			errs = append(errs, fmt.Errorf("overlay: the budget of tier %d is kept as %d", t, was))
		}
	}
	if o.blind && !o.clock.standing {
		errs = append(errs, errors.New("overlay: the clock goes on unseen"))
	}
	return errors.Join(errs...)
}

func misuse(op, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "overlay", Op: op, Reason: reason}
}
