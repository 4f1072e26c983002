package shell

import "strconv"

// Kind is the kind of an item. It determines the look of the item and the effect of left and right.
type Kind uint8

// The kinds of items.
const (
	Button  Kind = iota // an action; left and right select the button beside it
	Slider              // shows Level, 0 to Steps, which left and right change
	Choice              // shows Value, one of several, which left and right change
	KeyRow              // shows Slots, the controls of an action on a device; left and right select a slot
	Card                // a gift; left and right select the next gift
	SlotRow             // a saved run or an empty slot; left and right do nothing
)

// Slots is the number of controls of one device that an action may have.
const Slots = 3

// A Box is a rectangle in pixels of the [Canvas].
type Box struct{ X, Y, W, H float32 }

func (b Box) has(x, y float32) bool { return x >= b.X && x < b.X+b.W && y >= b.Y && y < b.Y+b.H }

// An Item is an entry of a screen that the player can select. Draw it in its Box, because Step compares the pointer
// with the Box.
type Item struct {
	Kind      Kind
	Label     string
	Value     string
	Level     int
	Slots     [Slots]string
	Slot      int // the selected slot of a KeyRow
	Selected  bool
	Save      *Save  // of a SlotRow; nil if it is empty
	Capturing bool   // it waits for a control to bind
	About     string // what a setting does, in one line
	Box       Box

	id id
}

// Track returns the part of a slider's box that represents 0 to Steps.
func (it *Item) Track() Box {
	b := it.Box
	w := max(60, min(120, b.W-170))
	return Box{b.X + b.W - w - 30, b.Y, w, b.H}
}

// SlotBox returns the box of slot i of a KeyRow, 0 to Slots-1.
func (it *Item) SlotBox(i int) Box {
	b := it.Box
	w := min(118, (b.W-84)/Slots)
	return Box{b.X + b.W - w*float32(Slots-i), b.Y, w, b.H}
}

// id identifies the action of an item.
type id uint8

const (
	idPlay id = iota
	idDaily
	idTable
	idSetup
	idQuit
	idResume
	idShow
	idAgain
	idLeave
	idAskAgain // asks before it does idAgain
	idAskLeave
	idMaster
	idEffects
	idMusic
	idMute
	idFullscreen
	idBloom
	idShake
	idCalm
	idClear
	idHints
	idKeys
	idBack
	idLegend
	idDevice
	idPage
	idDefaults
	idSlots
	idDeed
	idSlot // and three more
	_
	_
	_
	idGift          // and two more
	idKey  = id(48) // and one for each action
	idNone = id(255)
)

// build makes the items of the screen.
func (s *Shell) build() {
	s.items = s.items[:0]
	switch s.screen {
	case Title:
		s.add(idPlay, Button, "PLAY", "")
		if s.cfg.Saves && s.saved() {
			s.add(idSlots, Button, "CONTINUE", "")
		}
		if s.cfg.Today != nil {
			s.add(idDaily, Button, "TODAY'S RUN "+dayLabel(s.cfg.Today()), "")
		}
		s.add(idTable, Button, "BEST RUNS", "")
		s.add(idSetup, Button, "SETTINGS", "")
		s.add(idLegend, Button, "LEGEND", "")
		if !s.cfg.NoQuit {
			s.add(idQuit, Button, "QUIT", "")
		}
	case Paused:
		s.add(idResume, Button, "GO ON", "")
		if s.cfg.Saves {
			s.add(idSlots, Button, "SAVE / LOAD", "")
		}
		s.add(idSetup, Button, "SETTINGS", "")
		if !s.settings.Hints {
			s.add(idShow, Button, "SHOW HINTS", "")
		}
		s.add(idLegend, Button, "LEGEND", "")
		s.add(idAskAgain, Button, "START AGAIN", "")
		s.add(idAskLeave, Button, "LEAVE", "")
	case Ask:
		s.add(idResume, Button, "GO ON", "")
		if s.asked == idLeave {
			s.add(idLeave, Button, "LEAVE", "")
		} else {
			s.add(idAgain, Button, "START AGAIN", "")
		}
	case Setup:
		s.buildSetup()
	case Keys:
		s.buildKeys()
	case Gifts:
		s.buildGifts()
	case Ending, Over:
		s.add(idAgain, Button, "PLAY AGAIN", "")
		s.add(idTable, Button, "BEST RUNS", "")
		s.add(idLeave, Button, "TITLE", "")
	case Saved:
		s.buildSlots()
	case Table:
		s.add(idBack, Button, "BACK", "")
	case Legend:
		s.addPage(s.canvas.Legend)
		s.add(idBack, Button, "BACK", "")
	}
	s.place()
	s.pick(s.selected)
}

