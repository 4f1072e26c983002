package main

import (
	"encoding/json"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// ownAllocsOf plays with every allocation sampled, and returns what this module has allocated.
func ownAllocsOf(t *testing.T, args ...string) (own ownReport) {
	t.Helper()
	c := testenv.Command(t, program(t), append(args, "-seed", "7", "-stats", "-", "-config", "none")...)
	c.Env = append(c.Environ(), "GODEBUG=memprofilerate=1")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r struct{ Go struct{ Own *ownReport } }
	if err := json.Unmarshal(out, &r); err != nil || r.Go.Own == nil {
		t.Fatalf("%v: no count of allocations in %.300s", err, out)
	}
	return *r.Go.Own
}

// steady asserts that no function allocates again and again. Metadata grows where there is more of something than ever
// before: that is a handful of objects in a minute.
func (o *ownReport) steady(t *testing.T) {
	t.Helper()
	s := &o.Steady
	t.Logf("%.3f objects a tick in the first %d ticks; %.4f in the next %d", o.WarmUp.PerTick, o.WarmUp.Ticks, s.PerTick, s.Ticks)
	if s.Ticks == 0 {
		t.Fatal("the run is too short")
	}
	for _, x := range s.Sites {
		t.Logf("%6d %s", x.Objects, x.Site)
		if x.Objects > s.Ticks/100 {
			t.Errorf("%s allocates %d objects in %d ticks", x.Site, x.Objects, s.Ticks)
		}
	}
	if s.PerTick > 0.02 {
		t.Errorf("%.4f objects a tick", s.PerTick)
	}
}

// At full heat, once the horde is there, play allocates nothing on the Go heap.
func TestAllocs_SteadyPlayHasNoneOfThisModule(t *testing.T) {
	testenv.Long(t)
	own := ownAllocsOf(t, "-headless", "-heat", "10", "-ticks", "5400")
	own.steady(t)
}

// While a tour streams the ground, neither do the workers that compose sectors nor those who deliver them.
func TestAllocs_StreamingHasNoneOfThisModule(t *testing.T) {
	testenv.Long(t)
	own := ownAllocsOf(t, "-headless", "-tour", "rows", "-fast", "-heat", "10", "-ticks", "5400")
	own.steady(t)
}
