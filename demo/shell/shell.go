package shell

import "slices"

// Screen is the screen that the player sees.
type Screen uint8

// The screens.
const (
	Title   Screen = iota // the main menu, over a game that plays itself
	Playing               // the game, without a menu
	Paused                // the menu of a paused game
	Ask                   // asks whether to end the player's game, see Asked
	Setup                 // the settings
	Keys                  // the controls of a device
	Gifts                 // the player chooses one of up to three gifts
	Ending                // the result of a game that was won
	Over                  // the result of a game that was lost
	Table                 // the best runs
	Legend                // explains the signs on the screen of the game
	Saved                 // the slots of saved runs
)

// Command tells the caller of Step what to do.
type Command uint8

// The commands. The comment of each command says what the caller must do.
const (
	None            Command = iota // nothing
	Start                          // begin the player's game, in place of the one that plays itself
	Resume                         // nothing: the menu over the game, or over Gifts, is closed
	Restart                        // end the player's game and begin another one
	Leave                          // end the player's game and begin one that plays itself, behind the title
	Quit                           // end the program
	ChooseGift                     // give the player the gift Chosen
	SettingsChanged                // apply Settings
	SaveRun                        // save the player's game in the slot of Shell.Slot, then call SetSave
	LoadRun                        // go on with the run in the slot of Shell.Slot, then call Loaded
	DeleteRun                      // delete the run in the slot of Shell.Slot, then call SetSave
)

// Nav is the player's input of one frame. Fields for controls are true in the frame of the press only, except Held.
// Directions may repeat.
type Nav struct {
	Up, Down, Left, Right, Select, Back bool

	X, Y        float32 // the pointer in pixels of the canvas
	Moved       bool    // the pointer moved
	Click, Held bool    // the pointer's button was pressed in this frame; the button is down

	Pause, Restart, Mute, Fullscreen bool
	Choose                           int    // 1 to 3: takes the gift at that place; 0: none
	Captured                         string // the control pressed while Capturing reports true, or ""
	Cancel                           bool   // ends Capturing
}

// A Gift is one of up to three gifts that the game offers.
type Gift struct {
	Name   string
	Lines  []string // its effects, a few words each; the first 4 are shown
	Figure string   // the figures that it changes
	Symbol int      // number of its picture, see view.SymbolSpark
	Have   int      // how many the player has
}

// A Result is the result of a game, for Ending and Over.
type Result struct {
	Run
	Cause   string   // how the game ended, in a line
	Figures []Figure // the statistics
	Gifts   []string // the gifts that the player has taken
}

// A Figure is a row of statistics.
type Figure struct{ Label, Value string }

// Bindings are the controls of the player's actions. *render.Bindings implements it.
type Bindings interface {
	Actions() int                           // the number of actions
	Action(a int) string                    // the displayed name of an action
	Label(a, slot int) string               // the displayed name of a control; "" for an empty slot
	Bind(a, slot int, control string) error // puts a control into a slot: Slots of the keyboard, then of the gamepad
	Map() map[string][]string               // the names of the controls by action, for a file
	SetMap(map[string][]string) error       // sets what Map returned; an error changes nothing
	Reset()                                 // restores the defaults
}

// Config configures a Shell. Every field may be zero.
type Config struct {
	Store    Store    // nil: nothing is kept
	Bindings Bindings // nil: there is no menu for keys
	// Log, if not nil, is called with a line for each file that cannot be read. It is also called for the first save
	// that fails, and for the first save that a power cut may undo.
	Log     func(string)
	NoQuit  bool // the title has no QUIT, as in a browser
	Playing bool // begin with the game instead of the title
	// Today returns the day of the daily run in UTC, such as 2026-11-24. If Today is nil, there is no daily run.
	Today func() string
	Saves bool // runs can be saved and loaded
}

// A Shell is the state machine of the screens, for one goroutine. See the package comment.
type Shell struct {
	cfg      Config
	keep     keeper
	settings Settings
	runs     []Run
	dirty    bool // settings are not saved
	unsaved  bool // runs of which no save has succeeded

	canvas Canvas
	placed bool // the canvas is that of a window
	screen Screen
	under  Screen // that Paused and Ask lie over
	asked  id     // what Ask asks for: idAgain or idLeave
	device Device // whose controls Keys shows
	page   int    // of Keys or Legend
	pages  int    // of the screen, at least 1 once it is built
	day    string // of the player's game; "" if it is no daily run
	setup  Screen // from which Setup was opened
	table  Screen // from which Table was opened
	legend Screen // from which Legend was opened
	age    int    // frames on this screen

	saves   [SaveSlots]*Save
	slotsOf Screen // from which Saved was opened
	deed    deed   // what a press on a slot does
	sure    int    // the slot that another press replaces or deletes; -1: none
	slotNow int

	items    []Item
	selected int
	slot     int // of a row of keys
	drag     bool
	capture  int // frames left to press a key; 0 if none is expected
	note     string

	gifts  [3]Gift
	offers int
	chosen int
	result Result
	rank   int
	former int64 // the best score before
	mine   []Run // runs of this process
	kept   *Run  // the player's game in the table, as far as it was played; nil: it is not in it
}

