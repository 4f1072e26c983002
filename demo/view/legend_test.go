package view

import (
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

func TestLegend_RowsFitTheirColumns(t *testing.T) {
	for _, p := range legendParts {
		for _, r := range p.rows {
			if wide := 34 + render.Width(r.name, 1) + 6 + render.Width(r.text, 1); wide > legendWide {
				t.Errorf("%s %s is %v wide, a column %v", r.name, r.text, wide, float32(legendWide))
			}
		}
	}
}

// Each kind of enemy and each part of the HUD is in the legend, and each row draws something.
func TestLegend_ExplainsEachKind(t *testing.T) {
	v := newView(t, 30, tiers.Config{})
	v.paint()
	names := ""
	for _, p := range legendParts {
		for _, r := range p.rows {
			names += r.name + "\n"
			v.begin(game.Signs, window.View())
			if r.draw(v); v.quads.Len() == 0 {
				t.Errorf("%s draws nothing", r.name)
			}
		}
	}
	want := []string{"YOU", "EMBER", "SEAL", "PORTAL", "HULL", "HEAT", "GIFT", "MAP", "MEMORY", "UNHURT"}
	for k := range realm.EnemyKinds {
		want = append(want, strings.ToUpper(realm.Enemy(k).String()))
	}
	for _, w := range want {
		if !strings.Contains(names, w+"\n") {
			t.Errorf("the legend lacks %s", w)
		}
	}
}
