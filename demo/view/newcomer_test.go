package view

import (
	"flag"
	"image"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/newcomer"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

// A sitting is a newcomer in front of a window: it sees what is drawn, and its hands reach the shell and the game as in
// the program. Nothing is drawn by a GPU.
type sitting struct {
	t      testing.TB
	v      *View
	sh     *shell.Shell
	keys   render.Bindings
	eye    *eye
	player newcomer.Player
	hands  newcomer.Hands
	held   newcomer.Hands
	blind  func(*newcomer.Frame) // hides something of a frame from the player
	device render.Device
	gift   int
	first  uint64 // tick of the first offer; 0 is none
	size   image.Point
}

func sit(t testing.TB, seed uint64, realm string) *sitting {
	t.Helper()
	b := &sitting{t: t, keys: render.DefaultBindings(), size: image.Pt(1280, 720)}
	b.v = newShown(t, session.Config{Realm: realm, Sink: b.sink, Game: game.Config{Seed: seed, Quads: 40_000}})
	b.sh = shell.New(shell.Config{Bindings: &b.keys})
	b.v.Attach(b.sh, &b.keys)
	b.v.Teach(true)
	b.v.Comfort(b.sh.Settings())
	b.eye = newEye(t, b.v)
	return b
}

// sink gives the pictures of a realm to the view.
func (b *sitting) sink(id string, p stream.Picture) error { return b.v.Sink(id, p) }

// learn gives the eye the names of the pictures that are loaded.
func (e *eye) learn(v *View) {
	for _, a := range v.s.Game.Manifest.Assets {
		if id, err := v.atlas.ID(a.ID); err == nil && v.atlas.Loaded(id) {
			e.names[v.atlas.Lookup(id)] = a.ID
		}
	}
}

// look has the eye see what Draw draws, and the player look at that.
func (b *sitting) look() {
	v, e := b.v, b.eye
	vp := shaped(b.size)
	v.frameOf(vp, 1)
	v.open()
	e.begin(b.size)
	v.begin(game.Sprites, vp.View())
	v.world(vp)
	e.look(&v.quads)
	v.begin(game.Sparks, vp.View())
	v.above(vp, false)
	e.look(&v.quads)
	v.begin(game.Signs, v.ui.view)
	v.popups(vp)
	v.ship(vp)
	v.hud()
	v.menu()
	e.look(&v.quads)
	if v.chosen() {
		v.begin(game.Signs, v.ui.view)
		v.Menu.Draw(&v.quads)
		e.look(&v.quads)
	}
	if b.blind != nil {
		b.blind(&e.frame)
	}
	b.hands = b.player.Look(&e.frame)
}

// frame is one of the program.
func (b *sitting) frame() {
	g, vp := b.v.s.Game, shaped(b.size)
	mouse := vp.View().Invert(b.hands.Mouse)
	c := b.v.Canvas(b.device)
	b.sh.Place(c.Shell())
	at := c.FromScreen(mouse)
	if cmd := b.sh.Step(shell.Nav{X: at[0], Y: at[1], Moved: true, Click: b.hands.Click && !b.held.Click}); cmd == shell.ChooseGift {
		b.gift = 1 + b.sh.Chosen()
	}
	b.v.Point(mouse, b.device, true, [2]render.Thumb{})
	in := b.input(mouse)
	b.held = b.hands
	if b.gift > 0 && !g.Offered {
		b.gift = 0
	}
	if b.gift > 0 {
		in.Pressed.Set([...]engine.Buttons{game.Choose1, game.Choose2, game.Choose3}[b.gift-1], true)
	} else if g.Offered && g.Player.Alive && b.sh.Screen() == shell.Playing {
		if b.first == 0 {
			b.first = g.Ticks
		}
		b.sh.Offer([]shell.Gift{{Name: game.GiftNames[g.Offer[0]]}, {Name: game.GiftNames[g.Offer[1]]}, {Name: game.GiftNames[g.Offer[2]]}})
	}
	b.v.s.Paused = b.sh.Screen() != shell.Playing && g.Ticks > 0 // before the first tick nothing can be drawn
	if err := b.v.s.Frame(in); err != nil {
		b.t.Fatal(err)
	}
	b.v.Update()
}

// input is that of the hands.
func (b *sitting) input(mouse vec) (in engine.Input) {
	if b.sh.Screen() != shell.Playing {
		return in
	}
	on := func(h *newcomer.Hands, a render.Action) bool { return h.Holds(b.keys.Prompt(a, render.Keyboard)) }
	h := &b.hands
	for a, d := range map[render.Action]vec{render.MoveUp: {0, -1}, render.MoveLeft: {-1, 0}, render.MoveDown: {0, 1}, render.MoveRight: {1, 0}} {
		if on(h, a) {
			in.Move = in.Move.Add(d)
		}
	}
	in.Aim = mouse.Sub(b.v.PlayerOnScreen())
	in.Down.Set(game.Fire, on(h, render.Fire))
	in.Pressed.Set(game.Dash, on(h, render.Dash) && !on(&b.held, render.Dash))
	return in
}

// play plays for so many ticks, or until done returns true.
func (b *sitting) play(ticks uint64, done func(*game.Game) bool) bool {
	for end := testenv.Deadline(b.t); !b.v.s.Playing(); {
		b.frame()
		if time.Sleep(50 * time.Microsecond); time.Now().After(end) {
			b.t.Fatal("no realm before the deadline")
		}
	}
	b.frame()
	b.eye.learn(b.v)
	for n := 0; b.v.s.Game.Ticks < ticks; n++ {
		if n > int(ticks)*3 {
			b.t.Fatalf("screen %d does not end", b.sh.Screen())
		}
		if n%3 == 0 {
			b.look()
		}
		if b.frame(); done(b.v.s.Game) {
			return true
		}
	}
	return false
}

const minute = 60 * 60

// newcomers is how many of them play: bash .ci/nightly balance has twenty.
var newcomers = flag.Int("newcomers", 0, "have so many newcomers play three minutes of the first run; 0: until one of three breaks a seal")

func TestNewcomer_BreaksASealWithinThreeMinutes(t *testing.T) {
	testenv.Longest(t)
	runs, enough := 3, 1
	if *newcomers > 0 {
		runs, enough = *newcomers, (*newcomers*3+3)/4
	}
	broke := 0
	for seed := 1; seed <= runs && (*newcomers > 0 || broke == 0); seed++ {
		b := sit(t, uint64(seed), "ember")
		b.play(3*minute, func(g *game.Game) bool { return g.Broken > 0 || g.Phase == game.Over })
		g := b.v.s.Game
		if g.Broken > 0 {
			broke++
		}
		t.Logf("seed %d: %d s, hull %d, %d seals broken, %d kills, the first gift after %d s", seed, g.Ticks/60, g.Player.Hull, g.Broken, g.Kills, b.first/60)
	}
	if broke < enough {
		t.Errorf("%d of %d break a seal", broke, runs)
	}
}

// Without the lines, the arrow or any text a newcomer fights at most, and does not find a seal in a time in which others
// do.
func TestNewcomer_NeedsTheLinesAndTheArrow(t *testing.T) {
	testenv.Longest(t)
	for name, set := range map[string]func(*sitting){
		"the lines": func(b *sitting) { b.v.Teach(false) },
		"the arrow": func(b *sitting) { b.blind = func(f *newcomer.Frame) { f.Triangles = nil } },
	} {
		b := sit(t, 1, "ember")
		set(b)
		b.play(80*60, func(g *game.Game) bool { return g.Broken > 0 || g.Phase == game.Over })
		if g := b.v.s.Game; g.Broken > 0 || g.Kills == 0 {
			t.Errorf("without %s: %d seals are broken after %d s, %d kills", name, g.Broken, g.Ticks/60, g.Kills)
		}
	}
}

// The first seconds: a newcomer finds PLAY, reads how to fly and fire, fells scouts, and takes a gift. One who cannot
// read does nothing.
func TestNewcomer_ReadsItsWayToTheFirstGift(t *testing.T) {
	testenv.Long(t)
	const first = 8 * 60
	b := sit(t, 1, "ember")
	took := func(g *game.Game) bool { return b.first > 0 && !g.Offered }
	if g := b.v.s.Game; !b.play(first, took) {
		t.Errorf("%d kills and %d embers after %d s", g.Kills, g.Embers, g.Ticks/60)
	}
	b = sit(t, 1, "ember")
	b.sh.Step(shell.Nav{Select: true})
	b.blind = func(f *newcomer.Frame) { f.Texts = nil }
	if g := b.v.s.Game; b.play(first, took) || g.Kills > 0 {
		t.Errorf("without a text: %d kills", g.Kills)
	}
}
