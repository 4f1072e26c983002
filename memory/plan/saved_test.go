package plan_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/save"
)

func TestArena_SavedBuffersAreRestored(t *testing.T) {
	p, err := plan.Fast([]plan.Buffer{{ID: 0, Size: 100, Align: 8, Birth: 0, Death: 2}, {ID: 1, Size: 80, Align: 8, Birth: 1, Death: 3}, {ID: 2, Size: 90, Align: 8, Birth: 2, Death: 4}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := plan.New(nil, p)
	set := new(save.Set)
	if err = errors.Join(err, set.Add("static", a), set.Seal()); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	at := func(id uint32) *byte { return (*byte)(unsafe.Add(a.Get(id), 79)) }
	a.Begin(1)
	*at(0), *at(1) = 5, 6
	slot := set.NewSlot(2000)
	err = set.Save(slot)
	a.Advance(2)
	*at(1), *at(2) = 7, 8
	if err = errors.Join(err, set.Load(slot), a.Check()); err != nil || *at(0) != 5 || *at(1) != 6 {
		t.Errorf("loaded %d and %d, %v", *at(0), *at(1), err)
	}
	a.Advance(2) // the moment went back, too
}
