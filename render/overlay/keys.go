package overlay

import (
	"time"

	"github.com/hajimehoshi/ebiten/v2"
	"github.com/hajimehoshi/ebiten/v2/inpututil"

	"github.com/strata-go/strata/render"
)

// input is the state of the devices in one tick.
type input struct {
	keys  [render.FunctionKeys]bool
	again [render.FunctionKeys]bool // pressed since the tick before: let go and pressed between two, a key is held in both
	user  [mostPanels]bool
	arrow [4]bool // left, right, up, down
	shift bool
	down  bool    // a mouse button or a finger
	x, y  float32 // where, in pixels of the screen
}

// arrows are read only while a map is open or ticks can be selected; otherwise they are left to the game.
var arrows = [4]ebiten.Key{ebiten.KeyArrowLeft, ebiten.KeyArrowRight, ebiten.KeyArrowUp, ebiten.KeyArrowDown}

func readDevices(o *Overlay, in *input) {
	for i, k := range o.cfg.Keys {
		in.keys[i] = k >= 0 && ebiten.IsKeyPressed(k)
		in.again[i] = k >= 0 && o.tick != ebiten.Tick() && inpututil.IsKeyJustPressed(k) // once, if a game calls Update twice
	}
	o.tick = ebiten.Tick()
	for i := range o.parts[partCount:] {
		if k := o.parts[partCount+i].user.Key; k != 0 {
			in.user[i] = ebiten.IsKeyPressed(k)
		}
	}
	if o.Shown(Maps) || o.scrubs() {
		for i, k := range arrows {
			in.arrow[i] = ebiten.IsKeyPressed(k)
		}
	}
	in.shift = ebiten.IsKeyPressed(ebiten.KeyShift)
	if in.down = ebiten.IsMouseButtonPressed(ebiten.MouseButtonLeft); in.down {
		in.x, in.y = o.onScreen(ebiten.CursorPositionF())
		return
	}
	if o.fingers = ebiten.AppendTouchIDs(o.fingers[:0]); len(o.fingers) > 0 {
		in.down = true
		in.x, in.y = o.onScreen(ebiten.TouchPositionF(o.fingers[0]))
	}
}

// keys does what was pressed in this tick.
func (o *Overlay) keys() {
	hit := func(i int) bool { return o.in.keys[i] && (!o.was.keys[i] || o.in.again[i]) }
	for k := range o.parts[:partCount] {
		if i := o.parts[k].key; hit(i) && !(o.in.shift && (i == keyTiers || i == keyLeaks || i == keyHeap)) {
			o.show(k, o.at(k) < 0)
		}
	}
	for i := range o.parts[partCount:] {
		if o.in.user[i] && !o.was.user[i] {
			o.show(partCount+i, o.at(partCount+i) < 0)
		}
	}
	if o.in.shift && hit(keyTiers) {
		o.keep()
	}
	if o.in.shift && hit(keyLeaks) {
		o.mark()
	}
	if o.in.shift && hit(keyHeap) {
		o.collect()
	}
	if hit(keyFreeze) {
		o.freeze(o.in.shift)
	}
	if hit(keyDump) {
		o.Dump()
	}
	if hit(keyFaults) && o.own == nil {
		if err := o.Starve(!o.faults.on); err != nil {
			o.say(true, err.Error())
		}
	}
	dragged := o.scrubbed()
	for i := range o.in.arrow {
		if o.in.arrow[i] && !o.was.arrow[i] && (!o.scrubs() || i > 1) {
			o.maps.move(o, i)
		}
	}
	if o.in.down && !o.was.down && !dragged {
		o.tap(o.in.x, o.in.y)
	}
}

// freeze stops or resumes the game. With once it lets one tick run and stops again.
func (o *Overlay) freeze(once bool) {
	if !o.asked && o.begun {
		o.say(true, "this game does not stop: its Update must ask Overlay.Frozen")
		return
	}
	if once {
		o.step = o.frozen
		o.frozen = true
	} else {
		o.frozen = !o.frozen
	}
	if o.frozen && !o.step {
		o.clock.stop()
	}
}

// corner is the side of the square that takes a tap, in the overlay's pixels.
const corner = 28

// tap is a press at (x, y) in pixels of the screen: on the corner it cycles, on a map it selects.
func (o *Overlay) tap(x, y float32) {
	if o.scr.scale == 0 { // nothing was drawn yet
		return
	}
	x, y = (x-o.scr.x)/o.scr.scale, (y-o.scr.y)/o.scr.scale
	for i := range o.placed {
		if p := &o.placed[i]; p.part == int(Maps) && x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h {
			o.maps.click(x-p.x, y-p.y)
			return
		}
	}
	if o.corner.right() {
		x = o.scr.w - x
	}
	if o.corner.bottom() {
		y = o.scr.h - y
	}
	if !o.cfg.NoTap && x >= 0 && x < corner && y >= 0 && y < corner {
		o.cycle()
	}
}

// cycle shows the strip, then strip and tiers, then nothing.
func (o *Overlay) cycle() {
	switch {
	case o.Shown(Tiers):
		o.open = o.open[:0]
	case o.Shown(Strip):
		o.show(int(Tiers), true)
	default:
		o.show(int(Strip), true)
	}
}

// A note is a temporary message in the strip.
type note struct {
	text  string
	wrong bool
	until time.Time
}

// noteTime is how long a note stands.
const noteTime = 3 * time.Second

func (o *Overlay) say(wrong bool, text string) {
	o.note = note{text, wrong, o.cfg.Meter.Now().Add(noteTime)}
}

func (n *note) expire(now time.Time) {
	if n.text != "" && now.After(n.until) {
		*n = note{}
	}
}
