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
