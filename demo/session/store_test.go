package session

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tiers"
)

func TestParseStore_NamesThoseThatThereAre(t *testing.T) {
	for k := range Store(Stores) {
		if got, err := ParseStore(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if _, err := ParseStore("heap"); err == nil || err.Error() != `"heap" is no memory; allowed are tiers, goheap, pooled` {
		t.Error(err)
	}
}

// The rules do not know what their blocks lie in: every tick's state is the same.
func TestStore_HashIsTheSameInEach(t *testing.T) {
	testenv.Long(t)
	for _, c := range []struct {
		cfg   game.Config
		ticks uint64
	}{{game.Config{Seed: 7, Heat: game.HeatMost}, 400}, {game.Config{Seed: 7}, 700}} {
		if c.cfg.Heat == 0 && !*whole {
			continue
		}
		c.ticks = played(c.ticks)
		var all [Stores][]uint64
		for k := range Store(Stores) {
			s := newSession(t, Config{Game: c.cfg, Store: k, Memory: ample})
			all[k] = hashes(t, s, int(c.ticks), func() {})
			if s.Game.Lost != (game.Lost{}) {
				t.Errorf("%v: lost %+v: a tier was full, which the Go heap never is", k, s.Game.Lost)
			}
			check(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		for i := range all[0] {
			if all[0][i] != all[1][i] || all[0][i] != all[2][i] {
				t.Fatalf("heat %g, tick %d: hashes %x, %x, %x", c.cfg.Heat, i+2, all[0][i], all[1][i], all[2][i])
			}
		}
	}
}

// ample has room for full heat.
var ample = roomy().Memory

// A realm that ends and one that begins leave nothing behind that the next one finds.
func TestStore_HashIsTheSameBehindARestart(t *testing.T) {
	testenv.Long(t)
	var got []uint64
	for k := range Store(Stores) {
		s := newSession(t, Config{Game: game.Config{Seed: 7, Heat: 5}, Store: k, Memory: ample})
		play(t, s, played(400)/2)
		s.Game.Restart()
		s.Flow.Go("tide")
		play(t, s, played(400)/2)
		if got = append(got, s.Game.Hash()); s.RealmsEnded() != 1 {
			t.Errorf("%d realms have ended", s.RealmsEnded())
		}
		check(t, s)
	}
	for _, hash := range got[1:] {
		if hash != got[0] {
			t.Errorf("hashes %x", got)
		}
	}
}

// What the game has lies where the store says: nothing in the tiers, and on the Go heap as many bytes and
// objects as the game has lists.
func TestStore_OnTheGoHeapNothingLiesInTheTiers(t *testing.T) {
	testenv.Long(t)
	if page.Default() == page.Heap() {
		t.Log("on the heap backing the tiers are Go memory, too")
		return
	}
	var bytes, objects [Stores]uint64
	var lists uint64 // blocks of the slab, of the run in tiers
	for k := range Store(Stores) {
		base, baseObjects := goHeapLive()
		s := newSession(t, Config{Game: game.Config{Seed: 7, Heat: game.HeatMost}, Store: k, Memory: ample})
		play(t, s, 500)
		b, o := goHeapLive()
		bytes[k], objects[k] = b-min(b, base), o-min(o, baseObjects)
		if k == StoreTiers {
			if lists = s.Traffic().SlabLive; lists < 5000 {
				t.Fatalf("%d lists say little", lists)
			}
		}
		var snap tiers.Snapshot
		s.Mem.Snapshot(&snap)
		for _, x := range snap.Tiers {
			if inTiers := k == StoreTiers; inTiers != (x.Allocs > 0) {
				t.Errorf("%v: %d allocations in tier %v", k, x.Allocs, x.Tier)
			}
		}
		if k != StoreTiers && objects[k] < lists {
			t.Errorf("%v: %d objects for %d lists, %d in tiers", k, objects[k], lists, objects[StoreTiers])
		}
		if k != StoreTiers && bytes[k] < bytes[StoreTiers]+4<<20 {
			t.Errorf("%v: %d bytes, %d in tiers", k, bytes[k], bytes[StoreTiers])
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("bytes %d, objects %d", bytes, objects)
}

// goHeapLive returns what is on the Go heap behind a collection.
func goHeapLive() (bytes, objects uint64) {
	runtime.GC()
	v := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/objects:objects"}}
	metrics.Read(v)
	return v[0].Value.Uint64(), v[1].Value.Uint64()
}

// The collector runs in play only where blocks are its own, and there no game paces it.
func TestStore_TheCollectorIsLeftAloneOutsideTheTiers(t *testing.T) {
	testenv.Long(t)
	if page.Default() == page.Heap() {
		t.Log("on the heap backing the tiers are Go memory, too")
		return
	}
	for k := range Store(Stores) {
		s := newSession(t, Config{Game: game.Config{Seed: 7, Heat: game.HeatMost}, Store: k, Memory: ample})
		if ticks := played(300); k != StorePooled || *whole {
			play(t, s, ticks)
		} else {
			play(t, s, 1)
		}
		v := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(v)
		var snap tiers.Snapshot
		s.Mem.Snapshot(&snap)
		if paced := v[0].Value.Uint64() != 100; paced != (k == StoreTiers) {
			t.Errorf("%v: GOGC is %d", k, v[0].Value.Uint64())
		}
		if some := snap.Go.InPlay > 1; k != StorePooled && some != (k == StoreGoHeap) {
			t.Errorf("%v: %d collections in play", k, snap.Go.InPlay)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A pooled game in steady play makes next to no garbage: what it gives back it gets.
func TestStore_PooledUsesAgainWhatItGaveBack(t *testing.T) {
	testenv.Long(t)
	var made [Stores]uint64
	for _, k := range []Store{StoreGoHeap, StorePooled} {
		s := newSession(t, Config{Game: game.Config{Seed: 7, Heat: 4}, Store: k, Memory: ample})
		play(t, s, played(400))
		made[k] = allocated()
		play(t, s, 100)
		made[k] = allocated() - made[k]
	}
	t.Logf("bytes in 100 ticks: %d", made)
	if made[StorePooled] > made[StoreGoHeap]/4 { // under -race a sync.Pool drops one in four
		t.Errorf("%d bytes in 100 ticks, and %d without pools", made[StorePooled], made[StoreGoHeap])
	}
}

func allocated() uint64 {
	v := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(v)
	return v[0].Value.Uint64()
}

// A tick of the same horde in each store: what is left between them in steady play is how blocks lie in
// the caches, and what the harness costs.
func BenchmarkStore_Tick(b *testing.B) {
	for k := range Store(Stores) {
		b.Run(k.String(), func(b *testing.B) {
			s := newSession(b, Config{Game: game.Config{Seed: 7, Heat: game.HeatMost}, Store: k, Memory: ample})
			play(b, s, 1200)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began, n := cpuTime(), 0
			for b.Loop() {
				play(b, s, 1)
				n += s.Game.Enemies()
			}
			b.ReportMetric(float64(cpuTime()-began)/float64(n), "cpu-ns/enemy")
			b.ReportMetric(float64(n)/float64(b.N), "enemies")
		})
	}
}
