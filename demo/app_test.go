package main

import (
	"testing"
	"time"

	"github.com/go-gl/mathgl/mgl32"
	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

// offered is an app without a window, in whose game gifts are offered.
func offered(t *testing.T) (a *app, in func(shell.Nav)) {
	t.Helper()
	s, err := session.New(session.Config{Game: game.Config{Seed: 2}, FS: assets.FS(), Log: func(err error) { t.Log(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	a = &app{o: &options{realm: "ember"}, s: s, live: true, sh: shell.New(shell.Config{Playing: true})}
	in = func(n shell.Nav) {
		t.Helper()
		if cmd := a.sh.Step(n); cmd != shell.None {
			a.do(cmd)
		}
		s.Paused = !a.sh.Running()
		var e engine.Input
		a.choose(&e)
		a.begin()
		if err := s.Frame(e); err != nil {
			t.Fatal(err)
		}
		a.over()
	}
	a.arrive(t, in)
	s.Game.Offered, s.Game.Offer = true, [3]game.Gift{game.GiftVolley, game.GiftHaste, game.GiftFrost}
	return a, in
}

// arrive waits until a realm is played.
func (a *app) arrive(t *testing.T, in func(shell.Nav)) {
	t.Helper()
	for end := testenv.Deadline(t); !a.s.Playing() || a.waiting != shell.None; {
		in(shell.Nav{})
		if time.Sleep(100 * time.Microsecond); time.Now().After(end) {
			t.Fatal("no realm before the deadline")
		}
	}
}

func wait(in func(shell.Nav), frames int) {
	for range frames {
		in(shell.Nav{})
	}
}

func TestGifts_TheGameStandsUntilOneIsChosenAndTakesIt(t *testing.T) {
	a, in := offered(t)
	g := a.s.Game
	in(shell.Nav{})
	if a.sh.Screen() != shell.Gifts || len(a.sh.Gifts()) != 3 || a.sh.Gifts()[1].Name != game.GiftNames[game.GiftHaste] {
		t.Fatalf("screen %d with %v", a.sh.Screen(), a.sh.Gifts())
	}
	before := g.Ticks
	wait(in, 40)
	in(shell.Nav{Pause: true})
	wait(in, 5)
	in(shell.Nav{Pause: true})
	if g.Ticks != before || a.sh.Screen() != shell.Gifts {
		t.Fatalf("%d ticks went by, and the screen is %d", g.Ticks-before, a.sh.Screen())
	}
	in(shell.Nav{Choose: 2})
	wait(in, 2)
	if g.Offered || g.Gifts[game.GiftHaste] != 1 || a.sh.Screen() != shell.Playing || a.gift != 0 {
		t.Errorf("offered %v, gifts %v, screen %d, gift %d", g.Offered, g.Gifts, a.sh.Screen(), a.gift)
	}
	g.Embers = 10 * g.Need
	g.Offered, g.Offer = true, [3]game.Gift{game.GiftBeam, game.GiftMines, game.GiftSparks}
	wait(in, 40)
	in(shell.Nav{Choose: 1}) // and the next are offered in the same tick
	wait(in, 3)
	if !g.Offered || g.Gifts[game.GiftBeam] != 1 || a.sh.Screen() != shell.Gifts {
		t.Errorf("of the next: offered %v, gifts %v, screen %d", g.Offered, g.Gifts, a.sh.Screen())
	}
}

// An earlier tick that is selected while gifts are shown has other gifts, or none.
func TestGifts_AnEarlierTickShowsItsOwn(t *testing.T) {
	testenv.Long(t)
	a, in := offered(t)
	g := a.s.Game
	in(shell.Nav{})
	g.Offer = [3]game.Gift{game.GiftBeam, game.GiftMines, game.GiftSparks}
	in(shell.Nav{})
	if a.sh.Screen() != shell.Gifts || a.sh.Gifts()[0].Name != game.GiftNames[game.GiftBeam] {
		t.Errorf("screen %d with %v", a.sh.Screen(), a.sh.Gifts())
	}
	g.Offered = false
	in(shell.Nav{})
	if a.sh.Screen() != shell.Playing {
		t.Errorf("screen %d without gifts", a.sh.Screen())
	}
}

// The tick in which a gift is offered may be one of a blow, after which the game takes nothing for some.
func TestGifts_AChoiceIsTakenAfterABlow(t *testing.T) {
	testenv.Long(t)
	a, in := offered(t)
	g := a.s.Game
	wait(in, 40)
	a.do(a.sh.Step(shell.Nav{Choose: 3}))
	for range 6 {
		var e engine.Input
		if a.choose(&e); !e.Pressed.Has(game.Choose3) || a.sh.Screen() != shell.Playing {
			t.Fatalf("the game has not heard it: pressed %b, screen %d", e.Pressed, a.sh.Screen())
		}
	}
	wait(in, 3)
	if g.Offered || g.Gifts[game.GiftFrost] != 1 || a.gift != 0 || a.sh.Screen() != shell.Playing {
		t.Errorf("offered %v, gifts %v, gift %d, screen %d", g.Offered, g.Gifts, a.gift, a.sh.Screen())
	}
}

// A seal that breaks stops the game for some ticks. Who presses Dash in them dashes as soon as the game moves.
func TestDash_APressInAHitStopIsNotLost(t *testing.T) {
	testenv.Long(t)
	a, _ := offered(t)
	g := a.s.Game
	to := mgl32.Vec2{1, 0}
	frame := func(press bool) {
		t.Helper()
		if press {
			g.Player.Rest = 0
		}
		e := engine.Input{Move: to, Aim: to, Down: game.Fire}
		e.Pressed.Set(game.Dash, a.dashes(press))
		a.begin()
		if err := a.s.Frame(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, press := range []int{0, 1, 3} { // so many ticks after the seal broke
		broken, seal := g.Broken, &g.Seals[g.Broken]
		for i := 0; g.Broken == broken; i++ {
			seal.HP, g.Player.P, g.Player.Hull = 1, seal.P.Sub(mgl32.Vec2{60, 0}), g.Player.Most
			if frame(false); i == 600 {
				t.Fatal("the seal does not break")
			}
		}
		for k := 0; g.Still(); k++ {
			if frame(k == press); g.Player.Dash > 0 {
				t.Fatal("a dash in the hit-stop")
			}
		}
		if frame(false); g.Player.Dash <= 0 {
			t.Errorf("pressed %d ticks after the seal broke: no dash", press)
		}
		for range 30 {
			if frame(false); a.dash {
				t.Fatal("the press is still passed on")
			}
		}
		if g.Player.Dash > 0 {
			t.Error("one press dashes twice")
		}
	}
}

// press clicks an item.
func (a *app) press(t *testing.T, in func(shell.Nav), label string) {
	t.Helper()
	for i := range a.sh.Items() {
		if it := a.sh.Items()[i]; it.Label == label {
			in(shell.Nav{X: it.Box.X + 2, Y: it.Box.Y + 2, Moved: true, Click: true})
			return
		}
	}
	t.Fatalf("screen %d has no %s", a.sh.Screen(), label)
}

func TestGifts_ANewGameEndsAnOffer(t *testing.T) {
	testenv.Long(t)
	a, in := offered(t)
	g := a.s.Game
	wait(in, 40)
	in(shell.Nav{Pause: true})
	a.press(t, in, "START AGAIN")
	wait(in, 40)
	a.press(t, in, "START AGAIN")
	if a.s.Playing() {
		t.Fatal("no new game begins")
	}
	a.arrive(t, in)
	wait(in, 3)
	if g.Offered || a.sh.Screen() != shell.Playing || a.s.Attract {
		t.Errorf("offered %v, screen %d, attract %v", g.Offered, a.sh.Screen(), a.s.Attract)
	}

	g.Offered, g.Offer = true, [3]game.Gift{game.GiftVolley, game.GiftHaste, game.GiftFrost}
	in(shell.Nav{})
	in(shell.Nav{Pause: true})
	a.press(t, in, "LEAVE")
	wait(in, 40)
	a.press(t, in, "LEAVE")
	a.arrive(t, in)
	wait(in, 3)
	if g.Offered || a.sh.Screen() != shell.Title || !a.s.Attract {
		t.Errorf("at the title: offered %v, screen %d, attract %v", g.Offered, a.sh.Screen(), a.s.Attract)
	}

	a.press(t, in, "PLAY") // while the game plays itself, and again while that loads
	a.arrive(t, in)
	wait(in, 3)
	if a.sh.Screen() != shell.Playing || a.s.Attract || g.Played > 10 {
		t.Errorf("at play: screen %d, attract %v, %d ticks old", a.sh.Screen(), a.s.Attract, g.Played)
	}
	if err := a.s.EndFrame(); err != nil {
		t.Fatal(err)
	}
	if err := a.s.Check(); err != nil {
		t.Error(err)
	}
}

// Two windows on one screen take the keyboard from each other: a picture was waited for that never came.
func TestFocus_OnlyAPersonsGameIsPausedWhenItIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		autopilot, shoot, pauses bool
	}{
		"a person": {pauses: true}, "the autopilot": {autopilot: true}, "a picture": {shoot: true},
	} {
		a := &app{o: &options{autopilot: c.autopilot}, shoot: c.shoot, sh: shell.New(shell.Config{Playing: true})}
		a.focus(true)
		a.focus(false)
		if paused := a.sh.Screen() == shell.Paused; paused != c.pauses {
			t.Errorf("%s: paused is %t", name, paused)
		}
	}
}

// The picture of a warden is of the one that came so many ticks before, and the last of them take their time.
func TestPose_TheWardenIsPlayedToInAHurryAndMet(t *testing.T) {
	testenv.Long(t)
	a, _ := offered(t)
	g := a.s.Game
	g.Offered = false
	a.o.screen, a.o.ticks = "warden", calmly+30
	step := func() {
		t.Helper()
		if err := a.hurried(); err != nil {
			t.Fatal(err)
		}
	}
	began := g.Ticks
	if step(); a.met != 0 || a.fought() || g.Ticks < began+2 {
		t.Fatalf("with no warden there, %d ticks went by and it was met in tick %d", g.Ticks-began, a.met)
	}
	for i := range g.Seals {
		g.Seals[i].Broken = true
	}
	g.Broken = realm.Seals
	g.Player.P = g.Realm.Open(g.Realm.Place(realm.Heart), 24)
	for range 200 {
		if step(); a.met > 0 && g.Ticks >= a.met+30 {
			break
		}
	}
	if _, there := g.Boss(); !there || g.Ticks != a.met+30 || a.fought() {
		t.Fatalf("a warden is there: %v, met in tick %d of %d; the picture's time has come: %v", there, a.met, g.Ticks, a.fought())
	}
	step()
	if g.Ticks != a.met+30 {
		t.Error("what is before the picture is hurried, too")
	}
	g.Ticks += calmly
	if !a.fought() {
		t.Error("the picture's time never comes")
	}
}

// The cards of a picture are made up: no gift is offered, and they stay all the same.
func TestPose_TheCardsStayUntilThePicture(t *testing.T) {
	testenv.Long(t)
	a, in := offered(t)
	a.sh.Withdraw()
	a.s.Game.Offered = false
	a.o.screen, a.o.ticks = "gifts2", a.s.Game.Ticks
	a.pose()
	if in(shell.Nav{}); a.sh.Screen() != shell.Gifts {
		t.Errorf("the screen is %v, want that of the gifts", a.sh.Screen())
	}
}

// Each gift has a picture of its own. A spark is what the menu draws for a gift that it does not know.
func TestGiftSymbols_EachGiftHasItsOwn(t *testing.T) {
	gifts := map[int]string{view.SymbolSpark: "no gift"}
	for k, symbol := range giftSymbols {
		if other, taken := gifts[symbol]; taken {
			t.Errorf("%s has the picture of %s", game.GiftNames[k], other)
		}
		gifts[symbol] = game.GiftNames[k]
	}
}

// A game that began in an upright window was paused at once: the first frame looked as if the window had been turned.
func TestApp_TheFirstFrameTurnsNoWindow(t *testing.T) {
	v, err := view.New()
	if err != nil {
		t.Fatal(err)
	}
	a := &app{v: v, controls: &render.Controls{}, sh: shell.New(shell.Config{Playing: true})}
	for range 3 {
		a.step(&render.Input{}) // no frame is drawn yet
	}
	a.sh.Place(shell.Canvas{W: 325, H: 703})
	if a.sh.Screen() != shell.Playing {
		t.Errorf("screen %d: %s", a.sh.Screen(), a.sh.Note())
	}
}

// A player also leaves full screen by the browser's own key, and then no other setting may bring it back.
func TestFullscreen_SettingFollowsAWindowThatDoesOtherwise(t *testing.T) {
	a := &app{sh: shell.New(shell.Config{})}
	frames := func(n int, covered bool) bool {
		for range n {
			a.covers(covered)
		}
		return a.sh.Settings().Fullscreen
	}
	a.sh.Step(shell.Nav{Fullscreen: true})
	a.full = true // as do asks for
	if !frames(patience-1, false) || !frames(2*patience, true) || !frames(patience-1, false) {
		t.Error("a window that takes its time is given up")
	}
	if frames(1, false) || a.full {
		t.Error("the player has left full screen, and the setting is still on")
	}
	if !frames(patience, true) || !a.full {
		t.Error("the window covers the screen, and the setting is still off")
	}
	a.wish, a.full = true, true // after a reload
	if !frames(9*patience, false) || !a.wish {
		t.Error("before a press the setting is off")
	}
	if !frames(1, true) || a.wish || frames(patience, false) {
		t.Error("after the press the setting does not follow")
	}
	render.SetFullscreen(false)
}

// On a wide phone the button to pause lies over the third gift: a tap there paused and took no gift.
func TestTouch_AnItemHidesTheButtonsBelowIt(t *testing.T) {
	sh := shell.New(shell.Config{Playing: true})
	sh.Place(shell.Canvas{W: 577, H: 325, Finger: 36, Device: shell.Touch})
	sh.Offer(make([]shell.Gift, 3))
	b := sh.Items()[2].Box
	for _, c := range []struct {
		at     mgl32.Vec2
		click  bool
		device render.Device
		want   bool
	}{
		{mgl32.Vec2{b.X + b.W - 5, b.Y + 5}, true, render.Touch, false},
		{mgl32.Vec2{b.X + b.W - 5, b.Y + 5}, false, render.Touch, true}, // a second finger
		{mgl32.Vec2{b.X + b.W - 5, b.Y + 5}, true, render.Keyboard, true},
		{mgl32.Vec2{b.X + b.W, b.Y + 5}, true, render.Touch, true}, {mgl32.Vec2{b.X + 5, b.Y - 1}, true, render.Touch, true},
	} {
		in := render.Input{Last: c.device, Pause: true, Panels: true}
		in.Nav.Click = c.click
		if hide(&in, sh.Items(), c.at); in.Pause != c.want || in.Panels != c.want {
			t.Errorf("%+v: pause %v, panels %v", c, in.Pause, in.Panels)
		}
	}
}
