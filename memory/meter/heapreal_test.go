package meter

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
)

// ballast is live all the time of the test, litter is garbage at once, and leaked is never freed.
var (
	ballast [][]byte
	litter  []byte
	leaked  [][]byte
)

// A program with 100 MiB in use is told of a leak by collections that its own garbage causes. Its clock goes by what it
// allocates, 640 KiB a second; it sleeps, so that little of that is allocated while a collection runs.
func TestHeap_ARealLeakIsNamedByTheFourthCollection(t *testing.T) {
	testenv.Long(t)
	if testing.Short() || invariant.Debug {
		t.Skip("a gigabyte of garbage")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer func() { ballast, litter, leaked = nil, nil, nil }()
	const (
		frameTakes = 400 * time.Millisecond
		frameLeaks = 40 << 10 // 100 KiB a second
	)
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	defer m.Close()
	now := time.Unix(1000, 0)
	r, err := New(m, Config{Now: func() time.Time { return now }})
	must(t, err)
	for range 100 {
		ballast = append(ballast, make([]byte, 1<<20))
	}
	frame := func(leak int) {
		must(t, m.BeginFrame())
		for range 4 {
			litter = make([]byte, 64<<10)
		}
		if leak > 0 {
			leaked = append(leaked, make([]byte, leak))
		}
		now = now.Add(frameTakes)
		r.Frame()
		must(t, m.EndFrame())
		time.Sleep(time.Millisecond)
		if r.live.marking { // on a busy machine that takes long
			time.Sleep(20 * time.Millisecond)
		}
	}
	// collect plays until so many collections have ended, and reports whether growth was named.
	collect := func(n int, leak int) (named bool) {
		for range n {
			before := r.live.cycles
			for limit := 0; r.live.cycles == before; limit++ {
				if limit == 10_000 {
					t.Fatal("2.5 GiB of garbage, and no collection")
				}
				frame(leak)
			}
			named = named || r.live.rate >= leastLive
			t.Logf("%v, growth %.0f", r.Heap(), r.live.rate)
		}
		return named
	}
	collect(4, 0) // the ballast is new to them
	if collect(6, 0) {
		t.Error("growth without a leak")
	}
	if !collect(4, frameLeaks) {
		t.Error("four collections after a leak began it is not named")
	}
}

// A leaf is a part of a heap that the collector has to follow.
type leaf struct {
	next, other *leaf
	_           [12]uint64
}

// A program with 400 MiB in use, half of them behind pointers, allocates 4 MiB a second and marks for many frames, all of
// which allocate. Its clock goes by frames, so that a busy machine changes nothing but how many of them marking takes.
func TestLive_ARealLeakBeside400MiBIsNamedByTheFourth(t *testing.T) {
	if os.Getenv(fullGrowth) == "" {
		return // it takes a gigabyte of memory
	}
	const live, litters, leaks = 400 << 20, 4 << 20, 100 << 10 // the last two a second
	const took, piece = 400 * time.Millisecond, 2 << 10
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer func() { ballast, leaked = nil, nil }()
	leaves := make([]*leaf, 0, live/2/unsafe.Sizeof(leaf{}))
	for k := range cap(leaves) {
		x := new(leaf)
		if k > 0 {
			x.next, x.other = leaves[k-1], leaves[k/2]
		}
		leaves = append(leaves, x)
	}
	for range live / 2 >> 20 {
		ballast = append(ballast, make([]byte, 1<<20))
	}
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	defer m.Close()
	now := time.Unix(1000, 0)
	r, err := New(m, Config{Now: func() time.Time { return now }})
	must(t, err)
	var held [2048][]byte
	at := 0
	// collect plays until so many collections have ended, and returns after how many growth was named.
	collect := func(n, leak int) (named int) {
		for k := 1; k <= n; k++ {
			marking, frames := 0, 0
			for before := r.live.cycles; r.live.cycles == before; frames++ {
				if frames == 10_000 {
					t.Fatal("16 GiB of garbage, and no collection")
				}
				must(t, m.BeginFrame())
				for range int(litters * took.Seconds() / piece) {
					held[at%len(held)] = make([]byte, piece)
					at++
				}
				leaked = append(leaked, make([]byte, int(float64(leak)*took.Seconds())))
				now = now.Add(took)
				r.Frame()
				must(t, m.EndFrame())
				time.Sleep(time.Millisecond)
				if r.live.marking {
					marking++
				}
			}
			t.Logf("%v, %.1f MiB of it not allocated meanwhile, in %d of %d frames; growth %.0f KiB/s", r.Heap(), r.live.size/mib, marking, frames, r.live.rate/1024)
			if named == 0 && r.live.rate >= leastLive {
				named = k
			}
		}
		return named
	}
	collect(3, 0) // what was built is new to them
	if named := collect(6, 0); named > 0 {
		t.Errorf("growth after %d collections, without a leak", named)
	}
	if named := collect(4, leaks); named == 0 {
		t.Error("four collections after a leak began it is not named")
	}
	runtime.KeepAlive(leaves)
}
