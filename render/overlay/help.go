package overlay

import (
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// keyName returns the name of the key of function i, or "-" if it has none.
func (o *Overlay) keyName(i int) string {
	if k := o.cfg.Keys[i]; k >= 0 {
		return k.String()
	}
	return "-"
}

func (o *Overlay) helpLines() int {
	n := o.helpKeys() + o.helpAccents()
	if o.own == nil {
		n += 4 + len(totals) // gauge and marks
	} else {
		n++ // a mark
	}
	return n - o.untold
}

// helpKeys returns how many lines the keys take.
func (o *Overlay) helpKeys() int {
	n := len(keyHelps) + len(o.parts) - partCount
	if o.own != nil {
		n -= 2
	}
	return n
}

// helpAccents returns how many lines the colours take, with the border above them.
func (o *Overlay) helpAccents() int {
	names := int(tiers.Count) + 2
	if o.own != nil {
		names = 2
	}
	perLine := max((min(narrow, o.scr.cols)*render.Grid-12)/accentW, 1)
	return 1 + (names+perLine-1)/perLine
}

// fitHelp leaves out the last lines, but no key, until the panel is at most high. The colours, and the two lines of the
// gauge, are left out together.
func (o *Overlay) fitHelp(high float32) {
	keys, colours := o.helpKeys(), o.helpKeys()+o.helpAccents()
	for o.untold = 0; o.helpLines() > keys; o.untold++ {
		n := o.helpLines()
		whole := n >= colours && (o.own != nil || n != colours+1)
		if _, rows := o.size(int(Help)); whole && float32(rows*render.Grid) <= high {
			return
		}
	}
}

// managed reports whether a key is of use only with a manager of the game's.
func managed(key int) bool { return key == keyMaps || key == keyFaults }

// drawHelp lists the keys and the colours.
func (o *Overlay) drawHelp() {
	i := 0
	for k, s := range keyHelps {
		if o.own != nil && managed(k) {
			continue
		}
		l := o.line(i)
		l.text(render.White, o.keyName(k))
		l.x = max(l.x+render.GlyphW, 44)
		l.text(render.PanelText, s)
		i++
	}
	for k := range o.parts[partCount:] {
		u := o.parts[partCount+k].user
		l := o.line(i)
		if u.Key != 0 {
			l.text(render.White, u.Key.String())
		}
		l.x = max(l.x+render.GlyphW, 44)
		l.text(render.PanelText, u.Title)
		i++
	}
	n, p := o.helpLines(), &o.panel
	if i == n {
		return
	}
	p.Q.Rect(p.X+render.Grid, p.Y+o.y(i)+o.scr.pitch/2+2, p.W-2*render.Grid, 1, render.PanelEdge)
	i++
	if i = o.drawAccents(i); i == n {
		return
	}
	if o.own != nil {
		l := o.line(i)
		l.word(render.White, "▲")
		l.text(render.PanelText, "grows")
		return
	}
	y := o.y(i)
	p.Gauge(8, y+5, 92, 7, render.Gauge{InUse: 200 << 10, Committed: 4 << 20, Budget: 256 << 20, Peak: 1 << 20}, tierColors[tiers.Level])
	l := o.line(i)
	l.x = 108
	l.text(render.PanelText, "bright in use, dim committed")
	i++
	l = o.line(i)
	l.x = 108
	l.word(render.White, "│")
	l.word(render.PanelText, "peak")
	l.word(render.Red, "│")
	l.text(render.PanelText, "budget, 1 KiB to 1 GiB")
	if i++; i == n {
		return
	}
	l = o.line(i)
	l.word(render.Amber, "from 75%")
	l.word(render.Red, "from 90%")
	l.text(render.PanelText, "of a budget committed")
	if i++; i == n {
		return
	}
	l = o.line(i)
	l.word(render.White, "▲")
	l.word(render.PanelText, "grows")
	l.word(render.PanelQuiet, "#")
	l.text(render.PanelText, "a tag: tiers say how long, tags who")
	for k, t := range totals[:max(n-i-1, 0)] {
		l = o.line(i + 1 + k)
		l.word(render.White, t.name)
		l.text(render.PanelText, t.is)
	}
}

// totals explain the sums that other panels show.
var totals = [...]struct{ name, is string }{
	{"mem", "committed by all tiers"},
	{"untracked", "resident, not tiers or Go"},
	{"worst frame", "the slowest of the window"},
}

// accentW is the width of a name in the list of accents: four fit in a narrow panel.
const accentW = 72

// drawAccents shows the colours of the tiers and of other memory, and returns the next line.
func (o *Overlay) drawAccents(i int) int {
	const each = accentW
	x := float32(8)
	accent := func(c render.Color, name string) {
		if x+each > o.panel.W-4 {
			x, i = 8, i+1
		}
		o.panel.Swatch(x, o.y(i)+5, c)
		o.panel.Label(x+9, o.y(i), c, name)
		x += each
	}
	for t := range tiers.Tier(tiers.Count) {
		if o.own == nil {
			accent(tierColors[t], t.String())
		}
	}
	accent(goColor, "go heap")
	accent(restColor, "untracked")
	return i + 1
}
