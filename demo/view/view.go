package view

import (
	"fmt"
	"unsafe"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/particles"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

type vec = mgl32.Vec2

// The size of the logical screen in logical pixels. While the window is higher than wide, width and height
// are swapped.
const (
	Width  = 640
	Height = 360
)

// A View draws a session. It belongs to the game goroutine. Before Show, call no methods except Attach, Canvas,
// Comfort, Drawn, Point, Rows, Sink and Teach.
type View struct {
	Overlay *overlay.Overlay // shows the session's memory; nil before Show. The caller must close it before the session
	crowd   int              // enemies that the last frame showed
	warden  warden
	Dropped int // quads of the last frame that did not fit
	needed  int // quads that recent batches needed
	reserve int // frames in which the renderer still reserves buffers of the size of a realm's batches

	Menu *Menu // drawn over the game; nil before Attach

	comfort  comfort
	pointer  vec
	pointing bool

	s       *session.Session
	atlas   *render.Atlas
	font    *render.Font
	quads   render.Quads
	spare   render.Quads // while reserve > 0: the space of the batch to reserve
	cam     render.Camera
	ids     ids
	ground  terrain
	minimap minimap
	look    vec     // where the camera looks ahead, smoothed
	aside   float32 // how far the ship is right of the middle, for a panel of the overlay, in units of the world; smoothed
	time    float32
	alive   float32         // seconds since the realm appeared, for the fade
	port    render.Viewport // of the frame
	framed  bool            // there was a frame
	seen    reach           // of the world, in its units
	density float32         // of the frame
	ui      Canvas          // of the frame
	reach   reach           // of the canvas
	frozen  bool            // the overlay has the controls in this frame
	covered float32         // how far down the overlay reaches, in pixels of the canvas
	thumbs  [2]render.Thumb // on the screen
	timer   *meter.Timer
	text    []byte
	short   shortage
	said    shell.Box // the plate of the hint in this frame
	heading shell.Box // the large letters of this frame
	noticed float32   // where the notices of this frame end; 0 if there are none
	notices shell.Box // around all of them
	slow    slowness
	back    rewind
	failed  error // of a Seek
	beacon  beacon
	teacher teacher
	names   []string
	mark    arena.Mark
	drawn   uint64 // the manager's frame that mark belongs to
	drawing bool   // there is a plan
	verts   []render.Vertex
	indices []uint32 // without a plan
	pal     [5]render.Color
}

// ids are the atlas's numbers of the pictures.
type ids struct {
	player, playerCore, bullet, orb, reticle, vignette, portal int
	enemy, core                                                [realm.EnemyKinds]int
	pickup                                                     [game.PickupKinds]int
	particle                                                   [game.RegionCount]int
}

// New makes the atlas and the font, and assigns the ids of the pictures.
func New() (*View, error) { return newWith(render.AtlasConfig{}) }

func newWith(cfg render.AtlasConfig) (*View, error) {
	v := &View{text: make([]byte, 0, 256)}
	v.frameOf(render.Fit(2*Width, 2*Height, Width, Height), 1) // until there is a frame
	var err error
	if v.atlas, err = render.NewAtlas(cfg); err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	if v.font, err = render.NewFont(v.atlas); err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	for _, l := range largeLetters {
		if err = v.font.Large(v.atlas, l.letters, l.texels); err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
	}
	if v.minimap.id, err = v.atlas.ID(minimapName); err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	i := &v.ids
	for name, id := range map[string]*int{
		"player": &i.player, "player_core": &i.playerCore, "bullet": &i.bullet, "orb": &i.orb,
		"reticle": &i.reticle, "vignette": &i.vignette, "portal": &i.portal,
	} {
		if *id, err = v.atlas.ID(name); err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
	}
	for k := range realm.EnemyKinds {
		name := realm.Enemy(k).String()
		if i.enemy[k], err = v.atlas.ID(name); err == nil {
			i.core[k], err = v.atlas.ID(name + "_core")
		}
		if err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
	}
	for k, name := range game.PickupNames {
		if i.pickup[k], err = v.atlas.ID(name); err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
	}
	for k, name := range game.RegionNames {
		if i.particle[k], err = v.atlas.ID(name); err != nil {
			return nil, fmt.Errorf("view: %w", err)
		}
	}
	return v, nil
}

// Show sets the session to draw, and makes the overlay of its memory and the pages of the ground. Call it once. The
// pages have space for as many sectors as session.GroundRoom returns for groundBytes: pass the session's
// Config.GroundBytes. 0 means session.GroundBytes. Close the Overlay before the session. The session's Close closes the
// pages.
func (v *View) Show(s *session.Session, groundBytes int) error {
	if err := v.lay(s, groundBytes); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	o, err := overlay.New(s.Mem, overlay.Config{Watch: true, NoTap: true, Timeline: v.timeline(s)})
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	m := o.Meter()
	m.Monitor("entities", "", func() float64 { return float64(s.Game.Entities()) })
	m.Monitor("particles", "", func() float64 { return float64(s.Game.Particles().Len()) })
	m.Monitor("ground", "MiB", func() float64 { return float64(v.ground.tiles.Stats().Used) / (1 << 20) })
	m.Monitor("soft ground", "%", func() float64 { return 100 * s.Ground.Stats().Soft() })
	m.Monitor("lost quads", "", func() float64 { return float64(v.Dropped) })
	v.s, v.Overlay, v.timer, v.reserve = s, o, m.Timer("draw"), reserveFrames
	return nil
}

// Ebitengine's buffers grow with each frame that has more quads than all before, and leave the former buffers to the
// collector. So the first frames of play reserve buffers: for a world and for particles of three fifths of reserveQuads
// each. Of the fullest frames at full heat the world has 40,000 quads, or the particles 19,000.
const (
	reserveFrames = 4
	reserveQuads  = 47_000 // 60,000 in all batches together
)

// Reserving reports whether the next calls of Draw still enlarge the renderer's buffers to their final size. If
// [game.Game.Passes] returns nil, as before the first realm, Draw does not enlarge them, and Reserving returns false.
func (v *View) Reserving() bool { return v.reserve > 0 && v.s.Game.Passes() != nil }

// Sink uploads a decoded picture to the atlas and does not keep its pixels. It replaces a picture of the same name and
// size. If the sizes differ, Sink fails. After an error the former picture is drawn, or the substitute of a picture
// that is not loaded.
func (v *View) Sink(name string, p stream.Picture) error {
	id, err := v.atlas.ID(name)
	if err != nil {
		return err
	}
	if !v.atlas.Loaded(id) {
		v.atlas.Remove(id) // what hold has for it may be of another size
	}
	if _, err = v.atlas.Reserve(id, p.Width, p.Height); err != nil {
		return err
	}
	return v.atlas.Upload(id, p.Pixels, p.Width, p.Height)
}

// Left removes the pictures of the realm that ended. Call it when the session leaves a realm.
func (v *View) Left() {
	v.atlas.Reset()
	v.ground.hold(v.atlas)
	v.minimap.of = nil
}

// lookAhead is how far the camera looks to where the player aims, in units of the world.
const lookAhead = 26

// Update advances the camera and the clock of animations by a tick. Neither affects the rules.
func (v *View) Update() {
	v.time += 1.0 / 60
	v.back.note(v.s.Past)
	if !v.s.Playing() {
		v.alive = 0
		return
	}
	if v.slowFits() {
		v.slow.left = max(v.slow.left-1, 0)
	}
	v.alive += 1.0 / 60
	v.short.note(v.s.Game, v.s.Ground.Narrow())
	v.beacon.note(&v.s.Game.Player)
	v.teach()
	v.chart()
	g := v.s.Game
	ahead := g.Player.Aim.Mul(lookAhead)
	if !v.s.Paused {
		v.look = v.look.Add(ahead.Sub(v.look).Mul(0.06))
	}
	if a := v.besidePanels(); v.comfort.calm {
		v.aside = a
	} else {
		v.aside += (a - v.aside) * 0.15
	}
	v.cam.Center = g.Player.P.Add(v.look).Sub(vec{v.aside, 0})
	angle := float32(g.Ticks) * 2.399963
	v.cam.Shake = vec{engine.Cos(angle), engine.Sin(angle * 1.7)}.Mul(g.ShakeNow)
	if v.comfort.on {
		v.cam.Shake = v.cam.Shake.Mul(v.comfort.shake)
	}
	for i, c := range g.Manifest.Palette {
		v.pal[i] = colorOf(c)
	}
	if v.comfort.clear {
		v.pal = clearPalette
	}
}

// PlayerOnScreen returns the position of the ship, from which the player aims, in logical pixels. Call it only if the
// game has a realm.
func (v *View) PlayerOnScreen() vec { return v.cam.ToScreen(v.s.Game.Player.P) }

var (
	vertexType = memory.MustType[render.Vertex]()
	indexType  = memory.MustType[uint32]()
)

const (
	quadBytes = 4*unsafe.Sizeof(render.Vertex{}) + 6*4
	// quadLeast is enough for the HUD and a quiet screen.
	quadLeast = 3_000
)

// Drawn reports whether Draw was called. Before the first Draw the shape of the window is unknown.
func (v *View) Drawn() bool { return v.framed }

// Draw draws a frame. Call it while the session's memory frame is open; a frame may be drawn again. The ground takes a
// draw call for each page of tiles in sight. The world, the particles and the sharp HUD take one draw call each. The
// overlay follows. A menu is drawn over the overlay, unless the overlay has frozen the game. Buttons for fingers are
// drawn over the overlay if a panel covers them.
func (v *View) Draw(f *render.Frame) {
	v.frozen = v.Overlay.Frozen()
	v.timer.Start()
	v.draw(f)
	v.timer.Stop()
	v.Overlay.Draw(f.Image())
	if v.menuAbove() || v.thumbsAbove() {
		v.timer.Start()
		v.begin(game.Signs, v.ui.view)
		v.drawMenu()
		v.submit(f)
		v.timer.Stop()
	}
	if v.drawing && v.reserve > 0 {
		if v.reserve--; v.reserve == 0 {
			f.EndReserve()
		}
	}
}

func (v *View) draw(f *render.Frame) {
	v.Dropped = 0
	v.open()
	if v.comfort.on {
		f.SetBloom(v.comfort.bloom)
	}
	v.frameOf(f.Viewport, f.Density)
	v.framed = true
	v.Overlay.Leave(v.margins())
	v.Overlay.Avoid(v.avoidArea())
	v.Overlay.Within(v.panelArea())
	v.Overlay.Density(v.density)
	if v.s.Playing() {
		scene := f.BeginScene(v.pal[0])
		v.begin(game.Sprites, scene.View())
		v.world(scene)
		if v.ground.tiles != nil {
			v.ground.tiles.Submit(f)
		}
		v.submit(f)
		v.begin(game.Sparks, scene.View())
		v.above(scene, f.Crisp())
		v.submit(f)
		f.Bloom(render.DefaultBloom)
		f.EndScene()
	}
	v.covered = v.ui.view.Invert(vec{0, v.Overlay.Bottom()})[1]
	v.begin(game.Signs, v.ui.view)
	if v.s.Playing() {
		v.backwards()
		v.popups(f.Viewport)
		v.ship(f.Viewport)
		v.hud()
	} else {
		v.loading()
	}
	v.menu()
	v.submit(f)
}

// frameOf sets what follows from the shape of the window.
func (v *View) frameOf(p render.Viewport, density float32) {
	v.port, v.density = p, density
	v.said, v.heading, v.noticed, v.notices = shell.Box{}, shell.Box{}, 0, shell.Box{}
	d := render.Keyboard
	if v.Menu != nil {
		d = v.Menu.Device
	}
	v.ui = canvasOf(p, density, d)
	v.reach = v.ui.reach
	v.cam.Size = vec{float32(p.W) / p.Scale, float32(p.H) / p.Scale}
}

// submit draws a batch.
func (v *View) submit(f *render.Frame) {
	f.Submit(v.atlas, &v.quads)
	if v.reserve > 0 && v.drawing {
		f.Reserve(v.atlas, &v.spare)
	}
	v.Dropped += v.quads.Dropped
	quads := v.quads.Len()/render.VertsPerQuad + v.quads.Dropped
	v.needed = max(v.needed*15/16, quads) // forgets slowly: the next frame is much like this one
}

// open gets the buffers of a frame's batches.
func (v *View) open() {
	v.drawing = v.s.Playing() && v.s.Game.Passes() != nil
	if !v.drawing {
		v.verts, v.indices = v.borrow()
	}
}

// begin starts a batch in its buffer: the realm's, which is planned, or without a plan the frame arena's.
func (v *View) begin(p game.Pass, view render.View) {
	verts, indices := v.verts, v.indices
	if v.drawing {
		verts, indices = v.room(p)
	}
	v.quads.Begin(verts, indices, v.atlas, view)
	if v.reserve > 0 && v.drawing {
		v.spare.Begin(v.spared(p, verts), indices, v.atlas, view)
	}
}

// spared returns the part of a batch's buffer that is reserved.
func (v *View) spared(p game.Pass, verts []render.Vertex) []render.Vertex {
	return verts[:min(p.Quads(reserveQuads)*render.VertsPerQuad, len(verts))]
}

func (v *View) room(pass game.Pass) ([]render.Vertex, []uint32) {
	p := v.s.Game.Build(pass)
	verts, err := plan.Slice(p, vertexType, pass.Vertices())
	if err != nil {
		return nil, nil
	}
	indices, err := plan.Slice(p, indexType, pass.Indices())
	if err != nil {
		return nil, nil
	}
	return verts, indices
}

// borrow takes the frame's vertices and indices from the frame arena: one and a half times the quads of recent
// frames, or as many as fit. A second Draw of a frame takes the same memory again.
func (v *View) borrow() ([]render.Vertex, []uint32) {
	l, frame := v.s.Mem.Frame(), v.s.Mem.Frames().Frame()
	if v.drawn == frame+1 {
		l.Rewind(v.mark)
	}
	v.mark, v.drawn = l.Mark(), frame+1
	n := min(max(quadLeast, v.needed+v.needed/2), int(l.Available()/quadBytes)-1)
	for ; n > 0; n /= 2 {
		verts, err := arena.MakeSliceUninit(l, vertexType, 4*n)
		if err != nil {
			continue
		}
		indices, err := arena.MakeSliceUninit(l, indexType, 6*n)
		if err == nil {
			return verts, indices
		}
	}
	return nil, nil
}

// build appends the particles to the batch.
func (v *View) build(scene render.Viewport) {
	sys := v.s.Game.Particles()
	var regions [32]particles.Region // by kind; the game has fewer
	n := min(sys.Stats().Kinds, len(regions))
	for k := range n {
		r := v.region(v.ids.particle[sys.Kind(particles.KindID(k)).Region], v.atlas.Soft())
		regions[k] = particles.Region(r)
	}
	v.quads.Particles(sys, regions[:n], scene)
}

// region returns a picture, or a stand-in until it is loaded.
func (v *View) region(id int, standIn render.Region) render.Region {
	if v.atlas.Loaded(id) {
		return v.atlas.Lookup(id)
	}
	return standIn
}