// New reads the settings and the best runs from the store, and applies the keys to cfg.Bindings. It shows the title, or
// the game if cfg.Playing is true. If a file cannot be read, New logs this and uses the defaults.
func New(cfg Config) *Shell {
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	s := &Shell{cfg: cfg, canvas: desk, settings: DefaultSettings(), keep: keeper{store: cfg.Store, log: cfg.Log, bad: map[string]bool{}, told: map[string]bool{}}}
	s.keep.load(settingsName, func(data []byte) error {
		v, err := ReadSettings(data)
		if err == nil && v.Keys != nil && cfg.Bindings != nil {
			err = cfg.Bindings.SetMap(v.Keys)
		}
		if err == nil {
			s.settings = v
		}
		return err
	})
	s.others()
	s.show(Title)
	if cfg.Playing {
		s.show(Playing)
	}
	return s
}

// Screen returns the current screen.
func (s *Shell) Screen() Screen { return s.screen }

// Running reports whether the game must tick: during play, and behind the title or screens opened from the title.
func (s *Shell) Running() bool {
	switch s.screen {
	case Title, Playing:
		return true
	case Setup, Table, Legend, Saved:
		return s.behind() == Title
	case Keys:
		return s.setup == Title
	}
	return false
}

// behind returns the screen that Setup, Table, Legend or Saved was opened from.
func (s *Shell) behind() Screen {
	switch s.screen {
	case Table:
		return s.table
	case Legend:
		return s.legend
	case Saved:
		return s.slotsOf
	}
	return s.setup
}

// Attract reports whether the game plays itself: behind the title, and behind screens that were opened from the title.
func (s *Shell) Attract() bool { return s.screen == Title || s.Running() && s.screen != Playing }

// Items returns the items of this screen. They are valid until the next call that changes the Shell, such as Step or
// Place.
func (s *Shell) Items() []Item { return s.items }

// Page returns the page of Keys or Legend, from 0.
func (s *Shell) Page() int { return s.page }

// Settings returns the player's settings. The caller must not change them. The pointer stays valid.
func (s *Shell) Settings() *Settings { return &s.settings }

// Runs returns the best runs, the best first. The slice is valid until the next Keep or End.
func (s *Shell) Runs() []Run { return s.runs }

// Result returns the result passed to End, the place of its run in the table, from 0, and the best score before. If the
// run is not in the table, place is -1. Before the first End, and after a Keep of a later game, place and best have no
// meaning.
func (s *Shell) Result() (r Result, place int, best int64) { return s.result, s.rank, s.former }

// Gifts returns the gifts of the last Offer. The slice is valid until the next Offer.
func (s *Shell) Gifts() []Gift { return s.gifts[:s.offers] }

// Chosen returns the index in Gifts of the gift that the player chose last.
func (s *Shell) Chosen() int { return s.chosen }

// Age returns the number of frames for which the current screen has been shown. When the player returns to a screen, the
// number may begin at 30.
func (s *Shell) Age() int { return s.age }

// Capturing reports whether Step waits for a control to bind. Pass the next control that is pressed as Nav.Captured.
// The wait also ends with Nav.Cancel, and after 300 frames.
func (s *Shell) Capturing() bool { return s.capture > 0 }

// KeyDevice returns the device whose controls the screen Keys shows.
func (s *Shell) KeyDevice() Device { return s.device }

// Note returns a line for the player, such as the reason why a key was refused, or "".
func (s *Shell) Note() string { return s.note }

// Offer shows up to three gifts and ignores further ones. It keeps the Lines of the gifts: the caller must not change
// them. The game stands still until the player chooses. If the screen is not Playing, or if there is no gift, Offer
// does nothing.
func (s *Shell) Offer(gifts []Gift) {
	if s.screen == Playing && len(gifts) > 0 {
		s.offers = copy(s.gifts[:], gifts)
		s.show(Gifts)
	}
}

// Withdraw returns from the screen Gifts to the game. Call it if the gifts are no longer offered. If another screen is
// shown, Withdraw does nothing.
func (s *Shell) Withdraw() {
	if s.screen == Gifts {
		s.show(Playing)
	}
}

