package ecs_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

type loopSpot struct{ X int64 }

// Set.Read replaces all rows. A loop over All that is under way must stop at its next step, as after Reset.
func TestWorld_ReadOfAFileStopsLoops(t *testing.T) {
	w := relatedWorld(t)
	m := ecs.NewMap1[loopSpot](w)
	var set save.Set
	if err := errors.Join(set.Add("world", w), set.Seal()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, err := m.NewEntity(loopSpot{int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	f := ecs.NewFilter1[loopSpot](w)
	v := func() (v any) {
		defer func() { v = recover() }()
		for range f.All() {
			if err := set.Read(bytes.NewReader(file.Bytes()), nil); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}()
	if _, ok := v.(*memory.Misuse); !ok {
		t.Errorf("the step after the load: %v", v)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
