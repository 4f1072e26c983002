package shell

import (
	"fmt"
	"strconv"
)

// SaveSlots is the number of runs that the player can save.
const SaveSlots = 4

// A Save describes the run in one of the four slots.
type Save struct {
	Realm   string // in capitals
	Heat    float32
	Ticks   uint64 // ticks played
	Score   int64
	Day     string // the day of a daily run
	When    string // day and time at which it was saved, for the player, in capitals; "" if the file has none
	Picture []byte // PictureW pixels in a row, 0 dark to 255; nil: none
	Broken  string // why the file cannot be read; "" if it can
}

// PictureW is the width of a Save's picture in pixels.
const PictureW = 48

// A deed is what a press on a slot does.
type deed int

const (
	deedSave deed = iota
	deedLoad
	deedDelete
)

var deedNames = [...]string{deedSave: "SAVE", deedLoad: "LOAD", deedDelete: "DELETE"}

// SetSave sets the description of the run in slot i, 0 to SaveSlots-1. If v is nil, the slot is empty. The Shell keeps
// v.
func (s *Shell) SetSave(i int, v *Save) {
	s.saves[i] = v
	s.build()
}

// Slot returns the slot, from 0, of the command SaveRun, LoadRun or DeleteRun that Step has just returned.
func (s *Shell) Slot() int { return s.slotNow }

// Say makes Note return a line for the player, until the player moves on in the menu or the screen changes.
func (s *Shell) Say(line string) { s.note = line }

// Loaded shows the game. Call it after loading a saved run. day is the day of a daily run, as Day returned it, or ""
// for another run.
func (s *Shell) Loaded(day string) {
	s.kept, s.day = nil, day
	s.show(Playing)
}

// Lost shows the title with a line for the player. Call it if a run could not go on.
func (s *Shell) Lost(line string) {
	s.show(Title)
	s.note = line
}

// saved reports whether a slot has a run.
func (s *Shell) saved() bool { return s.saves != [SaveSlots]*Save{} }

// openSlots shows the slots. During a run they can be written.
func (s *Shell) openSlots() {
	s.slotsOf, s.deed = s.screen, deedLoad
	if s.screen == Paused {
		s.deed = deedSave
	}
	s.show(Saved)
	s.pick(1) // the first slot
}

func (s *Shell) buildSlots() {
	s.add(idDeed, Choice, "ACTION", deedNames[s.deed])
	for i, v := range s.saves {
		s.add(idSlot+id(i), SlotRow, strconv.Itoa(i+1), "").Save = v
	}
	s.add(idBack, Button, "BACK", "")
}

// changeDeed selects what a press does. Only a run can be saved.
func (s *Shell) changeDeed(by int) {
	first := deedLoad
	if s.slotsOf == Paused {
		first = deedSave
	}
	n := deedDelete - first + 1
	s.deed = first + (s.deed-first+deed(by)+n)%n
	s.sure = -1
	s.build()
}

// useSlot does the deed with slot i. Losing a saved run takes two presses.
func (s *Shell) useSlot(i int) Command {
	v := s.saves[i]
	s.slotNow, s.note = i, ""
	if s.deed != deedSave && v == nil {
		s.note = "THIS SLOT IS EMPTY"
		return None
	}
	if s.deed != deedLoad && v != nil && s.sure != i {
		s.sure = i
		s.note = fmt.Sprintf("PRESS AGAIN TO %s IT", [...]string{deedSave: "REPLACE", deedDelete: "DELETE"}[s.deed])
		return None
	}
	s.sure = -1
	return [...]Command{deedSave: SaveRun, deedLoad: LoadRun, deedDelete: DeleteRun}[s.deed]
}
