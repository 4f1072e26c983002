package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/strata-go/strata/demo/sound/loudness"
	"github.com/strata-go/strata/demo/sound/wav"
)

// A tune is a sound file: effects and layers of music alike. What make returns is brought to the
// level that all sounds have.
type tune struct {
	name string
	rate int
	loop bool    // the last sample continues into the first
	loud float64 // of a loop LUFS, played by both channels; of an effect dBFS, of its loudest 50 ms
	make func() []float64
}

const (
	effectRate = 32000
	musicRate  = 22050
	// ceiling is what no sample exceeds: -1.5 dBFS.
	ceiling = 0.841
	// layerCeiling is that of a layer: -2.5 dBFS. The mixer limits the sum.
	layerCeiling = 0.75
	// lead is in samples.
	lead = 2048
)

// tunes lists all sounds.
func tunes() []tune { return append(effects(), music()...) }

// samples renders a tune as it is encoded.
func (t tune) samples() []int16 {
	x := (&track{x: t.make(), rate: float64(t.rate), loop: t.loop}).through(highpass(float64(t.rate), 28)).x
	level, top := t.level(x), ceiling
	if t.loop {
		top = layerCeiling
	} else {
		fadeEnds(x, t.rate)
	}
	gain := math.Pow(10, (t.loud-level)/20)
	out := make([]int16, len(x))
	for i, v := range x {
		// Bends, and never breaks: top is reached at infinity.
		out[i] = int16(math.Round(top * math.Tanh(v*gain/top) * 32767))
	}
	return out
}

// level returns what loud means of samples.
func (t tune) level(x []float64) float64 {
	if t.loop {
		return t.meter(x).Integrated()
	}
	window := min(len(x), t.rate/20)
	sum, best := 0.0, 0.0
	for i, v := range x {
		sum += v * v
		if i >= window {
			sum -= x[i-window] * x[i-window]
		}
		best = max(best, sum)
	}
	return 10 * math.Log10(best/float64(window)+1e-18)
}

// meter measures samples as both channels play them.
func (t tune) meter(x []float64) *loudness.Meter {
	m, err := loudness.New(t.rate)
	if err != nil {
		panic(err) // the rates are this package's own
	}
	both := make([]float32, 2*len(x))
	for i, v := range x {
		both[2*i], both[2*i+1] = float32(v), float32(v)
	}
	m.Add(both)
	return m
}

// fadeEnds has an effect begin and end at nothing: half a millisecond and ten.
func fadeEnds(x []float64, rate int) {
	in, out := rate/2000, min(rate/100, len(x)/3)
	for i := range in {
		x[i] *= float64(i) / float64(in)
	}
	for i := range out {
		x[len(x)-1-i] *= float64(i) / float64(out)
	}
}

// renderSounds renders all sounds, as many at once as there are processors.
func renderSounds(list []tune) [][]int16 {
	out := make([][]int16, len(list))
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, t := range list {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			out[i] = t.samples()
		})
	}
	wg.Wait()
	return out
}

func writeSound(file string, t tune) error {
	data, err := t.encode(t.samples())
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// encoder is the program that encodes sounds.
var encoder = "oggenc"

// encode returns a file of Ogg Vorbis. Effects are played louder than music, and have more bits a sample: demo/sound
// reads these two qualities. The serial number is fixed, so that equal samples give equal files. The encoder bends the
// ends of a file. So a loop is encoded with lead samples of its end before it and of its beginning after it, and with
// tags that say where it lies.
func (t tune) encode(pcm []int16) ([]byte, error) {
	args := []string{"-Q", "-s", "1", "-o", "-", "-q", "3"}
	if t.loop {
		args = append(args[:5], "-q", "1.5", "-c", fmt.Sprint("LOOPSTART=", lead), "-c", fmt.Sprint("LOOPLENGTH=", len(pcm)))
		pcm = slices.Concat(pcm[len(pcm)-lead:], pcm, pcm[:lead])
	}
	var in, out, fault bytes.Buffer
	if err := wav.Write(&in, t.rate, 1, pcm); err != nil {
		return nil, err
	}
	c := exec.Command(encoder, append(args, "-")...)
	c.Stdin, c.Stdout, c.Stderr = &in, &out, &fault
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("sounds are encoded by oggenc, of the package vorbis-tools: %w", err)
	case err != nil:
		return nil, fmt.Errorf("oggenc: %w: %s", err, bytes.TrimSpace(fault.Bytes()))
	}
	return out.Bytes(), nil
}

// writeWAVs is for listening.
func writeWAVs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	list := tunes()
	for i, pcm := range renderSounds(list) {
		var b bytes.Buffer
		err := wav.Write(&b, list[i].rate, 1, pcm)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, list[i].name+".wav"), b.Bytes(), 0o644)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d sounds in %s\n", len(list), dir)
	return nil
}

// music lists the layers of the realms: of each 16 bars, in four layers that come in with the
// heat. Drums repeat after 4 bars, drive and heat after 8, which divide the whole; the calm layer
// has all 16.
func music() (list []tune) {
	for i := range realms {
		realm := &realms[i]
		for k, layer := range []struct {
			name string
			loud float64
		}{{"calm", -18}, {"drums", -20}, {"drive", -20}, {"heat", -21}} {
			list = append(list, tune{name: realm.Name + "_" + layer.name, rate: musicRate, loop: true, loud: layer.loud,
				make: func() []float64 { return realm.music[k]().x }})
		}
	}
	return list
}
