package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
)

// A result is what the programs have found about a row.
type result struct {
	Row     string
	Unit    string
	Extra   bool    `json:",omitempty"` // a loss to Ark is shown and not judged
	Failed  string  `json:",omitempty"` // why Strata could not do the work
	Run     string  `json:",omitempty"` // Go version, system, processor, programs and rounds
	Missing string  `json:",omitempty"` // why it was not measured
	Spread  float64 // of A/A: 0.05 means that a ratio from 1/1.05 to 1.05 is a draw
	Sides   []sideResult
	Goals   []goalResult
	Samples []samples // of each program
}

// A sideResult is what they have found about a side. The ratio is ours over its.
type sideResult struct {
	Name                      string
	Failed                    string  `json:",omitempty"` // why it could not do the work
	Median, Low, High         float64 // of the medians of the programs
	Ratio, LeastRatio, Utmost float64
	Verdict                   settle.Verdict
}

// A goalResult says whether a goal was reached.
type goalResult struct {
	Goal   string
	Figure float64
	Met    bool
}

// settled puts the samples of all programs together.
func settled(r row, all []samples) result {
	res := result{Row: r.name, Unit: r.unit, Extra: r.extra, Samples: all}
	if res.Failed = failure(all, ours, again); res.Failed != "" {
		return res.failed(r)
	}
	mine := mediansOf(all, ours)
	res.Spread = settle.Spread(mine, mediansOf(all, again))
	for _, c := range r.sides {
		if why := failure(all, c.name); why != "" {
			res.Sides = append(res.Sides, sideResult{Name: c.name, Failed: why})
			continue
		}
		m := mediansOf(all, c.name)
		ratios := settle.Ratios(mine, m)
		s := sideResult{
			Name: c.name, Median: settle.Median(m), Low: slices.Min(m), High: slices.Max(m),
			Ratio: settle.Median(ratios), LeastRatio: slices.Min(ratios), Utmost: slices.Max(ratios),
		}
		if c.judged() {
			s.Verdict = settle.Judge(s.Ratio, res.Spread)
		}
		res.Sides = append(res.Sides, s)
	}
	for _, g := range r.goals {
		if g.of != "" && failure(all, g.of) != "" {
			continue // nothing to compare with
		}
		figure := settle.Median(mine)
		switch {
		case g.plus:
			figure = settle.Median(settle.Each(mine, mediansOf(all, g.of), 0, func(a, b float64) float64 { return a - b }))
		case g.of != "":
			figure = settle.Median(settle.Ratios(mine, mediansOf(all, g.of)))
		}
		res.Goals = append(res.Goals, goalResult{g.String(r.unit), figure, figure <= g.most})
	}
	return res
}

// judged reports whether the side gets a verdict: it does the same work as ours.
func (c contestant) judged() bool {
	switch c.name {
	case ours, alone, floor, tenth, zeros:
		return false
	}
	return true
}

// failed is the result of a row that ours could not do: a loss to each side that could, and every
// goal is missed.
func (res result) failed(r row) result {
	res.Sides = []sideResult{{Name: ours, Failed: res.Failed}}
	for _, c := range r.sides[1:] {
		s := sideResult{Name: c.name, Failed: failure(res.Samples, c.name)}
		if s.Failed == "" {
			m := mediansOf(res.Samples, c.name)
			s.Median, s.Low, s.High = settle.Median(m), slices.Min(m), slices.Max(m)
			if c.judged() {
				s.Verdict = settle.Loss
			}
		}
		res.Sides = append(res.Sides, s)
	}
	for _, g := range r.goals {
		res.Goals = append(res.Goals, goalResult{Goal: g.String(r.unit)})
	}
	return res
}

// failure returns why one of the sides failed in one of the programs, or "".
func failure(all []samples, sides ...string) string {
	for _, s := range all {
		for _, side := range sides {
			if why := s.Failed[side]; why != "" {
				return why
			}
		}
	}
	return ""
}

// mediansOf returns the median of a side in each program.
func mediansOf(all []samples, side string) (m []float64) {
	for _, s := range all {
		m = append(m, settle.Median(s.Figures[side]))
	}
	return m
}

// words say how we stand beside all sides.
func (r result) words() string {
	var parts []string
	if r.Failed != "" {
		parts = append(parts, "fails: "+r.Failed)
	}
	for _, v := range []struct {
		verdict settle.Verdict
		phrase  string
	}{{settle.Win, "win over"}, {settle.Draw, "draw with"}, {settle.Loss, "loss to"}} {
		var names []string
		for _, s := range r.Sides {
			if s.Verdict == v.verdict {
				names = append(names, s.Name)
			}
		}
		if names != nil {
			parts = append(parts, v.phrase+" "+strings.Join(names, " and "))
		}
	}
	for _, g := range r.Goals {
		if !g.Met {
			parts = append(parts, "misses the goal of "+g.Goal)
		}
	}
	return strings.Join(parts, ", ")
}

// failures are what -check ends with: each row that is behind Ark, each goal that is missed.
func failures(results []result) error {
	var all []error
	for _, r := range results {
		if r.Missing != "" {
			all = append(all, fmt.Errorf("%s: not measured: %s", r.Row, r.Missing))
		}
		if r.Failed != "" {
			all = append(all, fmt.Errorf("%s: Strata fails: %s", r.Row, r.Failed))
			continue
		}
		for _, s := range r.Sides {
			if s.Name == arks && s.Verdict == settle.Loss && !r.Extra {
				all = append(all, fmt.Errorf("%s: behind Ark: %.4g of its %s, A/A %.4g", r.Row, s.Ratio, settle.Figure(s.Median, r.Unit), 1+r.Spread))
			}
		}
		for _, g := range r.Goals {
			if !g.Met {
				all = append(all, fmt.Errorf("%s: the goal is %s, the figure %.4g", r.Row, g.Goal, g.Figure))
			}
		}
	}
	return errors.Join(all...)
}
