package meter

import (
	"strconv"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/tiers"
)

// A Verdict says which rows are largest, grow or are tight. A pointer is nil if there is no such row. The pointers are
// valid until the next Frame.
type Verdict struct {
	Largest *Row // the row with most bytes in use: a tier, the Go heap or the rest
	Growing *Row // the tier that grows fastest; if no tier grows, the Go heap or the rest, whichever grows faster
	Beside  *Row // if a tier grows: the Go heap or the rest, whichever grows faster; nil if neither grows
	Tag     *Row // the tag, or the untagged memory, that grows fastest
	Pool    *Row // the pool that grows fastest
	Tight   *Row // the tier with the highest Row.Tight, if this share is at least TightAt
	Refused *Row // the tier with the most failed requests in the window

	// Young reports that the history is too short to judge growth. That lasts half a minute after the first frame,
	// after a level begins or ends, after a frame longer than ten seconds, and after Resume.
	Young bool

	Frame float64       // the highest share of a frame's buffer that was in use in the window
	Late  float64       // the share of frames that took more than one and a half times Config.Frame
	Worst time.Duration // the longest frame of the window
}

// Shares of a budget. From TightAt on a tier is tight, and from FullAt on it is almost full: see [Row.Tight].
const (
	TightAt = 0.75
	FullAt  = 0.90
)

// least is the growth in bytes a second from which it is reported. The live size of the Go heap always varies, so it
// must grow by leastLive. The rest of the process varies more: it must also grow by leastPart of its size, with which
// it would double in half an hour.
const (
	least     = 1 << 10
	leastLive = 16 << 10
	leastPart = 1.0 / 2048
)

// Grows reports whether Growth is high enough to be reported. The least such Growth of a tier, tag or pool is
// 1 KiB a second, and that of the Go heap 16 KiB a second. For the rest of the process it is the larger of 16 KiB and
// 1/2048 of InUse a second.
func (w *Row) Grows() bool {
	switch w.Kind {
	case GoRow:
		return w.Growth >= leastLive
	case RestRow:
		return w.Growth >= max(leastLive, leastPart*float64(w.InUse))
	}
	return w.Growth >= least
}

// Verdict returns the meter's [Verdict]. All calls return the same pointer. The fields change four times a second.
// Before the first Frame all fields are zero.
func (r *Meter) Verdict() *Verdict { return &r.verdict }

// judge updates the verdict.
func (r *Meter) judge() {
	v := &r.verdict
	*v = Verdict{}
	better := func(best **Row, w *Row, of func(*Row) float64, from float64) {
		if x := of(w); x >= from && (*best == nil || x > of(*best)) {
			*best = w
		}
	}
	growth := func(w *Row) float64 {
		if w.Grows() {
			return w.Growth
		}
		return 0
	}
	for i := range r.rows {
		w := &r.rows[i]
		if w.Kind == TagRow {
			better(&v.Tag, w, growth, least)
			continue
		}
		better(&v.Largest, w, func(w *Row) float64 { return float64(w.InUse) }, 1)
		if w.Kind == TierRow {
			better(&v.Growing, w, growth, least)
		} else {
			better(&v.Beside, w, growth, least)
		}
		better(&v.Tight, w, (*Row).Tight, TightAt)
		better(&v.Refused, w, func(w *Row) float64 { return float64(w.Failures) }, 1)
	}
	for i := range r.pools {
		better(&v.Pool, &r.pools[i], growth, least)
	}
	if v.Growing == nil {
		v.Growing, v.Beside = v.Beside, nil
	}
	v.Young = int(r.series[0].floor.seconds.known) < bySecond.points+namedAfter-1
	var curve [SlotCount]float32
	r.series[tiers.Frame].curve(&curve)
	most := float32(0)
	for _, x := range curve {
		most = max(most, x)
	}
	if r.frameB > 0 {
		v.Frame = float64(most) / r.frameB
	}
	t := r.Times()
	if v.Worst = t.Most; t.Frames > 0 {
		v.Late = float64(t.Late) / float64(t.Frames)
	}
}

// Append appends the verdict to dst as one line of text, and returns the extended slice. Append allocates only if the
// capacity of dst is too small.
func (v *Verdict) Append(dst []byte) []byte {
	dst = append(dst, "largest: "...)
	dst = appendName(dst, v.Largest)
	dst = append(dst, "; growing: "...)
	switch {
	case v.Growing != nil:
		dst = appendRate(append(dst, v.Growing.Name...), v.Growing.Growth)
	case v.Young && v.Tag == nil && v.Pool == nil:
		dst = append(dst, "not known yet"...)
	default:
		dst = append(dst, "nothing"...)
	}
	if v.Tag != nil {
		dst = append(append(dst, ", by tag "...), v.Tag.Name...)
		dst = appendRate(dst, v.Tag.Growth)
	}
	if v.Pool != nil {
		dst = append(append(dst, ", by pool "...), v.Pool.Name...)
		dst = appendRate(dst, v.Pool.Growth)
	}
	if v.Beside != nil {
		dst = appendRate(append(append(dst, ", beside "...), v.Beside.Name...), v.Beside.Growth)
	}
	if v.Tight != nil {
		dst = append(append(dst, "; "...), v.Tight.Name...)
		dst = append(dst, " has committed "...)
		dst = append(strconv.AppendInt(dst, int64(100*v.Tight.Tight()), 10), "% of its budget"...)
	}
	if v.Refused != nil {
		dst = append(append(dst, "; "...), v.Refused.Name...)
		dst = append(strconv.AppendUint(append(dst, " refused "...), v.Refused.Failures, 10), " requests"...)
	}
	dst = append(dst, "; frame memory: "...)
	return append(strconv.AppendInt(dst, int64(100*v.Frame+0.5), 10), '%')
}

// String returns the line that Append appends.
func (v *Verdict) String() string { return string(v.Append(nil)) }

func appendName(dst []byte, w *Row) []byte {
	if w == nil {
		return append(dst, "nothing"...)
	}
	return append(dst, w.Name...)
}

func appendRate(dst []byte, rate float64) []byte {
	return append(memory.AppendBytes(append(dst, " +"...), uint64(rate)), "/s"...)
}
