package meter

import (
	"errors"
	"testing"
	"time"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

// A frame is late beyond one and a half of Config.Frame, to the nanosecond. Times are as of the last change of figures.
func TestTimes_LateIsExact(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	defer m.Close()
	for _, frame := range []time.Duration{1, 2, 3, time.Microsecond, 999 * time.Microsecond, 4 * time.Millisecond, time.Second / 240,
		time.Second / 144, time.Second / 60, time.Second / 30, 200 * time.Millisecond, 200*time.Millisecond + 1, time.Second, time.Hour} {
		limit := frame + frame/2 // of an odd number of nanoseconds, the last that is in time
		for _, c := range []struct {
			took time.Duration
			late int
		}{{limit - 1, 0}, {limit, 0}, {limit + 1, 1}, {limit + limit/15 + 1, 1}, {frame, 0}, {2*frame + 1, 1}} {
			now := time.Unix(1000, 0)
			r, err := New(m, Config{Frame: frame, Window: 10 * time.Minute, Now: func() time.Time { return now }})
			must(t, err)
			r.Frame()
			now = now.Add(c.took)
			r.Frame()
			r.times.sum()
			if x := r.Times(); x.Frames != 1 || x.Late != c.late {
				t.Errorf("frames of %v, one that took %v: %d of %d late, want %d", frame, c.took, x.Late, x.Frames, c.late)
			}
		}
	}
}

// A frame of 320 ms is late at 300, as are those of the histogram class of the limit.
func TestTimes_FramesOfTheLimitsClassAreJudged(t *testing.T) {
	g := newGame(t, 5, tiers.Config{})
	g.r.cfg.Frame = 200 * time.Millisecond
	for _, took := range []int{200, 299, 300, 301, 305, 310, 320} {
		g.hz = 1000 / float64(took)
		g.run(1/g.hz, nil)
	}
	g.hz = 5
	g.run(0.4, nil)
	if x := g.r.Times(); x.Late != 4 || x.Frames != 8 {
		t.Errorf("%+v, want 4 of 8 late", x)
	}
}

func TestNew_RefusedConfigurationsAreErrConfig(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	must(t, err)
	defer m.Close()
	for _, cfg := range []Config{{Window: time.Second - 1}, {Window: 10*time.Minute + 1}, {Window: -1}, {Frame: -1}, {Frame: time.Hour + 1}} {
		if _, err := New(m, cfg); !errors.Is(err, memory.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []Config{{Window: time.Second}, {Window: 10 * time.Minute}, {Frame: 1}, {Frame: time.Hour}} {
		if _, err := New(m, cfg); err != nil {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	if _, err := New(nil, Config{}); !errors.Is(err, memory.ErrConfig) {
		t.Errorf("no manager: %v", err)
	}
}
