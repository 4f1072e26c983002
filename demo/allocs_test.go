package main

import (
	"encoding/json"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// ownAllocsOf plays with every allocation sampled, and returns what this module has allocated in
// the last ticks.
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
	t.Logf("%.3f objects a tick in %d ticks", o.PerTick, o.Ticks)
	for _, s := range o.Sites {
		t.Logf("%6d %s", s.Objects, s.Site)
		if s.Objects > max(o.Ticks/20, 40) {
			t.Errorf("%s allocates %d objects in %d ticks", s.Site, s.Objects, o.Ticks)
		}
	}
	if o.PerTick > 0.1 {
		t.Errorf("%.3f objects a tick", o.PerTick)
	}
}

// At full heat, once the horde is there, play allocates nothing on the Go heap.
func TestAllocs_SteadyPlayHasNoneOfThisModule(t *testing.T) {
	testenv.Long(t)
	own := ownAllocsOf(t, "-headless", "-heat", "10", "-ticks", "2400")
	own.steady(t)
}
