package meter

import (
	"runtime/debug"
	"testing"
	"time"

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
	if testing.Short() {
		t.Skip("a gigabyte of garbage")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer func() { ballast, litter, leaked = nil, nil, nil }()
	const (
		frameTakes = 400 * time.Millisecond
		frameLeaks = 40 << 10 // 100 KiB a second
	)
	m, err := tiers.New(tiers.Config{KeepGC: true})
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
