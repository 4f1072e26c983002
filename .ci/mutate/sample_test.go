package main

import (
	"fmt"
	"slices"
	"testing"
)

// crowd has 8 files of 2 operators, the first of them with ten times as many mutants.
func crowd() []*mutant {
	var all []*mutant
	for f := range 8 {
		for i := range 10 {
			op := opCompare
			if i > 0 {
				op = opConstant
			}
			all = append(all, &mutant{file: fmt.Sprintf("f%d.go", f), fn: "f", op: op, from: fmt.Sprint(i), to: "x", nth: 1})
		}
	}
	return all
}

func keysOf(ms []*mutant) []string {
	var out []string
	for _, m := range ms {
		out = append(out, m.key())
	}
	return out
}

func TestOrder_SameForAnyOrderOfCandidates(t *testing.T) {
	all := crowd()
	want := keysOf(order(all, 1))
	slices.Reverse(all)
	if !slices.Equal(want, keysOf(order(all, 1))) {
		t.Error("the order of the candidates decides")
	}
	if slices.Equal(want, keysOf(order(all, 2))) {
		t.Error("the seed does not decide")
	}
}

func TestOrder_PrefixesAreSpread(t *testing.T) {
	counts := map[string]int{}
	for _, m := range order(crowd(), 1)[:40] {
		counts[m.file]++
		counts[m.op]++
	}
	for f := range 8 {
		if n := counts[fmt.Sprintf("f%d.go", f)]; n < 4 || n > 6 {
			t.Errorf("%d of 40 mutants in file %d of 8", n, f)
		}
	}
	if n := counts[opCompare]; n < 1 || n > 7 {
		t.Errorf("%d of 40 mutants of an operator that has a tenth", n)
	}
}

func TestOrder_OneCandidateMoreKeepsMostOfASample(t *testing.T) {
	all := crowd()
	before := keysOf(order(all, 1)[:40])
	more := append(all, &mutant{file: "f3.go", fn: "g", op: opConstant, from: "new", to: "y", nth: 1})
	same := 0
	for _, k := range keysOf(order(more, 1)[:40]) {
		if slices.Contains(before, k) {
			same++
		}
	}
	if same < 38 {
		t.Errorf("%d of 40 are the same", same)
	}
}
