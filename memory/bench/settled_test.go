package main

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// invented returns a result of four rounds in two programs. Figures are by side; those of a twin differ by the factor.
func invented(name, figure string, twin float64, figures map[string]float64) result {
	r := result{Test: name, Samples: map[string][]sample{}}
	for side, v := range figures {
		for round := range 4 {
			drift := 1 + float64(round)/10 // of the machine: a ratio within a round does not see it
			r.Samples[side] = append(r.Samples[side], sample{round, round % 2, map[string]float64{figure: v * drift}})
			r.Samples[side+again] = append(r.Samples[side+again], sample{round, round % 2, map[string]float64{figure: v * drift * twin}})
		}
	}
	return r
}

func peersAt(v float64, more map[string]float64) map[string]float64 {
	all := map[string]float64{glibc: 9 * v, jemalloc: v, tcmalloc: 2 * v, mimalloc: 3 * v}
	for name, v := range more {
		all[name] = v
	}
	return all
}

func TestJudge_EachVerdictOfABound(t *testing.T) {
	b := bound{test: "W1", figure: "pair", side: slabs, of: cNames(), most: 1.1}
	for _, c := range []struct {
		name    string
		mine    float64
		twin    float64
		verdict string
		met     bool
	}{
		{"below", 10, 1, "met", true},
		{"at the bound", 11, 1, "met", true},
		{"above", 13.2, 1, "missed by 20.0 %", false},
		{"within the spread", 13.2, 1.3, "missed by 20.0 %, which is within the spread", false},
	} {
		j := b.judge([]result{invented("W1", "pair", c.twin, peersAt(10, map[string]float64{slabs: c.mine - 1e-9}))})
		if j.verdict() != c.verdict || j.met() != c.met || j.Peer != jemalloc {
			t.Errorf("%s: %q, met %v, beside %s: %+v", c.name, j.verdict(), j.met(), j.Peer, j)
		}
	}
}

func TestJudge_MissingFiguresAreNoVerdict(t *testing.T) {
	b := bound{test: "W1", figure: "pair", side: slabs, of: cNames(), most: 2}
	for want, results := range map[string][]result{
		"not measured: the workload did not run":     nil,
		"not measured: it needs 2 processors":        {{Test: "W1", Missing: "it needs 2 processors"}},
		"not measured: a side has no figure pair":    {invented("W1", "pair", 1, peersAt(1, nil))},
		"not measured: a side has no figure pair ":   {invented("W1", "pair", 1, map[string]float64{slabs: 1})},
		"not measured: a side has no figure pair  ":  {invented("W1", "p50", 1, peersAt(1, map[string]float64{slabs: 1}))},
		"not measured: the workload did not run    ": {invented("W2.1", "pair", 1, peersAt(1, map[string]float64{slabs: 1}))},
	} {
		if j := b.judge(results); j.met() || j.verdict() != strings.TrimSpace(want) {
			t.Errorf("%q, met %v, want %q", j.verdict(), j.met(), want)
		}
	}
}

func TestJudge_GrowthIsARatioOfRatios(t *testing.T) {
	b := bound{test: "live W1 1000", figure: "pair", side: slabs, of: cNames(), most: 1.1, since: "W1"}
	large := invented("live W1 1000", "pair", 1, peersAt(100, map[string]float64{slabs: 300}))
	for base, want := range map[float64]float64{300: 1, 600: .5, 150: 2} {
		small := invented("W1", "pair", 1, peersAt(100, map[string]float64{slabs: base}))
		if j := b.judge([]result{small, large}); j.Ratio < want-1e-9 || j.Ratio > want+1e-9 || j.met() != (want <= 1.1) {
			t.Errorf("a base of %g: %+v", base, j)
		}
	}
	if j := b.judge([]result{large}); j.met() || j.verdict() != "not measured: W1 is needed: the workload did not run" {
		t.Error(j.verdict())
	}
}

func TestRatio_OfZeroIsOfTheLeastTime(t *testing.T) {
	r := invented("W12", "p99", 1, map[string]float64{slabs: 5, jemalloc: 0})
	if ratio, ok := r.ratio(slabs, jemalloc, "p99"); !ok || ratio < 50 || ratio > 70 {
		t.Error(ratio, ok)
	}
	if ratio, ok := r.ratio(jemalloc, jemalloc, "p99"); !ok || ratio != 1 {
		t.Error(ratio, ok)
	}
}

