package engine

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

func TestStates_OfTheEngineAreRestored(t *testing.T) {
	clock, rng := NewClock(3), NewRand(1, 2)
	var schedule Schedule
	schedule.MustAdd("first", func(*Tick) error { return nil })
	set := new(save.Set)
	if err := errors.Join(set.Add("clock", clock), set.Add("random numbers", &rng), set.Add("schedule", &schedule), set.Seal()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2*Step + 5)
	rng.Uint64()
	slot := set.NewSlot(200)
	if err := set.Save(slot); err != nil {
		t.Fatal(err)
	}
	want := rng.Uint64()
	clock.Advance(Step)
	if err := set.Load(slot); err != nil || clock.Tick() != 2 || clock.rest != 5 || rng.Uint64() != want {
		t.Errorf("loaded tick %d, %v", clock.Tick(), err)
	}
	schedule.MustAdd("second", func(*Tick) error { return nil })
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) {
		t.Errorf("with another system: %v", err)
	}
}
