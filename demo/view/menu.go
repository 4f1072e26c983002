package view

import (
	"cmp"
	"strings"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/render"
)

// A MenuSource has the state that a Menu shows. *shell.Shell implements it. Menu.Draw, View.Draw, View.Update and
// View.Rewound call its methods. Neither a Menu nor a View keeps the results.
type MenuSource interface {
	Screen() shell.Screen
	Age() int // frames on this screen
	Items() []shell.Item
	Gifts() []shell.Gift
	Runs() []shell.Run
	Result() (r shell.Result, place int, best int64)
	Settings() *shell.Settings
	Note() string
	Asked() string
	Canvas() shell.Canvas
	KeyDevice() shell.Device
	Capturing() bool
	Page() int
}

// A Menu draws the screens of a shell over the game, on the canvas. It belongs to the game goroutine. It allocates when
// the device in use or a binding changes, when a screen begins or ceases to cover the overlay, and while its lists
// grow. A View sets the fields of its Menu. In any other Menu set Palette before Draw.
type Menu struct {
	Source   MenuSource
	Bindings *render.Bindings
	Device   render.Device   // the device in use: prompts name its controls
	Palette  [5]render.Color // of the realm, from dark to bright
	Time     float32         // seconds, for slow animations

	// Covers, if not nil, reports whether an overlay lies over a part of a rectangle of the canvas.
	Covers func(x, y, w, h float32) bool

	Hint string // the coach's hint on gifts; "" if there is none

	ui     Canvas
	sticks [2]render.Thumb
	font   *render.Font
	q      *render.Quads
	calm   bool
	left   bool // another screen than the title was drawn
	away   bool // the overlay is not drawn: the screen would lie over it
	text   []byte
	cells  []cell // of run
	hints  hints

	legend func(w, top, bottom float32) // draws what is on the screen during play; nil without a view
	played *game.Game                   // what run describes; nil without a realm
}

// NewMenu returns a menu that writes with the font f. The menu keeps all arguments. source and b must not be nil.
func NewMenu(f *render.Font, source MenuSource, b *render.Bindings) *Menu {
	ui := canvasOf(render.Fit(2*Width, 2*Height, Width, Height), 1, render.Keyboard)
	return &Menu{ui: ui, Source: source, Bindings: b, font: f, text: make([]byte, 0, 96)}
}

// begin sets the batch to write to.
func (m *Menu) begin(q *render.Quads) { m.q, m.calm = q, m.Source.Settings().Calm }

// Draw appends the shapes of the source's current screen to q. The current view of q must map the canvas to the window.
func (m *Menu) Draw(q *render.Quads) {
	m.begin(q)
	m.hint()
	m.left = m.left || m.Source.Screen() != shell.Title
	switch m.Source.Screen() {
	case shell.Title:
		m.title()
	case shell.Playing:
		if m.Device == render.Touch {
			m.thumbs()
		}
		return
	case shell.Paused:
		m.heading("PAUSED", m.top()-shell.PausedHeading)
		m.run()
	case shell.Ask:
		m.heading(m.Source.Asked(), m.top()-shell.AskHeading)
		m.lines(m.middle(), m.top()-42, m.ui.W-24, soft, "THE RUN ENDS HERE. ITS SCORE COUNTS.")
		m.run()
	case shell.Setup:
		m.dim(textDark)
		m.heading("SETTINGS", m.head())
	case shell.Keys:
		m.keys()
	case shell.Gifts:
		m.heading(cmp.Or(m.Hint, "CHOOSE"), m.head()) // below it is the strip of an overlay
	case shell.Ending:
		m.ending("THE FORGE IS YOURS")
	case shell.Over:
		m.ending("COOLED DOWN")
	case shell.Table:
		m.table()
	case shell.Saved:
		m.dim(textDark)
		m.heading("SAVED RUNS", m.head())
	case shell.Legend:
		m.dim(textDark)
		m.heading("LEGEND", 2)
		if m.legend != nil {
			m.legend(m.ui.W, legendTop, m.top()-legendFoot)
		}
	}
	items := m.Source.Items()
	for i := range items {
		m.item(&items[i], i)
		if items[i].Selected {
			m.about(items[i].About)
		}
	}
	m.prompt()
}

