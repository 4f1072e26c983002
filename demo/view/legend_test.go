package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/shell"
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
	want := []string{"YOU", "EMBER", "SEAL", "PORTAL", "HULL", "HEAT", "GIFT", "MAP", "POOLS", "UNHURT"}
	for k := range realm.EnemyKinds {
		want = append(want, strings.ToUpper(realm.Enemy(k).String()))
	}
	for _, w := range want {
		if !strings.Contains(names, w+"\n") {
			t.Errorf("the legend lacks %s", w)
		}
	}
}

// On phones held sideways the rows lay over each other, and the ends of explanations were left out.
func TestLegend_IsCompleteAndReadOnEveryScreen(t *testing.T) {
	want := len("x3")
	for _, p := range legendParts {
		want += len(strings.ReplaceAll(p.title, " ", ""))
		for _, r := range p.rows {
			want += len(strings.ReplaceAll(r.name+r.text, " ", ""))
		}
	}
	v := newView(t, 2, tiers.Config{})
	keys := render.DefaultBindings()
	for _, size := range slices.Concat(windows, small) {
		for _, d := range []render.Device{render.Keyboard, render.Touch} {
			for density := range 3 {
				sh := shell.New(shell.Config{Bindings: &keys})
				v.Attach(sh, &keys)
				v.Point(vec{}, d, false, [2]render.Thumb{})
				v.frameOf(shaped(size.Mul(density+1)), float32(density+1))
				sh.Place(v.ui.Shell())
				screens[shell.Legend](sh)
				n := 0
				pages, _ := v.ui.legendPages()
				for range pages {
					v.open()
					v.begin(game.Signs, v.ui.view)
					v.Menu.begin(&v.quads)
					v.legend(v.ui.W, legendTop, v.Menu.top()-legendFoot)
					letters(&v.quads, func(x0, y0, x1, y1 float32) {
						if n++; x0 < -0.5 || y0 < -0.5 || x1 > float32(size.X*(density+1))+0.5 || y1 > float32(size.Y*(density+1))+0.5 {
							t.Errorf("%v × %d, device %v: a letter at %v,%v", size, density+1, d, x0, y0)
						}
					})
					v.legendSteps(t, size.String(), v.Menu.top())
					sh.Step(shell.Nav{Right: true})
				}
				if n != want {
					t.Errorf("%v × %d, device %v: %d letters on %d pages; want %d", size, density+1, d, n, pages, want)
				}
			}
		}
	}
}

// legendSteps verifies that the rows of the legend that was drawn lie apart, and above the items.
func (v *View) legendSteps(t *testing.T, what string, foot float32) {
	t.Helper()
	var rows []float32
	letters(&v.quads, func(x0, y0, x1, y1 float32) {
		if y := v.ui.view.Invert(vec{x0, y0})[1]; y1-y0 > (render.GlyphH-1)*v.ui.view.Scale && !slices.Contains(rows, y) {
			rows = append(rows, y)
		}
	})
	slices.Sort(rows)
	for i := range rows[1:] {
		if d := rows[i+1] - rows[i]; d > 1 && d < legendStep-0.5 {
			t.Errorf("%s: two rows are %.1f pixels apart", what, d)
		}
	}
	if last := rows[len(rows)-1]; last+render.GlyphH > foot+2 {
		t.Errorf("%s: the last row begins at %g, the items at %g", what, last, foot)
	}
}
