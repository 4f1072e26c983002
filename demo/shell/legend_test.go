package shell_test

import (
	"testing"

	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

func TestLegend_ReturnsToTheScreenThatOpenedIt(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "LEGEND")
	d.want(t, shell.Legend, true) // the game that plays itself goes on
	d.choose(t, "BACK")
	d.want(t, shell.Title, true)
	d.choose(t, "PLAY")
	d.Step(shell.Nav{Pause: true})
	d.choose(t, "LEGEND")
	d.want(t, shell.Legend, false)
	d.Step(shell.Nav{Back: true})
	d.want(t, shell.Paused, false)
	for _, it := range d.Items() {
		if it.Label == "LEGEND" && !it.Selected {
			t.Error("the item that led away is not selected")
		}
	}
}

func TestPlace_TheFirstCanvasIsNoTurn(t *testing.T) {
	d := &desk{keys: render.DefaultBindings()}
	d.Shell = shell.New(shell.Config{Bindings: &d.keys, Playing: true})
	d.Step(shell.Nav{})
	d.Place(shell.Canvas{W: 390, H: 844})
	d.want(t, shell.Playing, true)
	d.Place(shell.Canvas{W: 844, H: 390})
	d.want(t, shell.Paused, false)
}

func TestLegend_TurnsItsPages(t *testing.T) {
	d := newDesk(t, nil)
	d.Place(shell.Canvas{W: 473, H: 267, Legend: 3})
	for range 2 { // it begins with the first page again
		d.choose(t, "LEGEND")
		for i, nav := range []shell.Nav{{}, {Right: true}, {Select: true}, {Right: true}, {Left: true}, {Left: true}} {
			d.Step(nav)
			if want := []int{0, 1, 2, 0, 2, 1}[i]; d.Page() != want || d.seek(t, "PAGE").Value != []string{"1 OF 3", "2 OF 3", "3 OF 3"}[want] {
				t.Errorf("after %+v it is page %d, %s; want %d", nav, d.Page(), d.seek(t, "PAGE").Value, want)
			}
		}
		d.Place(shell.Canvas{W: 640, H: 360})
		if d.Page() != 0 || len(d.Items()) != 1 {
			t.Errorf("on a desk it is page %d with %d items", d.Page(), len(d.Items()))
		}
		d.Place(shell.Canvas{W: 473, H: 267, Legend: 3})
		d.choose(t, "BACK")
	}
}