// narrow reports whether the screen is a column or a row in the middle, with an overlay beside it if there is space.
func (m *Menu) narrow() bool {
	s := m.Source.Screen()
	return s == shell.Title || s == shell.Paused || s == shell.Ask || s == shell.Gifts
}

// How dark the game is below a screen full of text, and below one with few large words. The quietest text has a
// contrast of at least 4.5 over a white horde. At 0.74 the figures of a run had 3.
const (
	textDark = 0.9
	fewDark  = 0.8
	cardDark = 0.62 // beside cards, which are dark themselves

	titleDark = 0.6 // below the title's texts, over its own shade
)

// shade darkens the game, but no overlay, below a narrow screen.
func (m *Menu) shade() {
	switch m.Source.Screen() {
	case shell.Gifts:
		m.dim(cardDark)
		return
	case shell.Paused, shell.Ask:
		m.dim(fewDark)
		return
	}
	m.ui.reach.fill(m.q, night.Fade(0.22))
	m.ui.reach.fade(m.q, 220, night.Fade(0.62))
	m.ui.reach.rise(m.q, 150, night.Fade(0.8))
}

// plate returns the rectangle of a narrow screen: the heading, the items and the run. It ends where panels begin if the
// items lie beside them.
func (m *Menu) plate(above float32) shell.Box {
	free := m.space()
	x0, x1, foot := m.extent()
	aside := x0 >= free.X && x1 <= free.X+free.W && m.top()-above >= free.Y && foot <= free.Y+free.H
	top := m.top() - 8 - above
	if wide, high := m.gather(); m.Source.Screen() != shell.Title && high > 0 { // the items and the run have one width
		middle := m.middle()
		x0, x1, foot = min(x0, middle-wide/2), max(x1, middle+wide/2), max(foot, min(foot+runAbove+high-6, m.ui.H-20))
	}
	if x0, x1, foot = x0-10, x1+10, foot+10; aside {
		x0, x1, top, foot = max(x0, free.X), min(x1, free.X+free.W), max(top, free.Y), min(foot, free.Y+free.H)
	}
	return shell.Box{X: x0, Y: top, W: x1 - x0, H: foot - top}
}

// space returns what panels leave of the canvas.
func (m *Menu) space() shell.Box {
	if f := m.Source.Canvas().Free; f.H > 0 && !m.away {
		return f
	}
	return shell.Box{W: m.ui.W, H: m.ui.H}
}

// obscures reports whether the screen would lie over a panel: a column that has no space beside it, cards, or any
// screen full of text. The overlay is then not drawn.
func (m *Menu) obscures() bool {
	m.away = false
	b := shell.Box{W: m.ui.W, H: m.ui.H}
	switch m.Source.Screen() {
	case shell.Playing:
		return false
	case shell.Title:
		b = m.plate(titleHeading)
	case shell.Paused:
		b = m.plate(shell.PausedHeading)
	case shell.Ask:
		b = m.plate(shell.AskHeading)
	case shell.Gifts:
		x0, x1, foot := m.extent()
		b = shell.Box{X: x0, Y: m.top() - 4, W: x1 - x0, H: foot - m.top() + 4}
	}
	return m.covers(b.X, b.Y, b.W, b.H)
}

// covers reports whether an overlay lies over some of a rectangle.
func (m *Menu) covers(x, y, w, h float32) bool {
	return !m.away && m.Covers != nil && m.Covers(x, y, w, h)
}

// extent returns the sides of the items and their lower edge.
func (m *Menu) extent() (x0, x1, foot float32) {
	items := m.Source.Items()
	for i := range items {
		b := items[i].Box
		if i == 0 {
			x0 = b.X
		}
		x0, x1, foot = min(x0, b.X), max(x1, b.X+b.W), max(foot, b.Y+b.H)
	}
	return x0, x1, foot
}

// middle returns the middle of the items: a narrow screen moves aside for an overlay.
func (m *Menu) middle() float32 {
	if len(m.Source.Items()) == 0 {
		return m.ui.W / 2
	}
	x0, x1, _ := m.extent()
	return (x0 + x1) / 2
}

// bright, soft and faint are the three weights of text; accent is what is selected.
func (m *Menu) bright() render.Color { return m.Palette[4].Mix(render.White, 0.5) }
func (m *Menu) accent() render.Color { return m.Palette[3] }

