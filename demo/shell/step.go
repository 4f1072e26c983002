package shell

import "math"

const (
	// settle is for how many frames a screen that appears during play ignores presses: they were meant for the game.
	settle = 30
	// captureFrames is how long a key is awaited: fingers have no key to press.
	captureFrames = 300
)

// Step advances by one frame with the player's input and returns what the caller must do. For half a second after they
// appear, the screens Gifts, Ask, Ending and Over ignore input. Exceptions are Mute, Fullscreen, Pause on Gifts and
// Ask, and Back on Ask. While [Shell.Capturing] returns true, Step reads only Captured and Cancel.
func (s *Shell) Step(n Nav) Command {
	s.age++
	if s.capture > 0 {
		return s.captured(&n)
	}
	if n.Mute {
		s.settings.Mute = !s.settings.Mute
		return s.changed(true)
	}
	if n.Fullscreen {
		s.settings.Fullscreen = !s.settings.Fullscreen
		return s.changed(true)
	}
	switch s.screen {
	case Playing:
		return s.playing(&n)
	case Gifts:
		return s.choosing(&n)
	case Paused:
		if n.Pause || n.Back {
			return s.act(idResume)
		}
	case Ask:
		if n.Pause || n.Back {
			return s.act(idResume)
		}
		if s.age < settle { // a second press of the same key is no answer
			return None
		}
		if n.Restart && s.asked == idAgain {
			return s.act(idAgain)
		}
	case Ending, Over:
		if s.age < settle {
			return None
		}
		if n.Restart {
			return s.act(idAgain)
		}
	}
	return s.menu(&n)
}

func (s *Shell) playing(n *Nav) Command {
	switch {
	case n.Pause:
		s.pause()
	case n.Restart:
		s.ask(idAgain)
	}
	return None
}

func (s *Shell) choosing(n *Nav) Command {
	switch {
	case n.Pause:
		s.pause()
		return None
	case s.age < settle:
		return None
	case n.Choose > 0 && n.Choose <= s.offers:
		return s.act(idGift + id(n.Choose-1))
	}
	return s.menu(n)
}

// menu moves the selection and acts on it.
func (s *Shell) menu(n *Nav) Command {
	if n.Back {
		return s.act(s.way())
	}
	s.move(n)
	if cmd, done := s.pointer(n); done {
		return cmd
	}
	it := &s.items[s.selected]
	switch {
	case n.Select && it.Kind == Choice:
		return s.adjust(it.id, 1, true)
	case n.Select && it.Kind != Slider:
		return s.act(it.id)
	case n.Left:
		return s.sideways(it, -1)
	case n.Right:
		return s.sideways(it, 1)
	}
	return None
}

// way returns the item that leads back from the screen; title and gifts have none.
func (s *Shell) way() id {
	switch s.screen {
	case Setup, Keys, Table, Legend, Saved:
		return idBack
	case Ending, Over:
		return idLeave
	}
	return idNone
}

// move moves the selection up and down with the keys and wraps around.
func (s *Shell) move(n *Nav) {
	step := 0
	if n.Up {
		step--
	}
	if n.Down {
		step++
	}
	if k := len(s.items); step != 0 {
		s.note = ""
		s.pick((s.selected + step + k) % k)
	}
}

// sideways applies left and right to an item.
func (s *Shell) sideways(it *Item, by int) Command {
	switch it.Kind {
	case Slider, Choice:
		return s.adjust(it.id, by, false)
	case Button:
		s.pick(s.beside(by))
	case KeyRow:
		s.slot = max(0, min(s.slot+by, Slots-1))
		s.pick(s.selected)
	case Card:
		s.pick((s.selected + by + len(s.items)) % len(s.items))
	}
	return None
}

// pointer selects the item under the mouse or finger, and presses it. done reports that the input of this frame is
// used.
func (s *Shell) pointer(n *Nav) (cmd Command, done bool) {
	s.drag = s.drag && n.Held
	if s.drag {
		return s.slide(n.X), true
	}
	if !n.Moved && !n.Click {
		return None, false
	}
	for i := range s.items {
		it := &s.items[i]
		if !it.Box.has(n.X, n.Y) {
			continue
		}
		if it.Kind == KeyRow {
			for k := range Slots {
				if it.SlotBox(k).has(n.X, n.Y) {
					s.slot = k
				}
			}
		}
		s.pick(i)
		if !n.Click {
			return None, false
		}
		return s.click(it, n.X), true
	}
	return None, false
}

func (s *Shell) click(it *Item, x float32) Command {
	switch it.Kind {
	case Slider:
		if t := it.Track(); x < t.X-12 || x > t.X+t.W+30 {
			return None
		}
		s.drag = true
		return s.slide(x)
	case Choice:
		return s.adjust(it.id, 1, true)
	}
	return s.act(it.id)
}

// slide sets the selected slider to the level at x.
func (s *Shell) slide(x float32) Command {
	it := &s.items[s.selected]
	t := it.Track()
	level := int(math.Round(float64(max(0, min((x-t.X)/t.W, 1)) * Steps)))
	if level == it.Level {
		return None
	}
	return s.adjust(it.id, level-it.Level, false)
}

