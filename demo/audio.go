package main

import (
	"fmt"
	"io"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/render"
)

// audio is what the window's game sounds like. The decoded sounds lie in the session's large tier,
// under a tag of their own.
type audio struct {
	events cue.Events
	signal cue.Events // that belong to no tick
	mixer  *sound.Mixer
	bank   *sound.Bank
	device *sound.Device
	realm  string // whose music was requested
	asked  []sounding
	begun  bool   // sounds are requested
	back   bool   // time runs backwards
	tick   uint64 // that was heard last
}

// A sounding is a requested file.
type sounding struct {
	name   string
	ticket stream.Handle[sound.Clip]
}

// start loads the effects and opens a device.
func (a *audio) start(s *session.Session, stderr io.Writer) error {
	err := a.load(s, stderr)
	if err != nil {
		return err
	}
	a.device, err = sound.Open(a.mixer, stderr)
	return err
}

// load requests the effects, which no realm owns, and waits until they are decoded. A browser plays no sound before
// the player has pressed something. There nothing is requested, and so downloaded, until then: see update.
func (a *audio) load(s *session.Session, stderr io.Writer) error {
	home, err := s.Hosted("sound")
	if err != nil {
		return err
	}
	a.mixer = sound.NewMixer()
	a.bank = sound.NewBank(a.mixer, home, func(err error) { fmt.Fprintln(stderr, "demo:", err) })
	if err := stream.Register(s.Stream, a.bank.Kind()); err != nil {
		return err
	}
	if !browser {
		a.begin(s)
		a.wait(s)
	}
	return nil
}

// begin requests the effects. From now on update requests the music of each realm.
func (a *audio) begin(s *session.Session) {
	a.begun = true
	for _, name := range sound.Effects() {
		a.ask(s.Stream, name)
	}
}

// wait waits until the requested files are decoded.
func (a *audio) wait(s *session.Session) {
	for len(a.asked) > 0 {
		s.Stream.Wait()
		s.Stream.Poll()
		a.heard()
	}
}

// ask requests a file for the bank.
func (a *audio) ask(in stream.In, name string) {
	a.asked = append(a.asked, sounding{name, stream.Request[sound.Clip](in, name, stream.ETA(2))})
}

// heard removes the requests that are complete and reports failed ones to the bank. The streamer logs them.
func (a *audio) heard() {
	still := a.asked[:0]
	for _, x := range a.asked {
		switch x.ticket.State() {
		case stream.Failed:
			a.bank.Fail(x.name, nil)
		case stream.Loaded, stream.Vacant:
		default:
			still = append(still, x)
		}
	}
	a.asked = still
}

// set takes over what the settings say about sound.
func (a *audio) set(s *shell.Settings) {
	if a == nil || a.mixer == nil {
		return
	}
	share := func(v int) float32 { return float32(v) / shell.Steps }
	a.mixer.SetVolumes(sound.Volumes{Master: share(s.Master), Effects: share(s.Effects), Music: share(s.Music), Mute: s.Mute})
}

// focus silences a window without focus.
func (a *audio) focus(now bool) {
	if a != nil && a.device != nil {
		a.device.Focus(now)
	}
}

// update is one frame, also of a game that is paused or loads. A nil audio is silence.
func (a *audio) update(s *session.Session, nav *render.Nav) {
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
	if !a.begun && a.device != nil && a.device.Live() {
		a.begin(s)
	}
	if g := s.Game; s.Playing() && a.begun {
		if g.Manifest.Name != a.realm {
			a.realm = g.Manifest.Name
			a.enter(s)
		}
		a.mixer.SetHeat(g.Heat / game.HeatMost)
	}
	if s.Game.Ticks < a.tick { // what has not happened any more fades out
		a.mixer.CutAfter(s.Game.Ticks)
	}
	a.tick = s.Game.Ticks
	a.mixer.Hear(&a.events, ear, s.Game.Ticks)
	a.events.Reset()
	a.heard()
	if a.device == nil {
		a.mixer.Update()
		return
	}
	a.device.Update()
}

// rewind is what is heard while time runs backwards: the music does, too.
func (a *audio) rewind(on bool) {
	if a == nil || a.mixer == nil || !on && !a.back {
		return
	}
	if on != a.back {
		a.back = on
		a.mixer.SetBack(on)
		a.signal.Sound(cue.Portal, 0, 0, rewindStrength)
	}
	a.mixer.Hear(&a.signal, sound.Listener{}, 0) // of no tick: it is not cut
	a.signal.Reset()
}

// rewindStrength is how loud time turns around.
const rewindStrength = 0.8

// enter requests the realm's music, if it has any.
func (a *audio) enter(s *session.Session) {
	for r := range sound.Realms {
		if r.String() != a.realm {
			continue
		}
		a.bank.Enter(r, 2)
		for l := range sound.Layers {
			a.ask(s.Flow.Scope(), sound.MusicFile(r, l))
		}
	}
}

// left ends the realm's music before its memory is counted.
func (a *audio) left() {
	if a.bank != nil {
		a.bank.Cut()
		a.asked = a.asked[:0]
		a.realm = ""
	}
}

// stop frees everything, before the session closes. It may be called if start failed or was not called.
func (a *audio) stop() {
	if a.device != nil {
		a.device.Close()
	}
	if a.bank != nil {
		a.bank.Close()
		a.mixer.Close()
	}
}
