package engine

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

func TestRewind_CheckNamesWhatIsCorrupt(t *testing.T) {
	var set save.Set
	x := 0
	if err := save.Value(&set, "x", &x); err != nil {
		t.Fatal(err)
	}
	if err := set.Seal(); err != nil {
		t.Fatal(err)
	}
	for want, corrupt := range map[string]func(r *Rewind[int]){
		"":                             func(*Rewind[int]) {},
		"tick 13 of 10 to 12, with 2":  func(r *Rewind[int]) { r.now++ },
		"tick 12 of 10 to 12, with 1":  func(r *Rewind[int]) { r.inputs = r.inputs[:1] },
		"a state of tick 11, the last": func(r *Rewind[int]) { r.now, r.end = 10, 10 },
		"a state of tick 11, the las":  func(r *Rewind[int]) { r.now, r.end = 9, 9 }, // before the first state
	} {
		r, err := NewRewind(RewindConfig[int]{Set: &set, Memory: make([]byte, 100), Ticks: 2, Step: func(*int) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		r.Begin(10)
		for range 2 {
			if _, err := r.Keep(1); err != nil {
				t.Fatal(err)
			}
			r.Record(1)
		}
		corrupt(r)
		if err := r.Check(); (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Count(err.Error(), "invariant") > 1) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
