package main

import "testing"

func TestCoverage_DecidesByRegionThenByFunction(t *testing.T) {
	c, err := parseProfile("mode: atomic\n"+
		"m/p/f.go:3.10,5.2 2 7\n"+ // runs
		"m/p/f.go:6.3,8.4 1 0\n"+ // does not, same function
		"m/p/f.go:20.1,22.2 1 0\n"+ // a function that never runs
		"m/p/q/f.go:30.1,40.2 1 1\n", "m/p") // another package
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		line, col, from, to int
		want                bool
		why                 string
	}{
		{4, 1, 2, 10, true, "inside a region that ran"},
		{3, 9, 2, 10, true, "before it, in a function that ran"},
		{3, 10, 2, 10, true, "its first column"},
		{7, 1, 2, 10, false, "inside a region that did not run"},
		{9, 1, 2, 10, true, "in no region of a function that ran"},
		{19, 1, 18, 24, false, "in no region of a function that did not run"},
		{21, 1, 18, 24, false, "in its region"},
		{35, 1, 35, 35, true, "outside functions"},
	} {
		m := &mutant{file: "f.go", line: x.line, col: x.col, declLine: x.from, declEnd: x.to}
		if got := c.reaches(m); got != x.want {
			t.Errorf("%d.%d, %s: %t", x.line, x.col, x.why, got)
		}
	}
	if !coverage(nil).reaches(&mutant{}) {
		t.Error("without a profile a line counts as not reached")
	}
	if _, err := parseProfile("mode: set\nnonsense\n", "m/p"); err == nil {
		t.Error("nonsense is read")
	}
}