// act executes a button.
func (s *Shell) act(i id) Command {
	switch i {
	case idPlay, idDaily:
		s.day = ""
		if i == idDaily {
			s.day = s.cfg.Today()
		}
		s.show(Playing)
		return Start
	case idAskAgain:
		s.ask(idAgain)
	case idAskLeave:
		s.ask(idLeave)
	case idResume:
		s.show(s.under)
		if s.under == Gifts {
			s.age = settle // they were read before
		}
		return Resume
	case idShow:
		s.settings.Hints, s.dirty = true, true
		s.save()
		s.act(idResume)
		return SettingsChanged
	case idAgain:
		s.show(Playing)
		return Restart
	case idLeave:
		s.show(Title)
		return Leave
	case idQuit:
		s.save()
		return Quit
	case idTable:
		s.table = s.screen
		s.show(Table)
	case idLegend:
		s.legend, s.page = s.screen, 0
		s.show(Legend)
	case idSetup:
		s.setup = s.screen
		s.show(Setup)
	case idKeys:
		s.device, s.page = s.canvas.Device, 0
		s.show(Keys)
	case idBack:
		s.leave()
	case idSlots:
		s.openSlots()
	case idDefaults:
		s.cfg.Bindings.Reset()
		return s.bound()
	}
	if i >= idSlot && i < idSlot+SaveSlots {
		return s.useSlot(int(i - idSlot))
	}
	if i >= idGift && i < idGift+3 {
		s.chosen = int(i - idGift)
		s.show(Playing)
		return ChooseGift
	}
	if i >= idKey && i != idNone {
		s.capture, s.note = captureFrames, ""
		s.pick(s.selected)
	}
	return None
}

// leave returns to the screen from which this one was opened.
func (s *Shell) leave() {
	switch s.screen {
	case Keys:
		s.back(Setup, idKeys)
	case Setup:
		s.save()
		s.back(s.setup, idSetup)
	case Legend:
		s.back(s.legend, idLegend)
	case Saved:
		s.back(s.slotsOf, idSlots)
	case Table:
		s.back(s.table, idTable)
		s.age = settle // it was there before
	}
}

// captured waits for the control to bind.
func (s *Shell) captured(n *Nav) Command {
	s.capture--
	if n.Captured == "" && !n.Cancel {
		s.pick(s.selected)
		return None
	}
	s.capture = 0
	s.pick(s.selected)
	if n.Cancel {
		return None
	}
	if err := s.cfg.Bindings.Bind(int(s.items[s.selected].id-idKey), int(s.device)*Slots+s.slot, n.Captured); err != nil {
		s.note = err.Error()
		return None
	}
	return s.bound()
}

// bound copies the bindings to the settings.
func (s *Shell) bound() Command {
	s.note = ""
	s.settings.Keys = s.cfg.Bindings.Map()
	return s.changed(false)
}

// adjust moves a setting by some steps; with round the last choice is followed by the first.
func (s *Shell) adjust(i id, by int, round bool) Command {
	v := &s.settings
	before := [...]any{v.Master, v.Effects, v.Music, v.Shake, v.Bloom}
	level := func(x *int) { *x = max(0, min(*x+by, Steps)) }
	flip := func(x *bool) { *x = !*x }
	switch i {
	case idDevice:
		s.device, s.page = Device((int(s.device)+by+int(devices))%int(devices)), 0
		s.build()
		return None
	case idDeed:
		s.changeDeed(by)
		return None
	case idPage:
		s.page = (s.page + by + s.pages) % s.pages
		s.build()
		return None
	case idMaster:
		level(&v.Master)
	case idEffects:
		level(&v.Effects)
	case idMusic:
		level(&v.Music)
	case idShake:
		level(&v.Shake)
	case idMute:
		flip(&v.Mute)
	case idFullscreen:
		flip(&v.Fullscreen)
	case idCalm:
		flip(&v.Calm)
	case idClear:
		flip(&v.Clear)
	case idHints:
		flip(&v.Hints)
	case idBloom:
		v.Bloom = nextBloom(v.Bloom, by, round)
	}
	if i >= idMaster && i <= idMusic || i == idShake || i == idBloom {
		if before == [...]any{v.Master, v.Effects, v.Music, v.Shake, v.Bloom} {
			return None
		}
	}
	return s.changed(false)
}

func nextBloom(b Bloom, by int, round bool) Bloom {
	all := [...]Bloom{BloomAuto, BloomOn, BloomOff}
	for i := range all {
		if all[i] != b {
			continue
		}
		if k := i + by; round || k >= 0 && k < len(all) {
			return all[(k+len(all))%len(all)]
		}
	}
	return b
}

// changed shows the new settings. With now it saves them at once, else they are saved when the menu is left.
func (s *Shell) changed(now bool) Command {
	s.dirty = true
	if now {
		s.save()
	}
	s.build()
	return SettingsChanged
}
