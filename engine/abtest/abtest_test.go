package abtest

import (
	"strings"
	"testing"
	"time"
)

func TestMeasure_EverySideRunsOnceARoundAndAnotherFirst(t *testing.T) {
	var ran strings.Builder
	side := func(name string) Side { return Side{name, func() { ran.WriteString(name) }} }
	Measure(3, func() { ran.WriteString(" ") }, side("a"), side("b"), side("c"))
	if got := ran.String(); got != " abc bca cab" {
		t.Errorf("ran%s", got)
	}
}

func TestRatio_IsTheMedianOfTheRoundsAndItsMiddleHalf(t *testing.T) {
	f := &Figures{names: []string{"a", "b"}, took: [][]float64{{10, 20, 60, 40, 90}, {10, 10, 20, 10, 30}}}
	if low, m, high := f.Ratio(0, 1); low != 2 || m != 3 || high != 3 {
		t.Errorf("ratio %v (%v to %v), want 3 (2 to 3)", m, low, high)
	}
	if low, m, high := f.Took(0); low != 20 || m != 40 || high != 60 {
		t.Errorf("took %v (%v to %v)", m, low, high)
	}
}

func TestMeasure_SaysWhoIsSlower(t *testing.T) {
	wait := func(d time.Duration) func() { return func() { time.Sleep(d) } }
	f := Measure(3, func() {}, Side{"slow", wait(4 * time.Millisecond)}, Side{"quick", wait(0)})
	if _, m, _ := f.Ratio(0, 1); m < 2 {
		t.Errorf("ratio %v", m)
	}
}
