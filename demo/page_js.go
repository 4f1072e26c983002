package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall/js"

	"github.com/strata-go/strata/assets"
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
	return map[string]any{
		"ticks": a.s.Game.Ticks, "hash": fmt.Sprintf("%016x", a.s.Game.Hash()),
		"playing": a.s.Playing(), "screen": screens[a.sh.Screen()], "realm": realm,
		"hand":    a.v.Menu.Device.String(),
		"overlay": a.v.Overlay.Shown(overlay.Strip), "mute": a.sh.Settings().Mute,
		"soft": ground.Soft(), "missing": a.s.Ground.Missing(), "failures": a.s.Stream.Stats().Failures,
		"clips": a.audio.mixer.Stats().Clips, "sound": a.audio.device.Live(),
		"go": m.Sys, "live": m.HeapAlloc,
	}
}
