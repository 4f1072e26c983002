package meter

import (
	"strconv"
	"time"

	"github.com/strata-go/strata/memory/tiers"
)

// A Verdict answers in rows what a table makes one look for. A pointer is nil where the answer is none.
type Verdict struct {
	Largest *Row // of tiers, the Go heap and the rest, by bytes in use
	Growing *Row // the tier that grows fastest, or where none does what Beside would be
	Beside  *Row // the Go heap or the rest, whichever grows faster, while a tier grows, too
	Tag     *Row // the tag that grows fastest
	Pool    *Row // the pool that grows fastest
	Tight   *Row // the tier whose committed bytes are nearest to their budget, from TightAt on
	Refused *Row // the tier that refused most requests in the window

	// Young says that the history is too short to name growth in: for half a minute after the first frame, a
	// new level and Resume.
	Young bool

	// Frame is the share of a frame's buffer that was used at most in the window, and Late that of the
	// frames that took more than one and a half of Config.Frame.
	Frame float64
	Late  float64
	Worst time.Duration
}

// The shares of a budget from which a tier is tight, and as good as full.
const (
	TightAt = 0.75
	FullAt  = 0.90
)

// least is the growth in bytes a second from which it is reported. The Go heap, whose live size is never quite the same,
// must grow by leastLive; the rest of the process, which nobody frees to the byte, also by leastPart of its size, so
// that it would double in half an hour.
const (
	least     = 1 << 10
	leastLive = 16 << 10
	leastPart = 1.0 / 2048
)

// Grows reports whether the row grows by so much that it is reported.
func (w *Row) Grows() bool {
	switch w.Kind {
	case GoRow:
		return w.Growth >= leastLive
	case RestRow:
		return w.Growth >= max(leastLive, leastPart*float64(w.InUse))
	}
	return w.Growth >= least
}

// Verdict returns the answers as of the last change of figures.
func (r *Meter) Verdict() *Verdict { return &r.verdict }

// judge brings the verdict up to date.
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
	v.Young = int(r.series[0].floor.seconds.known) < bySecond.points+namedAfter
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

// Append appends the verdict in words, one line, and returns it. It allocates nothing where dst has room
// for some 200 bytes.
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

func (v *Verdict) String() string { return string(v.Append(nil)) }

func appendName(dst []byte, w *Row) []byte {
	if w == nil {
		return append(dst, "nothing"...)
	}
	return append(dst, w.Name...)
}

func appendRate(dst []byte, rate float64) []byte {
	dst = append(dst, " +"...)
	if rate < 1<<20 {
		return append(strconv.AppendFloat(dst, rate/(1<<10), 'f', 0, 64), " KiB/s"...)
	}
	return append(strconv.AppendFloat(dst, rate/(1<<20), 'f', 1, 64), " MiB/s"...)
}
