package session

import (
	"runtime/debug"
	"testing"
)

func TestHeadroom_IsWhatIsGivenOrLittle(t *testing.T) {
	for given, want := range map[int64]int64{0: heapHeadroom, 1 << 20: 1 << 20} {
		if got := headroom(given); got != want {
			t.Errorf("%d: %d", given, got)
		}
	}
}

// What keeps GOGC in one store keeps it in all, also where the tiers are of the Go heap.
func TestSession_KeepLeavesTheCollectorAlone(t *testing.T) {
	found := debug.SetGCPercent(100)
	defer debug.SetGCPercent(found)
	for _, store := range []Store{StoreTiers, StoreGoHeap, StorePooled} {
		s := &Session{cfg: Config{Store: store}}
		s.cfg.Memory.GC.Keep = true
		if gc := s.memory().GC; !gc.Keep || s.unpace != nil || debug.SetGCPercent(100) != 100 {
			t.Errorf("%v: %+v", store, gc)
		}
	}
}

// TestPace_LowersGOGCAndPutsItBack tries it with what a player may have set, and has somebody else set it meanwhile.
func TestPace_LowersGOGCAndPutsItBack(t *testing.T) {
	found := debug.SetGCPercent(100)
	defer debug.SetGCPercent(found)
	for _, c := range []struct{ was, meanwhile, in, after int }{
		{100, 0, heapPercent, 100}, {-1, 0, heapPercent, -1}, {3, 0, 3, 3}, {100, 50, 50, 50},
	} {
		debug.SetGCPercent(c.was)
		unpace := pace()
		if c.meanwhile != 0 {
			debug.SetGCPercent(c.meanwhile)
		}
		in := debug.SetGCPercent(c.in)
		unpace()
		if after := debug.SetGCPercent(c.was); in != c.in || after != c.after {
			t.Errorf("%d: %d, and %d after it; want %d, %d", c.was, in, after, c.in, c.after)
		}
	}
}
