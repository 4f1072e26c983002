package engine

import (
	"errors"
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

// Each method that uses what is kept forgets it first, if something else has loaded a state since.
func TestRewind_EveryMethodForgetsForeignLoads(t *testing.T) {
	for name, call := range map[string]func(r *Rewind[int]){
		"Record": func(r *Rewind[int]) { r.Record(1) },
		"Keep":   func(r *Rewind[int]) { _, _ = r.Keep(1); r.states.DropAfter(r.now - 1) },
		"Seek":   func(r *Rewind[int]) { _, _ = r.Seek(r.now) },
		"Back":   func(r *Rewind[int]) { _, _ = r.Back(r.now, 1) },
		"Cut":    func(r *Rewind[int]) { r.Cut() },
		"Oldest": func(r *Rewind[int]) { r.Oldest() },
		"End":    func(r *Rewind[int]) { r.End() },
		"States": func(r *Rewind[int]) { r.States() },
		"Check":  func(r *Rewind[int]) { _ = r.Check() },
	} {
		var set save.Set
		x := 0
		slot := set.NewSlot(100)
		r, err := NewRewind(RewindConfig[int]{Set: &set, Memory: make([]byte, 100), Step: func(*int) error { x++; return nil }})
		if err := errors.Join(err, save.Value(&set, "x", &x), set.Seal(), set.Save(slot)); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			_, err := r.Keep(2)
			if r.Record(1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Seek(3); err != nil || r.states.Len() != 2 || r.end != 4 {
			t.Fatal(err, r.states.Len(), r.end)
		}
		if err := set.Load(slot); err != nil {
			t.Fatal(err)
		}
		if call(r); r.states.Len() > 0 || r.end != r.now || r.Now() < 3 {
			t.Errorf("%s: %d states, tick %d of %d", name, r.states.Len(), r.now, r.end)
		}
	}
}
