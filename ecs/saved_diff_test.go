package ecs_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type againSpot struct{ X, Y float32 }

func savedSpots(t *testing.T) (*save.Set, *ecs.World, *ecs.Map1[againSpot]) {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ecs.New(heap, ecs.Config{MaxEntities: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); heap.Close() })
	m, set := ecs.NewMap1[againSpot](w), new(save.Set)
	if err := errors.Join(set.Add("heap", save.Metadata(heap)), set.Add("world", w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	return set, w, m
}

// Two states of one Set: which of them the world has at present must not matter to Diff.
func TestWorld_DiffOfALargerStateThanThePresentOne(t *testing.T) {
	for _, n := range []int{200, 6000} {
		set, _, m := savedSpots(t)
		if err := m.NewBatch(2, nil); err != nil {
			t.Fatal(err)
		}
		small, large := set.NewCanonical(2<<20), set.NewCanonical(2<<20)
		err := set.Save(small)
		if err = errors.Join(err, m.NewBatch(n, nil), set.Save(large)); err != nil {
			t.Fatal(err)
		}
		if _, differ, err := set.Diff(small, large); err != nil || !differ {
			t.Errorf("%d more entities, before the load: %t, %v", n, differ, err)
		}
		if err := set.Load(small); err != nil {
			t.Fatal(err)
		}
		if _, differ, err := set.Diff(small, large); err != nil || !differ {
			t.Errorf("%d more entities, after a load of the smaller state: %t, %v", n, differ, err)
		}
	}
}

// The game forgets to save a variable, so that fewer entities come after the load. Synctest says that the error "names
// the first difference by part, table, entity and field".
func TestWorld_SynctestNamesADifferenceOfASmallerWorld(t *testing.T) {
	for _, n := range []int{200, 6000} {
		set, w, m := savedSpots(t)
		spawned := false // the Set lacks it
		_, err := engine.Synctest(engine.Sync{Set: set, Hash: func() uint64 { return w.Hash(0) }, Ticks: 4, Distance: 2, Step: func() error {
			if spawned {
				return nil
			}
			spawned = true
			return m.NewBatch(n, nil)
		}})
		var d *engine.Desync
		if !errors.As(err, &d) || !d.Differ || errors.Is(err, save.ErrLayout) {
			t.Errorf("%d entities: %v", n, err)
		}
	}
}
