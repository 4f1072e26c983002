package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/demo/sound/loudness"
	"github.com/strata-go/strata/memory/tlsf"
)

// bright is the frequency from which on a small loudspeaker plays.
const bright = 2200

// figures are what ears would say of a sound, played by both channels as it is in its file.
type figures struct {
	seconds float64
	peak    float64 // dBTP
	loud    float64 // LUFS: of a loop all of it, of an effect the loudest 400 ms
	bright  float64 // dB of its power above bright
	center  float64 // mean frequency, Hz
	mean    float64 // of the samples, which should be 0
}

func (t tune) figures(pcm []int16) (f figures) {
	x, s := make([]float64, len(pcm)), loudness.NewSpectrum(t.rate)
	for i, v := range pcm {
		x[i] = float64(v) / 32768
		f.mean += x[i] / float64(len(pcm))
		s.Add([]float32{float32(x[i]), float32(x[i])})
	}
	s.End()
	m := t.meter(x)
	f.seconds, f.peak, f.loud = float64(len(pcm))/float64(t.rate), m.TruePeak(), m.Momentary()
	if t.loop {
		f.loud = m.Integrated()
	}
	f.bright, f.center = s.Share(bright, float64(t.rate)), s.Center()
	return f
}

// writeFigures prints a table of the sounds in a folder. Played is how loud an effect is at strength 1 near the ship,
// in a game with full volumes and without its limiter.
func writeFigures(w io.Writer, dir string) error {
	gains := map[string]float64{}
	for _, s := range cue.Specs() {
		for v := range s.Variants {
			gains[fmt.Sprintf("%s_%d", s.Name, v)] = 20 * math.Log10(float64(s.Gain))
		}
	}
	fmt.Fprintf(w, "%-15s %7s %7s %7s %7s %9s %7s %9s\n", "", "seconds", "dBTP", "LUFS", "played", ">2.2 kHz", "Hz", "mean")
	for _, t := range tunes() {
		data, err := os.ReadFile(filepath.Join(dir, t.name+".ogg"))
		if err != nil {
			return err
		}
		pcm, err := decodeSound(data)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		f := t.figures(pcm)
		fmt.Fprintf(w, "%-15s %7.2f %7.1f %7.1f %7.1f %9.1f %7.0f %9.5f\n", t.name, f.seconds, f.peak, f.loud, f.loud+gains[t.name], f.bright, f.center, f.mean)
	}
	return nil
}

// decodeSound returns the samples of a file.
func decodeSound(data []byte) ([]int16, error) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 16 << 20})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	c, err := sound.Decode(bytes.NewReader(data), h, nil)
	if err != nil {
		return nil, err
	}
	defer c.Free(h)
	return slices.Clone(c.PCM), nil
}
