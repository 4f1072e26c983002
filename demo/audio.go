package main

import (
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/render"
)

// audio is what the window's game sounds like. The decoded sounds lie in the session's large tier,
// under a tag of their own.
type audio struct {
	events cue.Events
	mixer  *sound.Mixer
	bank   *sound.Bank
	device *sound.Device
	level  string // whose music was asked for
}

// soundSlice is what decoding may take of a frame.
const soundSlice = 2 * time.Millisecond

// start decodes the effects, which no level owns, and looks for a device. In a browser, where they come
// from afar, they are decoded while one plays. Files without sounds get those of the game.
func (a *audio) start(home memory.Allocator, files fs.FS, stderr io.Writer) error {
	if _, err := fs.Stat(files, "sound"); err != nil {
		files = assets.FS()
	}
	a.mixer = sound.NewMixer()
	a.bank = sound.NewBank(a.mixer, files, home, func(err error) { fmt.Fprintln(stderr, "demo:", err) })
	a.bank.Queue(sound.Effects()...)
	for !browser && !a.bank.Step(time.Second) {
	}
	var err error
	a.device, err = sound.Open(a.mixer, stderr)
	return err
}

// set takes over what the settings say about sound.
func (a *audio) set(s *shell.Settings) {
	if a == nil || a.mixer == nil {
		return
	}
	share := func(v int) float32 { return float32(v) / shell.Steps }
	a.mixer.SetVolumes(sound.Volumes{Master: share(s.Master), Effects: share(s.Effects), Music: share(s.Music), Mute: s.Mute})
}

// focus has a window that nobody looks at fall silent.
func (a *audio) focus(now bool) {
	if a != nil && a.device != nil {
		a.device.Focus(now)
	}
}

// update is one frame, also of a game that is paused or loads. A nil audio is silence.
func (a *audio) update(s *game.Session, nav *render.Nav) {
	if a == nil || a.mixer == nil {
		return
	}
	ear := sound.Listener{X: s.Game.Player.P[0], Y: s.Game.Player.P[1]}
	switch {
	case nav.Select || nav.Click:
		a.events.Sound(cue.Select, ear.X, ear.Y, 0.7)
	case nav.Up || nav.Down || nav.Left || nav.Right:
		a.events.Sound(cue.Move, ear.X, ear.Y, 0.7)
	}
	if g := s.Game; s.Playing() {
		if g.Level.Name != a.level {
			a.level = g.Level.Name
			a.enter()
		}
		a.mixer.SetHeat(g.Heat / game.HeatMost)
	}
	a.mixer.Hear(&a.events, ear, s.Game.Ticks)
	a.events.Reset()
	a.bank.Step(soundSlice)
	a.device.Update()
}

// enter asks for the level's music, where it has one.
func (a *audio) enter() {
	for r := range sound.Realms {
		if r.String() != a.level {
			continue
		}
		a.bank.Enter(r, 2)
		for l := range sound.Layers {
			a.bank.Queue(sound.MusicFile(r, l))
		}
	}
}

// left ends the level's music before its memory is counted.
func (a *audio) left() {
	if a.bank != nil {
		a.bank.Cut()
		a.level = ""
	}
}

// stop gives everything back. It may be called where start has failed, or never was.
func (a *audio) stop() {
	if a.device != nil {
		a.device.Close()
	}
	if a.bank != nil {
		a.bank.Close()
		a.mixer.Close()
	}
}