var (
	soft  = render.Color{R: 0.80, G: 0.79, B: 0.80, A: 1}
	faint = render.Color{R: 0.56, G: 0.56, B: 0.60, A: 1}
	night = render.Color{R: 0.012, G: 0.012, B: 0.02, A: 1}
)

// arrive goes from 0 to 1 in the first frames of a screen: nothing pops up.
func (m *Menu) arrive(frames float32) float32 {
	k := min(float32(m.Source.Age())/frames, 1)
	return k * (2 - k)
}

// pulse oscillates around 1; with reduced flashing it is constant.
func (m *Menu) pulse(speed, depth float32) float32 {
	if m.calm {
		return 1
	}
	return 1 - depth + depth*engine.Sin(m.Time*speed)
}

// dim darkens the game, more at the edges of the screen.
func (m *Menu) dim(most float32) {
	k := most
	if m.Source.Screen() == shell.Paused || m.Source.Screen() == shell.Ask || m.Source.Screen() == shell.Gifts || m.Source.Screen() == shell.Over {
		k *= m.arrive(14)
	}
	m.ui.reach.fill(m.q, night.Fade(k))
	edge := night.Fade(0.5 * k)
	m.ui.reach.fade(m.q, m.ui.reach.lo[1]+60, edge)
	m.ui.reach.rise(m.q, m.ui.reach.hi[1]-60, edge)
}

// hint makes the lines that name controls, if they have changed.
func (m *Menu) hint() { m.hints.update(m.Bindings, m.Device, m.away) }

// head returns where the heading of a screen full of items begins.
func (m *Menu) head() float32 {
	c := m.Source.Canvas()
	return (c.Head() - 42) * 0.6
}

// top returns the upper edge of the first item.
func (m *Menu) top() float32 {
	if items := m.Source.Items(); len(items) > 0 {
		return items[0].Box.Y
	}
	return m.ui.H / 2
}

func (m *Menu) heading(s string, y float32) {
	k, x := m.arrive(12), m.middle()
	scale := min(2, (m.ui.W-16)/render.Width(s, 1))
	w := render.Width(s, scale) / 2
	m.q.Glow(x, y+18, w*1.3, m.accent().Light(0.10*k))
	m.q.TextCentre(m.font, x, y, scale, m.bright().Fade(k), s)
	m.q.Rect(x-w*k, min(y+36, m.top()-1), 2*w*k, 1, m.accent().Fade(k)) // above the first row
}

// lines writes s in centred lines of at most a width, from y down, and returns where the next one begins.
func (m *Menu) lines(x, y, width float32, c render.Color, s string) float32 {
	for len(s) > 0 {
		line, rest := split(s, int(width/render.GlyphW))
		m.q.TextCentre(m.font, x, y, 1, c, line)
		s, y = rest, y+14
	}
	return y
}

// rows returns how many lines of a width s takes.
func rows(s string, width float32) (n int) {
	for ; len(s) > 0; n++ {
		_, s = split(s, int(width/render.GlyphW))
	}
	return n
}

// split returns the line of at most so many characters that s begins with, and the rest. A line ends at a space,
// preferably where four of them separate two parts.
func split(s string, most int) (line, rest string) {
	n, end := 0, -1
	for i, r := range s {
		if r == ' ' {
			if parts := strings.HasPrefix(s[i:], gap); parts || end < 0 || !strings.HasPrefix(s[end:], gap) {
				end = i
			}
		}
		if n++; n > most && end > 0 {
			return s[:end], strings.TrimLeft(s[end:], " ")
		}
	}
	return s, ""
}

// item draws one item in its box.
func (m *Menu) item(it *shell.Item, i int) {
	switch it.Kind {
	case shell.Card:
		m.card(it, i)
		return
	case shell.KeyRow:
		m.keyRow(it)
		return
	case shell.SlotRow:
		m.slotRow(it)
		return
	}
	b := it.Box
	c := soft
	if it.Selected {
		c = m.bright()
		m.bar(b)
	}
	if it.Kind == shell.Button {
		scale := float32(1)
		if b.H >= 24 { // a short menu: larger, for phones
			scale = 1.5
		}
		m.q.TextCentre(m.font, b.X+b.W/2, b.Y+(b.H-render.GlyphH*scale)/2, scale, c, it.Label)
		return
	}
	y := b.Y + (b.H-render.GlyphH)/2
	m.q.Text(m.font, b.X+14, y, 1, c, it.Label)
	if it.Kind == shell.Slider {
		m.slider(it, c)
		return
	}
	t := it.Track()
	side := max(t.W/2-4, render.Width(it.Value, 1)/2+render.GlyphW)
	mid := min(t.X+t.W/2, b.X+b.W-side-render.GlyphW) // the arrows stay in the box
	if it.Selected {
		m.q.TextCentre(m.font, mid-side, y, 1, m.accent(), "◄")
		m.q.TextCentre(m.font, mid+side, y, 1, m.accent(), "►")
	}
	if it.Value == "OFF" && !it.Selected {
		c = faint
	}
	m.q.TextCentre(m.font, mid, y, 1, c, it.Value)
}

