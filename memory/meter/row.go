package meter

import (
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A Kind says what a [Row] describes: a tier, the Go heap, the rest of the process, a tag or a pool.
type Kind uint8

const (
	TierRow Kind = iota // one for each tier, in their order
	GoRow               // the Go heap
	RestRow             // resident memory that belongs neither to tiers nor to Go
	TagRow              // one for each tag in the order of creation, and last the untagged memory
	PoolRow             // a pool of the manager; only in Meter.Pools
)

// A Row has the figures of one tier, tag or pool, of the Go heap, or of the rest of the process. The figures change
// four times a second.
type Row struct {
	Name string
	Kind Kind
	Tier tiers.Tier // of a TierRow

	// InUse is the number of bytes in use. In the row of the frame tier it is the used part of the present buffer (see
	// Meter.Tick). In GoRow it includes garbage (see Meter.Heap). In RestRow it is the resident memory that belongs
	// neither to tiers nor to Go. In a TagRow it includes the bytes taken through Tag.Frame and Tag.Level; Live, Allocs,
	// Frees and Churn leave out their blocks.
	InUse     uint64
	Committed uint64 // bytes that the budget limits; for the Go heap Go.Total of the Snapshot, for the rest InUse, for tags 0
	Budget    uint64 // 0 if there is none
	Peak      uint64 // Peak of the Stats; for the Go heap and the rest the highest InUse since the first Frame, for tags the higher of both
	Live      uint64 // live blocks; for the Go heap objects, for the rest 0

	// Allocs and Frees count blocks a second, in the last complete tenth of the window. If that tenth has no measured
	// frame, the present tenth counts.
	Allocs float64
	Frees  float64

	Most uint64 // the most allocations in one frame of the window
	// Churn is an upper bound of the blocks a second that were freed within two frames of their allocation. For each
	// frame the smaller number counts: the blocks freed in the frame, or the blocks allocated in the frame and in the
	// one before. If most allocations of a row are churn, use scratch or frame memory for them.
	Churn    float64
	Failures uint64  // requests that failed in the window
	Refused  uint64  // all requests that failed so far
	Growth   float64 // bytes a second by which the floor of InUse, or the live Go heap, rises; 0 if it does not rise
}

// Tight returns Committed/Budget, the committed share of the budget. Tight returns 0 if the row has no budget. It
// also returns 0 for a Planned tier (see [tiers.Info]): such a tier may commit its whole budget without running
// out of memory. Verdict.Frame has the used share of a frame's buffer.
func (w *Row) Tight() float64 {
	if w.Budget == 0 || w.Kind == TierRow && w.Tier.Info().Planned {
		return 0
	}
	return float64(w.Committed) / float64(w.Budget)
}

// Rows returns all rows: the tiers, the Go heap, the rest of the process, then the tags. The slice belongs to the meter
// and must not be changed. After a new tag the next Frame may move the rows to another array: call Rows again after
// each Frame.
func (r *Meter) Rows() []Row { return r.rows }

// settle updates the figures that change four times a second.
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
			w.Peak, w.Live, w.Refused = max(w.Peak, w.InUse, t.Peak), t.Live, t.Failures
		}
		w.Allocs, w.Frees, w.Churn = 0, 0, 0 // without a measured frame in the window
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

// lookAtHeap reads the figures of the Go heap, also in each frame in which a collection has begun or ended.
func (r *Meter) lookAtHeap(now time.Time) {
	r.live.look(now, now.Sub(r.begun).Seconds(), &r.points)
}

// judgeGrowth judges the floors of a quarter of all rows for each quarter of a second that has passed. So each is judged
// about once a second, and not all in one frame, unless frames take as long.
func (r *Meter) judgeGrowth() {
	quarter := int64(r.at.Sub(r.begun) / (time.Second / settles))
	for r.turn = max(r.turn, quarter-settles); r.turn < quarter; r.turn++ {
		for i := int(r.turn % settles); i < len(r.series); i += settles {
			if i != goRow { // see live
				r.series[i].floor.judge(r.second, &r.points)
			}
		}
		for i := int(r.turn % settles); i < len(r.notes); i += settles {
			r.notes[i].series.floor.judge(r.second, &r.points)
		}
	}
}

// lastPart returns the last complete part of the window, or the present one if there is no other, and the seconds
// that its frames took.
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

// Times are the durations of the frames in the window.
type Times struct {
	Rate              float64 // frames a second
	Median, P99, Most time.Duration
	Frames, Late      int // late frames took more than one and a half times Config.Frame
}

// Times returns the durations of the measured frames in the window: all but those that [Meter.Worst] leaves out. The
// durations change four times a second. Median and P99 are exact to 3 %.
func (r *Meter) Times() Times {
	f := &r.times.total
	t := Times{Frames: int(f.Count()), Late: int(f.late), Median: f.Quantile(0.5), P99: f.Quantile(0.99), Most: f.Max()}
	if f.took > 0 {
		t.Rate = float64(f.Count()) / f.took.Seconds()
	}
	return t
}

func misuse(op, reason string) *memory.Misuse {
	return &memory.Misuse{Package: "meter", Op: op, Reason: reason}
}
