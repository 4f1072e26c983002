package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strata-go/strata/memory/plan"
)

// capacity is what MiniMalloc's instances are to fit, and the number in the names of their files.
const capacity = 1 << 20

// A row is what the planner reached on an instance.
type row struct {
	name        string
	n           int
	bound       uintptr
	rule        float64 // this height and the next two are multiples of the bound
	fast, exact float64
	fastTook    time.Duration
	exactTook   time.Duration
	proof       plan.Proof

	capacity  uintptr // 0: the instance has none
	reached   uintptr // the height of the search for a plan within the capacity
	reachTook time.Duration
}

// A search is plan.Exact.
type search func([]plan.Buffer, plan.Limits) (*plan.Plan, plan.Proof, error)

// measure plans the set with the rule, Fast and Exact, and within its capacity if it has one.
func measure(name string, set []plan.Buffer, exact search, limits plan.Limits) (r row, err error) {
	r.name = strings.TrimSuffix(name, ".csv.gz")
	var p *plan.Plan
	// The rule is the first attempt of Fast, and all of it where any plan is enough.
	if p, err = plan.FastWithin(set, ^uintptr(0)); err != nil {
		return r, err
	}
	r.n, r.bound, r.rule = p.Len(), p.Bound(), p.Ratio()
	r.fastTook = timed(func() { p, _ = plan.Fast(set) }) // it has taken the same set just now
	r.fast = p.Ratio()
	r.exactTook = timed(func() { p, r.proof, err = exact(set, limits) })
	if err != nil {
		return r, err
	}
	r.exact = p.Ratio()
	if !slices.Contains(strings.Split(r.name, "."), fmt.Sprint(capacity)) {
		return r, nil
	}
	r.capacity, limits.Capacity = capacity, capacity
	r.reachTook = timed(func() { p, _, err = exact(set, limits) })
	if err != nil {
		return r, err
	}
	r.reached = p.Total()
	return r, nil
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

var head = fmt.Sprintf("%-16s %7s %14s %7s  %-16s %-26s %s", "instance", "n", "bound", "rule", "Fast", "Exact", "within the capacity")

func (r row) String() string {
	s := fmt.Sprintf("%-16s %7d %14d %7.4f  %.4f %-9v %.4f %-9v %-9s %s", r.name, r.n, r.bound, r.rule,
		r.fast, r.fastTook.Round(100*time.Microsecond), r.exact, r.exactTook.Round(time.Millisecond), word(r.proof), r.within())
	return strings.TrimRight(s, " ")
}

// within says how long it took to meet the capacity, or how much more was needed.
func (r row) within() string {
	switch {
	case r.capacity == 0:
		return ""
	case r.reached > r.capacity:
		return fmt.Sprintf("missed: %.4f", float64(r.reached)/float64(r.capacity))
	}
	return r.reachTook.Round(time.Millisecond).String()
}

// word is whether the plan is proved minimal, or how many thousand places were tried.
func word(p plan.Proof) string {
	if p.Optimal {
		return "minimal"
	}
	return fmt.Sprintf("%dk", p.Steps/1000)
}
