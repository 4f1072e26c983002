package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/cmdline/cmdtest"
)

// TestRun_FromAnEarlierRunWritesItsTable measures nothing: the figures are those of the file.
func TestRun_FromAnEarlierRunWritesItsTable(t *testing.T) {
	dir := t.TempDir()
	figures, page := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.md")
	const old = `[{"Row":"get at random, 16k","Run":"go, a processor","Unit":"ns","Spread":0.1,"Sides":[
{"Name":"strata","Median":2,"Low":1,"High":3,"Ratio":1},
{"Name":"floor","Median":1,"Ratio":2},
{"Name":"ark","Median":4,"Ratio":0.5,"Verdict":"win"}]},
{"Row":"two cores","Missing":"it needs 2 processors"}]`
	text := "before\n" + tableBegins + "\nold\n" + tableEnds + "\nafter\n"
	for name, s := range map[string]string{figures: old, page: text} {
		if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time it finds its own table
		again, chart := filepath.Join(dir, "b.json"), filepath.Join(dir, "b.svg")
		if err := run([]string{"-from", figures, "-md", page, "-json", again, "-svg", chart}, cmdtest.Last{T: t, Files: []string{again, chart}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	want := "before\n" + tableBegins + "\n\ngo, a processor.\n\n| row | strata | A/A | slices | floor | ark | ark sized | donburi | nothing | tenth | zeroing a block | |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n" +
		"| get at random, 16k | 2.00 ns (1.00–3.00) | ±10.0 % | – | 1.00 ns (2.00) | 4.00 ns (0.50) | – | – | – | – | – | win over ark |\n" +
		"| two cores | not measured: it needs 2 processors |\n\n" + tableEnds + "\nafter\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nnot\n%s", err, got, want)
	}
	if err := os.WriteFile(page, []byte("no place"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-from", figures, "-md", page}, {"-from", page}, {"-from", filepath.Join(dir, "none")}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	if got, _ := os.ReadFile(page); string(got) != "no place" {
		t.Errorf("a file without a place is now %q", got)
	}
}

func TestMerge_PutsFreshRowsInThePlaceOfOldOnes(t *testing.T) {
	var names []string
	for _, r := range merge([]row{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}},
		[]result{{Row: "c", Unit: "old"}, {Row: "a", Unit: "old"}, {Row: "gone"}}, []result{{Row: "b", Unit: "new"}, {Row: "c", Unit: "new"}}) {
		names = append(names, r.Row+" "+r.Unit)
	}
	if got := strings.Join(names, ", "); got != "a old, b new, c new" {
		t.Error(got)
	}
}

// A pipe blocked -from, /dev/zero filled the memory, and another JSON file was a nil pointer.
func TestEarlier_RefusesForeignFiles(t *testing.T) {
	for _, name := range []string{t.TempDir(), os.DevNull} {
		if _, err := earlier(name); err == nil || !strings.Contains(err.Error(), "allowed is a plain file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	foreign := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(foreign, []byte(`[{"Row":"new"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier(foreign); err == nil || !strings.Contains(err.Error(), "result 0 lacks the side strata; allowed is what -json has written") {
		t.Error(err)
	}
}
