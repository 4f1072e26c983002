package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestMem_SameHashInEachAndNoGoroutineIsLeft(t *testing.T) {
	testenv.Long(t)
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
	testenv.Long(t)
	began := time.Now()
	if code, _, stderr := demo("-headless", "-ticks", "45", "-paced"); code != 0 || time.Since(began) < 44*time.Second/60 {
		t.Errorf("45 ticks after %v; %s", time.Since(began), stderr)
	}
}

// The real program, as it starts itself.
func TestCompare_ARowForEachFigureWithOneHashAndAPicture(t *testing.T) {
	testenv.Long(t)
	exe, dir, temp := program(t), t.TempDir(), t.TempDir()
	svg := filepath.Join(dir, "out.svg")
	cmd := testenv.Command(t, exe, "-compare", "-rounds", "2", "-ticks", "30", "-heat", "3", "-seed", "7", "-svg", svg)
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp, "TMP="+temp, "GOGC=1000")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(cmdtest.Last{T: t, Files: []string{svg}}, &out), &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5+len(figures) || !strings.Contains(lines[0], "30 ticks at heat 3, seed 7") || !strings.Contains(lines[0], settle.Processor()) {
		t.Fatalf("%s", &out)
	}
	if runtime.GOOS == "linux" && !strings.Contains(lines[0], "bound to a processor") {
		t.Errorf("the thread is not bound: %s", lines[0])
	}
	if hash, ok := strings.CutPrefix(lines[len(lines)-1], "hash "); !ok || len(hash) != 16 {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
	texts, bars, _ := readSVG(t, svg)
	if bars != len(contestants)*len(figures) {
		t.Errorf("%d bars", bars)
	}
	for i := range figures {
		checkRow(t, &figures[i], lines[3+i], texts)
	}
	for _, c := range contestants {
		if strings.Count(said.String(), ", "+c.name+": a tick took ") != 2 || !strings.Contains(lines[2], c.name) {
			t.Errorf("%s: said %q, columns %q", c.name, &said, lines[2])
		}
	}
	for _, d := range []string{temp, dir} {
		if left, _ := os.ReadDir(d); len(left) > 0 && left[0].Name() != "out.svg" {
			t.Errorf("left behind: %v", left)
		}
	}
}

// checkRow wants four medians with bounds, the spread, and two verdicts that the picture has as well.
func checkRow(t *testing.T, f *figure, line string, texts []string) {
	t.Helper()
	cells := regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1)
	if f.unknown && runtime.GOOS != "linux" {
		return
	}
	if len(cells) != 8 || cells[0] != f.name || !strings.HasPrefix(cells[3], "±") {
		t.Fatalf("row %q", line)
	}
	for _, k := range []int{1, 2, 4, 6} {
		var mid, least, most float64
		if n, err := fmt.Sscanf(cells[k], "%f (%f–%f)", &mid, &least, &most); n != 3 || least < 0 || mid < least || most < mid {
			t.Errorf("%s: %q, %v", f.name, cells[k], err)
		}
	}
	for _, k := range []int{4, 6} {
		mid, _, _ := strings.Cut(cells[k], " ")
		if !slices.Contains(texts, mid+" "+cells[k+1]) {
			t.Errorf("%s: the picture has no text %q", f.name, mid+" "+cells[k+1])
		}
	}
}

func TestTurn_EachRoundBeginsWithAnotherAndThenBackwards(t *testing.T) {
	var all strings.Builder
	for round := range 8 {
		for _, k := range turn(round, 4) {
			fmt.Fprint(&all, k)
		}
		all.WriteByte(' ')
	}
	if got, want := all.String(), "0123 1230 2301 3012 3210 0321 1032 2103 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCompare_WithinTheSpreadOfAAIsATie(t *testing.T) {
	with := func(k int, cpu ...float64) trials {
		t := trials{contestant: contestants[k]}
		for _, v := range cpu {
			t.runs = append(t.runs, trial{cpu50: v, inPlay: v - 2})
		}
		return t
	}
	all := []trials{with(0, 2, 2, 2), with(1, 2, 2.1, 2), with(2, 2.08, 2.08, 2.08), with(3, 1.8, 1.8, 1.8)}
	f := &figures[4]
	if s := f.spread(all); s < .0499 || s > .0501 {
		t.Errorf("the spread is %g", s)
	}
	if got := []string{f.verdict(all, 0), f.verdict(all, 1), f.verdict(all, 2), f.verdict(all, 3)}; !slices.Equal(got, []string{"", "", "1.04 tie", "0.90 less"}) {
		t.Errorf("%q", got)
	}
	all[2] = with(2, 2.2, 2.2, 2.2)
	if got := f.verdict(all, 2); got != "1.10 more" {
		t.Error(got)
	}
	// Counts of 0 are equal, and 0 beside many is a ratio.
	all[2], f = with(2, 68, 68, 68), &figures[8]
	all[1] = with(1, 2, 2, 2)
	if got := []string{f.verdict(all, 2), f.verdict(all, 3)}; !slices.Equal(got, []string{"66.0 more", "1.00 tie"}) {
		t.Errorf("%q", got)
	}
	if figures[5].verdict(all, 2) != "" || figures[5].cell(&all[2]) != "unknown" {
		t.Error("a figure that the system does not tell has a verdict")
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

// Each contestant plays with the default GOGC: the manager of the tiers leaves it alone.
func TestCompare_TheCollectorIsTheSameForAll(t *testing.T) {
	o := &options{ticks: 1, realm: "ember", particles: 1}
	for _, c := range contestants {
		run, err := parse(o.trialArgs(c.store, filepath.Join(t.TempDir(), "stats.json")), io.Discard, assets.FS())
		if err != nil {
			t.Fatal(err)
		}
		if gc := run.session().Memory.GC; (c.store == session.StoreTiers) != gc.Keep || gc.Headroom != 0 {
			t.Errorf("%s: %+v", c.name, gc)
		}
	}
	for args, want := range map[string]int64{"-headless": 0, "-headroom 3": 3 << 20, "": windowHeadroom} {
		run, err := parse(strings.Fields(args), io.Discard, assets.FS())
		if err != nil {
			t.Fatal(err)
		}
		if gc := run.session().Memory.GC; gc.Keep || gc.Headroom != want && !session.OnGoHeap() {
			t.Errorf("%s: %+v", args, gc)
		}
	}
}

func TestCompare_RunsThatEndInDifferentStatesAreAnError(t *testing.T) {
	all := []trials{
		{contestants[0], []trial{{hash: "a"}, {hash: "a"}}}, {contestants[2], []trial{{hash: "a"}, {hash: "a"}}},
		{contestants[3], []trial{{hash: "a"}, {hash: "b"}}},
	}
	if err := agree(all[:2]); err != nil {
		t.Error(err)
	}
	if err := agree(all); err == nil || !strings.Contains(err.Error(), "pooled with b") {
		t.Error(err)
	}
}
