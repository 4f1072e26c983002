package main

import "slices"

// A bound is what a ratio must not exceed: a figure of a side in a test, as a ratio to the best of the peers.
type bound struct {
	test, figure, side string
	of                 []string // nil means the four C libraries
	most               float64
	since              string   // for growth: the test whose ratio is the measure
	mean               []string // tests whose geometric mean is the measure
	shown              bool     // printed beside the judged one; no failure if it is missed
}

// overLive is the figure that the command derives: resident bytes above those of an empty program, over live bytes.
const overLive = "resident"

// bounds are the judged ratios.
func (o options) bounds() []bound {
	all := []bound{
		{test: "W1", side: slabs, most: 1.02},
		{test: "W1", side: slabs + fast, most: .9},
		{test: "W1", side: manager, most: 1.08},
		{test: "W2.1", side: pools, most: 1.35},
		{test: "W2.64", side: pools, most: 1.1},
		{test: "W3", side: pools, most: 1},
		{test: "W3", side: pools + fast, most: .95},
		{test: "W5", side: pools, most: 1},
		{test: "W5", side: pools + fast, most: .95},
		{test: "W4", side: slabs, most: 1.35},
		{test: "W4", side: slabs + fast, most: 1.2},
		{test: "W4", side: manager, most: 1.5},
		{test: "W6", side: slabs, most: 1.25},
		{test: "W6", side: slabs + fast, most: 1.06},
		{test: "W6", side: manager, most: 1.5},
		{test: "W7", side: quick, most: .7},
		{test: "W8", side: remotes, most: .55},
		{test: "W9", side: arenas, most: .55},
		{test: "W10", side: arenas, most: .45},
		{test: "W12", figure: "p99", side: slabs, most: .7},
		{test: "W12", figure: "p999", side: slabs, most: .7},
		{test: "W12", figure: "p9999", side: slabs, most: .7},
		{test: "W12", figure: "p99", side: manager, most: 1.5},
		{test: "W12", figure: "p999", side: manager, most: 1},
		{test: "W12", figure: "p9999", side: manager, most: 1},
		{test: "W13", side: manager, of: []string{tlsfs}, most: 1},
		{test: "W13.freed", side: manager, of: []string{tlsfs}, most: 1},
		{test: "cold", figure: "cold", side: slabs, most: 1.1},
		{test: "cold", figure: "cold", side: huge, most: .6},
		{test: "whole W4", figure: overLive, side: slabs, of: []string{tcmalloc}, most: 1},
		{test: "whole W6", figure: overLive, side: slabs, of: []string{jemalloc}, most: 1},
		{test: "whole W6", figure: overLive, side: manager, of: []string{jemalloc}, most: 1, shown: true},
	}
	all = append(all, traceBounds()...)
	for _, t := range growthTests(availableMemory()/2, false) {
		all = append(all, bound{test: t.name, side: t.judged[0], most: 1.1, since: t.workload})
	}
	for i := range all {
		if all[i].figure == "" {
			all[i].figure = "pair"
		}
		if all[i].of == nil {
			all[i].of = cNames()
		}
	}
	return all
}

// isReference reports whether a bound of the test is of the side or compares with it.
func isReference(test, side string) bool {
	return slices.ContainsFunc(options{}.bounds(), func(b bound) bool {
		return b.test == test && (b.side == side || slices.Contains(b.of, side))
	})
}
