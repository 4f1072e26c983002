package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/strata-go/strata/demo/sound/codec"
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
)

// tunes lists all sounds.
func tunes() []tune { return append(effects(), music()...) }

// samples renders a tune as it is packed.
func (t tune) samples() []float64 {
	x := (&track{x: t.make(), rate: float64(t.rate), loop: t.loop}).through(highpass(float64(t.rate), 28)).x
	level, top := t.level(x), ceiling
	if t.loop {
		top = layerCeiling
	} else {
		fadeEnds(x, t.rate)
	}
	gain := math.Pow(10, (t.loud-level)/20)
	for i, v := range x {
		// Bends, and never breaks: top is reached at infinity.
		x[i] = top * math.Tanh(v*gain/top)
	}
	return x
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
func renderSounds(list []tune) [][]float64 {
	out := make([][]float64, len(list))
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
	return os.WriteFile(file, codec.Encode(t.samples(), t.rate, t.loop, 512, 1024, 2048), 0o644)
}

// writeWAVs is for listening.
func writeWAVs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	list := tunes()
	for i, x := range renderSounds(list) {
		var b bytes.Buffer
		pcm := make([]int16, len(x))
		for k, v := range x {
			pcm[k] = int16(math.Round(v * 32767))
		}
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