// about writes what the selected item does between the items and the prompt, if there is space for it.
func (m *Menu) about(s string) {
	_, _, top := m.extent()
	width, space := m.ui.W-24, m.promptTop()-top
	if high := promptHigh(s, width); space >= high+4 {
		m.lines(m.ui.W/2, top+min(12, (space-high)/2), width, m.accent(), s)
	}
}

// bar draws the background of the selected item.
func (m *Menu) bar(b shell.Box) {
	a := m.accent()
	m.q.Rect(b.X, b.Y+1, b.W, b.H-2, a.Fade(0.17*m.pulse(4, 0.12)))
	m.q.Rect(b.X, b.Y+1, 2, b.H-2, a)
	m.q.Rect(b.X+b.W-2, b.Y+1, 2, b.H-2, a)
}

// slider draws ten steps and the figure.
func (m *Menu) slider(it *shell.Item, c render.Color) {
	t := it.Track()
	const gap = 2
	w := t.W/shell.Steps - gap
	for k := range shell.Steps {
		h := 4 + float32(k)*0.7
		on := m.accent().Shade(0.75 + 0.025*float32(k))
		if !it.Selected {
			on = soft.Shade(0.7)
		}
		if k >= it.Level {
			on = faint.Fade(0.3)
		}
		m.q.Rect(t.X+float32(k)*(w+gap), t.Y+t.H/2-h/2, w, h, on)
	}
	m.q.TextRight(m.font, t.X+t.W+22, t.Y+(t.H-render.GlyphH)/2, 1, c, it.Value)
}

// prompt writes at the bottom which controls to press, or why a key was refused.
func (m *Menu) prompt() {
	s, c := m.prompted()
	width := m.ui.W - 12
	high := promptHigh(s, width)
	if m.Source.Screen() == shell.Gifts { // the horde is as bright as the text
		wide := min(width, render.Width(s, 1)) + 12
		m.q.Rect((m.ui.W-wide)/2, m.ui.H-6-high, wide, high+2, night.Fade(0.8))
		c = soft
	}
	m.lines(m.ui.W/2, m.ui.H-6-high, width, c, s)
}

// promptTop returns where the prompt begins.
func (m *Menu) promptTop() float32 {
	s, _ := m.prompted()
	return m.ui.H - 6 - promptHigh(s, m.ui.W-12)
}

func promptHigh(s string, width float32) float32 { return 14 * float32(rows(s, width)) }

// prompted returns the text of the prompt and its color.
func (m *Menu) prompted() (s string, c render.Color) {
	s, c = m.hints.menu, faint
	switch {
	case m.Source.Note() != "":
		s, c = m.Source.Note(), render.Amber
	case m.Source.Capturing():
		s, c = m.hints.capture, m.accent()
	case m.Source.Screen() == shell.Title:
		s, c = m.hints.title, soft
	case m.Source.Screen() == shell.Gifts:
		if s = m.hints.gifts; m.ui.tall() && m.hints.column != "" { // below each other
			s = m.hints.column
		}
	case m.Source.Screen() == shell.Keys && m.Source.KeyDevice() != shell.Touch:
		s = m.hints.keys
	case m.changes():
		s = m.hints.setup
	case !m.ui.tall() && (m.Source.Screen() == shell.Over || m.Source.Screen() == shell.Ending): // side by side
		s = m.hints.row
	}
	return s, c
}

// changes reports whether left and right change the selected item. A finger can change any item.
func (m *Menu) changes() bool {
	for _, it := range m.Source.Items() {
		if (it.Selected || m.Device == render.Touch) && (it.Kind == shell.Slider || it.Kind == shell.Choice) {
			return true
		}
	}
	return false
}