func TestRatio_ComparesWithinARound(t *testing.T) {
	r := result{Samples: map[string][]sample{}}
	for round, v := range []float64{10, 20, 40} {
		r.Samples[slabs] = append(r.Samples[slabs], sample{round, 0, map[string]float64{"pair": v}})
	}
	r.Samples[runtimes] = []sample{{1, 0, map[string]float64{"pair": 40}}} // in one round only
	if ratio, ok := r.ratio(slabs, runtimes, "pair"); !ok || ratio != .5 {
		t.Error(ratio, ok)
	}
}

func TestBehind_NamesEachGoPeerThatIsNot(t *testing.T) {
	w := test{name: "W4", figure: "pair", judged: []string{slabs, manager}, peers: []string{runtimes, syncPool, modernc, slicings}}
	r := invented("W4", "pair", 1.05, map[string]float64{slabs: 10, manager: 12, runtimes: 100, syncPool: 10.4, modernc: 9, slicings: 5})
	wrong := w.behind(r)
	if len(wrong) != 2 || !strings.Contains(wrong[0].Error(), "W4: sync.Pool is not behind slab") || !strings.Contains(wrong[1].Error(), "W4: modernc.org/memory is not behind") {
		t.Error(wrong)
	}
	w.judged = nil
	if wrong := w.behind(r); wrong != nil {
		t.Error(wrong)
	}
}

// A faster configuration does not stand in for the default one.
func TestBehind_JudgesTheDefault(t *testing.T) {
	w := test{name: "W4", figure: "pair", judged: []string{slabs, slabs + fast}, peers: []string{modernc}}
	r := invented("W4", "pair", 1.05, map[string]float64{slabs: 10, slabs + fast: 8, modernc: 9})
	if wrong := w.behind(r); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "modernc.org/memory is not behind slab: ") {
		t.Error(wrong)
	}
}

func TestFailures_AreEmptyOnlyIfEverythingIsMet(t *testing.T) {
	w := []test{{name: "W1", figure: "pair", judged: []string{slabs}, peers: []string{runtimes}}}
	b := bound{test: "W1", figure: "pair", side: slabs, of: cNames(), most: 1}
	for _, c := range []struct {
		mine, runtime float64
		failures      int
	}{{10, 20, 0}, {11, 20, 1}, {10, 5, 1}, {11, 5, 2}} {
		results := []result{invented("W1", "pair", 1, peersAt(10, map[string]float64{slabs: c.mine, runtimes: c.runtime}))}
		err := failures(w, results, []judgement{b.judge(results)})
		n := 0
		if err != nil {
			n = strings.Count(err.Error(), "\n") + 1
		}
		if n != c.failures {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestFailures_LeaveOutWhatIsOnlyShown(t *testing.T) {
	b := bound{test: "W1", figure: "pair", side: slabs, of: cNames(), most: 1, shown: true}
	j := b.judge([]result{invented("W1", "pair", 1, peersAt(10, map[string]float64{slabs: 20}))})
	if err := failures(nil, nil, []judgement{j}); err != nil || j.met() || !strings.Contains((&bench{}).verdicts([]judgement{j}), "(shown, not judged)") {
		t.Error(err, j)
	}
}

func TestBounds_ReferToSidesThatTheirTestHas(t *testing.T) {
	tests := append(options{check: true}.tests(), options{}.tests()...)
	for _, b := range (options{}).bounds() {
		for _, w := range settle.Choose(tests, b.test, test.named) {
			if w.name != b.test {
				continue
			}
			for _, side := range append([]string{b.side}, b.of...) {
				if !has(w.sides(), side) {
					t.Errorf("%s has no side %s", w.name, side)
				}
			}
			if !b.shown && !has(w.judged, b.side) {
				t.Errorf("%s: %s has a bound and does not run twice", w.name, b.side)
			}
		}
		if len(settle.Choose(tests, b.test, test.named)) == 0 || b.since != "" && len(settle.Choose(tests, b.since, test.named)) == 0 {
			t.Errorf("there is no test %q or %q", b.test, b.since)
		}
	}
}

func has(all []string, name string) bool {
	for _, s := range all {
		if s == name {
			return true
		}
	}
	return false
}
