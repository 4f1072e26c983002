package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/replay"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// played runs the program, which must exit with a code, and returns its output and its errors.
func played(t *testing.T, code int, args ...string) (out, errs string) {
	t.Helper()
	got, out, errs := demo(args...)
	if got != code {
		t.Fatalf("%v: exit %d, want %d: %s%s", args, got, code, out, errs)
	}
	return out, errs
}

// lastLine returns the last line that begins with a word.
func lastLine(text, word string) (last string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, word) {
			last = line
		}
	}
	return last
}

func TestRecord_ReplaysAndSeeksWithEqualHashes(t *testing.T) {
	testenv.Long(t)
	file := filepath.Join(t.TempDir(), "run.strata")
	ticks, seek := 310, 305
	if !testenv.Brief() {
		ticks, seek = 600, 400
	}
	out, _ := played(t, 0, "-headless", "-hash", "-seed", "5", "-ticks", fmt.Sprint(ticks), "-record", file)
	hash := lastLine(out, "hash")
	for _, c := range []struct{ seek, want string }{
		{"0", fmt.Sprintf("replayed ticks 1 to %d of %d, from the state of tick 1: all hashes are equal", ticks, ticks)},
		{fmt.Sprint(seek), fmt.Sprintf("replayed ticks %d to %d of %d, from the state of tick 301: all", seek+1, ticks, ticks)},
	} {
		out, errs := played(t, 0, "-headless", "-hash", "-seed", "77", "-replay", file, "-seek", c.seek)
		if !strings.Contains(out, c.want) || lastLine(out, "hash") != hash || hash == "" || errs != "" {
			t.Errorf("%s%s, want %s, %s", out, errs, c.want, hash)
		}
	}
	otherwise(t, file)
}

// otherwise replays recordings in which something differs from the run.
func otherwise(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	// Without the autopilot each input is that of the tape, also at the first tick after a state.
	player := *r
	player.Autopilot = false
	if err := os.WriteFile(file, player.AppendTo(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, seek := range []string{"0", "305"} {
		if out, _ := played(t, 0, "-headless", "-replay", file, "-seek", seek); !strings.Contains(out, "all hashes are equal") {
			t.Errorf("-seek %s: %s", seek, out)
		}
	}
	impossible(t, file, *r)
	r.Build = "strata demo 0.0"
	in, _ := r.Tape.At(50)
	late := *r
	late.Tape = replay.Tape{}
	for tick := r.Tape.First(); tick < 60; tick++ {
		was, _ := r.Tape.At(tick)
		if tick == 50 {
			in.Move[0] = -was.Move[0] - 0.5
			was = in
		}
		late.Tape.Add(tick, was)
	}
	late.States = late.States[:1]
	if err := os.WriteFile(file, late.AppendTo(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs := played(t, 1, "-headless", "-replay", file)
	for _, want := range []string{"was recorded by strata demo 0.0; this is ", "demo: tick 51, 49 of the recording, is the first that differs: its hash is", "tick 51 is the first that differs"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%s, want %s", errs, want)
		}
	}
	for _, bad := range [][]byte{data[:len(data)-1], nil, []byte("strata")} {
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs := played(t, 1, "-headless", "-replay", file); !strings.Contains(errs, file+": replay: the recording is not valid") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%d bytes: %s", len(bad), errs)
		}
	}
}

// impossible replays recordings with right sums that no run has, and beyond the end.
func impossible(t *testing.T, file string, r replay.Recording) {
	t.Helper()
	for _, seek := range []string{fmt.Sprint(r.Tape.Len() + 1), "18446744073709551615"} {
		want := fmt.Sprintf("-seek %s: %s has %d ticks", seek, file, r.Tape.Len())
		if out, errs := played(t, 1, "-headless", "-replay", file, "-seek", seek); !strings.Contains(errs, want) || out != "" {
			t.Errorf("%s%s, want %s", out, errs, want)
		}
	}
	r.Hashes = make([]uint64, r.Tape.Len())
	if err := os.WriteFile(file, r.AppendTo(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := played(t, 0, "-headless", "-replay", file, "-seek", fmt.Sprint(r.Tape.Len())); !strings.Contains(out, "there is no hash to compare") {
		t.Errorf("at the end: %s", out)
	}
	first := r.States[0].File
	r.Tape, r.Hashes, r.States = replay.Tape{}, nil, nil
	r.AddState(1<<60, first) // the game would have to play forever
	r.Tape.Add(1<<60, engine.Input{})
	if err := os.WriteFile(file, r.AppendTo(nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs := played(t, 1, "-headless", "-replay", file); !strings.Contains(errs, "its state of tick 1152921504606846976 is one of tick 1") || out != "" {
		t.Errorf("%s%s", out, errs)
	}
}

func TestTape_AnotherRunBeginsAnotherRecording(t *testing.T) {
	tp := &tape{path: "x", on: true}
	tp.rec.Build = "b"
	tp.rec.AddState(1, nil)
	if tp.again(false); tp.on || len(tp.rec.States) != 1 {
		t.Error("leaving a run drops its recording")
	}
	if tp.again(true); !tp.on || len(tp.rec.States) != 0 || tp.rec.Build != "b" {
		t.Error("another run goes on in the recording of the last one")
	}
	player := &tape{on: true}
	if player.again(true); player.on || !player.playing() || (*tape)(nil).playing() {
		t.Error("a run of the player goes on as the recording that plays")
	}
}

func TestThumbnail_ShowsThePlayerAndWalls(t *testing.T) {
	a, _ := offered(t)
	p := a.thumbnail()
	if len(p) != session.PictureW*session.PictureH || p[len(p)/2] != shadePlayer {
		t.Errorf("%d pixels, the middle is %d", len(p), p[len(p)/2])
	}
}
