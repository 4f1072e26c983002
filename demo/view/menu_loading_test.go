package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// opaque counts the vertices in the rows of the title's letters that hide what is behind them.
func (b *menuBench) opaque() (n int) {
	b.draw()
	for _, v := range b.q.Vertices() {
		if v.DstY > 24 && v.DstY < 150 && v.ColorA > 0.99 {
			n++
		}
	}
	return n
}

// The first frame of the program shows the title. Later it fades in, so that nothing pops up.
func TestTitle_IsThereInTheFirstFrame(t *testing.T) {
	b := newMenuBench(t)
	first := b.opaque()
	for range 60 {
		b.sh.Step(shell.Nav{})
	}
	if last := b.opaque(); first < 6*render.VertsPerQuad || first != last {
		t.Errorf("%d opaque vertices in the first frame, %d in the last", first, last)
	}
	press(b.sh, 2) // settings
	b.draw()
	for b.sh.Screen() != shell.Title {
		b.sh.Step(shell.Nav{Back: true})
		b.sh.Step(shell.Nav{})
	}
	if again := b.opaque(); again >= first {
		t.Errorf("%d opaque vertices as it comes back; the first time %d", again, first)
	}
}

// While the realm loads the title moves from frame to frame, and a line says what is missing.
func TestView_TheTitleMovesAndSaysWhatIsMissing(t *testing.T) {
	v := newView(t, 0, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Bindings: &keys}), &keys)
	if err := v.s.Frame(engine.Input{}); err != nil {
		t.Fatal(err)
	}
	var frames [2][]render.Vertex
	for i := range frames {
		v.Update()
		v.open()
		v.begin(game.Signs, window.View())
		v.loading()
		frames[i] = slices.Clone(v.quads.Vertices())
	}
	if slices.Equal(frames[0], frames[1]) {
		t.Error("two frames are equal")
	}
	if !strings.HasPrefix(string(v.text), "LOADING") {
		t.Errorf("the line is %q", v.text)
	}
	for v.s.Flow.Level() == nil {
		v.frame(t)
	}
	if v.missing(); !strings.HasPrefix(string(v.text), "LOADING "+v.s.Flow.Level().Title+" ") || !strings.Contains(string(v.text), " OF ") {
		t.Errorf("with a manifest the line is %q", v.text)
	}
}
