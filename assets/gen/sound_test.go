package main

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/mewkiz/flac"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// soundBudget is what all sounds together may take.
const soundBudget = 3 << 20

// decodeFLAC is the codec's own decoder, all at once.
func decodeFLAC(t *testing.T, data []byte) (pcm []int16, rate int) {
	t.Helper()
	s, err := flac.New(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		f, err := s.ParseNext()
		if err == io.EOF {
			return pcm, int(s.Info.SampleRate)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.Subframes[0].Samples {
			pcm = append(pcm, int16(v))
		}
	}
}

func soundFile(t *testing.T, name string) []int16 {
	t.Helper()
	data, err := fs.ReadFile(assets.FS(), "sound/"+name+".flac")
	if err != nil {
		t.Fatal(err)
	}
	pcm, _ := decodeFLAC(t, data)
	return pcm
}

// Where multiplication and addition are fused a sample may round to the next grain, and what is decided by
// a threshold to another: one in a thousand may differ by more.
func TestSounds_MakesTheSoundsInTheFolder(t *testing.T) {
	testenv.Long(t)
	list := tunes()
	for i, pcm := range renderSounds(list) {
		want := soundFile(t, list[i].name)
		if len(want) != len(pcm) {
			t.Errorf("%s: made %d samples, in the folder are %d", list[i].name, len(pcm), len(want))
			continue
		}
		n := 0
		for k := range pcm {
			if abs(int(pcm[k])-int(want[k])) > 2<<(16-list[i].bits) {
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
		listed[s.name+".flac"] = true
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
		t.Errorf("sound/%s is missing; run go run ./assets/gen -only %s", name, strings.TrimSuffix(name, ".flac"))
	}
	if total > soundBudget {
		t.Errorf("the sounds take %d bytes; allowed are %d", total, soundBudget)
	}
	t.Logf("%d files, %d bytes", len(entries), total)
}

// levels are what ears measure, in dBFS, and what they must not hear.
type levels struct{ peak, rms, loudest, dc float64 }

func measure(pcm []int16, rate int) (l levels) {
	window, sum, best, all := rate/20, 0.0, 0.0, 0.0
	for i, s := range pcm {
		v := float64(s) / 32768
		l.peak, l.dc = max(l.peak, math.Abs(v)), l.dc+v
		sum, all = sum+v*v, all+v*v
		if i >= window {
			o := float64(pcm[i-window]) / 32768
			sum -= o * o
		}
		best = max(best, sum)
	}
	db := func(x float64) float64 { return 20 * math.Log10(x+1e-9) }
	l.dc = math.Abs(l.dc) / float64(len(pcm))
	l.peak, l.rms, l.loudest = db(l.peak), db(math.Sqrt(all/float64(len(pcm)))), db(math.Sqrt(best/float64(min(window, len(pcm)))))
	return l
}

func TestSounds_DoNotClipAndAreEquallyLoud(t *testing.T) {
	for _, s := range tunes() {
		l := measure(soundFile(t, s.name), s.rate)
		got, from, to := l.loudest, -20.0, -11.0
		if s.loop {
			got, from, to = l.rms, -26.0, -23.0
		}
		if l.peak >= -1 || s.loop && l.peak > -5 {
			t.Errorf("%s: its peak is %.1f dBFS", s.name, l.peak)
		}
		if got < from || got > to {
			t.Errorf("%s: its loudness is %.1f dBFS; allowed are %.0f to %.0f", s.name, got, from, to)
		}
		if l.dc > 0.003 {
			t.Errorf("%s: its mean is %.4f, not 0", s.name, l.dc)
		}
		t.Logf("%-14s peak %6.1f  rms %6.1f  loudest 50 ms %6.1f dBFS  mean %.5f", s.name, l.peak, l.rms, l.loudest, l.dc)
	}
}

// A seam is heard where the step over it is out of proportion to those about it.
func TestSounds_LoopsHaveNoSeam(t *testing.T) {
	for _, s := range tunes() {
		if !s.loop {
			continue
		}
		pcm := soundFile(t, s.name)
		n := len(pcm)
		over, usual := max(corner(pcm, 0), corner(pcm, n-1)), 0.0
		for k := -300; k < 300; k++ {
			if k < -2 || k > 2 {
				usual = max(usual, corner(pcm, (k+n)%n))
			}
		}
		if over > 2*usual+3*float64(int(1)<<(16-s.bits)) {
			t.Errorf("%s: the curve bends by %.0f at the seam, and by %.0f at most about it", s.name, over, usual)
		}
		if n%blockFrames != 0 && n%blockFrames < 16 {
			t.Errorf("%s: its last block has %d samples; FLAC wants 16", s.name, n%blockFrames)
		}
	}
}

// corner is how far a sample is from the line through its neighbours.
func corner(pcm []int16, k int) float64 {
	n := len(pcm)
	return math.Abs(float64(pcm[(k+n-1)%n]) - 2*float64(pcm[k]) + float64(pcm[(k+1)%n]))
}

func TestSounds_LayersOfARealmGoTogether(t *testing.T) {
	lengths := map[string][]int{}
	for _, s := range tunes() {
		if s.loop {
			realm, _, _ := strings.Cut(s.name, "_")
			lengths[realm] = append(lengths[realm], len(soundFile(t, s.name)))
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

// All layers at once must not clip either.
func TestSounds_LayersAddUpBelowFullScale(t *testing.T) {
	sums := map[string][]int{}
	for _, s := range tunes() {
		if !s.loop {
			continue
		}
		realm, _, _ := strings.Cut(s.name, "_")
		pcm := soundFile(t, s.name)
		if sums[realm] == nil {
			sums[realm] = make([]int, len(pcm))
		}
		for i := range sums[realm] {
			sums[realm][i] += int(pcm[i%len(pcm)])
		}
	}
	for realm, sum := range sums {
		over, top := 0, 0
		for _, v := range sum {
			top = max(top, abs(v))
			if abs(v) > 32767 {
				over++
			}
		}
		if over > len(sum)/2000 {
			t.Errorf("%s: %d of %d samples of all layers together exceed full scale", realm, over, len(sum))
		}
		t.Logf("%s: all layers together reach %.2f of full scale, %d samples above it", realm, float64(top)/32768, over)
	}
}

func TestFLAC_ReadsBackWhatWasWritten(t *testing.T) {
	n := noise(5)
	for name, c := range map[string]struct {
		frames, bits int
		f            func(i int) float64
	}{
		"silence":   {5000, 16, func(int) float64 { return 0 }},
		"noise":     {4096, 16, func(int) float64 { return n() }},
		"coarse":    {6100, 12, func(i int) float64 { return 0.8 * sine(float64(i)/90) }},
		"extremes":  {4096, 16, func(i int) float64 { return float64(i/3%2*2 - 1) }},
		"one frame": {100, 16, func(i int) float64 { return float64(i) / 200 }},
		"impulse":   {4096, 13, func(i int) float64 { return float64((i%2048)/2047) * 0.9 }},
	} {
		pcm := make([]int16, c.frames)
		for i := range pcm {
			pcm[i] = int16(c.f(i)*32767) >> (16 - c.bits) << (16 - c.bits)
		}
		data, err := encodeFLAC(pcm, musicRate, c.bits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, rate := decodeFLAC(t, data)
		if rate != musicRate || len(got) != len(pcm) {
			t.Fatalf("%s: %d samples at %d Hz came back of %d", name, len(got), rate, len(pcm))
		}
		for i := range pcm {
			if got[i] != pcm[i] {
				t.Fatalf("%s: sample %d is %d and was %d", name, i, got[i], pcm[i])
			}
		}
	}
}
