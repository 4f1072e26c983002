package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// programs are samples of as many programs as ours has figures; each of the others has as many.
func programs(mine, twin, other []float64) (all []samples) {
	for i := range mine {
		all = append(all, samples{Figures: map[string][]float64{ours: {mine[i]}, again: {twin[i]}, arks: {other[i]}}})
	}
	return all
}

// made is a row of us and Ark.
func made(extra bool, goals ...goal) row {
	return row{name: "made", unit: "ns", n: 1, extra: extra, goals: goals, sides: []contestant{{name: ours}, {name: arks}}}
}

func TestSettle_ARatioWithinTheSpreadOfAAIsADraw(t *testing.T) {
	mine, twin := []float64{10, 11, 10}, []float64{10, 10.5, 10}
	for _, c := range []struct {
		other float64
		want  settle.Verdict
	}{{20, settle.Win}, {10.6, settle.Win}, {10.4, settle.Draw}, {10, settle.Draw}, {9.6, settle.Draw}, {9.4, settle.Loss}, {8, settle.Loss}} {
		r := settled(made(false), programs(mine, twin, []float64{c.other, c.other * 1.1, c.other}))
		if got := r.side(arks).Verdict; got != c.want {
			t.Errorf("10 beside %g with a spread of %.3f: %s, not %s", c.other, r.Spread, got, c.want)
		}
	}
}

func TestSettle_GoalsAreOfTheFigureTheRatioOrTheDifference(t *testing.T) {
	for _, c := range []struct {
		g   goal
		met bool
	}{
		{goal{most: 10}, true}, {goal{most: 9.9}, false},
		{goal{most: .5, of: arks}, true}, {goal{most: .49, of: arks}, false},
		{goal{most: -10, of: arks, plus: true}, true}, {goal{most: -11, of: arks, plus: true}, false},
	} {
		tens := []float64{10, 10}
		r := settled(made(false, c.g), programs(tens, tens, []float64{20, 20}))
		if r.Goals[0].Met != c.met {
			t.Errorf("%s: met %v, figure %g", r.Goals[0].Goal, r.Goals[0].Met, r.Goals[0].Figure)
		}
		if err := failures([]result{r}); (err == nil) != c.met {
			t.Errorf("%s: -check says %v", r.Goals[0].Goal, err)
		}
	}
}

func TestFailures_NameEachRowBehindArkButNotOtherWaysToDoIt(t *testing.T) {
	tens, five := []float64{10, 10}, []float64{5, 5}
	behind, extra := settled(made(false), programs(tens, tens, five)), settled(made(true), programs(tens, tens, five))
	missing := result{Row: "wide", Missing: "it needs 64 processors"}
	err := failures([]result{behind, extra, missing})
	if err == nil {
		t.Fatal("nothing failed")
	}
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 2 || !strings.Contains(err.Error(), "made: behind Ark: 2 of its 5.00 ns") ||
		!strings.Contains(err.Error(), "wide: not measured: it needs 64 processors") {
		t.Error(err)
	}
	if w := extra.words(); w != "loss to ark" {
		t.Errorf("a loss is shown all the same: %q", w)
	}
}

func TestSettle_FailureOfOursIsALossAndMissesEveryGoal(t *testing.T) {
	tens := []float64{10, 10}
	all := programs(tens, tens, tens)
	delete(all[1].Figures, ours)
	all[1].Failed = map[string]string{ours: "no memory"}
	r := settled(made(true, goal{most: 100}), all)
	if r.Failed != "no memory" || r.side(arks).Verdict != settle.Loss || r.side(arks).Median != 10 || len(r.Goals) != 1 || r.Goals[0].Met {
		t.Errorf("%+v", r)
	}
	if w := r.words(); w != "fails: no memory, loss to ark, misses the goal of 100 ns" {
		t.Error(w)
	}
	if err := failures([]result{r}); err == nil || err.Error() != "made: Strata fails: no memory" {
		t.Error(err)
	}
	if c := strings.Join(r.cells(), " "); c != "fails – – – 10.0 ns – – – – –" {
		t.Error(c)
	}
	var b strings.Builder
	if err := svg(&b, []result{r}); err != nil || !strings.Contains(b.String(), "fails: no memory") {
		t.Error(err, b.String())
	}
}

func TestSettle_FailureOfAnotherSideIsNoVerdict(t *testing.T) {
	tens := []float64{10, 10}
	all := programs(tens, tens, tens)
	delete(all[0].Figures, arks)
	all[0].Failed = map[string]string{arks: "no memory"}
	r := settled(made(false, goal{most: .1, of: arks}), all)
	if s := r.side(arks); s.Failed != "no memory" || s.Verdict != settle.None || len(r.Goals) != 0 || failures([]result{r}) != nil {
		t.Errorf("%+v", r)
	}
	if c := r.cell(arks); c != "fails" {
		t.Error(c)
	}
}

func TestRunsOf_NameEachProcessorOnce(t *testing.T) {
	got := runsOf([]result{{Run: "a"}, {Run: "b"}, {}, {Run: "a"}})
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
	if r := runOf(5, 10); !strings.Contains(r, settle.Processor()) || !strings.Contains(r, "programs: 5, rounds: 10") {
		t.Error(r)
	}
}

func TestSVG_IsXMLWithEveryRow(t *testing.T) {
	tens := []float64{10, 10}
	r := settled(made(false), programs(tens, tens, []float64{1e9, 1e9}))
	r.Row = "a <row> & more"
	var b strings.Builder
	if err := svg(&b, []result{r, {Row: "wide", Missing: "no processors"}}); err != nil {
		t.Fatal(err)
	}
	text := ""
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := tok.(xml.CharData); ok {
			text += string(s) + "\n"
		}
	}
	for _, want := range []string{"a <row> & more", "10.0 ns", "wide", "not measured: no processors", "ark: ", "prefers-color-scheme:dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// TestMeasure_ARowThatWouldFailIsJudgedByTwiceAsManyPrograms: by all of them, so that what is behind stays behind.
func TestMeasure_ARowThatWouldFailIsJudgedByTwiceAsManyPrograms(t *testing.T) {
	tens, less, more := []float64{10, 10, 10}, []float64{9.7, 9.7, 9.7}, []float64{10.4, 10.4, 10.4}
	for _, c := range []struct {
		check         bool
		first, second []float64 // of Ark
		programs      int
		failed        bool
	}{
		{true, tens, nil, 3, false},
		{true, less, more, 6, false}, // by chance
		{true, less, less, 6, true},
		{false, less, nil, 3, true}, // without -check
	} {
		var asked [][2]int
		res, err := options{placements: 3, check: c.check}.measure(made(false), func(from, to int) ([]samples, error) {
			asked = append(asked, [2]int{from, to})
			if from == 0 {
				return programs(tens, tens, c.first), nil
			}
			return programs(tens, tens, c.second), nil
		})
		if err != nil || len(res.Samples) != c.programs || len(asked) != c.programs/3 || asked[len(asked)-1] != [2]int{c.programs - 3, c.programs} {
			t.Errorf("%+v: %d programs, %v, %v", c, len(res.Samples), asked, err)
		}
		if failed := failures([]result{res}) != nil; failed != c.failed {
			t.Errorf("%+v: failed %v", c, failed)
		}
	}
	for at := range 2 {
		broken := errors.New("broken")
		_, err := options{placements: 3, check: true}.measure(made(false), func(from, to int) ([]samples, error) {
			if from == 3*at {
				return nil, broken
			}
			return programs(tens, tens, less), nil
		})
		if err != broken {
			t.Errorf("the call that broke was %d: %v", at, err)
		}
	}
}