// End ends the player's game: it does what [Shell.Keep] does, turns off the hints, and shows Ending or Over. If the
// screen is not Playing, End does nothing.
func (s *Shell) End(r Result) {
	if s.screen != Playing {
		return
	}
	s.Keep(r.Run)
	s.kept, s.result = nil, r
	if s.settings.Hints { // they are for the first run
		s.settings.Hints, s.dirty = false, true
		s.save()
	}
	if r.Won {
		s.show(Ending)
		return
	}
	s.show(Over)
}

// Keep puts the player's unfinished game into the table of best runs, if its run r is good enough, and saves the table.
// Call Keep when the game is paused, left or ended by the system, so that its run is not lost. A later Keep or
// [Shell.End] replaces this entry. When the player begins another game, call [Shell.Begun]: otherwise the next Keep
// replaces the entry of the former game.
func (s *Shell) Keep(r Run) {
	if s.kept != nil && *s.kept == r {
		return
	}
	s.others()
	if s.kept != nil {
		s.runs, s.mine = without(s.runs, *s.kept), without(s.mine, *s.kept)
		s.kept = nil
	}
	s.former = 0
	if len(s.runs) > 0 {
		s.former = s.runs[0].Score
	}
	if s.runs, s.rank = insert(s.runs, r); s.rank >= 0 {
		s.kept, s.unsaved = &r, true
		s.mine = append(s.mine, r)
		s.saveRuns()
	}
}

// others reads the table again: another process may have saved a run, and a save must not lose it. Runs of this process
// whose save has failed stay. If the table cannot be read, that of this process is what there is.
func (s *Shell) others() {
	s.keep.load(runsName, func(data []byte) error {
		saved, err := ReadRuns(data)
		if err != nil {
			return err
		}
		s.runs = saved
		for _, r := range s.mine {
			if !slices.Contains(s.runs, r) {
				s.runs, _ = insert(s.runs, r)
			}
		}
		return nil
	})
}

func without(runs []Run, r Run) []Run {
	if i := slices.Index(runs, r); i >= 0 {
		return slices.Delete(runs, i, i+1)
	}
	return runs
}

// Begun records that the player has begun another game. The next [Shell.Keep] then adds an entry and replaces none.
func (s *Shell) Begun() { s.kept = nil }

// Day returns the day of the daily run that the player plays, or "" if it is another run.
func (s *Shell) Day() string { return s.day }

// FocusLost pauses the game if the screen is Playing, and notes why.
func (s *Shell) FocusLost() {
	if s.screen == Playing {
		s.pause()
		s.note = "THE WINDOW LOST FOCUS: THE GAME WAITS"
	}
}

// Covers records whether the window covers the screen: it sets and saves the setting Fullscreen. Call it if the window
// has changed without a command of Step, for example because the player pressed a key of the browser.
func (s *Shell) Covers(on bool) {
	if s.settings.Fullscreen != on {
		s.settings.Fullscreen = on
		s.changed(true)
	}
}

// Close saves the settings and the best runs if they have unsaved changes, also if an earlier save failed. The Shell
// may be used afterwards.
func (s *Shell) Close() {
	s.save()
	s.saveRuns()
}

func (s *Shell) pause() {
	s.under = s.screen
	s.show(Paused)
}

// ask shows the question whether the player's game is to end.
func (s *Shell) ask(what id) {
	if s.screen != Paused {
		s.under = s.screen
	}
	s.asked = what
	s.show(Ask)
}

// Asked returns the question that the screen Ask shows.
func (s *Shell) Asked() string {
	if s.asked == idLeave {
		return "LEAVE THIS RUN?"
	}
	return "START AGAIN?"
}

func (s *Shell) show(screen Screen) {
	s.screen, s.age, s.selected, s.slot, s.drag, s.capture, s.note, s.sure = screen, 0, 0, 0, false, 0, "", -1
	s.build()
}

// back returns to a screen and selects the item that led away from it.
func (s *Shell) back(screen Screen, item id) {
	s.show(screen)
	for i := range s.items {
		if s.items[i].id == item {
			s.pick(i)
		}
	}
}

func (s *Shell) save() {
	if !s.dirty {
		return
	}
	s.keep.load(settingsName, func(data []byte) error { // by now it can be that of a later version
		_, err := ReadSettings(data)
		return err
	})
	data, err := WriteSettings(s.settings)
	s.dirty = !s.keep.save(settingsName, data, err)
}

func (s *Shell) saveRuns() {
	if !s.unsaved {
		return
	}
	data, err := WriteRuns(s.runs)
	s.unsaved = !s.keep.save(runsName, data, err)
}
