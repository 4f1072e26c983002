package meter

import (
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A Kind says what a row is of.
type Kind uint8

const (
	TierRow Kind = iota // one for each tier, in their order
	GoRow               // the Go heap
	RestRow             // what is resident beyond tiers and Go
	TagRow              // one for each tag in the order in which they were made, and last what has none
	PoolRow             // a pool of the manager's, among Pools
)

// A Row is what is known of one tier, one tag, the Go heap or the rest. Its figures change four times a
// second, so that they can be read.
type Row struct {
	Name string
	Kind Kind
	Tier tiers.Tier // of a TierRow

	InUse     uint64 // bytes; of the Go heap with its garbage, see Meter.Heap; of the rest, resident; of the frame tier, of the present buffer
	Committed uint64 // what the budget limits; 0 where it is not known
	Budget    uint64 // 0 where there is none
	Peak      uint64
	Live      uint64 // blocks

	Allocs   float64 // a second, over the last whole second of the window
	Frees    float64
	Most     uint64  // allocations in one frame, at most in the window
	Churn    float64 // a second: blocks that may have died within two frames, see below
	Failures uint64  // requests refused in the window
	Refused  uint64  // since the manager began
	Growth   float64 // bytes a second by which its floor rises, 0 if it does not; of the Go heap, its live size
}

// Churn is an upper bound: of the blocks that a frame freed, as many as it and the one before have
// allocated. Where most of a row's allocations are churn it should be scratch, or a frame's.

// Tight returns the share of the budget that is committed, or 0 if the row has no budget. For a tier that is
// Planned, see [tiers.Info], it is 0: such a tier may commit all its budget without running out of memory.
// Verdict.Frame has the share of the frame tier that is in use.
func (w *Row) Tight() float64 {
	if w.Budget == 0 || w.Kind == TierRow && w.Tier.Info().Planned {
		return 0
	}
	return float64(w.Committed) / float64(w.Budget)
}

// Rows returns all rows: tiers, the Go heap, the rest, tags. They are the meter's, to be read.
func (r *Meter) Rows() []Row { return r.rows }

// settle brings the figures that stand up to date.
func (r *Meter) settle() {
	last, span := r.lastPart()
	r.lookAtHeap(r.at)
	r.judgeGrowth()
	for i := range r.rows {
		w := &r.rows[i]
		w.InUse = uint64(r.value(i))
		w.Growth = r.series[i].floor.growth()
		if i == goRow {
			w.Growth = r.live.rate
		}
		switch {
		case i < goRow:
			t := &r.snap.Tiers[i]
			w.Committed, w.Budget, w.Peak, w.Live, w.Refused = t.Committed, t.Budget, t.Peak, t.Live, t.Failures
		case i == goRow:
			w.Committed, w.Live, w.Peak = r.snap.Go.Total, r.snap.Go.HeapObjects, max(w.Peak, w.InUse)
		case i == restRow:
			w.Committed, w.Peak = w.InUse, max(w.Peak, w.InUse)
		default:
			t := &r.snap.Tags[i-firstTag]
			w.Peak, w.Live, w.Refused = t.Peak, t.Live, t.Failures
		}
		if span > 0 {
			s := last.rows[i]
			w.Allocs, w.Frees, w.Churn = float64(s.allocs)/span, float64(s.frees)/span, float64(s.young)/span
		}
		w.Most, w.Failures = 0, 0
		for k := range r.sums {
			w.Most = max(w.Most, r.sums[k].rows[i].most)
			w.Failures += r.sums[k].rows[i].failures
		}
	}
	r.settlePools(span)
	r.times.sum()
	r.judge()
}

// lookAtHeap notes a collection that has begun or ended, in the frame in which it did.
func (r *Meter) lookAtHeap(now time.Time) {
	r.live.look(now, now.Sub(r.begun).Seconds(), &r.points)
}

// judgeGrowth judges the floors of a quarter of all rows: each about once a second, so that no frame judges all.
func (r *Meter) judgeGrowth() {
	r.turn++
	for i := r.turn % settles; i < len(r.series); i += settles {
		if i == goRow {
			continue // see live
		}
		r.series[i].floor.judge(r.second, &r.points)
	}
	for i := r.turn % settles; i < len(r.notes); i += settles {
		r.notes[i].series.floor.judge(r.second, &r.points)
	}
}

// lastPart returns the last whole part of the window, or the present one where there is no other, and
// the seconds that its frames took.
func (r *Meter) lastPart() (*sums, float64) {
	s := &r.sums[r.lastIndex()]
	return s, s.took.Seconds()
}

func (r *Meter) lastIndex() int64 {
	if r.part > 0 && r.sums[(r.part-1)%seconds].took > 0 {
		return (r.part - 1) % seconds
	}
	return r.part % seconds
}

// Times are what frames of the window took.
type Times struct {
	Rate              float64 // frames a second
	Median, P99, Most time.Duration
	Frames, Late      int // of them, those that took more than one and a half of Config.Frame
}

// Times returns them, as of the last change of figures. The percentiles are right to 6 %.
func (r *Meter) Times() Times {
	h := &r.times.total
	t := Times{Frames: int(h.n), Late: int(h.late), Median: h.quantile(0.5), P99: h.quantile(0.99), Most: h.most}
	if h.took > 0 {
		t.Rate = float64(h.n) / h.took.Seconds()
	}
	return t
}

func misuse(op, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "meter", Op: op, Reason: reason}
}
