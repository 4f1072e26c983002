package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// titleTexels is how many texels a dot the title's letters have: as many as pixels at 1280 × 720.
const titleTexels = 18

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

// title is the name of the game, cut into layers like what it is named after, over the game that
// plays itself.
func (m *Menu) title() {
	const name, scale, top = "STRATA", 9, 24
	q, k := m.q, m.arrive(50)
	if !m.left { // the first frame of the program shows it
		k = 1
	}
	m.plate(m.Covered)
	w := render.Width(name, scale)
	left := Width/2 - w/2
	for i := range len(name) {
		x := left + (float32(i)+0.5)*render.GlyphW*scale
		breath := m.pulse(1.1, 0.18)
		if !m.calm {
			breath += 0.14 * engine.Sin(m.Time*0.9+float32(i)*1.1)
		}
		q.Glow(x, top+78, 96, m.Palette[2].Light(0.42*k*breath))
		q.Glow(x, top+78, 50, m.accent().Light(0.30*k*breath))
	}
	m.halo(left, top, scale, k, name)
	q.Text(m.font, left, top+1.5, scale, m.accent().Fade(k), name)
	q.Text(m.font, left, top-1, scale, m.bright().Fade(k), name)
	m.layers(left, top, w, k)
	wide := render.Width(summary, 1)
	m.q.Rect(Width/2-wide/2-8, top+127, wide+16, 20, night.Fade(0.6*k))
	m.q.TextCentre(m.font, Width/2, top+129, 1, m.bright().Fade(k), summary)
	m.embers()
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

// layers cut the letters: thin dark seams that drift, each at its own pace.
func (m *Menu) layers(x, y, w, k float32) {
	const seams = 7
	for i := range seams {
		f := float32(i)
		drift := engine.Sin(m.Time*(0.21+0.05*f) + f*2.1)
		at := y + 50 + f*9 + 2.4*drift
		m.q.Rect(x+4, at, w-8, 0.8+0.24*f, m.Palette[0].Mix(night, 0.5).Fade(0.72*k))
	}
	m.q.Gradient(x-40, y+122, w+80, 1, m.accent().Fade(k), m.accent().Fade(k))
}

// embers rise over the title. They are a function of the time: nothing of them is kept.
func (m *Menu) embers() {
	const n = 40
	for i := range n {
		f := float32(i)
		life := fract(m.Time*(0.05+0.013*float32(i%5)) + f*0.381966)
		x := m.reach.lo[0] + fract(f*0.618034)*(m.reach.hi[0]-m.reach.lo[0]) + 14*engine.Sin(m.Time*0.7+f)
		y := Height*0.62 - life*Height*0.55
		glow := life * (1 - life) * 4
		m.q.Glow(x, y, 2+2*fract(f*0.27), m.accent().Light(0.75*glow))
		m.q.Glow(x, y, 1.1, m.bright().Light(0.8*glow))
	}
}

func fract(x float32) float32 { return x - float32(int(x)) }

// ending shows how a game went.
func (m *Menu) ending(s string) {
	m.dim(0.74)
	r, place, best := m.Source.Result()
	k := m.arrive(30)
	if r.Won {
		m.rays()
		m.embers()
	}
	w := render.Width(s, 3) / 2
	m.q.Glow(Width/2, 58, w, m.accent().Light(0.16*k))
	m.q.TextCentre(m.font, Width/2, 34, 3, m.bright().Fade(k), s)
	m.q.Rect(Width/2-w*k, 84, 2*w*k, 1, m.accent().Fade(k))

	m.text = group(m.text[:0], int64(float32(r.Score)*m.arrive(50)))
	if m.Source.Age() >= 50 {
		m.text = group(m.text[:0], r.Score)
	}
	m.q.TextBytes(m.font, Width/2-render.Width(string(m.text), 3)/2, 94, 3, m.accent().Fade(k), m.text)
	m.line(152, "REALM", r.Realm)
	m.text = clock(m.text[:0], r.Ticks)
	m.figure(168, "TIME")
	m.text = group(m.text[:0], int64(r.Kills))
	m.figure(184, "FALLEN")
	m.text = group(m.text[:0], int64(r.Particles))
	m.figure(200, "MOST PARTICLES ALIVE")
	m.text = group(m.text[:0], int64(r.Collections))
	m.figure(216, "COLLECTIONS IN PLAY")
	switch {
	case place == 0 && best > 0:
		m.q.TextCentre(m.font, Width/2, 240, 1, m.bright().Fade(m.pulse(5, 0.25)), "A NEW BEST")
	case best > 0:
		m.text = group(m.text[:0], best)
		m.figure(238, "BEST")
	}
}

// figure writes a label and the number in m.text side by side around the middle.
func (m *Menu) figure(y float32, label string) {
	m.q.TextRight(m.font, Width/2-8, y, 1, faint, label)
	m.q.TextBytes(m.font, Width/2+8, y, 1, m.bright(), m.text)
}

func (m *Menu) line(y float32, label, value string) {
	m.q.TextRight(m.font, Width/2-8, y, 1, faint, label)
	m.q.Text(m.font, Width/2+8, y, 1, m.bright(), value)
}

// rays draws slowly turning rays for a victory.
func (m *Menu) rays() {
	const n, soft = 9, 8
	for i := range n {
		a := m.Time*0.08 + float32(i)*6.2831853/n
		if m.calm {
			a = float32(i) * 6.2831853 / n
		}
		for k := range soft { // one within the other: no ray has an edge
			half := 0.11 * float32(k+1) / soft
			x, y := Width/2+460*engine.Cos(a-half), 110+460*engine.Sin(a-half)
			x2, y2 := Width/2+460*engine.Cos(a+half), 110+460*engine.Sin(a+half)
			m.q.Tri(Width/2, 110, x, y, x2, y2, m.accent().Light(0.075/soft*m.arrive(40)))
		}
	}
}

// table lists the best runs, with columns aligned to the right.
func (m *Menu) table() {
	m.dim(0.86)
	m.heading("BEST RUNS", 20)
	const left, right, top, step = 76, Width - 76, 92, 20
	columns := [...]float32{left + 20, 230, 250, 410, 484, right}
	if len(m.Source.Runs()) == 0 {
		m.q.TextCentre(m.font, Width/2, 170, 1, soft, "NO RUN IS KEPT YET")
		return
	}
	heads := [...]string{"", "SCORE", "", "TIME", "FALLEN", "SEED"}
	for i, s := range heads {
		m.q.TextRight(m.font, columns[i], top-18, 1, faint, s)
	}
	m.q.Text(m.font, columns[2], top-18, 1, faint, "REALM")
	runs := m.Source.Runs()
	result, place, _ := m.Source.Result()
	for i := range shell.BestRuns {
		y := top + step*float32(i)
		c := soft
		if i%2 == 0 {
			m.q.Rect(left, y-2, right-left+8, step, render.White.Fade(0.03))
		}
		if i >= len(runs) {
			m.q.TextRight(m.font, columns[0], y, 1, faint.Fade(0.4), "·")
			continue
		}
		r := &runs[i]
		if r.Won {
			c = m.accent()
		}
		if place == i && r.Score > 0 && *r == result.Run {
			c = m.bright()
		}
		cell := func(k int, b []byte) { m.q.TextBytes(m.font, columns[k]-float32(len(b))*render.GlyphW, y, 1, c, b) }
		cell(0, render.AppendInt(m.text[:0], int64(i+1), 0))
		cell(1, group(m.text[:0], r.Score))
		m.q.Text(m.font, columns[2], y, 1, c, r.Realm)
		cell(3, clock(m.text[:0], r.Ticks))
		cell(4, group(m.text[:0], int64(r.Kills)))
		cell(5, render.AppendInt(m.text[:0], int64(r.Seed), 0))
	}
}

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
