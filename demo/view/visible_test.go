package view

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A scenery is a view of the horde at full heat whose pictures are drawn without a GPU.
type scenery struct {
	*View
	texels []byte
	rows   map[ground.Sector][]byte
	port   render.Viewport
	clip   image.Rectangle // around the ship
	quads  render.Quads    // of batch
	verts  []render.Vertex
	ix     []uint32
}

// Rows keeps a sector's picture.
func (s *scenery) Rows(at ground.Sector, y int, rows []byte) error {
	if s.rows[at] == nil {
		s.rows[at] = make([]byte, ground.Bytes)
	}
	copy(s.rows[at][4*ground.SectorSize*y:], rows)
	s.ground.whole[at.Index()] = 4*ground.SectorSize*y+len(rows) == ground.Bytes
	return nil
}

// Hide drops it.
func (s *scenery) Hide(at ground.Sector) {
	delete(s.rows, at)
	s.ground.whole[at.Index()] = false
}

// newScenery plays a realm at full heat, with or without its ground. The ship stays where the realm begins, turns and
// fires, and nothing hurts it: the scene does not depend on the autopilot.
func newScenery(t testing.TB, name string, ticks uint64, floor bool) *scenery {
	t.Helper()
	const most = 30_000 // quads
	s := &scenery{
		texels: make([]byte, 4*render.DefaultPage*render.DefaultPage), rows: map[ground.Sector][]byte{}, port: render.Fit(Width, Height, Width, Height),
		verts: make([]render.Vertex, 4*most), ix: make([]uint32, 6*most),
	}
	var err error
	if s.View, err = newWith(render.AtlasConfig{Texels: s.texels}); err != nil {
		t.Fatal(err)
	}
	mem := tiers.Config{Reserve: [tiers.Count]uintptr{tiers.Static: 64 << 20, tiers.Frame: 8 << 20, tiers.Level: 16 << 20, tiers.Pools: 96 << 20, tiers.Slab: 16 << 20, tiers.Large: 64 << 20, tiers.Inbox: 8 << 20}}
	cfg := session.Config{Realm: name, Memory: mem, Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: 100_000}}
	if floor {
		cfg.View, cfg.GroundBytes = s, 24<<20
	}
	s.opens(t, cfg)
	s.pictures(t)
	for g := s.s.Game; g.Ticks < ticks; s.Update() {
		g.Player.Safe = 1
		if err := s.s.Frame(engine.Input{Aim: engine.Heading(float32(g.Ticks&1023) / 8), Down: game.Fire}); err != nil {
			t.Fatal(err)
		}
		if !s.s.Playing() {
			runtime.Gosched()
		}
	}
	if floor {
		s.settle(t)
	}
	return s
}

