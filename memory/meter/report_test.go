package meter

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tiers"
)

func TestRecord_IsJSONWithTheNamesOfTheRows(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.r.Monitor("enemies", "", func() float64 { return 57 })
	g.r.Timer("ai")
	g.run(50, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
	g.r.Mark(A)
	g.run(1, memtest.Leak(t, g.tag("ai"), 100<<10, 1024))
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

func TestRecord_LeavesOutNaNMonitorsAndSumsEqualTimers(t *testing.T) {
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

// Each field of a file is the one that its name says, of rows whose figures all differ.
func TestRecord_EveryFieldHasItsOwnFigure(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	fake(g.m, "bullets", &memory.Stats{})
	g.run(1, nil)
	row := func(w *Row, n uint64) RowRecord {
		f := float64(n)
		*w = Row{Name: w.Name, Kind: w.Kind, Tier: w.Tier, InUse: n + 1, Committed: n + 2, Budget: n + 3, Peak: n + 4, Live: n + 5, Allocs: f + 6,
			Frees: f + 7, Most: n + 8, Churn: f + 9, Failures: n + 10, Refused: n + 11, Growth: f + 12}
		return RowRecord{w.Name, kindNames[w.Kind], n + 1, n + 2, n + 3, n + 4, n + 5, f + 6, f + 7, n + 8, f + 9, n + 10, n + 11, f + 12}
	}
	g.r.Mark(A)
	want := Record{Verdict: g.r.verdict.String(), Since: []ChangeRecord{{"large", 1000, -3}}}
	for i := range g.r.rows {
		want.Rows = append(want.Rows, row(&g.r.rows[i], uint64(100*i)))
	}
	want.Pools = append(want.Pools, row(&g.r.pools[0], 10000))
	inFrame := [tiers.Count]Delta{tiers.Frame: {5, 6, 7, -8}}
	g.r.was[tiers.Large].inUse += 1000
	g.r.was[tiers.Large].live -= 3
	g.r.worst = [seconds]Frame{{Number: 11, Level: 2, Took: 3 * time.Second, Collections: 4, Rows: inFrame[:]}}
	inStatic := [tiers.Count]Delta{tiers.Static: {Bytes: 1}}
	g.r.kept = Frame{Number: 12, Level: 3, Took: 4 * time.Second, Collections: 5, Rows: inStatic[:]}
	want.Worst = &FrameRecord{Number: 11, Level: 2, Took: 3, Collections: 4, Rows: map[string]Delta{"tier frame": {5, 6, 7, -8}}}
	want.Kept = &FrameRecord{Number: 12, Level: 3, Took: 4, Collections: 5, Rows: map[string]Delta{"tier static": {Bytes: 1}}}
	g.r.times.total = frames{}
	g.r.live.heap = Heap{Known: true, Live: 13, Age: 14 * time.Second, Allocated: 15}
	want.GoHeap = HeapRecord{Known: true, Live: 13, Age: 14, Allocated: 15}
	for d, n := range map[time.Duration]int{10 * time.Millisecond: 90, time.Second: 9, 7 * time.Second: 1} {
		for range n {
			g.r.times.total.Add(d)
		}
	}
	g.r.times.total.late, g.r.times.total.took = 10, 50*time.Second
	half, nearly := g.r.times.total.Quantile(0.5), g.r.times.total.Quantile(0.99)
	want.Times = TimesRecord{Rate: 2, Median: half.Seconds(), P99: nearly.Seconds(), Most: 7, Frames: 100, Late: 10}

	var b bytes.Buffer
	must(t, g.r.WriteJSON(&b))
	var got Record
	must(t, json.Unmarshal(b.Bytes(), &got))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n%+v\nis not\n%+v", b.String(), got, want)
	}
	b.Reset()
	must(t, json.Compact(&b, must2(json.Marshal(got.Rows[tiers.Large]))))
	if want := `{"name":"large","kind":"tier","in_use":501,"committed":502,"budget":503,"peak":504,"live":505,"allocs_per_second":506,` +
		`"frees_per_second":507,"most_allocs_in_a_frame":508,"churn_per_second_at_most":509,"failures_in_window":510,"failures":511,"growth_per_second":512}`; b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

func must2(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestWriteText_TheWorstFrameNamesAllThatDidSomething(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.run(1, nil)
	rows := [tiers.Count]Delta{tiers.Frame: {Allocs: 1}, tiers.Level: {Frees: 1}, tiers.Pools: {Failures: 1}, tiers.Slab: {Bytes: -5}, tiers.Large: {Allocs: 2, Frees: 2}}
	g.r.worst = [seconds]Frame{{Number: 11, Took: 3 * time.Second, Collections: 4, Rows: rows[:]}}
	var b bytes.Buffer
	must(t, g.r.WriteText(&b))
	_, got, _ := strings.Cut(b.String(), "worst frame: ")
	const want = "number 11, 3000.00 ms, 4 collections\n" +
		"  frame               1 allocs      0 frees +0 bytes\n" +
		"  level               0 allocs      1 frees +0 bytes\n" +
		"  pools               0 allocs      0 frees +0 bytes\n" +
		"  slab                0 allocs      0 frees -5 bytes\n" +
		"  large               2 allocs      2 frees +0 bytes\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestVerdict_InWords(t *testing.T) {
	row := func(name string, growth float64) *Row { return &Row{Name: name, Growth: growth} }
	tight := &Row{Name: "large", Kind: TierRow, Tier: tiers.Large, Committed: 89, Budget: 100, Failures: 3}
	for want, v := range map[string]Verdict{
		"largest: nothing; growing: nothing; frame memory: 0%":                       {},
		"largest: nothing; growing: not known yet; frame memory: 0%":                 {Young: true},
		"largest: nothing; growing: slab +2.0 KiB/s; frame memory: 0%":               {Young: true, Growing: row("slab", 2048)},
		"largest: go heap; growing: nothing; frame memory: 50%":                      {Largest: row("go heap", 1e6), Frame: 0.496},
		"largest: nothing; growing: slab +1.0 KiB/s; frame memory: 0%":               {Growing: row("slab", 1024)},
		"largest: nothing; growing: slab +1023.0 KiB/s; frame memory: 0%":            {Growing: row("slab", 1023<<10)},
		"largest: nothing; growing: slab +1.0 MiB/s; frame memory: 0%":               {Growing: row("slab", 1<<20)},
		"largest: nothing; growing: slab +2.5 MiB/s; frame memory: 0%":               {Growing: row("slab", 5<<19)},
		"largest: nothing; growing: nothing, by tag ai +3.0 KiB/s; frame memory: 0%": {Tag: row("ai", 3072)},
		"largest: nothing; growing: nothing, by pool b +4.0 KiB/s; frame memory: 0%": {Pool: row("b", 4096)},
		"largest: a; growing: b +1.0 KiB/s, by tag c +2.0 KiB/s, by pool d +3.0 KiB/s, beside e +4.0 KiB/s; " +
			"large has committed 89% of its budget; large refused 3 requests; frame memory: 100%": {Largest: row("a", 0), Growing: row("b", 1024), Tag: row("c", 2048),
			Pool: row("d", 3072), Beside: row("e", 4096), Tight: tight, Refused: tight, Frame: 1},
	} {
		if got := v.String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// The text has a part each for the answers, the tiers and what lies beside them, the tags, and the worst frame.
func TestWriteText_HasAPartForEachKindOfRow(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	g.tag("ai")
	g.run(1, nil)
	var b bytes.Buffer
	must(t, g.r.WriteText(&b))
	parts := strings.Split(strings.TrimSpace(b.String()), "\n\n")
	if len(parts) != 4 {
		t.Fatalf("%d parts:\n%s", len(parts), b.String())
	}
	for i, want := range [...]string{"largest: ", "     ", "ai ", "worst frame: "} {
		if n := strings.Count(parts[i], "\n") + 1; !strings.HasPrefix(parts[i], want) || i < 3 && n != [...]int{3, 1 + firstTag, 2}[i] {
			t.Errorf("part %d, of %d lines:\n%s", i, n, parts[i])
		}
	}
}

func TestRow_APlanThatFillsItsRoomIsNotTight(t *testing.T) {
	w := Row{Kind: TierRow, Tier: tiers.Static, Committed: 95, Budget: 100}
	if w.Tight() != 0 {
		t.Errorf("static: %v", w.Tight())
	}
	if w.Tier = tiers.Level; w.Tight() != 0.95 {
		t.Errorf("level: %v, want 0.95", w.Tight())
	}
}

func TestWriteText_TagsHaveTheirFrameAndLevel(t *testing.T) {
	g := newGame(t, 60, tiers.Config{})
	sort, world := g.tag("sort"), g.tag("world")
	_, err := world.Level().Alloc(8<<10, 1)
	must(t, err)
	play := func(size uintptr) {
		g.run(1, func(float64) {
			_, err := sort.Frame().Alloc(size, 1)
			must(t, err)
			_, err = g.m.Frame().Alloc(2<<10, 1)
			must(t, err)
		})
	}
	play(5 << 10)
	play(3 << 10)
	var b bytes.Buffer
	must(t, g.r.WriteText(&b))
	for _, want := range []string{"\nsort              3.0 KiB          -          -    5.0 KiB", "\nworld             8.0 KiB ", "\nuntagged          2.0 KiB "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
