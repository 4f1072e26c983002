package main

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/loudness"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// soundBudget is what all sounds together may take.
const soundBudget = 1_120_000

func soundFile(t *testing.T, s tune) []int16 {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), "sound/"+s.name+".ogg")
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := decodeSound(data)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return pcm
}

// soundBands are borders in Hz, and the dB by which the error of the encoder lies below the sound in each band.
var soundBands = []struct{ from, to, least float64 }{{0, 500, 15}, {500, 2200, 9}, {2200, 16000, 5}}

// apart says in which band x and y differ by more than the encoder's error. Bands with a ten-thousandth of the power do
// not count.
func apart(rate int, x, y []int16) string {
	if len(x) != len(y) {
		return fmt.Sprintf("%d samples, not %d", len(y), len(x))
	}
	whole, wrong := loudness.NewSpectrum(rate), loudness.NewSpectrum(rate)
	power, loss := 0.0, 0.0
	for i := range x {
		a, b := float32(x[i]), float32(int(y[i])-int(x[i]))
		power, loss = power+float64(a*a), loss+float64(b*b)
		whole.Add([]float32{a, a})
		wrong.Add([]float32{b, b})
	}
	whole.End()
	wrong.End()
	for _, b := range soundBands {
		share := whole.Share(b.from, b.to)
		below := share - wrong.Share(b.from, b.to) + 10*math.Log10(power/loss)
		if share > -40 && below < b.least {
			return fmt.Sprintf("an error only %.1f dB below the sound from %.0f to %.0f Hz; want %.0f", below, b.from, b.to, b.least)
		}
	}
	return ""
}

// The files are compared with what is made now by their sound, so that the test needs no encoder.
func TestSounds_MakesTheSoundsInTheFolder(t *testing.T) {
	testenv.Long(t)
	list := tunes()
	for i, pcm := range renderSounds(list) {
		if s := apart(list[i].rate, pcm, soundFile(t, list[i])); s != "" {
			t.Errorf("%s: in the folder it has %s; run go run -C assets/gen . -only %s", list[i].name, s, list[i].name)
		}
	}
}

func TestSounds_OtherSoundsAreApart(t *testing.T) {
	var list [2]tune
	for _, s := range tunes() {
		if s.name == "shot_0" || s.name == "shot_1" {
			list[s.name[5]-'0'] = s
		}
	}
	rate, pcm, file := list[0].rate, list[0].samples(), soundFile(t, list[0])
	quiet := slices.Clone(file)
	for i := range quiet {
		quiet[i] -= quiet[i] / 4
	}
	for name, c := range map[string]struct {
		file []int16
		same bool
	}{
		"the file": {file, true}, "the other variant": {soundFile(t, list[1]), false}, "a quiet file": {quiet, false},
		"one sample late": {append([]int16{0}, file[:len(file)-1]...), false}, "one sample less": {file[1:], false},
	} {
		if s := apart(rate, pcm, c.file); (s == "") != c.same {
			t.Errorf("%s: %q", name, s)
		}
	}
}

func TestSounds_AreExactlyTheListedFilesWithinTheBudget(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range tunes() {
		listed[s.name+".ogg"] = true
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
		t.Errorf("sound/%s is missing; run go run -C assets/gen . -only %s", name, strings.TrimSuffix(name, ".ogg"))
	}
	if total > soundBudget {
		t.Errorf("the sounds take %d bytes; allowed are %d", total, soundBudget)
	}
	t.Logf("%d files, %d bytes", len(entries), total)
}

func TestSounds_DoNotClipAndAreEquallyLoud(t *testing.T) {
	testenv.Long(t)
	for _, s := range tunes() {
		f := s.figures(soundFile(t, s))
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
		pcm := soundFile(t, s)
		n := len(pcm)
		over, usual := max(corner(pcm, 0), corner(pcm, n-1)), 0.0
		for k := -300; k < 300; k++ {
			if k < -2 || k > 2 {
				usual = max(usual, corner(pcm, (k+n)%n))
			}
		}
		if over > usual+48 {
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
			lengths[realm] = append(lengths[realm], len(soundFile(t, s)))
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
