package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// worst draws the worst frame on a panel of that many steps, and returns the text of its two lines and the right edge of
// the first one.
func (g *game) worst(cols int) (frame, rows string, end float32) {
	o := g.o
	o.scr.set(o.cfg.Scale, 0, 0, 1280, 720, o.cfg.Preset)
	o.q.Begin(o.verts, o.indices, o.atlas, render.View{Scale: o.scr.scale})
	o.panel = render.NewPanel(&o.q, o.font, 0, 0, cols, 10, render.PanelText)
	o.drawWorst(0)
	text, _ := strings.CutPrefix(g.read(), "\n")
	frame, rows, _ = strings.Cut(text, "\n")
	v, ix := o.q.Vertices(), o.q.Indices()
	for i := 0; i < len(ix); i += 6 {
		a, b := v[ix[i]], v[ix[i+1]]
		if _, ok := g.text[[2]float32{a.SrcX, a.SrcY}]; ok && a.DstY/o.scr.scale < o.y(1) {
			end = max(end, b.DstX/o.scr.scale)
		}
	}
	return frame, rows, end
}

// A monitor, and a tier or tag with its figure, are on panels that are as wide as they need, and on no narrower one.
func TestWorst_ShowsWhatFitsExactly(t *testing.T) {
	exact := 0
	for _, name := range []string{"speed", "speeds", "fastest", "distance"} {
		g := newGame(t, 60, tiers.Config{}, Config{})
		tag := g.tag(name)
		g.o.Meter().Monitor(name, "", func() float64 { return 57 })
		g.o.Show(Tiers, true)
		g.run(1, nil)
		for range 3 {
			_, err := tag.Alloc(1000, 16)
			must(t, err)
		}
		g.frame(0.4, nil)
		g.run(0.5, nil)
		monitor, allocs := name+" 57", "#"+name+" 3"
		frame, rows, need := g.worst(wide)
		if !strings.HasSuffix(frame, monitor) || !strings.Contains(rows, allocs) {
			t.Fatalf("%q, %q", frame, rows)
		}
		for cols := 1; cols <= wide; cols++ {
			frame, rows, _ := g.worst(cols)
			end := float32((cols - 1) * render.Grid)
			if shown := strings.Contains(frame, monitor); shown != (need <= end) {
				t.Errorf("%d steps: %q, which ends at %v of %v", cols, frame, need, end)
			}
			if need == end {
				exact++
			}
			if strings.Contains(rows, "#") && !strings.Contains(rows, allocs) {
				t.Errorf("%d steps: %q has a name without its figure", cols, rows)
			}
		}
	}
	if exact == 0 {
		t.Error("no monitor fits exactly")
	}
}

// A timer has its time beside it. The line ended with the bare name of a timer in a panel of 304 pixels.
func TestWorst_HasNoTimerWithoutItsTime(t *testing.T) {
	g := newGame(t, 60, tiers.Config{}, Config{})
	timer := g.o.Meter().Timer("draw")
	g.o.Show(Tiers, true)
	g.run(1, nil)
	g.frame(0.4, func(float64) {
		timer.Start()
		g.now = g.now.Add(12 * time.Millisecond)
		timer.Stop()
	})
	_, _, need := g.worst(wide)
	for cols := 1; cols <= wide; cols++ {
		frame, _, _ := g.worst(cols)
		if end := float32((cols - 1) * render.Grid); strings.Contains(frame, "ago d") != (need <= end) {
			t.Errorf("%d steps: %q, the timer ends at %v of %v", cols, frame, need, end)
		}
	}
}
