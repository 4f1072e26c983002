package saved

import (
	"bytes"
	"errors"
	"testing"

	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/save"
)

// A record is a State of what debug builds record.
type record struct {
	invariant.Lives
	fails bool // after all was visited
}

func (r *record) SaveState(c *save.Coder) {
	if Lives(c, &r.Lives); r.fails {
		c.Differs("it fails")
	}
}

// A load restores the pages in which blocks have started, and clears those of later blocks. A load that fails does not.
func TestLives_LoadRestoresPages(t *testing.T) {
	var r record
	var set save.Set
	slot, first, again := set.NewSlot(1<<20), set.NewCanonical(1<<20), set.NewCanonical(1<<20)
	at := []uintptr{5, 1025, 3*invariant.LifePage + 7, 9 * invariant.LifePage}
	begin := func(k ...int) {
		for _, k := range k {
			r.Begin(at[k], 100)
		}
	}
	lives := func() (n [4]uint32) {
		for i, g := range at {
			n[i] = r.Generation(g)
		}
		return n
	}
	begin(0, 2)
	was := lives()
	err := errors.Join(set.Add("lives", &r), set.Seal(), set.Save(slot), set.Save(first))
	begin(0, 1, 3)
	now := lives()
	r.fails = true
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) || lives() != now {
		t.Errorf("a load that fails: %v, %v, want %v", err, lives(), now)
	}
	r.fails = false
	if err = errors.Join(err, set.Load(slot), set.Save(again)); err != nil {
		t.Fatal(err)
	}
	if lives() != was || !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Errorf("%v, want %v, or the canonical states differ", lives(), was)
	}
	if n := len(slot.Bytes()) / 8; invariant.Debug && n/invariant.LifePage != 2 || !invariant.Debug && n != 1 {
		t.Errorf("the state has %d words; two pages of %d have blocks", n, invariant.LifePage)
	}
}