// pictures uploads the game's pictures.
func (s *scenery) pictures(t testing.TB) {
	t.Helper()
	files, err := fs.Glob(assets.FS(), "art/*.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := assets.FS().Open(file)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		b := img.Bounds()
		rgba := image.NewRGBA(b)
		draw.Draw(rgba, b, img, b.Min, draw.Src)
		id, err := s.atlas.ID(strings.TrimSuffix(path.Base(file), ".png"))
		if err == nil {
			_, err = s.atlas.Reserve(id, b.Dx(), b.Dy())
		}
		if err == nil {
			err = s.atlas.Upload(id, rgba.Pix, b.Dx(), b.Dy())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits for the ground around the ship, without a tick.
func (s *scenery) settle(t testing.TB) {
	t.Helper()
	s.s.Paused = true
	const around = 130
	at := s.s.Game.Player.P
	missing := func() bool {
		for _, d := range [4]vec{{-around, -around}, {around, -around}, {-around, around}, {around, around}} {
			p := at.Add(d)
			x, y := sectorOf(p[0]), sectorOf(p[1])
			if !outside(x, y, ground.Sectors) && !s.ground.whole[y*ground.Sectors+x] {
				return true
			}
		}
		return false
	}
	for end := testenv.Deadline(t); missing(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the ground does not come")
		}
		s.frame(t)
	}
}

// hurt makes the ship one that was just hit, or one that was not hit for long, at the moment at which its rim is darkest.
func (s *scenery) hurt(on bool) {
	p := &s.s.Game.Player
	p.Hull, p.Safe, p.Dash, p.Alive = p.Most, 0, 0, true
	s.time = 1.5 * math.Pi / beatRate
	s.beacon = beacon{near: s.beacon.near}
	s.beacon.note(p)
	if on {
		p.Hull, p.Safe = 1, 1.3
		s.beacon.note(p)
	}
	for range 40 { // the rim follows the crowd
		s.beacon.note(p)
	}
}

// batch returns what write draws with the camera's view. It is valid until the next call.
func (s *scenery) batch(write func()) *render.Quads {
	own := s.View.quads
	s.View.quads.Begin(s.verts, s.ix, s.atlas, s.port.View())
	s.View.quads.SetView(s.cam.View(s.port))
	write()
	s.quads, s.View.quads = s.View.quads, own
	return &s.quads
}

// takes are pictures of a scene: all of it, the ground alone, and on black the horde and the ship.
type takes struct{ all, ground, horde, ship *raster }

func (s *scenery) takes() takes {
	at := s.cam.ToScreen(s.s.Game.Player.P)
	s.clip = image.Rect(int(at[0])-100, int(at[1])-80, int(at[0])+100, int(at[1])+80).Intersect(image.Rect(0, 0, Width, Height))
	var t takes
	for _, r := range []**raster{&t.all, &t.ground, &t.horde, &t.ship} {
		*r = newRaster(s.clip, s.texels)
	}
	for _, r := range [2]*raster{t.all, t.ground} {
		r.fill(s.pal[0])
		for at, rows := range s.rows {
			r.floor(at, rows, s.cam.View(s.port))
		}
	}
	t.ground.draw(s.batch(func() { s.props(); s.shade() }))
	s.open()
	s.begin(game.Sprites, s.port.View())
	s.world(s.port)
	t.all.draw(&s.View.quads)
	s.begin(game.Sparks, s.port.View())
	s.above(s.port, false)
	t.all.draw(&s.View.quads)
	t.horde.draw(s.batch(s.enemies))
	ship := s.batch(func() { s.ship(s.port) })
	t.all.draw(ship)
	t.ship.draw(ship)
	return t
}

// A light is what shines of an area: the mean of its brightest half, and the hue, weighted by colourfulness.
type light struct {
	pixels    int
	l         float64
	hue       float64 // degrees
	colourful float64
}

// shine measures the pixels of a picture where mask, less another, has some light.
func shine(picture, mask, less *raster, least float32) light {
	var all []tint
	for i, p := range mask.pix {
		if max(p[0], p[1], p[2]) >= least && (less == nil || max(less.pix[i][0], less.pix[i][1], less.pix[i][2]) < 0.1) {
			all = append(all, tintOf(picture.pix[i]))
		}
	}
	slices.SortFunc(all, func(a, b tint) int { return int(math.Copysign(1, b.l-a.l)) })
	bright := all[:(len(all)+1)/2]
	var sum tint
	for _, t := range bright {
		sum.l, sum.a, sum.b = sum.l+t.l, sum.a+t.a, sum.b+t.b
	}
	n := float64(max(len(bright), 1))
	return light{len(all), sum.l / n, math.Mod(math.Atan2(sum.b, sum.a)*180/math.Pi+360, 360), math.Hypot(sum.a, sum.b) / n}
}

func (a light) String() string {
	return fmt.Sprintf("%d pixels, lightness %.2f, hue %3.0f°, colour %.3f", a.pixels, a.l, a.hue, a.colourful)
}

// apart returns the distance of two hues in degrees, 180 if one has hardly a colour: then its hue is not visible.
func (a light) apart(b light) float64 {
	const colourless = 0.03
	if a.colourful < colourless || b.colourful < colourless {
		return 180
	}
	d := math.Abs(a.hue - b.hue)
	return min(d, 360-d)
}

// What a ship must have to be found at a glance. Before the ship had a beacon its hue was 0° to 14° from the horde's
// in each realm, and a hurt ship covered as much as another.
const (
	leastHue    = 45   // degrees between its hue and those of the horde and the ground
	leastColour = 0.05 // without which a hue is not visible
	leastHorde  = 0.05 // how much lighter than the horde it is
	leastGround = 0.45 // and than the ground
	leastAbove  = 0.24 // how much lighter the horde is than the ground: in the tide that of the colour-blind had 0.19
	leastHurt   = 1.5  // how many times as many pixels shine if it was hurt
)

func TestShip_IsFoundInTheHorde(t *testing.T) {
	testenv.Long(t)
	realms := map[string]string{}
	for _, name := range realm.Names {
		realms[name] = name
	}
	for name := range testenv.Some(realms, realm.Names[0]) {
		s := newScenery(t, name, 420, true)
		for _, clear := range [2]bool{false, true} {
			sound := s.find(t, name, clear, false)
			hurt := s.find(t, name, clear, true)
			if float64(hurt.pixels) < leastHurt*float64(sound.pixels) {
				t.Errorf("%s, colour-blind %v: %d pixels of a hurt ship shine, and %d of another", name, clear, hurt.pixels, sound.pixels)
			}
		}
	}
}

// find measures the ship in a picture of the horde.
func (s *scenery) find(t *testing.T, name string, clear, hurt bool) light {
	t.Helper()
	s.comfort.clear = clear
	s.frame(t)
	s.batch(s.enemies) // counts those near the ship
	s.hurt(hurt)
	k := s.takes()
	ship, horde, floor := shine(k.all, k.ship, nil, 0.15), shine(k.all, k.horde, k.ship, 0.15), shine(k.ground, k.ground, nil, 0)
	what := fmt.Sprintf("%s, colour-blind %v, hurt %v", name, clear, hurt)
	t.Logf("%s, %d near\nship   %v\nhorde  %v\nground %v", what, s.beacon.near, ship, horde, floor)
	if horde.pixels < 4000 {
		t.Errorf("%s: the horde is %d pixels", what, horde.pixels)
	}
	if a, b := ship.apart(horde), ship.apart(floor); min(a, b) < leastHue || ship.colourful < leastColour {
		t.Errorf("%s: the ship's hue is %.0f° from the horde's and %.0f° from the ground's; least %d°", what, a, b, leastHue)
	}
	if ship.l < horde.l+leastHorde || ship.l < floor.l+leastGround {
		t.Errorf("%s: the ship's lightness is %.2f, the horde's %.2f and the ground's %.2f", what, ship.l, horde.l, floor.l)
	}
	if horde.l < floor.l+leastAbove {
		t.Errorf("%s: the horde's lightness is %.2f, the ground's %.2f", what, horde.l, floor.l)
	}
	return ship
}
