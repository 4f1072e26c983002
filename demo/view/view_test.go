package view

import (
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
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

// newView plays seed 7 for n ticks with a view beside it. Pictures are not uploaded, as that
// needs a window: everything shows as its stand-in.
func newView(t testing.TB, n uint64, mem tiers.Config) *View {
	t.Helper()
	v := newShown(t, session.Config{Autopilot: true, Memory: mem, Game: game.Config{Seed: 7, Quads: 20_000}})
	v.playTo(t, n)
	return v
}

// newShown makes a view that shows a session.
func newShown(t testing.TB, cfg session.Config) *View {
	t.Helper()
	v, err := New()
	if err != nil {
		t.Fatal(err)
	}
	v.opens(t, cfg)
	return v
}

// opens starts a session with the program's files, and shows it until the test ends.
func (v *View) opens(t testing.TB, cfg session.Config) {
	t.Helper()
	cfg.FS = assets.FS()
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := v.Show(s, 0); err != nil {
		t.Fatal(err)
	}
}

// playTo plays the game to tick n.
func (v *View) playTo(t testing.TB, n uint64) {
	t.Helper()
	for v.s.Game.Ticks < n {
		v.frame(t)
		if !v.s.Playing() {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// brief is so many ticks, and half of them in a short run.
func brief(n uint64) uint64 {
	if testenv.Brief() {
		return n / 2
	}
	return n
}

func (v *View) frame(t testing.TB) {
	if err := v.s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	v.Update()
}

var window = render.Fit(1280, 720, Width, Height)

// paint writes what Draw writes, without a screen to submit it to.
func (v *View) paint() (world, hud int) {
	quads := func() int {
		v.needed = max(v.needed*15/16, v.quads.Len()/render.VertsPerQuad+v.quads.Dropped)
		return v.quads.Len() / render.VertsPerQuad
	}
	v.frameOf(window, 1)
	v.open()
	v.begin(game.Sprites, window.View())
	v.world(window)
	world = quads()
	v.begin(game.Sparks, window.View())
	v.above(window, false)
	world += quads()
	v.begin(game.Signs, window.View())
	v.popups(window)
	v.ship(window)
	v.hud()
	return world, quads()
}

func TestView_FrameAndDrawingAllocateNothing(t *testing.T) {
	v := newView(t, brief(300), tiers.Config{})
	v.paint()
	n := testing.AllocsPerRun(200, func() {
		v.frame(t)
		v.paint()
	})
	if n != 0 {
		t.Errorf("a tick and its drawing cost %v Go allocations", n)
	}
	if v.quads.Dropped != 0 {
		t.Errorf("%d quads had no room", v.quads.Dropped)
	}
}

// The first frames of play reserve the renderer's buffers. While they do, the session's collection waits.
func TestView_ReservesInTheFirstFrames(t *testing.T) {
	v := newView(t, 10, tiers.Config{})
	if !v.Reserving() {
		t.Fatal("nothing is reserved")
	}
	v.open()
	for pass, want := range []int{game.Sprites: reserveQuads * 3 / 5, game.Sparks: reserveQuads * 3 / 5, game.Signs: 4096} {
		pass := game.Pass(pass)
		verts, _ := v.room(pass)
		if have := len(v.spared(pass, verts)) / render.VertsPerQuad; have != min(want, len(verts)/render.VertsPerQuad) {
			t.Errorf("batch %d reserves %d quads of %d, want %d", pass, have, len(verts)/render.VertsPerQuad, want)
		}
	}
	v.reserve = 0
	if v.Reserving() {
		t.Error("there is no end of reserving")
	}
}

// Where thousands are in sight their trails are short.
func TestView_TrailsInACrowdAreShort(t *testing.T) {
	v := newView(t, 10, tiers.Config{})
	r := game.Ribbon{Points: make([]vec, 9), Count: 9}
	for i := range r.Points {
		r.Points[i] = vec{float32(i), 0}
	}
	v.open()
	for _, c := range []struct{ most, want int }{{100, 8}, {8, 8}, {2, 2}, {1, 1}} {
		v.begin(game.Sprites, window.View())
		v.ribbon(&r, c.most)
		if n := v.quads.Len() / render.VertsPerQuad; n != c.want {
			t.Errorf("at most %d parts: %d quads, want %d", c.most, n, c.want)
		}
	}
}

// With less memory for the frame's passes enemies are drawn without glows. The screen names that.
func TestView_AShortStaticTierCostsTheGlows(t *testing.T) {
	testenv.Long(t)
	shown := func(budget uintptr) (v *View, world int) {
		mem := tiers.Config{Budget: [tiers.Count]uintptr{tiers.Static: budget}}
		v = newShown(t, session.Config{Autopilot: true, Memory: mem, Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: 20_000}})
		v.playTo(t, 150)
		world, _ = v.paint()
		return v, world
	}
	v, world := shown(0)
	v.s.Game.Lost.Quads++ // in a realm before, or in a game that was loaded
	if again, _ := v.paint(); again != world {
		t.Errorf("%d quads, and %d after a loss before the realm", world, again)
	}
	v, less := shown(2 << 20)
	if less >= world {
		t.Errorf("%d quads, and %d without glows", world, less)
	}
	if v.shortage(); !strings.Contains(string(v.text), "NO ROOM FOR GLOWS") {
		t.Errorf("the screen says %q", v.text)
	}
}

func TestView_DrawsTheWorldAndTheHUD(t *testing.T) {
	v := newView(t, brief(300), tiers.Config{})
	world, hud := v.paint()
	if world < 100 || hud < 20 {
		t.Errorf("the world is %d quads and the HUD %d", world, hud)
	}
	again, _ := v.paint() // a second Draw of the same frame
	if again != world {
		t.Errorf("drawn again, the world is %d quads, was %d", again, world)
	}
}

// The map has the realm's walls where they are, gives its block back, and is part of the HUD.
func TestView_TheMapShowsWhereWallsAre(t *testing.T) {
	v := newView(t, 60, tiers.Config{})
	clear := v.s.Game.Realm.Clear()
	pixels := make([]byte, 4*mapTexels*mapTexels)
	walls(pixels, clear)
	const last = mapTexels - 1
	if a := pixels[4*(last*mapTexels+last)+3]; a < 128 {
		t.Errorf("the realm's corner covers %d of 255", a)
	}
	at := v.s.Game.Realm.Info.Start
	k := mapTexels / float32(realm.World)
	if a := pixels[4*(int(at[1]*k)*mapTexels+int(at[0]*k))+3]; a > 128 {
		t.Errorf("where one begins there is a wall: %d of 255", a)
	}
	v.minimap.of = nil
	used := v.s.Mem.Large().Stats().InUse
	if v.chart(); v.s.Mem.Large().Stats().InUse != used || v.minimap.of != v.s.Game.Realm {
		t.Error("the map's block is kept, or there is no map")
	}
	v.open()
	v.begin(game.Signs, window.View())
	v.drawMap()
	if n := v.quads.Len() / render.VertsPerQuad; n < 10 {
		t.Errorf("the map is %d quads", n)
	}
}

// Without a static tier the vertices come from the frame arena, and with neither of much size
// some quads are dropped and the rest is drawn.
func TestView_ScarceMemoryDropsQuads(t *testing.T) {
	var mem tiers.Config
	mem.Budget[tiers.Static] = 16 << 10
	mem.Budget[tiers.Frame] = 256 << 10
	v := newView(t, brief(300), mem)
	if v.s.Game.Passes() != nil {
		t.Fatal("there is a plan in 16 KiB")
	}
	world, _ := v.paint()
	if world == 0 || world > 1000 {
		t.Errorf("the world is %d quads in a frame arena of 128 KiB", world)
	}
}

// A tier that is full is said on the screen, by name, and no longer than it is.
func TestView_SaysWhatThereIsNoRoomFor(t *testing.T) {
	v := newView(t, 60, tiers.Config{})
	_, quiet := v.paint()
	v.s.Game.Lost.Ribbons++
	v.frame(t)
	v.paint()
	if v.shortage(); !strings.Contains(string(v.text), "NO ROOM FOR TRAILS") {
		t.Errorf("the screen says %q", v.text)
	}
	v.short.left = [shortKinds]int{}
	if v.shortage(); strings.Contains(string(v.text), "TRAILS") || quiet == 0 {
		t.Errorf("the screen still says %q", v.text)
	}
}

func TestView_SaysThatTheGroundDoesNotCome(t *testing.T) {
	testenv.Long(t)
	v := newView(t, 60, tiers.Config{})
	v.open()
	v.begin(game.Signs, window.View())
	before := v.quads.Len()
	if v.absence(0); v.quads.Len() != before {
		t.Error("the ground comes, and the screen says that it does not")
	}
	if v.absence(3); v.quads.Len() == before {
		t.Error("the ground does not come, and the screen says nothing")
	}
}

// What is drawn again without a tick in between, as in a pause, is what was drawn before.
func TestView_APauseIsDrawnAgainAndAgain(t *testing.T) {
	testenv.Long(t)
	v := newView(t, brief(400), tiers.Config{})
	world, hud := v.paint()
	v.s.Paused = true
	for range 100 {
		v.frame(t)
		if w, h := v.paint(); w != world || h != hud {
			t.Fatalf("%d and %d quads, and in a pause %d and %d", world, hud, w, h)
		}
	}
}

func TestView_ALevelOnItsWayShowsItsName(t *testing.T) {
	testenv.Long(t)
	v := newView(t, 10, tiers.Config{})
	v.s.Flow.Go("tide")
	if err := v.s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	v.Update()
	v.open()
	v.begin(game.Signs, window.View())
	v.loading()
	if v.quads.Len() == 0 {
		t.Error("nothing is drawn while a realm loads")
	}
}

func BenchmarkPaint(b *testing.B) {
	v := newView(b, 600, tiers.Config{})
	for b.Loop() {
		v.paint()
	}
}

// Pictures arrive in the order in which workers complete them: in realm after realm, in any order, all fit.
func TestView_EveryOrderInWhichPicturesComeHasRoomForAll(t *testing.T) {
	type picture struct {
		id   string
		w, h int
	}
	var realms [][]picture
	for _, name := range realm.Names {
		data, err := fs.ReadFile(assets.FS(), "levels/"+name+".json")
		if err != nil {
			t.Fatal(err)
		}
		var l struct{ Assets []struct{ ID, File string } }
		if err := json.Unmarshal(data, &l); err != nil || len(l.Assets) < 10 {
			t.Fatalf("%s: %d pictures, %v", name, len(l.Assets), err)
		}
		all := []picture{{minimapName, mapTexels, mapTexels}}
		for _, a := range l.Assets {
			f, err := assets.FS().Open(a.File)
			if err != nil {
				t.Fatal(err)
			}
			c, err := png.DecodeConfig(f)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			all = append(all, picture{a.ID, c.Width, c.Height})
		}
		realms = append(realms, all)
	}
	v, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if v.ground.far, err = v.atlas.ID(farName); err != nil {
		t.Fatal(err)
	}
	v.ground.hold(v.atlas)
	rng := rand.New(rand.NewPCG(7, 0))
	for round := range 300 {
		all := slices.Clone(realms[round%len(realms)])
		rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		if round < 30 { // the worst of all orders
			slices.SortFunc(all, func(a, b picture) int { return a.h - b.h })
		}
		for _, p := range all {
			id, err := v.atlas.ID(p.id)
			if err == nil {
				_, err = v.atlas.Reserve(id, p.w, p.h)
			}
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		v.Left()
	}
}

// A pause may begin before the first tick of a realm.
func TestView_DrawsAPauseBeforeTheFirstTick(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Game: game.Config{Seed: 7, Quads: 20_000}})
	s := v.s
	s.Paused = true
	for !s.Playing() {
		v.frame(t)
		time.Sleep(50 * time.Microsecond)
	}
	if world, _ := v.paint(); s.Game.Ticks != 0 || world == 0 {
		t.Errorf("%d quads after %d ticks", world, s.Game.Ticks)
	}
}

// A shortage is named as long as it lasts, in every tier: a player who looks late sees it too. The title stays the
// realm's.
func TestView_NamesAShortageAsLongAsItLasts(t *testing.T) {
	testenv.Long(t)
	const late = shortTime + 20
	for _, c := range []struct {
		tier   tiers.Tier
		budget uintptr
		ticks  uint64 // of a shortage that recurs some are enough
		game   game.Config
		want   string
	}{
		{tiers.Static, 1 << 20, late, game.Config{}, "GLOWS"}, {tiers.Frame, 64 << 10, 9, game.Config{}, "FAR COLLISIONS"},
		{tiers.Level, 1 << 20, late, game.Config{}, "WALLS"}, {tiers.Pools, 1 << 20, 9, game.Config{Enemies: 20_000}, "ENEMIES"},
		{tiers.Slab, 1, 99, game.Config{Heat: 10}, "TRAILS"}, {tiers.Large, 4 << 20, late, game.Config{}, "FINE SOOT"},
		{tiers.Inbox, 768 << 10, late, game.Config{}, "SHARP GROUND"},
	} {
		t.Run(c.tier.String(), func(t *testing.T) {
			cfg := session.Config{Autopilot: true, Log: func(error) {}, Game: c.game}
			cfg.Game.Seed, cfg.Game.Quads = 7, 20_000
			cfg.Memory.Budget[c.tier] = c.budget
			if c.tier == tiers.Inbox {
				cfg.View = session.NewStandIn()
			}
			v := newShown(t, cfg)
			v.playTo(t, c.ticks)
			for range 9 {
				v.frame(t)
				if v.shortage(); !strings.HasPrefix(string(v.text), "NO ROOM FOR ") || !strings.Contains(string(v.text), c.want) {
					t.Fatalf("in tick %d the screen says %q, want %q; lost %+v", v.s.Game.Ticks, v.text, c.want, v.s.Game.Lost)
				}
			}
			if g := v.s.Game; g.Title() != g.Manifest.Title {
				t.Errorf("the title is %q, want %q", g.Title(), g.Manifest.Title)
			}
		})
	}
}

// A sector whose file has changed is received again in slices. It stays in sight meanwhile.
func TestView_AChangedSectorStaysInSight(t *testing.T) {
	v := newShown(t, session.Config{})
	at := ground.Sector{X: 3, Y: 4}
	rows := make([]byte, ground.Bytes)
	for _, end := range []int{ground.Bytes, ground.Bytes / 4} {
		if err := v.Rows(at, 0, rows[:end]); err != nil {
			t.Fatal(err)
		}
		if !v.ground.whole[at.Index()] {
			t.Errorf("after %d bytes it is not whole", end)
		}
	}
	v.Hide(at)
	if err := v.Rows(at, 0, rows[:ground.Bytes/4]); err != nil || v.ground.whole[at.Index()] {
		t.Errorf("%v; a quarter of a new sector is whole", err)
	}
}

// A score that floated over an explosion of spore was washed out: the particles and their bloom lay over it, and it had
// no ground of its own.
func TestPopups_HaveAPlateAndNoParticlesOverThem(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Realm: "spore", Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: 20_000}})
	n := 0
	for tick := uint64(60); n == 0 && tick < 2000; tick += 5 {
		v.playTo(t, tick)
		v.s.Game.EachPopup(func(p *game.Popup, _ []byte) {
			if p.Life > 0.4 { // it does not fade
				n++
			}
		})
	}
	v.frameOf(window, 1)
	v.open()
	v.begin(game.Sparks, v.port.View())
	v.above(v.port, true)
	letters(&v.quads, func(x0, y0, x1, y1 float32) { t.Errorf("a letter at %v,%v is in the particles' batch", x0, y0) })
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 390, Y: 844}} {
		v.frameOf(shaped(size), 1)
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.popups(v.port)
		plates, n := v.quads.Vertices(), 0
		letters(&v.quads, func(x0, y0, x1, y1 float32) {
			n++
			for q := plates; len(q) > render.VertsPerQuad; q = q[render.VertsPerQuad:] {
				if a, b := &q[0], &q[3]; a.SrcX == b.SrcX && a.ColorA >= 0.7*q[render.VertsPerQuad].ColorA && max(a.ColorR, a.ColorG, a.ColorB) < 0.05 &&
					a.DstX <= x0 && b.DstX >= x1 && b.DstY-a.DstY > (y1-y0)*0.6 && a.DstY > y0 && b.DstY < y1 {
					return
				}
			}
			t.Errorf("%v: a letter at %v,%v has no plate", size, x0, y0)
		})
		if n == 0 {
			t.Errorf("%v: no score floats", size)
		}
	}
}

// If the static tier has space for few quads, the scores that float took those of the HUD, which is drawn after them.
func TestPopups_LeaveTheHUDItsQuads(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Realm: "spore", Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: 20_000}})
	popups := func() (n int) {
		v.s.Game.EachPopup(func(*game.Popup, []byte) { n++ })
		return n
	}
	for tick := uint64(500); popups() < 4 && tick < 2000; tick++ {
		v.playTo(t, tick)
	}
	signs := func(room int) (hud int) {
		v.frameOf(window, 1)
		v.quads.Begin(make([]render.Vertex, room*render.VertsPerQuad), make([]uint32, room*render.IndicesPerQuad), v.atlas, v.ui.view)
		v.popups(window)
		before := v.quads.Room()
		v.ship(window)
		v.hud()
		return before - v.quads.Room()
	}
	most := signs(4096)
	for _, room := range []int{most, most + 10} {
		if hud := signs(room); hud != most {
			t.Errorf("of %d quads the HUD gets %d of %d beside %d scores", room, hud, most, popups())
		}
	}
	if signs(most); v.quads.Dropped == 0 {
		t.Error("the scores that are left out do not count as dropped")
	}
}
