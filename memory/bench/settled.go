package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// series returns a figure of a side by round.
func (r result) series(side, figure string) map[int]float64 {
	all := map[int]float64{}
	for _, s := range r.Samples[side] {
		if v, ok := s.Figures[figure]; ok {
			all[s.Round] = v
		}
	}
	return all
}

// median returns the median of a figure of a side, and whether there is one.
func (r result) median(side, figure string) (float64, bool) {
	var all []float64
	for _, v := range r.series(side, figure) {
		all = append(all, v)
	}
	if all == nil {
		return 0, false
	}
	return settle.Median(all), true
}

// best returns the side with the lowest median of the figure, or "" if none has it.
func (r result) best(sides []string, figure string) (name string) {
	least := math.Inf(1)
	for _, s := range sides {
		if m, ok := r.median(s, figure); ok && m < least {
			least, name = m, s
		}
	}
	return name
}

// leastTime stands for a figure of 0: the time stamp counter may not advance during a call.
const leastTime = .1

// ratio returns the median over the rounds of a side's figure to another's, and whether both have a common round.
func (r result) ratio(side, other, figure string) (float64, bool) {
	mine, theirs := r.series(side, figure), r.series(other, figure)
	var all []float64
	for round, v := range mine {
		if w, ok := theirs[round]; ok {
			all = append(all, max(v, leastTime)/max(w, leastTime))
		}
	}
	if all == nil {
		return 0, false
	}
	return settle.Median(all), true
}

// programs returns the median of a figure of a side in each program.
func (r result) programs(side, figure string) (medians []float64) {
	by := map[int][]float64{}
	for _, s := range r.Samples[side] {
		if v, ok := s.Figures[figure]; ok {
			by[s.Program] = append(by[s.Program], max(v, leastTime))
		}
	}
	for program := range len(by) {
		if by[program] != nil {
			medians = append(medians, settle.Median(by[program]))
		}
	}
	return medians
}

// spread returns the spread of A/A of a judged side, and whether it ran twice.
func (r result) spread(side, figure string) (float64, bool) {
	mine, twin := r.programs(side, figure), r.programs(side+again, figure)
	if mine == nil || len(mine) != len(twin) {
		return 0, false
	}
	return settle.Spread(mine, twin), true
}

// A judgement is a bound with the ratio that was measured.
type judgement struct {
	bound
	Peer          string // the best one
	Figure, Peers float64
	Ratio, Spread float64
	Missing       string // why there is no ratio
}

// met reports whether the ratio is within its bound.
func (j judgement) met() bool { return j.Missing == "" && j.Ratio <= j.most }

// verdict says how the ratio stands to its bound.
func (j judgement) verdict() string {
	switch {
	case j.Missing != "":
		return "not measured: " + j.Missing
	case j.met():
		return "met"
	case j.Ratio <= j.most*(1+j.Spread):
		return fmt.Sprintf("missed by %.1f %%, which is within the spread", 100*(j.Ratio/j.most-1))
	}
	return fmt.Sprintf("missed by %.1f %%", 100*(j.Ratio/j.most-1))
}

// judge compares the results with the bounds of the tests that were asked for.
func (o options) judge(results []result, tests []test) (all []judgement) {
	for _, bo := range o.bounds() {
		names := bo.mean
		if names == nil {
			names = []string{bo.test}
		}
		if slices.ContainsFunc(names, func(name string) bool {
			return !slices.ContainsFunc(tests, func(t test) bool { return t.name == name })
		}) {
			continue // it was not asked for
		}
		all = append(all, bo.judge(results))
	}
	return all
}

func (bo bound) judge(results []result) judgement {
	if bo.mean != nil {
		return bo.judgeMean(results)
	}
	j := judgement{bound: bo}
	r, ok := resultOf(results, bo.test)
	if !ok || r.Missing != "" {
		j.Missing = orElse(r.Missing, "the workload did not run")
		return j
	}
	j.Peer = r.best(bo.of, bo.figure)
	if j.Ratio, ok = r.ratio(bo.side, j.Peer, bo.figure); !ok {
		j.Missing = "a side has no figure " + bo.figure
		return j
	}
	j.Figure, _ = r.median(bo.side, bo.figure)
	j.Peers, _ = r.median(j.Peer, bo.figure)
	j.Spread, _ = r.spread(bo.side, bo.figure)
	if bo.since == "" {
		return j
	}
	base := bound{test: bo.since, figure: bo.figure, side: bo.side, of: bo.of}.judge(results)
	if base.Missing != "" {
		j.Missing = bo.since + " is needed: " + base.Missing
		return j
	}
	j.Ratio /= base.Ratio
	return j
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

func resultOf(results []result, test string) (result, bool) {
	i := slices.IndexFunc(results, func(r result) bool { return r.Test == test })
	if i < 0 {
		return result{}, false
	}
	return results[i], true
}

// behind returns an error for each Go peer of a test that is not behind the first judged side of Strata. That is the
// default build: memfast and huge pages are no defaults.
func (t test) behind(r result) (wrong []error) {
	if t.judged == nil || r.Missing != "" || t.whole {
		return nil
	}
	mine := t.judged[0]
	spread, _ := r.spread(mine, t.figure)
	for _, p := range t.peers {
		if p == slicings {
			continue
		}
		if ratio, ok := r.ratio(mine, p, t.figure); !ok || settle.Judge(ratio, spread) != settle.Win {
			wrong = append(wrong, fmt.Errorf("%s: %s is not behind %s: the ratio is %.2f, the spread %.3f", t.name, p, mine, ratio, spread))
		}
	}
	return wrong
}
