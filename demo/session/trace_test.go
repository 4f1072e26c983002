package session

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/memory/trace"
)

// BenchmarkTrace_Tick plays the same game with and without a trace, tick by tick in turns, at full heat. The trace
// goes to a file. The ratio is that of the medians; the game's goroutine counts, by its processor time.
func BenchmarkTrace_Tick(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "run.trace"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := trace.NewWriter(f, trace.Header{Program: "demo", Unit: "tick"}, trace.Config{})
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Game: game.Config{Seed: 7, Heat: game.HeatMost}, Memory: ample}
	sides := [3]*Session{newSession(b, cfg), newSession(b, cfg), nil}
	cfg.Memory.Trace = w
	sides[2] = newSession(b, cfg)
	for _, s := range sides {
		play(b, s, 1200)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var times [3][]time.Duration
	size, blocks := w.Written(), w.Blocks()
	for turn := 0; b.Loop(); turn++ {
		for k := range sides {
			k = (k + turn) % len(sides)
			began := cpuTime()
			play(b, sides[k], 1)
			times[k] = append(times[k], time.Duration(cpuTime()-began))
		}
	}
	for k := range times {
		slices.Sort(times[k])
	}
	median := func(k int) float64 { return float64(times[k][len(times[k])/2]) }
	b.ReportMetric(median(0)/1e3, "µs/tick")
	b.ReportMetric(median(1)/median(0), "A/A")
	b.ReportMetric(median(2)/median(0), "traced/plain")
	b.ReportMetric(float64(w.Written()-size)/float64(b.N), "bytes/tick")
	b.ReportMetric(float64(w.Blocks()-blocks)/float64(b.N), "allocs/tick")
	if a, t := sides[0].Game.Hash(), sides[2].Game.Hash(); a != t {
		b.Errorf("hash %x, with a trace %x", a, t)
	}
}
