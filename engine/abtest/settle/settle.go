// Package settle compares implementations, called sides, by their times in several programs. The programs do the same
// work and differ in the order of their functions, because the address of a loop changes its time by more than most
// implementations differ.
//
// One side is measured twice. The deviation of the ratio of its two times from 1, called A/A or spread, is the error of
// the machine. If the ratio of two sides is within this spread, the result is a draw. The package is for commands that
// measure, such as ecs/bench and memory/bench.
package settle

import (
	"math"
	"slices"
	"strings"
)

// A Verdict is the result of comparing a side with another side.
type Verdict string

// The verdicts. None means that the sides are not compared.
const (
	Win  Verdict = "win"
	Draw Verdict = "draw"
	Loss Verdict = "loss"
	None Verdict = ""
)

// Judge returns the verdict on a ratio of times: Draw from 1/(1+spread) to 1+spread, Win below, and Loss above. The
// spread is a result of [Spread].
func Judge(ratio, spread float64) Verdict {
	switch {
	case ratio < 1/(1+spread):
		return Win
	case ratio > 1+spread:
		return Loss
	}
	return Draw
}

// Median returns the middle of the figures, or the mean of the two in the middle. It panics if there are none.
func Median(figures []float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Each returns f(a[i], b[k]) for each i, where k is the remainder of i+shift divided by len(b). The slices a and b have
// one figure per program. The shift must not be negative. If b is empty and a is not, Each panics.
func Each(a, b []float64, shift int, f func(a, b float64) float64) (c []float64) {
	for i := range a {
		c = append(c, f(a[i], b[(i+shift)%len(b)]))
	}
	return c
}

// Ratios returns a[i] / b[i] for each i. The slices a and b have one figure per program. If b is shorter than a, its
// figures are used again from the first. If b is longer, its last figures are ignored. If b is empty and a is not,
// Ratios panics.
func Ratios(a, b []float64) []float64 {
	return Each(a, b, 0, func(a, b float64) float64 { return a / b })
}

// Spread returns the spread of a side that was measured twice. The two times of the side in program i are mine[i] and
// twin[i]. Spread computes the ratio mine[i]/twin[i] of each program. For each shift of twin (see [Each]), it also
// computes the median of the ratios. Spread returns how far the worst of all these numbers deviates from 1. A spread of
// 0.05 means that ratios from 1/1.05 to 1.05 are within noise. If mine is empty, Spread returns 0. If only twin is
// empty, Spread panics.
func Spread(mine, twin []float64) float64 {
	found := Ratios(mine, twin)
	for shift := range mine {
		found = append(found, Median(Each(mine, twin, shift, func(a, b float64) float64 { return a / b })))
	}
	worst := 0.0
	for _, r := range found {
		worst = max(worst, math.Abs(math.Log(r)))
	}
	return math.Exp(worst) - 1
}

// Choose returns the items whose names begin with an entry of beginnings, a list separated by commas. Spaces around an
// entry are ignored. An empty entry, and so an empty list, chooses all items.
func Choose[T any](all []T, beginnings string, name func(T) string) (some []T) {
	for _, item := range all {
		for b := range strings.SplitSeq(beginnings, ",") {
			if strings.HasPrefix(name(item), strings.TrimSpace(b)) {
				some = append(some, item)
				break
			}
		}
	}
	return some
}
