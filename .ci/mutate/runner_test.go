package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write lays out a module whose package is called m.
func write(t *testing.T, files map[string]string) options {
	t.Helper()
	root := t.TempDir()
	files = maps.Clone(files)
	files["go.mod"] = "module m\n\ngo 1.26.0\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return options{root: root, pkgs: "p", state: filepath.Join(root, "state"), seed: 1, workers: 1, least: 5 * time.Second, verbose: true}
}

// run expects no error and one row.
func run(t *testing.T, o options) (tally, string) {
	t.Helper()
	var out bytes.Buffer
	rows, err := runAll(context.Background(), o, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if len(rows) != 1 {
		t.Fatalf("%d rows\n%s", len(rows), out.String())
	}
	return rows[0], out.String()
}

const clamp = `package p

func clamp(n, high int) int {
	if n > high {
		n = high
	}
	n *= 3
	return n
}
`

// strict notices everything, but that n > high may be n >= high, which is the same.
const strict = `package p

import "testing"

func TestClamp(t *testing.T) {
	for _, c := range [][3]int{{4, 5, 12}, {5, 5, 15}, {6, 5, 15}, {-2, 5, -6}} {
		if got := clamp(c[0], c[1]); got != c[2] {
			t.Fatalf("clamp(%d, %d) = %d", c[0], c[1], got)
		}
	}
}
`

const lax = `package p

import "testing"

func TestClamp(t *testing.T) { clamp(4, 5); clamp(6, 5) }
`

const same = "p.go clamp | comparison | n > high => n >= high | #1"

// long skips a test that builds a dozen mutants with -short, as in the gate; .ci/nightly mutate runs it.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a dozen mutants")
	}
}

func TestRun_AStrictSuiteKillsAllButTheEquivalent(t *testing.T) {
	t.Parallel()
	o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": strict})
	row, out := run(t, o)
	if row.sampled != 9 || row.killed != 8 || row.unexplained != 1 || !slices.Equal(row.unexplainedKeys, []string{same}) {
		t.Errorf("%+v\n%s", row, out)
	}
	if faults := verdict([]tally{row}); len(faults) != 2 {
		t.Errorf("faults: %q", faults)
	}
}

func TestRun_ALaxSuiteKillsNone(t *testing.T) {
	long(t)
	t.Parallel()
	row, out := run(t, write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": lax}))
	if row.sampled != 9 || row.killed != 0 || row.unexplained != 9 || row.unreachable != 0 {
		t.Errorf("%+v\n%s", row, out)
	}
	if !strings.Contains(out, "survived    p/p.go:4: "+same+" (unexplained)") || !strings.Contains(out, "\n            if n > high {\n") {
		t.Errorf("the survivor's place is not shown:\n%s", out)
	}
}

func TestRun_ExplanationsAreCountedAndStaleOnesNamed(t *testing.T) {
	long(t)
	t.Parallel()
	o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": strict, ".ci/mutate/survivors/p.txt": "# the same at the border\n" +
		same + " | equivalent: at n == high both give high\n" +
		"p.go clamp | statement | n *= 3 => (deleted) | #1 | owed: TestClamp_Triples\n" +
		"p.go gone | statement | x() => (deleted) | #1 | equivalent: once\n"})
	row, out := run(t, o)
	if row.killed != 8 || row.equivalent != 1 || row.unexplained != 0 || row.stale != 2 {
		t.Errorf("%+v\n%s", row, out)
	}
	if faults := verdict([]tally{row}); len(faults) != 0 {
		t.Errorf("faults: %q", faults)
	}
	for _, want := range []string{"n *= 3 => (deleted) | #1: killed", "x() => (deleted) | #1: no such mutant"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestRun_WriteAppendsQuestionsThatExplainNothing(t *testing.T) {
	long(t)
	t.Parallel()
	o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": strict})
	o.write = true
	for range 2 {
		if row, out := run(t, o); row.unexplained != 1 {
			t.Errorf("%+v\n%s", row, out)
		}
		data, err := os.ReadFile(filepath.Join(o.root, ".ci/mutate/survivors/p.txt"))
		if err != nil || string(data) != same+" | ?\n" {
			t.Errorf("%q, %v", data, err)
		}
	}
}

func TestRun_GoesOnWhereItStopped(t *testing.T) {
	long(t)
	t.Parallel()
	o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": strict})
	o.n = 4
	first, _ := run(t, o)
	o.n = 0
	row, out := run(t, o)
	if first.sampled != 4 || row.sampled != 9 || row.killed != 8 || strings.Count(out, " p/p.go:") != 5 {
		t.Errorf("%+v, then %+v\n%s", first, row, out)
	}
	if row, out = run(t, o); row.killed != 8 || out != "" {
		t.Errorf("nothing was left to do: %+v\n%s", row, out)
	}
}

func TestRun_AChangedPackageIsJudgedAgain(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %t", keep), func(t *testing.T) {
			t.Parallel()
			o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": lax})
			run(t, o)
			o.keep = keep
			for i, want := range []int{9, map[bool]int{false: 9, true: 1}[keep]} { // strict, then strict with a comment
				text := strict + strings.Repeat("// more\n", i)
				if err := os.WriteFile(filepath.Join(o.root, "p/p_test.go"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if row, out := run(t, o); row.killed != 8 || strings.Count(out, " p/p.go:") != want {
					t.Errorf("change %d: %+v\n%s", i, row, out)
				}
			}
		})
	}
}

