package view

import (
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// titleTexels is how many texels a dot the title's letters have: as many as pixels at 1280 × 720.
const titleTexels = 18

const titleHeading = 2 // above the items

// summary says what the game is.
const summary = "A SPARK AGAINST A HORDE: FLY, FIRE, BREAK FOUR SEALS, BEAT THE WARDEN"

// largeTexels is how many those have of what is written large: endings, scores, names of realms.
const largeTexels = 8

// largeLetters are the letters that lie ready in more than the font's own sizes. A word is of letters of one row,
// or some would be sharper than others.
var largeLetters = [...]largeLetter{
	{"STRA", titleTexels},
	{"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,:+", largeTexels},
	{"abcdefghijklmnopqrstuvwxyz'.-", largeTexels},
}

type largeLetter struct {
	letters string
	texels  int // a dot
}

// title is drawn over the game that plays itself.
func (m *Menu) title() {
	b := m.plate(titleHeading)
	m.q.Rect(b.X, b.Y, b.W, b.H, night.Fade(titleDark))
	m.name()
	m.embers()
}

const gameName = "STRATA"

// nameAt returns the upper edge and the scale of the name.
func (m *Menu) nameAt() (top, scale float32) {
	f := m.space()
	free := m.top() - 40 - f.Y
	scale = min(9, free/render.GlyphH, (f.W-16)/render.Width(gameName, 1))
	return f.Y + (free-render.GlyphH*scale)/2 + 12, scale
}

// nameFoot returns where the summary ends.
func (m *Menu) nameFoot() float32 {
	top, scale := m.nameAt()
	return top + 129*scale/9 + 14*float32(rows(summary, m.space().W-24))
}

// name writes the name of the game, cut into layers like what it is named after, unless it would lie over a panel.
func (m *Menu) name() {
	q, k := m.q, m.arrive(50)
	if !m.left { // the first frame of the program shows it
		k = 1
	}
	f, mid := m.space(), m.middle()
	top, scale := m.nameAt()
	dot, w := scale/9, render.Width(gameName, scale)
	left, below := mid-w/2, top+129*dot
	if scale < 2 || m.covers(left, top, w, below-top) {
		return
	}
	for i := range len(gameName) {
		x := left + (float32(i)+0.5)*render.GlyphW*scale
		breath := m.pulse(1.1, 0.18)
		if !m.calm {
			breath += 0.14 * engine.Sin(m.Time*0.9+float32(i)*1.1)
		}
		q.Glow(x, top+78*dot, 96*dot, m.Palette[2].Light(0.42*k*breath))
		q.Glow(x, top+78*dot, 50*dot, m.accent().Light(0.30*k*breath))
	}
	m.halo(left, top, scale, k, gameName)
	q.Text(m.font, left, top+1.5, scale, m.accent().Fade(k), gameName)
	q.Text(m.font, left, top-1, scale, m.bright().Fade(k), gameName)
	m.layers(left, top, w, dot, k)
	rule := min(w+80*dot, f.W)
	q.Gradient(mid-rule/2, top+122*dot, rule, 1, m.accent().Fade(k), m.accent().Fade(k))
	m.summary(mid, below, f.W-24, k)
}

// summary writes what the game is, below the name.
func (m *Menu) summary(x, y, width, k float32) {
	wide := min(width, render.Width(summary, 1)) + 16
	m.q.Rect(x-wide/2, y-2, wide, 6+14*float32(rows(summary, width)), night.Fade(titleDark*k))
	m.lines(x, y, width, m.bright().Fade(k), summary)
}

// halo draws light around the letters: many faint copies, fainter with distance, so that no edge is visible.
func (m *Menu) halo(left, top, scale, k float32, name string) {
	const copies, reach, light = 56, 7.5, 1.9
	c := m.Palette[2].Mix(m.accent(), 0.4)
	k *= light * 1.5 / copies * m.pulse(1.1, 0.18) // of 1-u² two thirds are left
	for i := range copies {
		u := (float32(i) + 0.5) / copies
		dx, dy := reach*u*engine.Cos(float32(i)*2.39996), reach*u*engine.Sin(float32(i)*2.39996)
		m.q.Text(m.font, left+dx, top+dy, scale, c.Light(k*(1-u*u)), name)
	}
}

// layers cut the letters: thin dark seams that drift, each at its own pace. The letters are dot times the usual size.
func (m *Menu) layers(x, y, w, dot, k float32) {
	const seams = 7
	for i := range seams {
		f := float32(i)
		drift := engine.Sin(m.Time*(0.21+0.05*f) + f*2.1)
		at := y + (50+f*9+2.4*drift)*dot
		m.q.Rect(x+4, at, w-8, (0.8+0.24*f)*dot, m.Palette[0].Mix(night, 0.5).Fade(0.72*k))
	}
}

// embers rise over the title. They are a function of the time: nothing of them is kept.
func (m *Menu) embers() {
	const n = 40
	for i := range n {
		f := float32(i)
		life := fract(m.Time*(0.05+0.013*float32(i%5)) + f*0.381966)
		x := m.ui.reach.lo[0] + fract(f*0.618034)*(m.ui.reach.hi[0]-m.ui.reach.lo[0]) + 14*engine.Sin(m.Time*0.7+f)
		y := m.ui.H * (0.62 - life*0.55)
		glow := life * (1 - life) * 4
		if m.covers(x, y, 1, 1) {
			continue
		}
		m.q.Glow(x, y, 2+2*fract(f*0.27), m.accent().Light(0.75*glow))
		m.q.Glow(x, y, 1.1, m.bright().Light(0.8*glow))
	}
}

func fract(x float32) float32 { return x - float32(int(x)) }

// group appends v with a comma for each thousand. Its figures are ASCII: a byte is a glyph.
func group(dst []byte, v int64) []byte {
	var digits [20]byte
	d := render.AppendInt(digits[:0], max(v, 0), 0)
	for i, c := range d {
		if i > 0 && (len(d)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c)
	}
	return dst
}

// clock appends minutes and seconds.
func clock(dst []byte, ticks uint64) []byte {
	s := int64(ticks / 60)
	dst = append(render.AppendInt(dst, s/60, 0), ':')
	if s%60 < 10 {
		dst = append(dst, '0')
	}
	return render.AppendInt(dst, s%60, 0)
}
