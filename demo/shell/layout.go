package shell

import "slices"

// Device is the kind of device in use. The values are those of render.Device.
type Device uint8

// The kinds of devices. Keyboard includes the mouse.
const (
	Keyboard Device = iota
	Gamepad
	Touch
	devices
)

var deviceNames = [devices]string{"KEYBOARD AND MOUSE", "GAMEPAD", "TOUCH"}

// A Canvas is the area in which items are placed. Its upper left corner is the origin of all boxes.
type Canvas struct {
	W, H   float32
	Finger float32 // the least height of an item for a finger, if there is space; 0 for a mouse
	Device Device  // the device in use
	Legend int     // pages that the legend takes; 0 means 1
	Free   Box     // the part of the canvas that panels leave free for Title, Paused and Ask; empty means all
}

// A screen of a desk: the canvas until Place is called.
var desk = Canvas{W: 640, H: 360}

// Distances in pixels of the canvas.
const (
	headLow  = 46 // for the heading on a low canvas
	headHigh = 72 // for the heading otherwise
	footLow  = 26 // for the line with the controls
	footHigh = 54 // for its lines on a high canvas
	keysUp   = 12 // of the heading's space, for the many rows of keys
	lineHigh = 34 // below the settings of a desk, for what the selected one does
	runHigh  = 52 // below the items of Paused and Ask, for what the run has reached
	margin   = 6  // at the sides
	between  = 12 // of columns and cards
)

// The space above the first item that the headings of Paused and Ask take, in pixels of the canvas.
const (
	PausedHeading = 62
	AskHeading    = 94
)

// low reports whether a canvas has no more than two thirds of the height of a desk's window.
func (c *Canvas) low() bool { return c.H < 340 }

// Tall reports whether the canvas is higher than wide, as on a phone that is held upright.
func (c *Canvas) Tall() bool { return c.H > c.W }

// Head returns the height of the space for a heading at the top, in pixels of the canvas.
func (c *Canvas) Head() float32 {
	if c.low() {
		return headLow
	}
	return headHigh
}

// Foot returns the height that the items leave free at the bottom, in pixels of the canvas. It is for a line with the
// controls.
func (c *Canvas) Foot() float32 {
	if c.Tall() {
		return footHigh
	}
	return footLow
}

// Place sets the canvas. Call it before Step in each frame. If the canvas has changed, Place moves the boxes of the
// items. If the canvas was turned during play, from high to wide or back, Place also pauses the game.
func (s *Shell) Place(c Canvas) {
	turned := s.placed && c.Tall() != s.canvas.Tall()
	s.placed = true
	if c == s.canvas {
		return
	}
	s.canvas = c
	if s.capture > 0 { // the row that waits may move to another page
		row := s.items[s.selected].id
		s.page = int(row-idKey) / s.keyRows()
		s.build()
		s.pick(slices.IndexFunc(s.items, func(it Item) bool { return it.id == row }))
		return
	}
	s.build()
	if turned && s.screen == Playing && s.age > 0 {
		s.pause()
		s.note = "TURNED: THE GAME WAITS"
	}
}

// Canvas returns the canvas of the last Place. Before the first Place it has 640 × 360 pixels.
func (s *Shell) Canvas() Canvas { return s.canvas }

// place gives the items of the screen their boxes.
func (s *Shell) place() {
	c := &s.canvas
	switch s.screen {
	case Title:
		s.narrow(0, c.H*0.44, c.H-c.Foot()-6, 24, 180, 1)
	case Paused:
		s.narrow(PausedHeading, c.Head()+22, c.H-c.Foot()-6-runHigh, 26, 200, 0.4)
	case Ask:
		s.narrow(AskHeading, c.Head()+60, c.H-c.Foot()-6-runHigh, 26, 200, 0.3)
	case Setup:
		height, bottom := float32(22), c.H-c.Foot()
		if c.Finger == 0 && !c.low() {
			height, bottom = 30, bottom-lineHigh
		}
		s.columns(s.items, c.W, c.Head(), bottom, height, 400, 0.2)
	case Keys:
		s.columns(s.items, c.W, c.Head()-keysUp, c.H-c.Foot(), s.keyHeight(), 540, 0)
	case Gifts:
		s.cards()
	case Saved:
		s.slotRows()
	case Ending, Over, Table, Legend:
		s.row(s.items)
	}
}

// keyHeight returns the least height of a row of keys. A desk's rows are as high as its space allows, up to those of a
// menu.
func (s *Shell) keyHeight() float32 {
	const least, most = 17, 26
	c, rows := &s.canvas, len(s.items)
	if c.Finger > 0 || c.low() {
		return least
	}
	space := int(c.H - c.Foot() - c.Head() + keysUp)
	if rows*least > space && !c.Tall() {
		rows = (rows + 1) / 2
	}
	return float32(max(least, min(space/rows, most)))
}

