package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/sound"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// heard runs -wav and returns its figures and the file.
func heard(t *testing.T, args ...string) (*soundReport, []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.wav")
	code, stdout, stderr := demo(append([]string{"-wav", file, "-stats", "-"}, args...)...)
	data, err := os.ReadFile(file)
	if code != 0 || stderr != "" || err != nil {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	var r report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	return r.Sound, data
}

// How loud the game is as it is shipped: -18 LUFS, 2 more or less, at every heat, and the music is heard in it.
func TestWAV_LoudnessOfEveryRealm(t *testing.T) {
	testenv.Long(t)
	type play struct{ realm, heat, ticks string }
	plays := []play{{realm.Names[0], "10", "900"}}
	for _, name := range realm.Names {
		plays = append(plays, play{name, "0", "3600"})
	}
	for _, p := range plays {
		r, _ := heard(t, "-level", p.realm, "-heat", p.heat, "-ticks", p.ticks)
		t.Logf("%+v", r)
		if math.Abs(r.Integrated+18) > 2 {
			t.Errorf("%v: %.1f LUFS; want -18, 2 more or less", p, r.Integrated)
		}
		if r.TruePeak > -1 {
			t.Errorf("%v: the true peak is %.1f dBTP", p, r.TruePeak)
		}
		if r.Music < r.Integrated-6 {
			t.Errorf("%v: the music has %.1f LUFS of %.1f", p, r.Music, r.Integrated)
		}
		if r.Bright < -20 || r.BrightTune < -28 {
			t.Errorf("%v: above 2.2 kHz are %.1f dB of the mix and %.1f dB of the music", p, r.Bright, r.BrightTune)
		}
		if r.DelayMS > 50 {
			t.Errorf("%v: %.1f ms after a tick", p, r.DelayMS)
		}
	}
}

func TestWAV_TheSameGameIsTheSameFile(t *testing.T) {
	testenv.Long(t)
	args := []string{"-ticks", "40", "-heat", "6", "-hash"}
	r, data := heard(t, args...)
	_, again := heard(t, args...)
	if !bytes.Equal(data, again) {
		t.Error("a second run sounds different")
	}
	if want := 44 + 40*tickFrames*4; len(data) != want || !bytes.HasPrefix(data, []byte("RIFF")) || bytes.Count(data[44:], []byte{0}) > len(data)/2 {
		t.Errorf("%d bytes; want %d, and not silence", len(data), want)
	}
	if r.Seconds != 0.6 || r.Realm != "ember" || r.HeatLeast != 6 {
		t.Errorf("%+v", r)
	}
	_, stdout, _ := demo("-wav", filepath.Join(t.TempDir(), "x.wav"), "-ticks", "40", "-heat", "6", "-hash")
	_, without, _ := demo("-headless", "-ticks", "40", "-heat", "6", "-hash")
	hash := stdout[strings.LastIndex(stdout, "hash"):]
	if !strings.HasSuffix(without, hash) {
		t.Errorf("with a recorder %q, without one %q", hash, without[strings.LastIndex(without, "hash"):])
	}
	for _, line := range []string{"  loudness ", "  true peak ", "  music ", "  above 2.2 kHz ", "  octaves, dB ", "  after a tick "} {
		if !strings.Contains(stdout, "\n"+line) {
			t.Errorf("no line %q", line)
		}
	}
}

func TestWAV_RefusesWhatItCannotRecord(t *testing.T) {
	for args, want := range map[string]string{
		"-wav x.mp3":                     "must end in .wav",
		"-wav x.wav -ticks 36001":        "at most 36000",
		"-wav x.wav -screenshot x.png":   "without a window",
		"-wav x.wav -overlay":            "without a window",
		"-wav x.wav -compare":            "does not go with -compare",
		"-wav no/such/folder/x.wav":      "cannot write",
		"-wav x.wav -headless -level no": "no such realm",
	} {
		if code, _, stderr := demo(strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q; want one line with %q", args, code, stderr, want)
		}
	}
}

func TestFinite_SilenceIsANumber(t *testing.T) {
	for in, want := range map[float64]float64{math.Inf(-1): -200, -18: -18} {
		if got := finite(in); got != want {
			t.Errorf("%v: %v", in, got)
		}
	}
	if got := finite(math.NaN()); got != -200 {
		t.Errorf("no number: %v", got)
	}
	if sound.Rate%60 != 0 {
		t.Error("a tick is not a whole number of frames")
	}
}
