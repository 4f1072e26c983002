package meter

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/strata-go/strata/memory"
)

// WriteText writes a report for a log or a terminal. The report has the verdict, the times, the Go heap, the rows of
// [Meter.Rows] and the worst frame of the window. WriteText returns the error of w.
func (r *Meter) WriteText(w io.Writer) error {
	var b strings.Builder
	t := r.Times()
	fmt.Fprintf(&b, "%s\n", &r.verdict)
	fmt.Fprintf(&b, "%.1f frames a second; median %s, p99 %s, worst %s, %d of %d late\n", t.Rate, ms(t.Median), ms(t.P99), ms(t.Most), t.Late, t.Frames)
	fmt.Fprintf(&b, "%s\n\n", r.Heap())
	fmt.Fprintf(&b, "%-14s %10s %10s %10s %10s %9s %9s %8s %11s\n", "", "in use", "committed", "budget", "peak", "allocs/s", "in one", "refused", "growth/s")
	for i := range r.rows {
		x := &r.rows[i]
		if i == firstTag {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%-14.14s %10s %10s %10s %10s %9.0f %9d %8d %11s\n", x.Name, memory.FormatBytes(x.InUse), size(x.Committed), size(x.Budget),
			memory.FormatBytes(x.Peak), x.Allocs, x.Most, x.Refused, size(uint64(x.Growth)))
	}
	if f := r.Worst(); f != nil {
		b.WriteByte('\n')
		r.writeFrame(&b, f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFrame writes what a frame did.
func (r *Meter) writeFrame(b *strings.Builder, f *Frame) {
	fmt.Fprintf(b, "worst frame: number %d, %s, %d collections\n", f.Number, ms(f.Took), f.Collections)
	for i, d := range f.Rows {
		if d.Allocs|d.Frees|d.Failures != 0 || d.Bytes != 0 {
			fmt.Fprintf(b, "  %-14.14s %6d allocs %6d frees %+d bytes\n", r.rows[i].Name, d.Allocs, d.Frees, d.Bytes)
		}
	}
	for i, d := range f.Timers {
		fmt.Fprintf(b, "  %-14.14s %s\n", r.timers[i].Name, ms(d))
	}
	for i, v := range f.Monitors {
		fmt.Fprintf(b, "  %-14.14s %g %s\n", r.monitors[i].Name, v, r.monitors[i].Unit)
	}
}

// String returns the live size and its age, if a collection was seen, and the rate of allocation.
func (h Heap) String() string {
	live := "not known before a collection"
	if h.Known {
		live = fmt.Sprintf("%s as of %.0f s ago", memory.FormatBytes(h.Live), h.Age.Seconds())
	}
	return fmt.Sprintf("go heap: live size %s; %s allocated a second", live, memory.FormatBytes(uint64(h.Allocated)))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }

// size is memory.FormatBytes, and a dash for nothing.
func size(n uint64) string {
	if n == 0 {
		return "-"
	}
	return memory.FormatBytes(n)
}

// A Record has the results of a meter for a file, without the curves. The JSON names are stable. Sizes are in bytes
// and times in seconds.
type Record struct {
	Verdict string         `json:"verdict"`
	Times   TimesRecord    `json:"times"`
	GoHeap  HeapRecord     `json:"go_heap"`
	Rows    []RowRecord    `json:"rows"`
	Pools   []RowRecord    `json:"pools"`
	Worst   *FrameRecord   `json:"worst_frame,omitempty"`
	Kept    *FrameRecord   `json:"kept_frame,omitempty"`
	Since   []ChangeRecord `json:"since_mark_a,omitempty"`
}

// TimesRecord is [Times], with durations in seconds.
type TimesRecord struct {
	Rate   float64 `json:"frames_per_second"`
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Most   float64 `json:"most"`
	Frames int     `json:"frames"`
	Late   int     `json:"late"`
}

// HeapRecord is [Heap], with its age in seconds.
type HeapRecord struct {
	Known     bool    `json:"live_known"`
	Live      uint64  `json:"live"`
	Age       float64 `json:"live_age"`
	Allocated float64 `json:"allocated_per_second"`
}

// RowRecord is [Row] without Tier.
type RowRecord struct {
	Name      string  `json:"name"`
	Kind      string  `json:"kind"`
	InUse     uint64  `json:"in_use"`
	Committed uint64  `json:"committed"`
	Budget    uint64  `json:"budget"`
	Peak      uint64  `json:"peak"`
	Live      uint64  `json:"live"`
	Allocs    float64 `json:"allocs_per_second"`
	Frees     float64 `json:"frees_per_second"`
	Most      uint64  `json:"most_allocs_in_a_frame"`
	Churn     float64 `json:"churn_per_second_at_most"`
	Failures  uint64  `json:"failures_in_window"`
	Refused   uint64  `json:"failures"`
	Growth    float64 `json:"growth_per_second"`
}

// FrameRecord is [Frame] with names, without At and Pause. Rows without a change are left out. Timers of the same
// name are added up. A monitor that is infinite or NaN is left out, because JSON has no such numbers. If several of
// the other monitors have the same name, only the last of them is written.
type FrameRecord struct {
	Number      uint64             `json:"number"`
	Level       uint64             `json:"level"`
	Took        float64            `json:"seconds"`
	Collections uint64             `json:"collections"`
	Rows        map[string]Delta   `json:"rows"` // by kind and name, as "tier slab"
	Monitors    map[string]float64 `json:"monitors,omitempty"`
	Timers      map[string]float64 `json:"timers,omitempty"`
}

// ChangeRecord is [Change] with a name.
type ChangeRecord struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Blocks int64  `json:"blocks"`
}

var kindNames = [...]string{TierRow: "tier", GoRow: "go", RestRow: "rest", TagRow: "tag", PoolRow: "pool"}

// Record returns the present results.
func (r *Meter) Record() Record {
	t := r.Times()
	rec := Record{
		Pools:   []RowRecord{},
		Verdict: r.verdict.String(),
		Times:   TimesRecord{t.Rate, t.Median.Seconds(), t.P99.Seconds(), t.Most.Seconds(), t.Frames, t.Late},
		GoHeap:  r.Heap().record(),
		Worst:   r.frameRecord(r.Worst()),
		Kept:    r.frameRecord(r.Kept()),
	}
	for i := range r.rows {
		rec.Rows = append(rec.Rows, r.rows[i].record())
	}
	for i := range r.pools {
		rec.Pools = append(rec.Pools, r.pools[i].record())
	}
	changes, _, _ := r.Changes(nil)
	for _, c := range changes {
		rec.Since = append(rec.Since, ChangeRecord{r.rows[c.Row].Name, c.Bytes, c.Blocks})
	}
	return rec
}

func (h Heap) record() HeapRecord {
	return HeapRecord{h.Known, h.Live, h.Age.Seconds(), h.Allocated}
}

func (w *Row) record() RowRecord {
	return RowRecord{Name: w.Name, Kind: kindNames[w.Kind], InUse: w.InUse, Committed: w.Committed, Budget: w.Budget,
		Peak: w.Peak, Live: w.Live, Allocs: w.Allocs, Frees: w.Frees, Most: w.Most, Churn: w.Churn, Failures: w.Failures, Refused: w.Refused, Growth: w.Growth}
}

func (r *Meter) frameRecord(f *Frame) *FrameRecord {
	if f == nil {
		return nil
	}
	rec := &FrameRecord{Number: f.Number, Level: f.Level, Took: f.Took.Seconds(), Collections: f.Collections,
		Rows: map[string]Delta{}, Monitors: map[string]float64{}, Timers: map[string]float64{}}
	for i, d := range f.Rows {
		if d != (Delta{}) {
			rec.Rows[kindNames[r.rows[i].Kind]+" "+r.rows[i].Name] = d
		}
	}
	for i, v := range f.Monitors {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			rec.Monitors[r.monitors[i].Name] = v
		}
	}
	for i, d := range f.Timers {
		rec.Timers[r.timers[i].Name] += d.Seconds()
	}
	return rec
}

// WriteJSON writes the result of [Meter.Record] to w, as indented JSON. It returns the error of w.
func (r *Meter) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r.Record())
}
