package main

import (
	"fmt"
	"io"
	"math"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/demo/sound/loudness"
	"github.com/strata-go/strata/demo/sound/wav"
	"github.com/strata-go/strata/render"
)

const (
	wavTicks     = 3600      // a minute
	wavTicksMost = 10 * 3600 // it lies in memory until it is written
	tickFrames   = sound.Rate / 60
	brightness   = 2200 // Hz, from where on a small loudspeaker plays
)

// A recorder is what -wav hears of a run without a window, with the volumes of a new player. A nil recorder hears
// nothing. In a browser there is none, and the linker leaves out what only it uses.
type recorder struct {
	audio      audio
	ticks      uint64 // of the game, that were heard
	from, to   float32
	pcm        []int16
	mix, music hearing
}

// A hearing is a sound as it is measured.
type hearing struct {
	frames   [2 * tickFrames]float32
	meter    *loudness.Meter
	spectrum *loudness.Spectrum
}

func (h *hearing) open() (err error) {
	h.spectrum = loudness.NewSpectrum(sound.Rate)
	h.meter, err = loudness.New(sound.Rate)
	return err
}

func (h *hearing) add() {
	h.meter.Add(h.frames[:])
	h.spectrum.Add(h.frames[:])
}

// newRecorder returns the recorder of -wav, or nil.
func (o *options) newRecorder() *recorder {
	if browser || o.wav == "" {
		return nil
	}
	return &recorder{}
}

// attach has a session's game heard.
func (r *recorder) attach(cfg *session.Config) {
	if !browser && r != nil {
		cfg.Game.Sound, cfg.Left = &r.audio.events, r.audio.left
	}
}

// start loads the effects.
func (r *recorder) start(s *session.Session, stderr io.Writer) error {
	if browser || r == nil {
		return nil
	}
	r.from = math.MaxFloat32
	if err := r.mix.open(); err != nil {
		return err
	}
	if err := r.music.open(); err != nil {
		return err
	}
	if err := r.audio.load(s, stderr); err != nil {
		return err
	}
	shipped := shell.DefaultSettings()
	r.audio.set(&shipped)
	return nil
}

// hear records the tick that a frame of the session has played, if any. It waits for the music, so that the same game
// sounds the same each time.
func (r *recorder) hear(s *session.Session) {
	if browser || r == nil || s.Game.Ticks == r.ticks {
		return
	}
	r.ticks = s.Game.Ticks
	r.from, r.to = min(r.from, s.Game.Heat), max(r.to, s.Game.Heat)
	r.audio.update(s, &render.Nav{})
	r.audio.wait(s)
	r.audio.mixer.Render(r.mix.frames[:], r.music.frames[:])
	r.mix.add()
	r.music.add()
	for _, x := range r.mix.frames {
		r.pcm = append(r.pcm, int16(math.Round(float64(x)*math.MaxInt16)))
	}
}

// stop frees the sounds, before the session closes.
func (r *recorder) stop() {
	if !browser && r != nil {
		r.audio.stop()
	}
}

// A soundReport is the figures of what was heard: LUFS by ITU-R BS.1770-4, and dBTP.
type soundReport struct {
	Realm      string  `json:"realm"` // the first
	Seconds    float64 `json:"seconds"`
	HeatLeast  float32 `json:"heat_least"`
	HeatMost   float32 `json:"heat_most"`
	Integrated float64 `json:"lufs"`
	Momentary  float64 `json:"lufs_400ms_max"`
	ShortTerm  float64 `json:"lufs_3s_max"`
	TruePeak   float64 `json:"dbtp"`
	Music      float64 `json:"lufs_music"`
	Bright     float64 `json:"db_above_2200"` // of all power
	BrightTune float64 `json:"db_above_2200_music"`
	DelayMS    float64 `json:"delay_ms"` // of the buffers after a tick

	mix   *loudness.Spectrum
	music *loudness.Spectrum
}

// report returns the figures, or nil.
func (r *recorder) report(realm string) *soundReport {
	if browser || r == nil {
		return nil
	}
	m := r.mix.meter
	return &soundReport{
		Realm: realm, Seconds: m.Seconds(), HeatLeast: r.from, HeatMost: r.to,
		Integrated: finite(m.Integrated()), Momentary: finite(m.Momentary()), ShortTerm: finite(m.ShortTerm()), TruePeak: finite(m.TruePeak()),
		Music:  finite(r.music.meter.Integrated()),
		Bright: finite(r.mix.spectrum.Share(brightness, sound.Rate)), BrightTune: finite(r.music.spectrum.Share(brightness, sound.Rate)),
		DelayMS: sound.Delays().Sum().Seconds() * 1e3, mix: r.mix.spectrum, music: r.music.spectrum,
	}
}

// finite replaces the level of silence by one that JSON can write.
func finite(db float64) float64 {
	if math.IsNaN(db) {
		return -200
	}
	return max(db, -200)
}

// print writes the figures for a person.
func (r *soundReport) print(w io.Writer) {
	v := shell.DefaultSettings()
	fmt.Fprintf(w, "sound: %.1f s of %s at heat %.1f to %.1f, with volume %d, effects %d and music %d of %d\n",
		r.Seconds, r.Realm, r.HeatLeast, r.HeatMost, v.Master, v.Effects, v.Music, shell.Steps)
	fmt.Fprintf(w, "  loudness       %6.1f LUFS; the loudest 3 s %.1f, the loudest 400 ms %.1f\n", r.Integrated, r.ShortTerm, r.Momentary)
	fmt.Fprintf(w, "  true peak      %6.1f dBTP\n", r.TruePeak)
	fmt.Fprintf(w, "  music          %6.1f LUFS, %.1f LU below the mix\n", r.Music, r.Integrated-r.Music)
	fmt.Fprintf(w, "  above 2.2 kHz  %6.1f dB of the mix, %.1f dB of the music\n", r.Bright, r.BrightTune)
	for _, s := range []struct {
		name     string
		spectrum *loudness.Spectrum
	}{{"mix", r.mix}, {"music", r.music}} {
		fmt.Fprintf(w, "  octaves, dB    ")
		for hz := 31.25; hz < sound.Rate/2; hz *= 2 {
			fmt.Fprintf(w, " %.0f Hz %.0f", hz*math.Sqrt2, finite(s.spectrum.Share(hz, 2*hz)))
		}
		fmt.Fprintf(w, "  of the %s\n", s.name)
	}
	d := sound.Delays()
	fmt.Fprintf(w, "  after a tick   %6.1f ms: %.1f in the mixer, %.1f in the player, %.1f in the device\n",
		d.Sum().Seconds()*1e3, d.Mixer.Seconds()*1e3, d.Player.Seconds()*1e3, d.Device.Seconds()*1e3)
}

// save writes what was heard.
func (r *recorder) save(name string) error {
	if browser || r == nil {
		return nil
	}
	return save(name, func(w io.Writer) error { return wav.Write(w, sound.Rate, 2, r.pcm) })
}
