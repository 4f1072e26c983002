package main

import (
	"fmt"
	"slices"
	"strconv"
)

// A test runs one workload with several sides.
type test struct {
	name     string
	workload string // of the drivers
	what     string // for the tables
	live     int    // live blocks; 0 means as many as the workload has
	whole    bool   // blocks are written whole, and resident bytes are measured
	brief    bool   // few repetitions in few rounds, because each takes long
	figure   string // the time that the tables show
	judged   []string
	shown    []string // further sides of Strata
	peers    []string // in Go
	cores    int
	trace    string // of W14
}

// named is for settle.Choose.
func (t test) named() string { return t.name }

// sides returns the names of all sides of the test.
func (t test) sides() []string {
	names := slices.Concat(t.judged, t.shown, t.peers, t.libraries())
	if t.trace != "" && !t.whole {
		names = append(names, goLoop, cLoop)
	}
	return names
}

// libraries returns the names of the C sides: those of a test through wrappers are wrapped too.
func (t test) libraries() (names []string) {
	for _, name := range cNames() {
		if t.wrapped() {
			name += through
		}
		names = append(names, name)
	}
	return names
}

func (t test) wrapped() bool {
	s, ok := goSide(t.sidesOfStrata()[0])
	return ok && s.wrapped
}

func (t test) sidesOfStrata() []string { return slices.Concat(t.judged, t.shown) }

// malloced are the Go peers that serve every size, and batched those of workloads that free a batch at once.
var (
	malloced = []string{runtimes, slicings, syncPool, modernc}
	batched  = append(malloced[:len(malloced):len(malloced)], goArenas)
)

// baseTests are the workloads of TARGETS and those about memory.
func baseTests() []test {
	return []test{
		{name: "W1", what: "100,000 blocks of 8 to 256 bytes, then freed in random order", judged: []string{slabs, slabs + fast, manager}, shown: []string{manager + fast, tlsfs}, peers: batched},
		{name: "W2.1", what: "64 bytes, allocated and freed at once", judged: []string{pools}, shown: []string{pools + fast, slabs, slabs + fast, manager}, peers: malloced},
		{name: "W2.64", what: "64 bytes, 64 deep, the newest freed first", judged: []string{pools}, shown: []string{pools + fast, slabs, slabs + fast, manager}, peers: malloced},
		{name: "W3", what: "10,000 blocks of 64 bytes, the oldest freed first", judged: []string{pools, pools + fast}, shown: []string{slabs, slabs + fast, manager}, peers: batched},
		{name: "W4", what: "10,000 live blocks of 16 to 512 bytes, a random one replaced", judged: []string{slabs, slabs + fast, manager}, shown: []string{manager + fast, tlsfs}, peers: malloced},
		{name: "W5", what: "10,000 particles of 48 bytes, a tenth replaced in each frame", judged: []string{pools, pools + fast}, shown: []string{slabs, slabs + fast, manager}, peers: malloced},
		{name: "W6", what: "4,000 live blocks: 80 % of 16 to 256 bytes, 15 % up to 4 KiB, 5 % up to 64 KiB", judged: []string{slabs, slabs + fast, manager}, shown: []string{manager + fast, tlsfs, quick}, peers: malloced},
		{name: "W7", what: "256 live blocks of 4 to 256 KiB", judged: []string{quick}, shown: []string{tlsfs, manager}, peers: malloced},
		{name: "W8", what: "256 bytes in runs of 256, freed by another thread", judged: []string{remotes}, shown: []string{remotes + fast, caches, manager}, peers: []string{runtimes, syncPool}, cores: 2},
		{name: "W9", what: "1,000 blocks of 16 to 256 bytes in a frame, all freed at its end", judged: []string{arenas}, shown: []string{frames, slabs, manager}, peers: batched},
		{name: "W10", what: "as W9, at multiples of 64 bytes", judged: []string{arenas}, shown: []string{frames, slabs, manager}, peers: []string{runtimes, slicings, syncPool}},
		{name: "W11 128", workload: "W11", figure: "pair 128", what: "pairs of 128 bytes in a fragmented heap", shown: []string{slabs, slabs + fast, manager, tlsfs}, peers: malloced},
		{name: "W11 243", workload: "W11", figure: "pair 243", what: "pairs of 243 bytes in a fragmented heap", shown: []string{slabs, slabs + fast, manager, tlsfs}, peers: malloced},
		{name: "W11 512", workload: "W11", figure: "pair 512", what: "pairs of 512 bytes in a fragmented heap", shown: []string{slabs, slabs + fast, manager, tlsfs}, peers: malloced},
		{name: "W11 4097", workload: "W11", figure: "pair 4097", what: "pairs of 4097 bytes in a fragmented heap", shown: []string{slabs, slabs + fast, manager, tlsfs}, peers: malloced},
		{name: "W12", figure: "p99", what: "as W6, each call timed; the time that 99 % of the allocations do not exceed", judged: []string{slabs, manager}, shown: []string{slabs + fast, tlsfs, quick}, peers: malloced},
		{name: "W13", what: "one block from 4 to 600 KiB by 128 bytes, with live blocks of 128 bytes in between", judged: []string{manager}, shown: []string{tlsfs}, peers: []string{runtimes, modernc}},
		{name: "W13.freed", what: "as W13, each small block freed after the next one", judged: []string{manager}, shown: []string{tlsfs}, peers: []string{runtimes, modernc}},
		{name: "cold", figure: "cold", what: "the first pass of W1 in a fresh process", judged: []string{slabs, huge}, shown: []string{warmed, slabs + fast, manager}, peers: batched},
		{name: "two", what: "W4 on two cores, with a heap for each", shown: []string{slabs, slabs + fast, caches, caches + fast, manager}, peers: []string{runtimes, slicings, syncPool, modernc}, cores: 2},
		{name: "whole W1", workload: "W1", what: "W1, blocks written whole", shown: []string{slabs, slabs + fast, manager, tlsfs}, peers: malloced, whole: true},
		{name: "whole W4", workload: "W4", what: "W4, blocks written whole", judged: []string{slabs}, shown: []string{slabs + fast, manager, tlsfs}, peers: malloced, whole: true},
		{name: "whole W6", workload: "W6", what: "W6, blocks written whole", judged: []string{slabs}, shown: []string{slabs + fast, manager, tlsfs, quick}, peers: malloced, whole: true},
		{name: "whole W7", workload: "W7", what: "W7, blocks written whole", shown: []string{quick, tlsfs, manager}, peers: malloced, whole: true},
		{name: "whole W9", workload: "W9", what: "W9, blocks written whole", shown: []string{arenas, frames, slabs, manager}, peers: malloced, whole: true},
	}
}

