package game

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
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
	for _, c := range []struct {
		cfg   Config
		ticks int
	}{{Config{Seed: 7}, 700}, {Config{Seed: 7, Heat: HeatMost}, 400}} {
		if !full() {
			c.ticks = 150
		}
		var all [Stores][]uint64
		for k := range Store(Stores) {
			c.cfg.Store = k
			s := newSession(t, SessionConfig{Game: c.cfg, Memory: ample})
			all[k] = hashes(t, s, c.ticks, func() {})
			if s.Game.Lost != (Lost{}) {
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

// A level that ends and one that begins anew leave nothing behind that the next one finds.
func TestStore_HashIsTheSameBehindARestart(t *testing.T) {
	var got [Stores]uint64
	for k := range Store(Stores) {
		s := newSession(t, SessionConfig{Game: Config{Seed: 7, Heat: 5, Store: k}, Memory: ample})
		play(t, s, 200)
		s.Game.Restart()
		s.Flow.Go("tide")
		play(t, s, 200)
		if got[k] = s.Game.Hash(); s.Levels() != 1 {
			t.Errorf("%d levels", s.Levels())
		}
		check(t, s)
	}
	if got[0] != got[1] || got[0] != got[2] {
		t.Errorf("hashes %x", got)
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
	for k := range Store(Stores) {
		base, baseObjects := goHeapLive()
		s := newSession(t, SessionConfig{Game: Config{Seed: 7, Heat: HeatMost, Store: k}, Memory: ample})
		play(t, s, 500)
		b, o := goHeapLive()
		bytes[k], objects[k] = b-min(b, base), o-min(o, baseObjects)
		lists := uint64(s.Game.ribbons.live)
		if lists < 5000 {
			t.Fatalf("%v: %d trails say little", k, lists)
		}
		var snap tiers.Snapshot
		s.Mem.Snapshot(&snap)
		for _, x := range snap.Tiers {
			if inTiers := k == StoreTiers; inTiers != (x.Allocs > 0) {
				t.Errorf("%v: %d allocations in tier %v", k, x.Allocs, x.Tier)
			}
		}
		if k != StoreTiers && objects[k] < lists {
			t.Errorf("%v: %d objects for %d trails, %d in tiers", k, objects[k], lists, objects[StoreTiers])
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
	if page.Default() == page.Heap() {
		t.Log("on the heap backing the tiers are Go memory, too")
		return
	}
	for k := range Store(Stores) {
		s := newSession(t, SessionConfig{Game: Config{Seed: 7, Heat: HeatMost, Store: k}, Memory: ample})
		play(t, s, 300)
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
	var made [Stores]uint64
	for k := range Store(Stores) {
		s := newSession(t, SessionConfig{Game: Config{Seed: 7, Heat: 4, Store: k}, Memory: ample})
		play(t, s, 400)
		made[k] = allocated()
		play(t, s, 200)
		made[k] = allocated() - made[k]
	}
	t.Logf("bytes in 200 ticks: %d", made)
	if made[StorePooled] > made[StoreGoHeap]/4 { // under -race a sync.Pool drops one in four
		t.Errorf("%d bytes in 200 ticks, and %d without pools", made[StorePooled], made[StoreGoHeap])
	}
}

func allocated() uint64 {
	v := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(v)
	return v[0].Value.Uint64()
}

func TestGoHeap_BlocksAreAlignedZeroedAndOneObjectEach(t *testing.T) {
	for _, mem := range []memory.Allocator{goHeap{}, &pooledHeap{}} {
		for size := uintptr(0); size < 5000; size += 7 {
			for _, align := range []uintptr{1, 4, 8, 16, 64} {
				p, err := mem.Alloc(size, align)
				if p == nil || err != nil || uintptr(p)%align != 0 {
					t.Fatalf("%T: %d bytes aligned to %d lie at %p, %v", mem, size, align, p, err)
				}
				for _, b := range unsafe.Slice((*byte)(p), size) {
					if b != 0 {
						t.Fatalf("%T: %d bytes are not zero", mem, size)
					}
				}
			}
		}
	}
	var kept unsafe.Pointer
	for _, size := range []uintptr{24, 256, 4096, 16 << 10, 1 << 20} {
		if n := testing.AllocsPerRun(50, func() { kept, _ = goHeap{}.Alloc(size, 64) }); n > 1.5 {
			t.Errorf("%d bytes are %v objects", size, n)
		}
	}
	if kept == nil {
		t.Error("nothing")
	}
}

func TestPooledHeap_GivesBackWhatWasFreedWithoutGarbage(t *testing.T) {
	h := &pooledHeap{}
	n := testing.AllocsPerRun(200, func() {
		p, _ := h.Alloc(200, 8)
		*(*[25]uint64)(p) = [25]uint64{24: 1}
		h.Free(p, 200)
	})
	if n > 0.5 { // a collection may empty it
		t.Errorf("%v objects for a block that was there", n)
	}
	h.Free(nil, 200)
	if p, _ := h.Alloc(200, 8); p == nil {
		t.Error("nil came back")
	}
}

func TestBlocks_AreHeldUntilTheyAreDropped(t *testing.T) {
	for _, a := range []memory.Allocator{goHeap{}, &pooledHeap{}} {
		b := blocks{a: a}
		var numbers []uint64
		for i := range 100 {
			n, _ := b.take(256, 8)
			*(*uint64)(b.at(n)) = uint64(i)
			numbers = append(numbers, n)
		}
		runtime.GC()
		for i, n := range numbers {
			if got := *(*uint64)(b.at(n)); got != uint64(i) {
				t.Fatalf("block %d holds %d: nobody kept it", i, got)
			}
		}
		if err := b.check(100); err != nil {
			t.Error(err)
		}
		for _, n := range numbers[:50] {
			b.give(n, 256)
		}
		if b.check(50) != nil || b.check(51) == nil {
			t.Errorf("%v, and of 51 %v", b.check(50), b.check(51))
		}
		if n, _ := b.take(8, 8); n > 49 || b.check(51) != nil {
			t.Errorf("number %d was not used again", n)
		}
	}
}

// What the harness costs beside what it stands for: rows that have a trail in a field. Each round
// takes a new trail in the place of one of 20,000, and writes ten points.
func BenchmarkStore_ATrailBesideOneByHand(b *testing.B) {
	const live, length = 20_000, 8
	b.Run("store", func(b *testing.B) {
		rs := ribbons{blocks: blocks{a: goHeap{}}}
		g := &Game{}
		var ids [live]uint16
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			id := &ids[i%live]
			rs.give(*id)
			*id = rs.take(g, vec{}, length)
			for range 10 {
				rs.push(g, *id, vec{1, 2})
			}
		}
	})
	b.Run("by hand", func(b *testing.B) {
		type row struct {
			trail     []vec
			at, count uint8
		}
		all := make([]row, live)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e := &all[i%live]
			*e = row{trail: make([]vec, trailLeast)}
			for range 11 {
				if n := len(e.trail); int(e.count) == n && n < length {
					grown := make([]vec, min(n+n/2+1, length))
					e.at = uint8(copy(grown, e.trail))
					e.trail = grown
				}
				e.trail[e.at] = vec{1, 2}
				if e.at++; int(e.at) == len(e.trail) {
					e.at = 0
				}
				e.count = min(e.count+1, uint8(len(e.trail)))
			}
		}
	})
}

// A tick of the same horde in each store: what is left between them in steady play is how blocks lie in
// the caches, and what the harness costs.
func BenchmarkStore_Tick(b *testing.B) {
	for k := range Store(Stores) {
		b.Run(k.String(), func(b *testing.B) {
			s := newSession(b, SessionConfig{Game: Config{Seed: 7, Heat: HeatMost, Store: k}, Memory: ample})
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
