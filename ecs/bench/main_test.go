package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine/cmdline"
)

func TestRun_RefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-rounds 0", cmdline.ErrUsage.Error()}, // the line that is printed says more
		{"-placements 0", cmdline.ErrUsage.Error()},
		{"-rows nosuch", `no row begins with "nosuch"`},
		{"-child nosuch", `there is no row "nosuch"`},
		{"-md go.mod", "go.mod has no lines"}, // it was found after the measurement
		{"-json new.x -svg new.x", "cannot write new.x: it is the same file as new.x; name two"},
	} {
		if err := run(strings.Fields(c.args), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}

func TestRun_ShortComparesTheChosenRows(t *testing.T) {
	var b strings.Builder
	if err := run([]string{"-short", "-rows", "walk 1 by, new"}, &b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "4 rows: every side does the same work\n" {
		t.Errorf("%q", got)
	}
}

// The whole way: it builds two programs, which measure a row that takes little, and reports.
func TestRun_BuildsAsksAndReports(t *testing.T) {
	chart, figures := filepath.Join(t.TempDir(), "a.svg"), filepath.Join(t.TempDir(), "a.json")
	var b strings.Builder
	if err := run([]string{"-rows", "walk 1 by All", "-placements", "2", "-rounds", "2", "-svg", chart, "-json", figures}, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "walk 1 by All, 2 components") || !strings.Contains(b.String(), "programs: 2, rounds: 2") {
		t.Error(b.String())
	}
	text, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	var got []result
	if err := json.Unmarshal(text, &got); err != nil || len(got) != 1 || len(got[0].Samples) != 2 || len(got[0].Samples[1].Figures[again]) != 2 {
		t.Errorf("%v: %s", err, text)
	}
	if s, err := os.ReadFile(chart); err != nil || !strings.Contains(string(s), "walk 1 by All") {
		t.Error(err)
	}
}

func TestGrowth_AddressesNeverMove(t *testing.T) {
	var s stand
	defer s.close()
	w := newStrata(&s)
	m := ecs.NewMap2[position, velocity](w)
	n := limitOf()
	at := make([]*position, n)
	es := make([]ecs.Entity, n)
	for i := range es {
		es[i] = must(m.NewEntity(newPosition, newVelocity))
		at[i], _, _ = m.Get(es[i])
	}
	for i, e := range es {
		if p, _, _ := m.Get(e); p != at[i] {
			t.Fatalf("entity %d of %d has moved", i, n)
		}
	}
}

// What a func in a component holds is alive as long as the component, wherever its row goes.
func TestFunc_AComponentWithAFuncFieldSurvivesCollections(t *testing.T) {
	type behaviour struct{ act func() *int }
	var s stand
	defer s.close()
	w := newStrata(&s)
	m := ecs.NewMap1[behaviour](w)
	vs := must(ecs.Register[velocity](w))
	es := make([]ecs.Entity, 1000)
	for i := range es {
		es[i] = must(m.NewEntity(behaviour{func() *int { return &i }}))
	}
	for i, e := range es {
		check(vs.Add(e, velocity{}))
		if i%100 == 0 {
			runtime.GC()
		}
	}
	for i, e := range es {
		if b, ok := m.Get(e); !ok || *b.act() != i {
			t.Fatal(i, ok)
		}
	}
}
