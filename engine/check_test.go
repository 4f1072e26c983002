package engine

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest"
)

// Check answers whatever a bit of the books was turned into: of an idle loader with assets in
// every state, and of one whose worker is starved with a queue behind it.
func TestLoader_CheckEndsWhateverBitIsFlipped(t *testing.T) {
	idle := newRig(t, gallery(t), 2, 0, func(c *LoaderConfig) { c.Assets = 20 })
	idle.picture(t, "a", 0)
	if _, err := idle.RequestPicture(ScopeGame, "missing", "art/missing.png", 0); err != nil {
		t.Fatal(err)
	}
	idle.settle()
	for _, id := range strings.Split("bcd", "") {
		idle.picture(t, id, 0)
	}
	if _, err := idle.RequestFile(ScopeGame, "file", "art/e.png", 0); err != nil {
		t.Fatal(err)
	}
	within(t, soon, "loading", func() {
		for idle.Stats().Counts[Ready] < 4 || idle.Stats().Busy > 0 {
			idle.Wait()
		}
	})
	starved, _, _ := starve(t, ScopeGame, func(c *LoaderConfig) { c.Assets = 20 })
	for _, id := range strings.Split("cdefgh", "") {
		starved.picture(t, id, 0)
	}
	for name, r := range map[string]*rig{"idle": idle, "starved": starved} {
		var f memtest.Flips
		within(t, 9*soon, name, func() { f = memtest.EveryBit(t, r.Check, r.Loader) })
		t.Logf("%s: %+v", name, f)
		if f.Integers < 200 || f.Named*10 < f.Flipped {
			t.Errorf("%s: %+v; the books are larger than that", name, f)
		}
	}
}
