package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

func TestReport_WritesTheTablesIntoTheirPlace(t *testing.T) {
	dir := t.TempDir()
	page, figures := filepath.Join(dir, "a.md"), filepath.Join(dir, "a.json")
	if err := os.WriteFile(page, []byte("before\n"+tablesBegin+"\nold\n"+tablesEnd+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{rows: "W9", rounds: 4, placements: 2, md: page, json: figures, check: true}
	b := &bench{o: o, versions: map[string]string{glibc: "glibc 2.36"}}
	r := invented("W9", "pair", 1.02, peersAt(10, map[string]float64{arenas: 7, runtimes: 50, syncPool: 50, modernc: 50, goArenas: 50}))
	r.Run, r.Load = "go, a processor; 2 programs", 1.5
	var out strings.Builder
	err := o.report(b, []result{r}, io.MultiWriter(cmdtest.Last{T: t, Files: []string{figures}}, &out))
	if err == nil || err.Error() != "W9, arena, pair: the bound is 0.55, the ratio 0.700: missed by 27.3 %" {
		t.Error(err)
	}
	text, _ := os.ReadFile(page)
	for _, want := range []string{
		"before\n" + tablesBegin + "\n", "\n" + tablesEnd + "\nafter\n", "go, a processor; 2 programs.", "glibc (glibc 2.36), jemalloc ()", moderncVersion,
		"go, a processor; 2 programs.\n\n| W9 | ns | memfast | to the best of C | memfast | A/A | p99.9, ns | resident / live |",
		"| arena | 8.05 | – | 0.70 | – | ±2.0 % | – | – |", "| Go runtime | 57.5 | – | 5.00 | – | ±2.0 % | – | – |", "The load average before each workload was 1.5 to 1.5.",
		"| W9, arena | 8.05 | jemalloc | 11.5 | 0.700 | 0.55 | ±2.0 % | missed by 27.3 % |\n\n    go run -C memory/bench . -check -rows \"W9\"\n",
		"– | – |\n\n    go run -C memory/bench . -check -rows \"W9\"\n", settle.Processor() + ".\n\n| judged |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") || strings.Contains(out.String(), "|") || !strings.Contains(out.String(), "missed by 27.3 %") {
		t.Errorf("%s\n%s", text, &out)
	}
	var s state
	if whole, err := os.ReadFile(figures); err != nil || json.Unmarshal(whole, &s) != nil || len(s.Results) != 1 || len(s.Results[0].Samples[arenas]) != 4 {
		t.Errorf("%v: %+v", err, s)
	}
	o.md = figures
	if err := o.report(b, []result{r}, &out); err == nil || !strings.Contains(err.Error(), "has no lines") {
		t.Errorf("a file without a place: %v", err)
	}
}

func TestCommand_IsThatOfTheTable(t *testing.T) {
	for want, o := range map[string]options{"go run -C memory/bench .": {}, "go run -C memory/bench . -check": {check: true}, "go run -C memory/bench . -all": {all: true}} {
		if got := o.command(""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := o.command("W1"); got != want+" -rows \"W1\"" {
			t.Errorf("%q", got)
		}
	}
}

func TestMarkdown_MemfastIsAColumnOfTheDefault(t *testing.T) {
	w := test{name: "W1", what: "blocks", figure: "pair", judged: []string{slabs, slabs + fast}}
	got := (&bench{}).markdown(w, invented("W1", "pair", 1, peersAt(10, map[string]float64{slabs: 10, slabs + fast: 8})))
	if !strings.Contains(got, "| slab | 11.5 | 9.20 | 1.00 | 0.80 | ±0.4 % | – | – |") || strings.Contains(got, "| slab, memfast |") {
		t.Error(got)
	}
}

func TestMarkdown_MissingWorkloadsSayWhy(t *testing.T) {
	b := &bench{}
	if got := b.markdown(test{name: "W8", what: "runs", judged: []string{remotes}}, result{Missing: "it needs 2 processors"}); got != "\nW8: runs.\n\nNot measured: it needs 2 processors.\n" {
		t.Errorf("%q", got)
	}
}

func TestModernc_TheVersionIsThatOfTheModule(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil || !strings.Contains(string(text), "modernc.org/memory "+moderncVersion+"\n") {
		t.Errorf("%v: %s", err, text)
	}
}
