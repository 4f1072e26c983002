package main

import (
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/codec"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// soundBudget is what all sounds together may take.
const soundBudget = 1100 << 10

func soundFile(t *testing.T, name string) ([]int16, codec.Header) {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), "sound/"+name+".snd")
	if err != nil {
		t.Fatal(err)
	}
	pcm, h, err := decodeSound(data)
	if err != nil {
		t.Fatal(err)
	}
	return pcm, h
}

// Where multiplication and addition are fused, a coefficient may be rounded to the next multiple: one sample in a
// thousand may differ by more than the grain of 12 bits.
func TestSounds_MakesTheSoundsInTheFolder(t *testing.T) {
	testenv.Long(t)
	list := tunes()
	for i, x := range renderSounds(list) {
		want, h := soundFile(t, list[i].name)
		if h.Samples != len(x) || h.Rate != list[i].rate {
			t.Errorf("%s: made %d samples at %d Hz, in the folder are %d at %d Hz", list[i].name, len(x), list[i].rate, h.Samples, h.Rate)
			continue
		}
		pcm, _, err := decodeSound(codec.Encode(x, h.Rate, list[i].loop, h.Hop))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for k := range pcm {
			if abs(int(pcm[k])-int(want[k])) > 16 {
				n++
			}
		}
		if n > len(pcm)/1000 {
			t.Errorf("%s: %d samples differ from the folder; run go run ./assets/gen -only %s", list[i].name, n, list[i].name)
		}
	}
}

func TestSounds_AreExactlyTheListedFilesWithinTheBudget(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range tunes() {
		listed[s.name+".snd"] = true
	}
	entries, err := fs.ReadDir(assets.FS(), "sound")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
		if !listed[e.Name()] {
			t.Errorf("sound/%s belongs to no sound of gen", e.Name())
		}
		delete(listed, e.Name())
	}
	for name := range listed {
		t.Errorf("sound/%s is missing; run go run ./assets/gen -only %s", name, strings.TrimSuffix(name, ".snd"))
	}
	if total > soundBudget {
		t.Errorf("the sounds take %d bytes; allowed are %d", total, soundBudget)
	}
	t.Logf("%d files, %d bytes", len(entries), total)
}

func TestSounds_DoNotClipAndAreEquallyLoud(t *testing.T) {
	testenv.Long(t)
	for _, s := range tunes() {
		pcm, _ := soundFile(t, s.name)
		f := s.figures(pcm)
		// An effect is as loud as its 50 loudest milliseconds: of the loudest 400 a click has an eighth.
		from, to := -27.0, -9.0
		if s.loop {
			from, to = s.loud-1, s.loud+1
		}
		if f.peak >= -1 {
			t.Errorf("%s: its peak is %.1f dBTP", s.name, f.peak)
		}
		if f.loud < from || f.loud > to {
			t.Errorf("%s: its loudness is %.1f LUFS; allowed are %.0f to %.0f", s.name, f.loud, from, to)
		}
		if math.Abs(f.mean) > 0.003 {
			t.Errorf("%s: its mean is %.4f, not 0", s.name, f.mean)
		}
		if least := -24.0; strings.HasSuffix(s.name, "_calm") && f.bright < least {
			t.Errorf("%s: %.1f dB of it lie above 2.2 kHz, where small loudspeakers play; want %.0f", s.name, f.bright, least)
		}
	}
}

// A seam is heard where the step over it is out of proportion to those about it.
func TestSounds_LoopsHaveNoSeam(t *testing.T) {
	testenv.Long(t)
	for _, s := range tunes() {
		if !s.loop {
			continue
		}
		pcm, h := soundFile(t, s.name)
		n := len(pcm)
		over, usual := max(corner(pcm, 0), corner(pcm, n-1)), 0.0
		for k := -300; k < 300; k++ {
			if k < -2 || k > 2 {
				usual = max(usual, corner(pcm, (k+n)%n))
			}
		}
		if n%h.Hop != 0 {
			t.Errorf("%s: it has %d samples, which its frames do not divide", s.name, n)
		}
		if over > 2*usual+48 {
			t.Errorf("%s: the curve bends by %.0f at the seam, and by %.0f at most about it", s.name, over, usual)
		}
	}
}

// corner is how far a sample is from the line through its neighbours.
func corner(pcm []int16, k int) float64 {
	n := len(pcm)
	return math.Abs(float64(pcm[(k+n-1)%n]) - 2*float64(pcm[k]) + float64(pcm[(k+1)%n]))
}

func TestSounds_LayersOfARealmGoTogether(t *testing.T) {
	testenv.Long(t)
	lengths := map[string][]int{}
	for _, s := range tunes() {
		if s.loop {
			realm, _, _ := strings.Cut(s.name, "_")
			pcm, _ := soundFile(t, s.name)
			lengths[realm] = append(lengths[realm], len(pcm))
		}
	}
	if len(lengths) != len(realms) {
		t.Fatalf("there are %d realms with music; want %d", len(lengths), len(realms))
	}
	for realm, l := range lengths {
		for k, n := range l {
			if l[0]%n != 0 {
				t.Errorf("%s: layer %d has %d samples, which do not divide %d", realm, k, n, l[0])
			}
		}
		// 16 bars: no shorter than twenty seconds, or it is soon too well known.
		if s := float64(l[0]) / musicRate; s < 20 || s > 60 {
			t.Errorf("%s: its music lasts %.1f s", realm, s)
		}
	}
}
