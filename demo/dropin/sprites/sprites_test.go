package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestScenes_HaveTheSameSpritesInAnyOrder(t *testing.T) {
	scenes, closeAll, err := newScenes(500)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	first := scenes[0].sum()
	for tick := range 200 {
		for i, s := range scenes {
			if s.tick(); s.sum() != scenes[0].sum() {
				t.Fatalf("tick %d: scene %d differs", tick, i)
			}
		}
	}
	if scenes[0].sum() == first || scenes[0].(*slice).next < 1000 {
		t.Errorf("%d sprites were born in 200 ticks", scenes[0].(*slice).next)
	}
	quads := func(q []Quad) (sum float32) {
		for i := range q {
			sum += q[i].U + q[i].V // small integers: exact in any order
		}
		return sum
	}
	want := quads(scenes[0].(*slice).quads)
	if a, b := quads(scenes[2].(*pointers).quads), quads(scenes[3].(*strata).quads); a != want || b != want || want == 0 {
		t.Errorf("quads %g and %g, want %g", a, b, want)
	}
}

func TestCompare_PrintsARowForEach(t *testing.T) {
	var out bytes.Buffer
	if err := compare(300, 2, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[3], "slice ") || !strings.HasPrefix(lines[6], "strata ") {
		t.Fatalf("%s", &out)
	}
	if f := strings.Fields(lines[5]); f[0] != "pointers" || f[len(f)-1] == "0.0" {
		t.Errorf("pointers make no objects: %q", lines[5])
	}
}
