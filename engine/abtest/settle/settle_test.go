package settle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestJudge_ARatioWithinTheSpreadIsADraw(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  Verdict
	}{{.5, Win}, {.95, Win}, {.953, Draw}, {1, Draw}, {1.05, Draw}, {1.051, Loss}, {2, Loss}} {
		if got := Judge(c.ratio, .05); got != c.want {
			t.Errorf("%g with a spread of 0.05: %s, want %s", c.ratio, got, c.want)
		}
	}
}

// What one program differs from another by is part of the spread, also where each agrees with itself.
func TestSpread_IncludesHowTheProgramsDiffer(t *testing.T) {
	if s := Spread([]float64{10, 10}, []float64{10, 10}); s != 0 {
		t.Error("equal programs:", s)
	}
	if s := Spread([]float64{10, 10, 10}, []float64{12, 12, 12}); s < .199 || s > .201 {
		t.Error("a twin that is slower by a fifth:", s)
	}
	if s := Spread([]float64{10, 10, 11}, []float64{10, 10, 10}); s < .099 || s > .101 {
		t.Error("one program in which the twins differ by a tenth:", s)
	}
	if s := Spread([]float64{10, 20}, []float64{10, 20}); s < .2 {
		t.Error("programs that differ by two:", s)
	}
}

func TestMedian_OfTwoIsTheirMean(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{4, 2}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{8, 1, 2, 4}, 3}} {
		if got := Median(c.of); got != c.want {
			t.Errorf("median of %v is %g", c.of, got)
		}
	}
}

func TestEach_ShiftsAndBeginsAgain(t *testing.T) {
	got := Each([]float64{10, 20, 30}, []float64{1, 2, 3}, 2, func(a, b float64) float64 { return a + b })
	if len(got) != 3 || got[0] != 13 || got[1] != 21 || got[2] != 32 {
		t.Error(got)
	}
	if r := Ratios([]float64{10, 30}, []float64{5, 10}); len(r) != 2 || r[0] != 2 || r[1] != 3 {
		t.Error(r)
	}
}

func TestChoose_ByBeginningsOnceAndInOrder(t *testing.T) {
	all := []string{"W1", "W10", "W2", "cold"}
	for _, c := range []struct{ of, want string }{{"", "W1 W10 W2 cold"}, {"W1", "W1 W10"}, {"cold, W1 ,W10", "W1 W10 cold"}, {"x", ""}} {
		if got := strings.Join(Choose(all, c.of, func(s string) string { return s }), " "); got != c.want {
			t.Errorf("%q chooses %q, want %q", c.of, got, c.want)
		}
	}
}

func TestReplace_KeepsTheLinesAndWhatSurroundsThem(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.md")
	write := func(s string) {
		if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n<a>\nold\n<b>\nafter\n")
	if err := errors.Join(Marked(name, "<a>", "<b>"), Marked("", "<a>", "<b>")); err != nil {
		t.Error(err)
	}
	for range 2 { // the second time it finds its own text
		if err := Replace(name, "<a>", "<b>", "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != "before\n<a>\nnew\n<b>\nafter\n" {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"no lines", "<b>\n<a>\n", "<a>\n"} {
		write(bad)
		if err := Replace(name, "<a>", "<b>", "new\n"); err == nil || !strings.Contains(err.Error(), `no lines "<a>" and "<b>"`) {
			t.Errorf("%q: %v", bad, err)
		}
		if Marked(name, "<a>", "<b>") == nil {
			t.Errorf("%q counts as marked", bad)
		}
		if got, _ := os.ReadFile(name); string(got) != bad {
			t.Errorf("the file is now %q", got)
		}
	}
	if err := Replace(name+"x", "<a>", "<b>", ""); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestFigure_UsesTheUnitThatFits(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{{1.234, "ns", "1.23 ns"}, {12.34, "ns", "12.3 ns"}, {1234, "ns", "1234 ns"}, {12345, "ns", "12.3 µs"}, {2e7, "ns", "20.0 ms"}, {12345, "MiB", "12345 MiB"}} {
		if got := Figure(c.v, c.unit); got != c.want {
			t.Errorf("%g %s: %q", c.v, c.unit, got)
		}
	}
}

func TestMachine_NamesTheProcessorOnce(t *testing.T) {
	if m := Machine(); strings.Count(m, Processor()) != 1 || !strings.HasPrefix(m, "go") {
		t.Error(m)
	}
}

func TestPlacement_BuildsProgramsThatRunAndReportsErrors(t *testing.T) {
	testenv.Long(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module placed\n", "main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"here\") }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := Build{Package: ".", Dir: dir, Flags: []string{"-mod=mod"}, Env: []string{"GOWORK=off"}, LinkFlags: "-s"}
	for number := range 2 {
		for _, name := range []string{filepath.Join(dir, "placed"), "relative"} {
			file, err := b.Placement(name, number)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := testenv.Command(t, file).Output(); err != nil || string(out) != "here" {
				t.Errorf("%s: %q, %v", file, out, err)
			}
		}
	}
	b.Package = "./none"
	if file, err := b.Placement(filepath.Join(dir, "none"), 0); err == nil || file != "" || !strings.Contains(err.Error(), "none") {
		t.Errorf("%q, %v", file, err)
	}
}