func TestState_WithKeepOnlyTheNewestVerdictCounts(t *testing.T) {
	dir := t.TempDir()
	s, err := openState(dir, "a/b", "1", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []result{
		{Key: "x", Hash: "1", Verdict: killed}, {Key: "x", Hash: "2", Verdict: survived},
		{Key: "y", Hash: "1", Verdict: survived}, {Key: "y", Hash: "2", Verdict: killed},
		{Key: "z", Hash: "3", Verdict: survived}, {Key: "z", Hash: "2", Verdict: killed},
	} {
		if err := s.add(r); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "a.b.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\n{\"key\":\"y\",\"ha") // cut short
	f.Close()
	for keep, want := range map[bool]map[string]string{
		false: {"z": survived}, true: {"y": killed, "z": survived},
	} {
		s, err := openState(dir, "a/b", "3", keep)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for k, r := range s.known {
			got[k] = r.Verdict
		}
		if !maps.Equal(got, want) {
			t.Errorf("keep %t: %v", keep, got)
		}
	}
}

func TestRun_ASpentBudgetLeavesMutantsPending(t *testing.T) {
	t.Parallel()
	o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": strict})
	o.budget = 1
	row, _ := run(t, o)
	if row.pending != 9 || row.sampled != 0 {
		t.Errorf("%+v", row)
	}
	if text := table([]tally{row}); !strings.Contains(text, "Not finished: 9 mutants are pending.") {
		t.Error(text)
	}
}

func TestRun_ALineThatNoTestReachesSurvivesUnlessItDoesNotBuild(t *testing.T) {
	t.Parallel()
	row, out := run(t, write(t, map[string]string{"p/p_test.go": strict,
		"p/p.go": clamp + "\nfunc half(n uint) uint { n >>= 1; return n &^ 0 }\n"}))
	if row.unreachable == 0 || row.unexplained != row.unreachable+1 || !strings.Contains(out, "unbuildable p/p.go:11: p.go half | constant | n &^ 0 => n &^ (-1)") {
		t.Errorf("%+v\n%s", row, out)
	}
}

func TestRun_OneThatDoesNotBuildIsDrawnAgain(t *testing.T) {
	long(t)
	t.Parallel()
	files := map[string]string{"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { if f() != 1 { t.Fatal() } }\n",
		"p/p.go": "package p\n\nfunc f() (n uint) {\n\tn = 0 + 1\n\treturn n\n}\n"}
	for _, workers := range []int{1, 3} {
		o := write(t, files)
		o.n, o.workers = 5, workers
		row, out := run(t, o)
		if row.candidates != 6 || row.sampled != 5 || row.killed != 4 && row.killed != 5 || row.pending != 0 {
			t.Errorf("%d workers: %+v\n%s", workers, row, out)
		}
	}
}

func TestRun_ALoopWithoutEndIsKilled(t *testing.T) { // alone: it is a matter of time
	o := write(t, map[string]string{"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { f() }\n",
		"p/p.go": "package p\n\nfunc f() {\n\tfor n := 3; n > 0; n-- {\n\t}\n}\n"})
	o.least = time.Second
	row, out := run(t, o)
	if !strings.Contains(out, "killed      p/p.go:4: p.go f | condition-true | n > 0 => true | #1 ") || !strings.Contains(out, "default, full: timeout after 1s") || row.killed > 2 {
		t.Errorf("%+v\n%s", row, out)
	}
}

func TestRun_DebugAndFastBuildsKillToo(t *testing.T) {
	long(t)
	t.Parallel()
	level := func(constraint, exact, debug string) string {
		return "//go:build " + constraint + "\n\npackage p\n\nconst Exact, Debug = " + exact + ", " + debug + "\n"
	}
	row, out := run(t, write(t, map[string]string{
		"p/on.go":  level("memdebug", "true", "true"),
		"p/off.go": level("!memdebug && !memfast", "true", "false"), "p/fast.go": level("memfast", "false", "false"),
		"p/p.go": "package p\n\nfunc f(n int) int {\n\tif Debug {\n\t\tn += 7\n\t}\n\tif !Exact {\n\t\tn *= 7\n\t}\n\treturn n\n}\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\twant := 5\n\tif Debug {\n\t\twant = 12\n\t} else if !Exact {\n\t\twant = 35\n\t}\n" +
			"\tif f(5) != want {\n\t\tt.Fatal(f(5))\n\t}\n}\n"}))
	if row.killed != row.sampled {
		t.Errorf("%+v\n%s", row, out)
	}
	for _, want := range []string{"n += 7 => n -= 7 | #1 ", "memdebug, full: TestF", "n *= 7 => n /= 7 | #1 ", "memfast, full: TestF"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestRun_TestsOfThePackageAboveServeOneWithoutTests(t *testing.T) {
	t.Parallel()
	o := write(t, map[string]string{"p/internal/q/q.go": "package q\n\nfunc Twice(n int) int { return n + n }\n", "p/p.go": "package p\n",
		"p/p_test.go": "package p\n\nimport (\n\t\"m/p/internal/q\"\n\t\"testing\"\n)\n\nfunc TestTwice(t *testing.T) {\n\tif q.Twice(4) != 8 {\n\t\tt.Fatal()\n\t}\n}\n"})
	o.pkgs = "p/internal/q"
	if row, out := run(t, o); row.sampled != 1 || row.killed != 1 {
		t.Errorf("%+v\n%s", row, out)
	}
	if err := os.Remove(filepath.Join(o.root, "p/p_test.go")); err != nil {
		t.Fatal(err)
	}
	if row, out := run(t, o); row.sampled != 1 || row.unreachable != 1 {
		t.Errorf("without tests: %+v\n%s", row, out)
	}
}

func TestRun_ABaselineThatIsNotGreenIsAnError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"func TestF(t *testing.T) { t.Fatal(\"as ever\") }": "is not green: TestF",
		"func TestF(t *testing.T) { none() }":               "does not build",
	} {
		o := write(t, map[string]string{"p/p.go": clamp, "p/p_test.go": "package p\n\nimport \"testing\"\n\n" + text + "\n"})
		rows, err := runAll(context.Background(), o, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) || rows[0].sampled != 0 {
			t.Errorf("%v, %+v", err, rows)
		}
	}
}
