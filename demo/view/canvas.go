package view

import (
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// A Canvas is the area for HUD and menus. Its pixels are those of the logical screen, unless letters would be too
// small. On a phone its pixels are therefore larger. The origin is the upper left corner of the area for text.
type Canvas struct {
	W, H   float32       // size of the area for text
	Device render.Device // the device in use

	view   render.View // to physical pixels
	screen render.View // of the logical screen
	reach  reach       // what is drawn on
	finger float32     // the least side of what a finger must hit
	free   shell.Box   // what panels leave to menus; empty means all
}

const (
	// letter is the least height of a line's letters in device-independent pixels, and emHeight that of the font.
	letter   = 12
	emHeight = 10
	// fingertip is the least side of what a finger hits, in device-independent pixels.
	fingertip = 44
	// phone is the most that the shorter side of a phone's screen has, in device-independent pixels.
	phone = 500
	// The canvas of a tiny window has at least so many pixels, with letters as small as that makes them.
	leastLong, leastShort = 460, 258
)

// canvasOf returns the canvas of a window. density is the physical pixels of a device-independent one.
func canvasOf(p render.Viewport, density float32, d render.Device) Canvas {
	r := p.Drawn()
	w, h := float32(p.W), float32(r.Dy())
	least := min(letter/float32(emHeight)*density, max(w, h)/leastLong, min(w, h)/leastShort)
	scale := max(p.Scale, least)
	c := Canvas{W: w / scale, H: h / scale, Device: d, screen: p.View()}
	c.view = render.View{Scale: scale, X: float32(p.X), Y: float32(r.Min.Y)}
	c.reach = reach{c.view.Invert(vec{float32(r.Min.X), float32(r.Min.Y)}), c.view.Invert(vec{float32(r.Max.X), float32(r.Max.Y)})}
	if d == render.Touch || min(w, h) < phone*density {
		c.finger = fingertip * density / scale
	}
	return c
}

// Canvas returns the canvas of the last frame, for use with device d. Before the first Draw it is the canvas of a
// window of 1280 × 720 pixels.
func (v *View) Canvas(d render.Device) Canvas {
	c := canvasOf(v.port, v.density, d)
	c.free = v.free()
	return c
}

// free returns the widest columns of the canvas that no panel of the overlay covers. If the canvas is upright, or if
// the columns are too narrow for a menu, these are the highest rows.
func (v *View) free() shell.Box {
	const step, least = freeStep, 200
	c := &v.ui
	if !c.tall() {
		if x, w := widest(0, c.W, func(x float32) bool { return v.hidden(x, 0, step, c.H) }); w >= least {
			return shell.Box{X: x, W: w, H: c.H}
		}
	}
	y, h := widest(0, c.H, func(y float32) bool { return v.hidden(0, y, c.W, step) })
	return shell.Box{Y: y, W: c.W, H: h}
}

// freeStep is the width of the strips by which free space is measured.
const freeStep = 4

// widest returns the longest part of the length from lo to hi of which no strip is taken.
func widest(lo, hi float32, taken func(at float32) bool) (from, n float32) {
	for at := lo; at < hi; at += freeStep {
		if end := min(at+freeStep, hi); taken(at) {
			lo = end
		} else if end-lo > n {
			from, n = lo, end-lo
		}
	}
	return from, n
}

// Shell returns the canvas in the form that package shell uses.
func (c *Canvas) Shell() shell.Canvas {
	pages, _ := c.legendPages()
	return shell.Canvas{W: c.W, H: c.H, Finger: c.finger, Device: shell.Device(c.Device), Legend: pages, Free: c.free}
}

// FromScreen converts logical pixels to pixels of the canvas.
func (c *Canvas) FromScreen(p vec) vec { return c.view.Invert(c.screen.Apply(p)) }

// tall reports whether the canvas is higher than wide.
func (c *Canvas) tall() bool { return c.H > c.W }