func (s *Shell) add(i id, k Kind, label, value string) *Item {
	s.items = append(s.items, Item{id: i, Kind: k, Label: label, Value: value})
	return &s.items[len(s.items)-1]
}

func (s *Shell) buildSetup() {
	v := &s.settings
	slider := func(i id, label string, level int, about string) {
		it := s.add(i, Slider, label, strconv.Itoa(level))
		it.Level, it.About = level, about
	}
	choice := func(i id, label, value, about string) { s.add(i, Choice, label, value).About = about }
	slider(idMaster, "VOLUME", v.Master, "HOW LOUD EVERYTHING IS")
	slider(idEffects, "EFFECTS", v.Effects, "HOW LOUD SHOTS, BLOWS AND SIGNALS ARE")
	slider(idMusic, "MUSIC", v.Music, "HOW LOUD THE MUSIC IS")
	choice(idMute, "MUTE", onOff(v.Mute), "NO SOUND AT ALL")
	choice(idFullscreen, "FULLSCREEN", onOff(v.Fullscreen), "THE GAME FILLS THE SCREEN")
	choice(idBloom, "BLOOM", map[Bloom]string{BloomAuto: "AUTO", BloomOn: "ON", BloomOff: "OFF"}[v.Bloom], "BRIGHT THINGS GLOW. AUTO: OFF WITHOUT A GPU")
	slider(idShake, "SHAKE", v.Shake, "HOW FAR THE PICTURE SHAKES AT A BLOW")
	choice(idCalm, "REDUCED FLASHING", onOff(v.Calm), "FEWER FLASHES AND PULSES")
	choice(idClear, "COLOUR-BLIND PALETTE", onOff(v.Clear), "BLUE, ORANGE AND WHITE OF DIFFERENT BRIGHTNESS")
	choice(idHints, "HINTS", onOff(v.Hints), "LINES THAT TEACH THE GAME DURING PLAY")
	if s.cfg.Bindings != nil {
		s.add(idKeys, Button, "CONTROLS", "").About = "KEYS, BUTTONS AND GESTURES"
	}
	s.add(idBack, Button, "BACK", "")
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

func (s *Shell) buildKeys() {
	b := s.cfg.Bindings
	s.add(idDevice, Choice, "DEVICE", deviceNames[s.device])
	if s.device == Touch {
		s.add(idBack, Button, "BACK", "")
		return
	}
	each := s.keyRows()
	pages := (b.Actions() + each - 1) / each
	s.addPage(pages)
	for a := s.page * each; a < min(b.Actions(), (s.page+1)*each); a++ {
		it := s.add(idKey+id(a), KeyRow, b.Action(a), "")
		for slot := range Slots {
			it.Slots[slot] = b.Label(a, int(s.device)*Slots+slot)
		}
	}
	s.add(idDefaults, Button, "DEFAULTS", "")
	s.add(idBack, Button, "BACK", "")
}

// addPage adds the choice of a page if there are several.
func (s *Shell) addPage(pages int) {
	s.pages = max(pages, 1)
	if s.page = min(s.page, s.pages-1); s.pages > 1 {
		s.add(idPage, Choice, "PAGE", strconv.Itoa(s.page+1)+" OF "+strconv.Itoa(s.pages))
	}
}

// keyRows returns how many actions a page of keys has: all of them, unless fingers need higher rows.
func (s *Shell) keyRows() int {
	c, all := &s.canvas, s.cfg.Bindings.Actions()
	rows := int((c.H - c.Foot() - c.Head() + keysUp) / max(17, c.Finger))
	if !c.Tall() && all+3 > rows {
		rows *= 2
	}
	if all+3 <= rows {
		return all
	}
	return max(rows-4, 1)
}

func (s *Shell) buildGifts() {
	for i := range s.offers {
		s.add(idGift+id(i), Card, s.gifts[i].Name, "")
	}
}

// pick selects an item.
func (s *Shell) pick(i int) {
	if i = max(0, min(i, len(s.items)-1)); i != s.selected {
		s.sure = -1
	}
	s.selected = i
	for k := range s.items {
		it := &s.items[k]
		it.Selected = k == s.selected
		it.Slot = s.slot
		it.Capturing = it.Selected && s.capture > 0
	}
}
