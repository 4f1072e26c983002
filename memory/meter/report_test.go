package meter

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/tiers"
)

func TestRecord_IsJSONWithTheNamesOfTheRows(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.r.Monitor("enemies", "", func() float64 { return 57 })
	g.r.Timer("ai")
	g.run(5, leaker(g.tag("ai"), 100<<10, 1024))
	g.r.Mark(A)
	g.run(1, leaker(g.tag("ai"), 100<<10, 1024))
	var b bytes.Buffer
	must(t, g.r.WriteJSON(&b))
	var rec Record
	must(t, json.Unmarshal(b.Bytes(), &rec))
	if len(rec.Rows) != len(g.r.Rows()) || rec.Worst == nil || rec.Worst.Monitors["enemies"] != 57 || len(rec.Since) == 0 || !strings.Contains(rec.Verdict, "by tag ai +") {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	must(t, g.r.WriteText(&b))
	for _, want := range []string{"growing: slab +", "\nai ", "worst frame: number ", "enemies", "\nlarge "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestRecord_LeavesOutMonitorsThatAreNoNumbersAndAddsUpTimersOfOneName(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	for name, v := range map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1), "one": 1} {
		g.r.Monitor(name, "", func() float64 { return v })
	}
	timers := [...]*Timer{g.r.Timer("ai"), g.r.Timer("ai")}
	g.run(1, func(float64) {
		for _, x := range timers {
			x.Start()
			g.now = g.now.Add(time.Millisecond)
			x.Stop()
		}
	})
	g.r.Keep()
	var b bytes.Buffer
	must(t, g.r.WriteJSON(&b))
	var rec Record
	must(t, json.Unmarshal(b.Bytes(), &rec))
	for _, f := range []*FrameRecord{rec.Worst, rec.Kept} {
		if len(f.Monitors) != 1 || f.Monitors["one"] != 1 || !near(f.Timers["ai"], 0.002, 1e-9) {
			t.Errorf("%v, %v", f.Monitors, f.Timers)
		}
	}
}