// growths are the workloads that are measured with growing numbers of live blocks: powers of ten up to most. The side
// is the judged one, and mean the average size of a block.
var growths = []struct {
	workload   string
	least      int
	most       int
	mean, size int
	side       string
	shown      []string
}{
	{"W1", 1_000, 10_000_000, 132, 100_000, slabs, []string{manager}},
	{"W4", 100, 10_000_000, 264, 10_000, slabs, []string{manager}},
	{"W6", 100, 1_000_000, 2_200, 4_000, slabs, []string{manager}},
	{"W7", 10, 10_000, 130 << 10, 256, quick, []string{tlsfs}},
}

// growthTests returns the tests of growth within so many bytes: the largest of each workload, or all.
func growthTests(bytes uint64, all bool) (tests []test) {
	for _, g := range growths {
		most := g.most
		for most > g.least && uint64(most)*uint64(g.mean)*2 > bytes {
			most /= 10
		}
		for n := g.least; n <= most; n *= 10 {
			t := test{
				name: growthName(g.workload, n), workload: g.workload, live: n, brief: n >= 100_000,
				what:   fmt.Sprintf("%s with %s live blocks", g.workload, thousands(n)),
				judged: []string{g.side}, shown: g.shown, peers: []string{runtimes, modernc},
			}
			if all || n == most {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

func growthName(workload string, live int) string {
	return "live " + workload + " " + strconv.Itoa(live)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// wrappedTests are the workloads once more, with every call through a function of one line that is never inlined.
func wrappedTests() (tests []test) {
	for _, t := range baseTests() {
		switch t.name {
		case "W1", "W2.1", "W2.64", "W3", "W4", "W5", "W6", "W7", "W9", "W10":
		default:
			continue
		}
		t.workload, t.name = t.name, "wrapped "+t.name
		t.what += ", through wrappers"
		t.shown, t.judged, t.peers = []string{t.judged[0] + through}, nil, []string{runtimes + through}
		tests = append(tests, t)
	}
	return tests
}

// nextTests adds the sides that the next Go builds to four workloads.
func nextTests(tests []test) []test {
	for i := range tests {
		switch tests[i].name {
		case "W1", "W4", "W6", "W9":
			tests[i].shown = append(tests[i].shown, tests[i].judged[0]+next)
			tests[i].peers = append(tests[i].peers, runtimes+next)
		}
	}
	return tests
}

// tests returns the tests that the options ask for, with their defaults filled in.
func (o options) tests() []test {
	tests := append(baseTests(), traceTests()...)
	if o.go127 {
		tests = nextTests(tests)
	}
	switch {
	case o.short, o.all:
		tests = append(tests, wrappedTests()...)
		tests = append(tests, growthTests(availableMemory()/2, !o.short)...)
	case o.check:
		tests = append(judgedOnly(tests), judgedOnly(growthTests(availableMemory()/2, false))...)
	}
	for i := range tests {
		t := &tests[i]
		if t.workload == "" {
			t.workload = t.name
		}
		if t.figure == "" {
			t.figure = "pair"
		}
		t.cores = max(t.cores, 1)
	}
	return tests
}

// judgedOnly leaves out the tests and sides of Strata that no bound refers to, and the Go peer that is a floor.
func judgedOnly(tests []test) (judged []test) {
	for _, t := range tests {
		if t.judged == nil {
			continue
		}
		t.shown = slices.DeleteFunc(slices.Clone(t.shown), func(name string) bool { return !isReference(t.name, name) })
		t.peers = slices.DeleteFunc(slices.Clone(t.peers), func(name string) bool { return name == slicings || t.live > 0 })
		judged = append(judged, t)
	}
	return judged
}
