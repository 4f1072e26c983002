package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// backdrop is drawn behind the menus until a realm is there: slow lights, as a function of the time.
func (v *View) backdrop() {
	const lights = 9
	for i := range lights {
		f := float32(i)
		x := v.ui.W/2 + 330*engine.Sin(v.time*(0.31+0.03*f)+f*2.4)
		y := v.ui.H*0.6 + 120*engine.Sin(v.time*(0.43+0.02*f)+f*1.7)
		v.quads.Glow(x, y, 80+16*f, emberPalette[2].Light(0.11))
	}
}

// drawMenu draws the shell's screen. The title also shows what is loading: on other screens that would lie below the
// text.
func (v *View) drawMenu() {
	v.Menu.Draw(&v.quads)
	if !v.s.Playing() && v.Menu.Source.Screen() == shell.Title {
		v.missing()
	}
}

// missing writes which realm loads, how many of its files are there, and one that is not. Without space below the
// summary there is a bar only.
func (v *View) missing() {
	q, p, m := &v.quads, v.s.Flow.Progress(), v.s.Flow.Level()
	v.text = append(v.text[:0], "LOADING"...)
	if m != nil {
		v.text = append(append(v.text, ' '), m.Title...)
	}
	if p.Total > 0 {
		v.text = append(render.AppendInt(append(v.text, "    "...), int64(p.Done), 0), " OF "...)
		v.text = render.AppendInt(v.text, int64(p.Total), 0)
	}
	v.names = v.s.Stream.AppendLoading(v.names[:0])
	if len(v.names) > 0 {
		n := v.names[0]
		if m != nil && m.AssetOf(n) != "" {
			n = m.AssetOf(n)
		}
		v.text = append(append(v.text, "    "...), n...)
	} else if p.Total > 0 && p.Done == p.Total {
		v.text = append(v.text, "    building"...)
	}
	f, x, y := v.Menu.space(), v.Menu.middle(), v.Menu.top()-24 // above the items
	if most := int((f.W - 12) / render.GlyphW); len(v.text) > most {
		v.text = append(v.text[:most-3], "..."...)
	}
	if y >= v.Menu.nameFoot() {
		q.TextBytes(v.font, x-float32(len(v.text))*render.GlyphW/2, y, 1, dim, v.text)
	}
	bar := min(240, f.W-24)
	q.Rect(x-bar/2, y+18, bar*p.Fraction(), 1, v.Menu.accent())
}
