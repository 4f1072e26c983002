package view

import (
	"strings"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// A legendRow explains one thing on the screen. It is drawn with the same functions as in play, around the origin.
type legendRow struct {
	name, text string
	scale      float32
	draw       func(v *View)
}

// legendParts are the columns of the legend.
var legendParts = [...]struct {
	title string
	rows  []legendRow
}{
	{"YOURS", []legendRow{
		{"YOU", "the ring marks you", 0.5, func(v *View) { v.craft(vec{}, vec{1, 0}, beaconLeast, 0, 2.2, v.ours()) }},
		{"YOUR SHOT", "hurts them", 0.9, func(v *View) { f := v.fire(); v.shot(&f, vec{}, vec{1, 0}, false) }},
		{"EMBER", "fills the gift bar", 1.1, func(v *View) {
			v.ember(v.region(v.ids.pickup[game.PickupScore], v.atlas.Soft()), v.ours().Mix(white, 0.4), vec{}, 12)
		}},
		{"PLUS", "mends the hull", 0.8, func(v *View) { v.pickup(vec{}, game.PickupHull) }},
		{"ARROWS", "eight embers", 0.8, func(v *View) { v.pickup(vec{}, game.PickupPower) }},
		{"GEM", "250 points", 0.8, func(v *View) { v.pickup(vec{}, game.PickupScore) }},
		{"MINE", "a gift left it", 1, func(v *View) { v.mine(vec{}, v.ours()) }},
		{"SEAL", "break all four", 0.45, func(v *View) { v.seal(vec{}, 1, 0) }},
		{"ARROW", "to the next goal", 0.9, func(v *View) { v.chevron(vec{-3, 0}, vec{1, 0}, 0, v.ours()) }},
		{"PORTAL", "to the next realm", 0.24, func(v *View) { v.gate(vec{}, 74) }},
	}},
	{"THE HORDE", append(kindRows(), []legendRow{
		{"TRIANGLE", "elite: more embers", 0.4, func(v *View) { v.specimen(game.Seen{Kind: realm.Drifter, Elite: true}) }},
		{"RING", "a shield: breaks first", 0.6, func(v *View) { v.specimen(game.Seen{Kind: realm.Drifter, Shielded: true}) }},
		{"HOSTILE SHOT", "hurts you", 1, func(v *View) { f := v.fire(); v.shot(&f, vec{}, vec{1, 0}, true) }},
		{"CLOSING RING", "one appears", 0.9, func(v *View) { v.quads.Ring(0, 0, 10, 2, v.time*3, 6, v.pal[3].Light(0.75)) }},
		{"LINE", "a lancer charges here", 1, func(v *View) { v.quads.Line(-10, 0, 10, 0, 1.5, v.pal[4].Light(0.5)) }},
	}...)},
	{"ON THE SCREEN", []legendRow{
		{"HULL", "at zero the run ends", 1, func(v *View) {
			v.quads.Sprite(v.region(v.ids.player, v.atlas.Soft()), 0, 0, 16, 16, -1.5707963, white.Mix(v.ours(), 0.3))
		}},
		{"ARC", "hull, after each change", 1, func(v *View) { v.arc(vec{0, -16}, 20, 4, 2, v.ours()) }},
		{"CLOCK", "charges to rewind", 1, func(v *View) { v.rewindSign(0, 0, white.Mix(cold, 0.4)) }},
		{"UNHURT", "multiplies your score", 1, func(v *View) { v.quads.Text(v.font, -6, -8, 1, v.pal[3], "x3") }},
		{"SEALS", "filled: still whole", 1, func(v *View) {
			v.quads.Ring(0, 0, 6, 1.5, 0, 6, v.pal[3])
			v.quads.Rect(-2, -2, 4, 4, v.pal[3])
		}},
		{"HEAT", "the horde grows with it", 1, func(v *View) { v.flame(0, 1) }},
		{"GIFT", "full bar: choose one", 1, func(v *View) { v.bar(-9, -2.5, 18, 5, 0.6, v.ours()) }},
		{"MAP", "you, seals, heart", 1, func(v *View) {
			v.quads.Border(-8, -8, 16, 16, 1, v.pal[3].Fade(0.6))
			v.quads.Tri(-3, -3, 4, 0, -3, 3, white)
		}},
		{"POOLS", "memory, last 4 s", 1, func(v *View) {
			for i, h := range [...]float32{4, 8, 6, 11, 9} {
				v.quads.Rect(-9+float32(i)*4, 6-h, 3, h, dim.Fade(0.7))
			}
		}},
	}},
}

// kindRows explains each kind of enemy.
func kindRows() (rows []legendRow) {
	for k := range realm.EnemyKinds {
		kind := realm.Enemy(k)
		rows = append(rows, legendRow{strings.ToUpper(kind.String()), game.TextOf(kind), 22 / max(game.SizeOf(kind), 22),
			func(v *View) { v.specimen(game.Seen{Kind: kind}) }})
	}
	return rows
}

// specimen draws an enemy that looks to the right.
func (v *View) specimen(e game.Seen) {
	d := v.dress()
	v.enemy(&e, &d)
}

const (
	legendWide = 206 // of a column
	legendHigh = 25  // of a row, at most
	legendStep = 13  // and at least, or the rows lie over each other
	legendTop  = 44  // where the columns begin
	legendFoot = 4   // between the columns and the items
)

// legendPages returns how many pages the legend takes on a canvas, and how many of its columns a page has.
func (c *Canvas) legendPages() (pages, each int) {
	foot := shell.Canvas{W: c.W, H: c.H}
	for each = len(legendParts); each > 1; each-- {
		pages = (len(legendParts) + each - 1) / each
		items := max(24, c.finger) // to go back and, if there are pages, beside or above it to choose one
		if pages > 1 && c.tall() {
			items *= 2
		}
		if _, rows := legendGrid(c.W, 0, each); float32(rows)*legendStep <= c.H-legendTop-legendFoot-foot.Foot()-items {
			return pages, each
		}
	}
	return len(legendParts), 1
}

// legendGrid returns how many columns of the screen the columns of the legend from one to another take, and how many
// rows.
func legendGrid(w float32, from, to int) (cols, rows int) {
	cols = min(max(int(w/legendWide), 1), to-from)
	high := 0
	for i := from; i < to; i++ {
		if i-from < cols { // the last column has the others
			high = 0
		}
		high += len(legendParts[i].rows) + 1
		rows = max(rows, high)
	}
	return cols, rows
}

// legend draws all that is on the screen during play, with its name. It lies between the heading and the items
// below: in three columns, or in fewer on a narrow screen. It has pages if the rows would be too low on one.
func (v *View) legend(w, top, bottom float32) {
	_, each := v.ui.legendPages()
	from := min(v.Menu.Source.Page()*each, len(legendParts)-1)
	to := min(from+each, len(legendParts))
	cols, rows := legendGrid(w, from, to)
	wide := min(w/float32(cols), legendWide)
	high := min((bottom-top)/float32(rows), legendHigh)
	left, x, y := (w-float32(cols)*wide)/2, 0, top
	for i := from; i < to; i++ {
		p := &legendParts[i]
		v.quads.Text(v.font, left+float32(x)*wide+4, y+(high-render.GlyphH)/2, 1, v.Menu.accent(), p.title)
		y += high
		for k := range p.rows {
			v.explain(&p.rows[k], left+float32(x)*wide, y, wide, high)
			y += high
		}
		if x+1 < cols {
			x, y = x+1, top
		}
	}
}

// explain draws a row at its upper left corner. Words of its text that do not fit are left out.
func (v *View) explain(r *legendRow, x, y, wide, high float32) {
	old := v.quads.View()
	v.quads.SetView(old.At(x+16, y+high/2).Zoom(r.scale * min(high/22, 1)))
	r.draw(v)
	v.quads.SetView(old)
	y += (high - render.GlyphH) / 2
	v.quads.Text(v.font, x+34, y, 1, v.Menu.bright(), r.name)
	at := 34 + render.Width(r.name, 1) + 6
	text, _ := split(r.text, int((wide-at)/render.GlyphW))
	v.quads.Text(v.font, x+at, y, 1, faint, text)
}
