package main

import (
	"sync/atomic"
	"time"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/view"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// app is the game of a window: the shell selects the screen, the session plays, and the view draws both.
type app struct {
	o        *options
	s        *session.Session
	v        *view.View
	sh       *shell.Shell
	audio    *audio
	controls *render.Controls
	timer    *meter.Timer
	rows     *series

	shoot   bool // a screenshot ends the run, not the count of ticks
	count   bool // -books is pending: it includes the window's memory, so it is read before the window closes
	counted *books
	waiting shell.Command // until a realm is played
	focused bool
	seen    shell.Screen // in the frame before
	full    bool         // covering the screen was last asked for
	apart   int          // frames since which the window does otherwise
	thumbs  int          // on the screen
	wish    bool         // full screen is on in the settings, and the browser waits for a press
	frames  uint64
	tempo   tempo
	stopped *atomic.Bool // by a signal
	store   shell.Store  // nil keeps nothing
	loading bool         // a saved run
	tape    *tape        // of -record or -replay

	particles int    // most alive in the player's game
	before    uint64 // collections before it
	snap      tiers.Snapshot
	struck    bool   // the pose of -screen
	met       uint64 // the tick in which the warden of -screen came
	gift      int    // that was chosen, from 1; 0 is none
	dash      bool   // was pressed in a hit-stop, which ignores it
	had       [game.GiftKinds]uint8
	gifts     [3]shell.Gift
	offer     [3]game.Gift // of these gifts
	live      bool         // the player's game is played, and not yet in the table as ended
	begun     uint64       // games of the player's so far
	seed      uint64       // of the player's game
}

// newApp makes the shell. Pictures are taken of a new player's game: they neither read nor write what
// is kept.
func (o *options) newApp(s *session.Session, v *view.View, au *audio, t *tape) *app {
	a := &app{
		o: o, s: s, v: v, audio: au, shoot: o.screenshot != "" || o.capture != "", count: o.books, stopped: &o.stopped,
		controls: &render.Controls{Bindings: render.DefaultBindings()}, rows: newSeries(o.every, o.ticks),
		tape: t, timer: v.Overlay.Meter().Timer("tick"),
	}
	if !a.shoot {
		a.store = o.store()
	}
	a.sh = shell.New(shell.Config{
		Store: a.store, Saves: a.store != nil || a.shoot, Bindings: &a.controls.Bindings, NoQuit: browser, Playing: o.autopilot || t.playing(),
		Log: func(line string) { o.log(line) }, Today: today,
	})
	a.full = a.sh.Settings().Fullscreen
	a.wish = a.full && needsPress()
	a.showSaves()
	v.Attach(a.sh, &a.controls.Bindings)
	v.Comfort(a.sh.Settings())
	v.Teach(!o.autopilot)
	au.set(a.sh.Settings())
	return a
}

// store is where settings and runs are kept; nil keeps nothing.
func (o *options) store() shell.Store {
	switch o.config {
	case "":
		return shell.DefaultStore()
	case "none":
		return nil
	}
	return shell.Files{Dir: o.config}
}

// quit ends the run, with the window still there.
func (a *app) quit() (err error) {
	a.ended()
	if a.count {
		a.counted, err = keepBooks(a.s)
	}
	if err != nil {
		return err
	}
	return render.ErrQuit
}

// Update runs one frame with its input and at most one tick, or none if the overlay has frozen the game.
func (a *app) Update(in *render.Input) error {
	if a.stopped.Load() {
		return a.quit()
	}
	a.v.Overlay.Update()
	a.pace(time.Now())
	defer a.audio.update(a.s, &in.Nav)
	c := a.v.Canvas(in.Last)
	hide(in, a.sh.Items(), c.FromScreen(in.Nav.Pointer))
	if in.Panels {
		a.panels()
	}
	if a.v.Overlay.Frozen() {
		return a.v.Failed()
	}
	if a.o.ticks > 0 && a.s.Game.Ticks >= a.o.ticks && !a.shoot {
		return a.quit()
	}
	a.focus(render.Focused())
	a.covers(render.IsFullscreen())
	if a.shoot {
		*in = render.Input{} // of what the mouse happens to lie on there is no picture
		if a.o.screen == "touch" {
			in.Last = render.Touch
		}
	}
	if cmd := a.step(in); cmd == shell.Quit {
		return a.quit()
	} else if cmd != shell.None {
		a.do(cmd)
	}
	if a.tape.over(a.s) {
		return a.quit()
	}
	a.controls.Capture = a.sh.Capturing()
	if now := a.sh.Screen(); now != a.seen {
		a.seen, a.controls.Release = now, true
	}
	if err := a.hurried(); err != nil {
		return err
	}
	a.pose()
	a.thumbs = 0
	for _, t := range in.Thumbs {
		if t.Down {
			a.thumbs++
		}
	}
	a.v.Point(in.AimScreen, in.Last, in.Pointing, in.Thumbs)
	render.ShowCursor(a.sh.Screen() != shell.Playing && in.Last == render.Keyboard)
	if a.frames++; a.sh.Screen() == shell.Title && a.frames%2 == 0 && !a.shoot && a.s.Playing() {
		a.v.Update() // behind the title time runs at half its speed
		return nil
	}
	if a.tape.seeking(a.s) {
		if err := a.fastForward(in); err != nil {
			return err
		}
	}
	return a.frame(in)
}

// pace informs the player of a machine that is too slow. Frames of a -seek, and those in which a realm loads, tell
// nothing of play.
func (a *app) pace(now time.Time) {
	if share, slow := a.tempo.tick(now, a.s.Playing() && !a.tape.seeking(a.s)); slow && !a.shoot {
		a.v.Slow(share)
	}
}

// step passes the input to the shell.
func (a *app) step(in *render.Input) shell.Command {
	c := a.v.Canvas(in.Last)
	before := a.sh.Screen()
	if a.v.Drawn() { // the canvas is that of the window
		a.sh.Place(c.Shell())
	}
	cmd := a.sh.Step(a.nav(in, c.FromScreen(in.Nav.Pointer)))
	if before == shell.Playing && a.sh.Screen() == shell.Paused {
		a.keep() // what happens to a paused game is unknown
	}
	return cmd
}

// frame advances the session.
func (a *app) frame(in *render.Input) error {
	a.s.Paused = !a.sh.Running()
	e := engine.Input{}
	if a.sh.Screen() == shell.Playing {
		e = engine.Input{Move: in.Move, Aim: in.Aim}
		e.Down.Set(game.Fire, in.Fire)
		e.Pressed.Set(game.Dash, a.dashes(in.Dash))
		if a.s.Playing() {
			e.Aim = in.AimFrom(a.v.PlayerOnScreen())
		}
	}
	if err := a.tape.before(a.s); err != nil {
		return err
	}
	a.choose(&e)
	a.begin()
	if on, err := a.rewind(in); on || err != nil {
		return err
	}
	began := time.Now()
	a.timer.Start()
	err := a.s.Frame(e)
	a.timer.Stop()
	if err != nil {
		return err
	}
	a.tape.after(a.s)
	a.resumed()
	a.rows.add(a.s, time.Since(began))
	a.particles = max(a.particles, a.s.Game.Particles().Len())
	a.over()
	a.v.Update()
	return nil
}

// dashes reports whether the input has a press of Dash. A hit-stop ignores it, so it is repeated until the game moves.
func (a *app) dashes(pressed bool) bool {
	pressed = pressed || a.dash
	a.dash = pressed && a.s.Playing() && a.s.Game.Still()
	return pressed
}

// rewind goes back while the player holds the control. It reports whether that was this frame.
func (a *app) rewind(in *render.Input) (on bool, err error) {
	mine := a.sh.Screen() == shell.Playing && !a.o.autopilot && !a.s.Attract && a.waiting == shell.None
	if mine && in.Rewind && a.s.Past != nil && a.s.Past.Charges() == 0 {
		if _, on := a.s.Past.Rewinding(); !on {
			a.v.Empty()
		}
	}
	if on, err = a.s.Rewind(mine && in.Rewind); on {
		a.v.Rewound()
	}
	a.audio.rewind(on)
	return on, err
}

// giftSymbols are the pictures on the cards.
var giftSymbols = [game.GiftKinds]int{
	game.GiftVolley: view.SymbolFan, game.GiftSparks: view.SymbolOrbit, game.GiftLightning: view.SymbolChain,
	game.GiftMines: view.SymbolMine, game.GiftBeam: view.SymbolBeam, game.GiftHaste: view.SymbolHaste,
	game.GiftHull: view.SymbolHull, game.GiftFire: view.SymbolFire, game.GiftFrost: view.SymbolFrost,
}

// choose hands over the gift that was chosen, and offers the next ones.
func (a *app) choose(e *engine.Input) {
	g := a.s.Game
	if a.gift > 0 && g.Offered && g.Player.Alive && g.Gifts == a.had && a.waiting == shell.None {
		e.Pressed.Set([...]engine.Buttons{game.Choose1, game.Choose2, game.Choose3}[a.gift-1], true)
		return // until the game has it: for some ticks after a blow it takes nothing
	}
	a.gift = 0
	if (!g.Offered || g.Offer != a.offer) && !a.struck { // an earlier tick was selected
		a.sh.Withdraw()
	}
	if a.sh.Screen() != shell.Playing || a.o.autopilot || a.tape.playing() || a.s.Attract || !a.s.Playing() || a.waiting != shell.None {
		return
	}
	if g.Offered && g.Player.Alive {
		for i, k := range g.Offer {
			a.gifts[i] = shell.Gift{Name: game.GiftNames[k], Lines: g.GiftText(k), Figure: g.Figure(k), Symbol: giftSymbols[k], Have: int(g.Gifts[k])}
		}
		a.offer = g.Offer
		a.sh.Offer(a.gifts[:])
		a.s.Paused = !a.sh.Running()
	}
}

// focus pauses the game when the window loses the keyboard. A game that plays itself or whose picture is taken goes
// on.
func (a *app) focus(now bool) {
	if a.focused && !now && !a.shoot && !a.o.autopilot {
		a.sh.FocusLost()
	}
	if a.focused != now {
		a.audio.focus(now)
	}
	a.focused = now
}

// patience is how many frames a window may take to cover the screen.
const patience = 30

// covers makes the setting follow the window. Browsers and window managers have their own keys to leave full screen, and
// some refuse it. After a reload a browser covers the screen only when the player presses something.
func (a *app) covers(now bool) {
	if a.wish = a.wish && !now && a.sh.Settings().Fullscreen; a.wish {
		render.SetFullscreen(true)
		return
	}
	if now == a.full {
		a.apart = 0
		return
	}
	if a.apart++; a.apart >= patience {
		a.full, a.apart = now, 0
		a.sh.Covers(now)
	}
}

// do executes a command of the shell.
func (a *app) do(cmd shell.Command) {
	switch cmd {
	case shell.SettingsChanged:
		a.v.Comfort(a.sh.Settings())
		a.audio.set(a.sh.Settings())
		if on := a.sh.Settings().Fullscreen; on != a.full {
			a.full, a.apart = on, 0
			render.SetFullscreen(on)
		}
	case shell.Start, shell.Restart, shell.Leave:
		a.keep()
		a.live, a.waiting = false, cmd
	case shell.SaveRun:
		a.saveRun(a.sh.Slot())
	case shell.LoadRun:
		a.loadRun(a.sh.Slot())
	case shell.DeleteRun:
		a.deleteRun(a.sh.Slot())
	case shell.ChooseGift:
		a.gift, a.had = 1+a.sh.Chosen(), a.s.Game.Gifts
	}
}

// begin starts what was chosen as soon as a realm is played: only then can one be left.
func (a *app) begin() {
	if a.waiting == shell.None || !a.s.Playing() {
		return
	}
	a.live = a.waiting != shell.Leave
	a.s.Attract = !a.live
	a.s.Game.Restart()
	if a.live {
		a.seed = a.nextSeed()
		a.s.Game.Reseed(a.seed)
		a.sh.Begun()
	}
	a.tape.again(a.live)
	a.s.Start(a.o.realm)
	a.waiting, a.particles, a.before = shell.None, 0, a.collections()
}

// collections returns how many of the Go heap's fell into play so far.
func (a *app) collections() uint64 {
	a.s.Mem.Snapshot(&a.snap)
	return a.snap.Go.InPlay
}

// hide ignores the buttons on the screen if a finger presses an item of a menu, at a place of the canvas. A menu does not
// draw these buttons.
func hide(in *render.Input, items []shell.Item, at mgl32.Vec2) {
	for i := range items {
		b := &items[i].Box
		if in.Nav.Click && in.Last == render.Touch && at[0] >= b.X && at[0] < b.X+b.W && at[1] >= b.Y && at[1] < b.Y+b.H {
			in.Pause, in.Panels = false, false
		}
	}
}

// panels is the overlay's cycle for a finger: strip, strip and tiers, nothing.
func (a *app) panels() {
	o := a.v.Overlay
	switch {
	case o.Shown(overlay.Tiers):
		o.Show(overlay.Tiers, false)
		o.Show(overlay.Strip, false)
	case o.Shown(overlay.Strip):
		o.Show(overlay.Tiers, true)
	default:
		o.Show(overlay.Strip, true)
	}
}

// nav converts an input for the shell. The pointer is in pixels of the canvas.
func (a *app) nav(in *render.Input, at mgl32.Vec2) shell.Nav {
	n := &in.Nav
	out := shell.Nav{
		Up: n.Up, Down: n.Down, Left: n.Left, Right: n.Right, Select: n.Select, Back: n.Back,
		X: at[0], Y: at[1], Moved: n.Moved, Click: n.Click, Held: n.Held,
		Pause: in.Pause, Restart: in.Restart, Mute: in.Mute, Fullscreen: in.Fullscreen, Choose: in.Choose,
	}
	if a.controls.Capture && in.Captured != 0 {
		out.Captured = in.Captured.String()
		out.Cancel = out.Captured == "Escape"
	}
	return out
}

// Draw draws the frame that Update opened.
func (a *app) Draw(f *render.Frame) { a.v.Draw(f) }