// narrow places the items of a menu in columns, below a heading of a height. They lie in what panels leave free if it
// has space.
func (s *Shell) narrow(heading, top, bottom, height, width, at float32) {
	const least = 170 // of the longest label
	c, f, n := &s.canvas, s.canvas.Free, len(s.items)
	row, lo, hi := max(height, c.Finger), f.Y+heading+margin, min(c.H-c.Foot(), f.Y+f.H)-margin
	if row*float32(n) > hi-lo && !c.Tall() {
		n = (n + 1) / 2
	}
	if high := row * float32(n); f.H < c.H && high <= hi-lo {
		top, bottom = max(lo, min(top, hi-high)), hi
	}
	if s.columns(s.items, f.W, top, bottom, height, width, at); s.items[0].Box.W < min(width, least) {
		s.columns(s.items, c.W, top, bottom, height, width, at)
		return
	}
	for i := range s.items {
		s.items[i].Box.X += f.X
	}
}

// columns places items in rows of at least a height between top and bottom, in the middle of a span. They are one
// column of a width or, if that does not have the space, two. The share at is how much of the free space lies above. If
// even two columns have too little space the rows are lower.
func (s *Shell) columns(items []Item, span, top, bottom, height, width float32, at float32) {
	c := &s.canvas
	height = max(height, c.Finger)
	rows, cols := len(items), 1
	if float32(rows)*height > bottom-top && !c.Tall() {
		rows, cols = (rows+1)/2, 2
	}
	height = min(height, (bottom-top)/float32(max(rows, 1)))
	width = min(width, (span-2*margin-between*float32(cols-1))/float32(cols))
	left := (span - width*float32(cols) - between*float32(cols-1)) / 2
	top += at * (bottom - top - height*float32(rows))
	for i := range items {
		items[i].Box = Box{left + (width+between)*float32(i/rows), top + height*float32(i%rows), width, height}
	}
}

// row places items side by side at the foot of the canvas, or in a column if it is high.
func (s *Shell) row(items []Item) {
	c := &s.canvas
	height := max(24, c.Finger)
	if c.Tall() {
		n := float32(len(items))
		s.columns(items, c.W, c.H-c.Foot()-n*height, c.H-c.Foot(), height, 200, 1)
		return
	}
	n := float32(len(items))
	width := min(180, (c.W-2*margin-between*(n-1))/n)
	left := (c.W - width*n - between*(n-1)) / 2
	for i := range items {
		items[i].Box = Box{left + (width+between)*float32(i), c.H - c.Foot() - height, width, height}
	}
}

// slotRows places the slots below each other, with the other items around them. A row has the height of a picture if
// there is space. If there is little, the other items share the row above the slots.
func (s *Shell) slotRows() {
	c := &s.canvas
	const least = 32 // of a row's two lines
	width, small := min(440, c.W-2*margin), max(24, c.Finger)
	top, bottom := c.Head(), c.H-c.Foot()
	others := 2 * small
	beside := others+max(c.Finger, least)*SaveSlots > bottom-top
	if beside {
		others = small
	}
	high := max(c.Finger, min(60, (bottom-top-others)/SaveSlots))
	left, y := (c.W-width)/2, top+max(0, bottom-top-others-high*SaveSlots)*0.3
	for i := range s.items {
		it := &s.items[i]
		h := small
		if it.Kind == SlotRow {
			h = high
		}
		it.Box = Box{left, y, width, h}
		y += h
	}
	if beside {
		first, last := &s.items[0].Box, &s.items[len(s.items)-1].Box
		first.W = (width - between) * 0.6
		*last = Box{left + first.W + between, first.Y, (width - between) * 0.4, small}
	}
}

// cards places the gifts side by side, or on a high canvas one above the other.
func (s *Shell) cards() {
	c := &s.canvas
	n := float32(len(s.items))
	top, bottom := c.Head()+17, c.H-c.Foot() // the strip of an overlay is below the heading
	w, h := min(176, (c.W-2*margin-between*(n-1))/n), min(212, bottom-top)
	left, right := (c.W-n*w-between*(n-1))/2, w+between
	down := float32(0)
	if c.Tall() {
		w, h = min(320, c.W-2*margin), min(150, (bottom-top-between*(n-1))/n)
		left, right, down = (c.W-w)/2, 0, h+between
	}
	top += max(0, (bottom-top-max(h, n*down-between))*0.4)
	for i := range s.items {
		s.items[i].Box = Box{left + right*float32(i), top + down*float32(i), w, h}
	}
}

// beside returns the item left or right of the selected one in its row, or the selected one.
func (s *Shell) beside(by int) int {
	b := s.items[s.selected].Box
	best, distance := s.selected, float32(1e9)
	for i := range s.items {
		o := s.items[i].Box
		if d := (o.X - b.X) * float32(by); d > 0 && d < distance && o.Y < b.Y+b.H && b.Y < o.Y+o.H {
			best, distance = i, d
		}
	}
	return best
}
