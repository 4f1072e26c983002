package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall/js"

	"github.com/go-gl/mathgl/mgl32"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render/overlay"
)

// readWhole returns a file of the page's server.
func readWhole(name string, _ int64) ([]byte, error) { return assets.Download(name) }

// endings are the signals that end a run. A page has none.
func endings() []os.Signal { return nil }

// attach ends the page's display of loading and pauses the game when the page is hidden: from then on no frame is
// drawn that would notice. Tests of the page read the game's state with strata.state(). detach undoes all of it.
func (a *app) attach() (detach func()) {
	document := js.Global().Get("document")
	hidden := js.FuncOf(func(js.Value, []js.Value) any {
		if document.Get("hidden").Bool() {
			a.focus(false)
			a.ended() // it may be the last that is seen of it
		}
		return nil
	})
	document.Call("addEventListener", "visibilitychange", hidden)
	page := js.Global().Get("strata")
	state := js.FuncOf(func(js.Value, []js.Value) any { return a.state() })
	if page.Truthy() { // another page may have none
		page.Set("state", state)
		page.Call("begun")
	}
	return func() {
		document.Call("removeEventListener", "visibilitychange", hidden)
		if page.Truthy() {
			page.Delete("state")
		}
		hidden.Release()
		state.Release()
	}
}

// needsPress reports whether the browser covers the screen only after a press. Some cannot cover it at all.
func needsPress() bool {
	document := js.Global().Get("document")
	return document.Get("fullscreenEnabled").Truthy() || document.Get("webkitFullscreenEnabled").Truthy()
}

// state is what a test of the page wants to know.
func (a *app) state() map[string]any {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	ground := a.s.Ground.Stats()
	realm := ""
	if m := a.s.Flow.Level(); m != nil { // it may still load
		realm = m.Name
	}
	screens := map[shell.Screen]string{
		shell.Title: "title", shell.Playing: "playing", shell.Paused: "paused", shell.Ask: "ask", shell.Setup: "setup", shell.Keys: "keys",
		shell.Gifts: "gifts", shell.Ending: "ending", shell.Over: "over", shell.Table: "table", shell.Saved: "saved",
		shell.Legend: "legend",
	}
	s := map[string]any{
		"ticks": a.s.Game.Ticks, "hash": fmt.Sprintf("%016x", a.s.Game.Hash()),
		"broken": a.s.Game.Broken, "hull": int(a.s.Game.Player.Hull),
		"playing": a.s.Playing(), "screen": screens[a.sh.Screen()], "realm": realm,
		"note": a.sh.Note(), "thumbs": a.thumbs,
		"hand":    a.v.Menu.Device.String(),
		"overlay": a.v.Overlay.Shown(overlay.Strip), "mute": a.sh.Settings().Mute, "fullscreen": a.sh.Settings().Fullscreen,
		"soft": ground.Soft(), "missing": a.s.Ground.Missing(), "failures": a.s.Stream.Stats().Failures,
		"clips": a.audio.mixer.Stats().Clips, "sound": a.audio.device.Live(),
		"go": m.Sys, "live": m.HeapAlloc,
	}
	a.guide(s)
	return s
}

// guide adds what a test needs that plays with a device. That is what the autopilot would do, and how far the goal is
// from the ship. The ship and the items of a menu are in pixels of the logical screen.
func (a *app) guide(s map[string]any) {
	pair := func(v mgl32.Vec2) any { return []any{v[0], v[1]} }
	if g := a.s.Game; a.s.Playing() {
		in := g.Autopilot()
		s["move"], s["aim"], s["fire"] = pair(in.Move), pair(in.Aim), in.Down.Has(game.Fire)
		s["ship"], s["goal"] = pair(a.v.PlayerOnScreen()), pair(g.GoalAt().Sub(g.Player.P))
	}
	c := a.v.Canvas(a.v.Menu.Device)
	zero := c.FromScreen(mgl32.Vec2{})
	scale := c.FromScreen(mgl32.Vec2{1, 1}).Sub(zero)[0]
	items := map[string]any{}
	for _, it := range a.sh.Items() {
		b := it.Box
		items[it.Label] = pair(mgl32.Vec2{b.X + b.W/2, b.Y + b.H/2}.Sub(zero).Mul(1 / scale))
	}
	s["items"] = items
}
