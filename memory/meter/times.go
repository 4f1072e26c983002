package meter

import (
	"time"

	"github.com/strata-go/strata/memory/histogram"
)

// seconds is the number of parts of the window for which the worst and the sums are kept.
const seconds = 10

// times counts how long frames took, for each tenth of the window.
type times struct {
	parts [seconds]frames
	total frames // of the window, as of the last sum
}

type frames struct {
	histogram.Durations
	late uint32
	took time.Duration // all of them
}

// add counts a frame, which is late beyond limit: exactly, a class is wider than that.
func (f *frames) add(d, limit time.Duration) {
	f.Add(d)
	if d > limit {
		f.late++
	}
	f.took += d
}

// sum brings total up to date.
func (t *times) sum() {
	t.total = frames{}
	for i := range t.parts {
		p := &t.parts[i]
		t.total.AddAll(&p.Durations)
		t.total.late += p.late
		t.total.took += p.took
	}
}
