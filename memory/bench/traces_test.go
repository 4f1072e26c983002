package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/trace"
)

func TestTraces_EachHasTestsBoundsAndAPeak(t *testing.T) {
	all := recordings()
	if len(all) < 9 {
		t.Fatalf("%d traces", len(all))
	}
	bounds := options{}.bounds()
	tests := options{}.tests()
	for _, r := range all {
		if r.peak < 100_000 {
			t.Errorf("%s has a peak of %d bytes: README.md has no row", r.name, r.peak)
		}
		for _, name := range []string{"W14 " + r.name, "whole W14 " + r.name} {
			if !slices.ContainsFunc(tests, func(x test) bool { return x.name == name && x.trace == r.name }) {
				t.Errorf("there is no test %s", name)
			}
		}
		judged := func(name string) bool {
			return slices.ContainsFunc(bounds, func(b bound) bool { return b.test == name })
		}
		if !judged("W14 "+r.name) || judged("whole W14 "+r.name) != (r.peak > smallPeak) {
			t.Errorf("%s: wrong bounds", r.name)
		}
	}
	i := slices.IndexFunc(bounds, func(b bound) bool { return b.mean != nil })
	if i < 0 || len(bounds[i].mean) != len(all) || bounds[i].most != .5 {
		t.Error("the geometric mean is not of all traces")
	}
}

// inTwoRounds returns a result with a figure for each side, in two rounds.
func inTwoRounds(test, figure string, of map[string]float64) result {
	r := result{Test: test, Samples: map[string][]sample{}}
	for side, v := range of {
		for round := range 2 {
			r.Samples[side] = append(r.Samples[side], sample{Round: round, Program: round, Figures: map[string]float64{figure: v}})
		}
	}
	return r
}

func TestTraces_MeanIsGeometric(t *testing.T) {
	mean := bound{test: "W14", figure: net, side: slabs, of: []string{glibc}, most: .5, mean: []string{"W14 a", "W14 b"}}
	results := []result{
		inTwoRounds("W14 a", net, map[string]float64{slabs: 10, glibc: 40}),
		inTwoRounds("W14 b", net, map[string]float64{slabs: 30, glibc: 30}),
	}
	if j := mean.judge(results); j.Missing != "" || math.Abs(j.Ratio-.5) > 1e-9 || !j.met() {
		t.Errorf("ratio %g, %s", j.Ratio, j.Missing)
	}
	results[1] = inTwoRounds("W14 b", net, map[string]float64{slabs: 36, glibc: 30})
	if j := mean.judge(results); j.met() {
		t.Errorf("ratio %g is met", j.Ratio)
	}
	if j := mean.judge(results[:1]); j.met() || !strings.Contains(j.Missing, "W14 b") {
		t.Errorf("without a result: %+v", j)
	}
	tests := []test{{name: "W14 a"}, {name: "W14 b"}}
	asked := func(tests []test) bool {
		return slices.ContainsFunc(options{}.judge(results, tests), func(j judgement) bool { return j.mean != nil })
	}
	if asked(tests) {
		t.Error("the mean of all traces is judged, and two were asked for")
	}
	if !asked(traceTests()) {
		t.Error("the mean of all traces is not judged")
	}
}

func TestTraces_LoopsOfTheLanguageAreSubtracted(t *testing.T) {
	r := inTwoRounds("W14 a", "pair", map[string]float64{slabs: 20, slabs + again: 21, glibc: 30, runtimes: 2, goLoop: 3, cLoop: 5})
	r.Samples[slabs][1].Figures["tick p999"] = 7
	r.Samples[slabs][1].Round = 9 // in which no loop ran
	r.subtractLoops(func(name string) kind {
		if name == glibc {
			return inC
		}
		return inGo
	})
	for side, want := range map[string]float64{slabs: 17, slabs + again: 18, glibc: 25, runtimes: leastTime, goLoop: 3, cLoop: 5} {
		if got := r.Samples[side][0].Figures[net]; got != want {
			t.Errorf("%s: %g, want %g", side, got, want)
		}
	}
	if f := r.Samples[slabs][1].Figures; f["p999"] != 7 || f[net] != 0 {
		t.Errorf("%v", f)
	}
}

func TestTraces_LoopsMayReadOtherWords(t *testing.T) {
	a, b := finding{Drawn: "1", Read: "2"}, finding{Drawn: "1", Read: "3"}
	if sameWork(test{}, slabs, goLoop, a, b) != nil || sameWork(test{}, slabs, cLoop, a, b) != nil {
		t.Error("a loop must read the words of an allocator")
	}
	if sameWork(test{}, slabs, glibc, a, b) == nil || sameWork(test{}, slabs, goLoop, a, finding{Drawn: "2", Read: "2"}) == nil {
		t.Error("other work is accepted")
	}
}

func TestCompile_WritesTheProgramOrAnError(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "x.program")
	if err := compile("traces/nginx.trace", to); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := trace.ParseProgram(file); err != nil || p.Operations < 10_000 {
		t.Errorf("%v", err)
	}
	damaged, err := os.ReadFile("traces/nginx.trace")
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(dir, "x.trace")
	if err := os.WriteFile(from, damaged[:len(damaged)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := compile(from, to); err == nil || !strings.Contains(err.Error(), "x.trace: trace: truncated") {
		t.Errorf("a truncated trace: %v", err)
	}
	if err := compile(from+"x", to); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// The rows of the loops are in the table of a trace, and not in that of its memory.
func TestTraces_TablesHaveTheLoops(t *testing.T) {
	for _, c := range traceTests() {
		if has := slices.Contains(c.sides(), goLoop) && slices.Contains(c.sides(), cLoop); has == c.whole {
			t.Errorf("%s: loops %v", c.name, has)
		}
	}
}
