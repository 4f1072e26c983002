package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestMem_SameHashInEachAndNoGoroutineIsLeft(t *testing.T) {
	if code, _, stderr := demo("-headless", "-ticks", "1"); code != 0 { // signals have one of the runtime's, from the first run on
		t.Fatal(stderr)
	}
	before := runtime.NumGoroutine()
	var first string
	for _, name := range session.StoreNames() {
		path := filepath.Join(t.TempDir(), "out.json")
		code, _, stderr := demo("-headless", "-ticks", "150", "-seed", "7", "-heat", "4", "-mem", name, "-stats", path)
		if code != 0 {
			t.Fatalf("%s: exit %d, %s", name, code, stderr)
		}
		var r report
		data, err := os.ReadFile(path)
		if err = errors.Join(err, json.Unmarshal(data, &r)); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = r.Hash
		}
		if r.Hash != first || r.Mem != name {
			t.Errorf("%s: hash %s in %s, want %s", name, r.Hash, r.Mem, first)
		}
		if r.TickMS.P999 < r.TickMS.P99 || r.TickMS.P999 > r.TickMS.Max || runtime.GOOS == "linux" && r.RSS == 0 {
			t.Errorf("%s: %+v, %d bytes", name, r.TickMS, r.RSS)
		}
		if name == "goheap" && r.Go.MarkMS+r.Go.IdleMarkMS <= 0 {
			t.Errorf("%d collections marked nothing", r.Go.Cycles)
		}
	}
	testenv.Until(t, "the goroutines of the runs end", 5*time.Millisecond, func() bool { return runtime.NumGoroutine() <= before })
}

func TestMem_WhatIsWrongIsALineThatNamesWhatIsAllowed(t *testing.T) {
	for args, want := range map[string]string{
		"-mem heap":                          "allowed are tiers, goheap, pooled",
		"-mem goheap -guard":                 "use it with -mem tiers",
		"-mem pooled -budget all=0.5":        "use it with -mem tiers",
		"-paced":                             "use it with -headless",
		"-svg x.svg":                         "use both",
		"-rounds 2":                          "use both",
		"-compare -rounds 0":                 "allowed are 1 to 99",
		"-compare -rounds 100":               "allowed are 1 to 99",
		"-compare -svg x.png":                "must end in .svg",
		"-compare -mem goheap":               "-mem does not go with -compare; allowed are -assets, ",
		"-compare -stats x.json -overlay=f1": "-overlay does not go with -compare",
		"-compare -ticks 0":                  "at least 1 is needed",
		"-compare -heat 11":                  "allowed are 0 to 10",
	} {
		code, stdout, stderr := demo(strings.Fields(args)...)
		if line, _, _ := strings.Cut(stderr, "\n"); code != 2 || stdout != "" || !strings.Contains(line, want) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, line, want)
		}
	}
	o := &options{compare: true, rounds: 1}
	if line := o.checkMemory(map[string]bool{"compare": true}, true); !strings.Contains(line, "a browser cannot") {
		t.Errorf("in a browser: %q", line)
	}
	bad := filepath.Join(t.TempDir(), "no", "x.svg")
	if code, _, stderr := demo("-compare", "-svg", bad); code != 1 || !strings.Contains(stderr, "cannot write "+bad) {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestPaced_TicksSixtyTimesASecond(t *testing.T) {
	began := time.Now()
	if code, _, stderr := demo("-headless", "-ticks", "45", "-paced"); code != 0 || time.Since(began) < 44*time.Second/60 {
		t.Errorf("45 ticks after %v; %s", time.Since(began), stderr)
	}
}

// The real program, as it starts itself.
func TestCompare_ARowForEachStoreWithOneHashAndAPicture(t *testing.T) {
	exe, dir, temp := program(t), t.TempDir(), t.TempDir()
	svg := filepath.Join(dir, "out.svg")
	cmd := testenv.Command(t, exe, "-compare", "-rounds", "2", "-ticks", "60", "-heat", "3", "-seed", "7", "-svg", svg)
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp, "TMP="+temp, "GOGC=1000")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3+session.Stores || !strings.Contains(lines[0], "60 ticks at heat 3, seed 7") {
		t.Fatalf("%s", out)
	}
	var hash string
	for i, name := range session.StoreNames() {
		cells := strings.Fields(lines[3+i])
		if len(cells) != 2+len(figures) || cells[0] != name {
			t.Fatalf("row %q", lines[3+i])
		}
		if last := cells[len(cells)-1]; len(last) != 16 || hash != "" && last != hash {
			t.Errorf("%s has hash %s, want %s", name, last, hash)
		} else {
			hash = last
		}
		for k, cell := range cells[1 : len(cells)-1] {
			if v, err := strconv.ParseFloat(cell, 64); (err != nil || v < 0) && (cell != "unknown" || runtime.GOOS == "linux") {
				t.Errorf("%s: %s is %q", name, figures[k].name, cell)
			}
		}
	}
	if strings.Count(said.String(), "round 2 of 2, ") != session.Stores {
		t.Errorf("said %q", &said)
	}
	if _, bars, _ := readSVG(t, svg); bars != session.Stores*len(figures) {
		t.Errorf("%d bars", bars)
	}
	for _, d := range []string{temp, dir} {
		if left, _ := os.ReadDir(d); len(left) > 0 && left[0].Name() != "out.svg" {
			t.Errorf("left behind: %v", left)
		}
	}
}

// readSVG returns the texts of a picture that is well formed, how many groups it has, and how wide it is.
func readSVG(t *testing.T, path string) (texts []string, groups int, width string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			return texts, groups, width
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			if x.Name.Local == "g" {
				groups++
			}
			for _, a := range x.Attr {
				if a.Name.Local == "width" && x.Name.Local == "rect" {
					if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < 0 || v > barsWidth {
						t.Errorf("a rectangle %s wide", a.Value)
					}
					width = max(width, a.Value)
				}
			}
		case xml.CharData:
			texts = append(texts, string(x))
		}
	}
}

func TestCompare_MediansAndBoundsAreThoseOfTheRounds(t *testing.T) {
	ts := trials{runs: []trial{{p50: 3}, {p50: 1}, {p50: 2}}}
	if mid, least, greatest := ts.median(figures[0].of); mid != 2 || least != 1 || greatest != 3 {
		t.Errorf("%g, %g to %g", mid, least, greatest)
	}
	ts.runs = append(ts.runs, trial{p50: 10})
	if mid, _, _ := ts.median(figures[0].of); mid != 2.5 {
		t.Errorf("of four %g", mid)
	}
}

func TestCompare_RunsThatEndInDifferentStatesAreAnError(t *testing.T) {
	all := []trials{
		{session.StoreTiers, []trial{{hash: "a"}, {hash: "a"}}}, {session.StoreGoHeap, []trial{{hash: "a"}, {hash: "a"}}},
		{session.StorePooled, []trial{{hash: "a"}, {hash: "b"}}},
	}
	if err := agree(all[:2]); err != nil {
		t.Error(err)
	}
	if err := agree(all); err == nil || !strings.Contains(err.Error(), "pooled with b") {
		t.Error(err)
	}
}
