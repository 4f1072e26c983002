package view

import (
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

// missing writes which realm loads, how many of its files are there, and one that is not.
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
	y := v.Menu.top() - 24 // above the items
	if most := int((v.ui.W - 12) / render.GlyphW); len(v.text) > most {
		v.text = append(v.text[:most-3], "..."...)
	}
	q.TextBytes(v.font, v.ui.W/2-float32(len(v.text))*render.GlyphW/2, y, 1, dim, v.text)
	q.Rect(v.ui.W/2-120, y+18, 240*p.Fraction(), 1, v.Menu.accent())
}
