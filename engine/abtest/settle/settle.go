// Package settle compares implementations by the figures of several programs. The programs do the same work and differ
// in the order of their functions. The address of a loop changes its time by more than most implementations differ.
//
// One side takes part twice. The ratio of its figures to themselves, called A/A, is the error of the machine. A ratio
// between two sides that is within this spread is a draw. The commands ecs/bench and memory/bench use the package.
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

// Judge returns the verdict on a ratio of times: Draw from 1/(1+spread) to 1+spread, Win below, and Loss above.
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

// Each combines the figures of one side with those of another, program by program. Program i of a meets program
// i+shift of b. After the last program of b comes the first one.
func Each(a, b []float64, shift int, f func(a, b float64) float64) (c []float64) {
	for i := range a {
		c = append(c, f(a[i], b[(i+shift)%len(b)]))
	}
	return c
}

// Ratios returns the figures of a divided by those of b, program by program.
func Ratios(a, b []float64) []float64 {
	return Each(a, b, 0, func(a, b float64) float64 { return a / b })
}

// Spread returns the largest deviation of the ratio of one side to itself from 1. The slices have a figure of each
// program. Spread includes the ratio in each program. It also includes the median over the programs, with the programs
// of one slice shifted against those of the other in every way. A spread of 0.05 means that ratios from 1/1.05 to 1.05
// are within noise.
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

// Choose returns the items whose names begin with one of the beginnings, which have commas between them. Spaces around
// a beginning are ignored. An empty text chooses all items.
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
