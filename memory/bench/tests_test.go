package main

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

func TestTests_HaveNamesOfTheirOwnAndSidesThatExist(t *testing.T) {
	for _, o := range []options{{}, {check: true}, {all: true, go127: true}, {short: true}} {
		seen := map[string]bool{}
		for _, w := range o.tests() {
			if seen[w.name] || w.what == "" || w.figure == "" || w.workload == "" || w.cores < 1 {
				t.Errorf("%+v", w)
			}
			seen[w.name] = true
			if _, ok := tiny[w.workload]; !ok {
				t.Errorf("%s: a short run of %s has no size", w.name, w.workload)
			}
			for _, name := range slices.Concat(w.sidesOfStrata(), w.peers) {
				if _, ok := goSide(name); !ok {
					t.Errorf("%s: there is no side %s", w.name, name)
				}
			}
		}
	}
}

func TestGoSide_EndingsChangeTheBuild(t *testing.T) {
	for name, want := range map[string]string{
		slabs: "chosen slab", slabs + fast: "chosen slab memfast", pools + through: "chosen pool wrapped", runtimes: "",
		huge: "chosen slab", runtimes + next: "GOTOOLCHAIN=go1.27.3", slabs + fast + next: "chosen slab memfast GOTOOLCHAIN=go1.27.3",
		goArenas: "chosen collected arenas GOEXPERIMENT=arenas", runtimes + through: "wrapped",
	} {
		s, ok := goSide(name)
		if got := s.recipe(); !ok || got != want || s.name != name {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	if _, ok := goSide("no" + fast); ok {
		t.Error("there is such a side")
	}
}

func TestGrowth_StaysWithinTheMemory(t *testing.T) {
	for bytes, want := range map[uint64]string{
		64 << 30: "live W1 10000000, live W4 10000000, live W6 1000000, live W7 10000",
		2 << 30:  "live W1 1000000, live W4 1000000, live W6 100000, live W7 1000",
		0:        "live W1 1000, live W4 100, live W6 100, live W7 10",
	} {
		var names []string
		for _, w := range growthTests(bytes, false) {
			names = append(names, w.name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%d bytes: %s", bytes, got)
		}
	}
	if n := len(growthTests(64<<30, true)); n != 5+6+5+4 {
		t.Errorf("%d tests in all", n)
	}
}

func TestWrapped_EverySideGoesThroughAWrapper(t *testing.T) {
	for _, w := range wrappedTests() {
		for _, name := range w.sides() {
			if !strings.HasSuffix(name, through) {
				t.Errorf("%s: %s", w.name, name)
			}
		}
	}
}

func TestThousands_HaveCommas(t *testing.T) {
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 10_000_000: "10,000,000"} {
		if got := thousands(n); got != want {
			t.Error(got)
		}
	}
}

// The tag gc, which every Go compiler sets, once gave all sides the refs of the Go heap: with a write barrier each.
func TestSides_OnlyBlocksOfTheGoHeapHavePointers(t *testing.T) {
	pointers := []string{runtimes, slicings, syncPool, goArenas}
	for _, name := range []string{slabs, huge, warmed, manager, pools, tlsfs, quick, arenas, frames, remotes, caches, goLoop, modernc, runtimes, slicings, syncPool, goArenas} {
		s, ok := goSide(name)
		if !ok {
			t.Fatalf("there is no side %s", name)
		}
		c := build.Default
		c.BuildTags = s.tags
		for file, want := range map[string]bool{"refs_gc.go": slices.Contains(pointers, name), "refs_outside.go": !slices.Contains(pointers, name)} {
			if got, err := c.MatchFile("driver", file); err != nil || got != want {
				t.Errorf("%s: %s is compiled: %v, %v", name, file, got, err)
			}
		}
	}
}
