package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/trace"
)

const folder = ".." // of the traces

func rows(t *testing.T) []row {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := list(string(readme))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestTraces_AreWhatTheListSays(t *testing.T) {
	for _, r := range rows(t) {
		file, err := os.ReadFile(filepath.Join(folder, r.name+".trace"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := measure(file); err != nil || got != r.facts {
			t.Errorf("%s: %+v, %v, and the list says %+v", r.name, got, err, r.facts)
		}
	}
}

// The limits are those of row W14.
func TestTraces_AreWithinTheLimits(t *testing.T) {
	kinds, total := map[string]bool{}, 0
	for _, r := range rows(t) {
		if r.name == "demo" { // a minute of 3,600 ticks
			if r.bytes > 1<<20 {
				t.Errorf("the trace of the demo has %d bytes: at most 1 MiB is wanted", r.bytes)
			}
		} else {
			total += r.bytes
		}
		kinds[r.kind] = true
		if r.operations < 1e4 || r.operations > 1e6 {
			t.Errorf("%s has %d operations: 10^4 to 10^6 are wanted", r.name, r.operations)
		}
		if r.peak < 1e5 || r.peak > 70e6 {
			t.Errorf("%s has %d bytes live: 0.1 to 70 MB are wanted", r.name, r.peak)
		}
	}
	if len(kinds) < 8 || total > 3<<20 {
		t.Errorf("%d kinds, %d bytes: at least 8 and at most 3 MiB are wanted", len(kinds), total)
	}
}

// A program that is chosen stays: the script, the list and the files name the same ones.
func TestTraces_NoneIsDropped(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(folder, "record"))
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile(`(?m)^programs=\((.*)\)$`).FindSubmatch(script)
	if programs == nil {
		t.Fatal("record has no list of programs")
	}
	listed := map[string]bool{}
	for _, r := range rows(t) {
		if listed[r.name] {
			t.Errorf("%s has two rows", r.name)
		}
		listed[r.name] = true
	}
	for _, name := range strings.Fields(string(programs[1])) {
		if !listed[name] {
			t.Errorf("record has the program %s, and the list has not", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.trace"))
	if err != nil || len(files) != len(listed) {
		t.Errorf("%d files and %d rows, %v", len(files), len(listed), err)
	}
	if len(listed) < 15 {
		t.Errorf("%d traces: fifteen were chosen before the first replay", len(listed))
	}
}

func TestEnter_ReplacesTheRowOrAddsIt(t *testing.T) {
	a := row{"a", "k", "p 1", "c", facts{1, 2, 3, 4, 5, "x"}}
	b := row{"b", "k", "p 2", "c d", facts{6, 7, 8, 9, 10, "y"}}
	empty := "above\n" + tableBegin + tableHead + tableEnd + "below\n"
	text := empty
	for _, r := range []row{a, b} {
		var err error
		if text, err = enter(text, r); err != nil {
			t.Fatal(err)
		}
	}
	a.operations = 11
	text, err := enter(text, a)
	want := "above\n" + tableBegin + tableHead + a.String() + "\n" + b.String() + "\n" + tableEnd + "below\n"
	if err != nil || text != want {
		t.Errorf("%v:\n%s\nwant:\n%s", err, text, want)
	}
	if rows, err := list(text); err != nil || len(rows) != 2 || rows[0] != a || rows[1] != b {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestList_RefusesADamagedTable(t *testing.T) {
	for want, text := range map[string]string{
		"no table":   "nothing",
		"columns":    tableBegin + tableHead + "| a | b |\n" + tableEnd,
		"invalid sy": tableBegin + tableHead + "| a | b | c | d | x | 1 | 1 | 1 | 1 | s |\n" + tableEnd,
	} {
		if _, err := list(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestCompress_KeepsEventsAndTicks(t *testing.T) {
	dir := t.TempDir()
	recorded, stored := filepath.Join(dir, "recorded"), filepath.Join(dir, "stored")
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, trace.Header{Program: "game", Unit: "tick"}, trace.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		w.Free(trace.Where{}, w.Alloc(trace.Where{Tier: 5}, 100, 16))
		w.Tick(trace.Where{})
	}
	if err := errors.Join(w.Close(), os.WriteFile(recorded, b.Bytes(), 0o666), compress(stored, recorded, 1500)); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	f, err := measure(file)
	if err != nil || f.operations != 1500 || f.blocks != 750 || f.peak != 100 || f.bytes*10 > b.Len() {
		t.Errorf("%+v, %v", f, err)
	}
	r, err := trace.NewReader(bytes.NewReader(file))
	if err != nil || r.Header().Unit != "tick" {
		t.Errorf("%+v, %v", r.Header(), err)
	}
	if err := compress(stored, filepath.Join(dir, "none"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
