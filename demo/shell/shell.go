package shell

// Screen is what the player sees.
type Screen uint8

// The screens.
const (
	Title   Screen = iota // over the game that plays itself
	Playing               // nothing but the game
	Paused
	Setup // the settings
	Keys
	Gifts  // one of three is to be chosen
	Ending // the game is won
	Over   // it is lost
	Table  // the best runs
)

// Command is what the caller has to do after a Step.
type Command uint8

// The commands.
const (
	None            Command = iota
	Start                   // a new game: the player's, where the game played itself
	Resume                  // go on; nothing need be done
	Restart                 // this game from its beginning
	Leave                   // to the title: the game plays itself again
	Quit                    // end the program
	ChooseGift              // Chosen says which
	SettingsChanged         // Settings says how
)

// Nav is what the player pressed in one frame. All but Held and Pointer are true in the frame of
// the press only; directions may repeat.
type Nav struct {
	Up, Down, Left, Right, Select, Back bool

	X, Y        float32 // the pointer in logical pixels of a screen of 640 × 360
	Moved       bool    // it moved
	Click, Held bool

	Pause, Restart, Mute, Fullscreen bool
	Choose                           int    // 1 to 3: the gift of that place
	Captured                         string // the control pressed while Capturing
	Cancel                           bool   // Esc while Capturing
}

// A Gift is what the game offers: one of three.
type Gift struct {
	Name   string
	Lines  []string // what it does, a few words each; the first 4 are shown
	Symbol int      // which picture: the view knows them
	Have   int      // how many the player has
}

// A Result is how a game ended, for Ending and Over.
type Result struct {
	Run
	Particles   int    // most alive at once
	Collections uint64 // of the Go heap, in play
}

// Bindings are the keys of the player's actions, as the window keeps them.
type Bindings interface {
	Actions() int
	Action(a int) string      // for a person
	Label(a, slot int) string // for a person; "" for none
	Bind(a, slot int, control string) error
	Map() map[string][]string
	SetMap(map[string][]string) error
	Reset()
}

// Config is what a Shell is made with. Every field may be left out.
type Config struct {
	Store    Store        // nil keeps nothing
	Bindings Bindings     // nil: there is no menu for keys
	Log      func(string) // told in one line what could not be read or written
	NoQuit   bool         // there is nothing to quit to, as in a browser
	Playing  bool         // begin with the game and not with the title
}

// A Shell is the machine. See the package's comment.
type Shell struct {
	cfg      Config
	keep     keeper
	settings Settings
	runs     []Run
	dirty    bool // settings are to be saved
	unsaved  bool // runs of which no save has succeeded

	screen Screen
	under  Screen // what Paused lies over
	setup  Screen // what Setup was opened from
	table  Screen // what Table was opened from
	age    int    // frames on this screen

	items    []Item
	selected int
	slot     int // of a row of keys
	drag     bool
	capture  int // frames that are left to press a key; 0 when none is waited for
	note     string

	gifts  [3]Gift
	offers int
	chosen int
	result Result
	place  int
	former int64 // the best score before
}

// New reads settings and runs, and shows the title.
func New(cfg Config) *Shell {
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	s := &Shell{cfg: cfg, settings: DefaultSettings(), keep: keeper{store: cfg.Store, log: cfg.Log, bad: map[string]bool{}}}
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
	s.keep.load(runsName, func(data []byte) (err error) {
		s.runs, err = ReadRuns(data)
		return err
	})
	s.show(Title)
	if cfg.Playing {
		s.show(Playing)
	}
	return s
}

// Screen returns what is to be seen.
func (s *Shell) Screen() Screen { return s.screen }

// Running reports whether the game ticks: while it is played, and behind the title.
func (s *Shell) Running() bool {
	switch s.screen {
	case Title, Playing:
		return true
	case Setup, Table:
		return s.behind() == Title
	case Keys:
		return s.setup == Title
	}
	return false
}

// behind returns the screen that Setup or Table was opened from.
func (s *Shell) behind() Screen {
	if s.screen == Table {
		return s.table
	}
	return s.setup
}

// Attract reports whether the game behind the screen plays itself.
func (s *Shell) Attract() bool { return s.screen == Title || s.Running() && s.screen != Playing }

// Items returns what can be chosen on this screen. They are valid until the next call of a method.
func (s *Shell) Items() []Item { return s.items }

// Settings returns the player's. The caller reads them.
func (s *Shell) Settings() *Settings { return &s.settings }

// Runs returns the best runs, the best first. They are valid until End.
func (s *Shell) Runs() []Run { return s.runs }

// Result returns what End was told, the place of it in the table from 0, or -1, and the best
// score before.
func (s *Shell) Result() (r Result, place int, best int64) { return s.result, s.place, s.former }

// Gifts returns what is offered.
func (s *Shell) Gifts() []Gift { return s.gifts[:s.offers] }

// Chosen returns the place of the gift that ChooseGift speaks of, from 0.
func (s *Shell) Chosen() int { return s.chosen }

// Age returns for how many frames the screen has been shown.
func (s *Shell) Age() int { return s.age }

// Capturing reports whether the next press is to be bound: the window has to pass it as Captured.
func (s *Shell) Capturing() bool { return s.capture > 0 }

// Note returns a line to the player, as why a key was refused; "" for none.
func (s *Shell) Note() string { return s.note }

// Offer shows gifts, three at most. While the player chooses the game stands still. It does nothing
// where nobody plays.
func (s *Shell) Offer(gifts []Gift) {
	if s.screen == Playing && len(gifts) > 0 {
		s.offers = copy(s.gifts[:], gifts)
		s.show(Gifts)
	}
}

// End says that the player's game is over, puts it into the table and saves that.
func (s *Shell) End(r Result) {
	if s.screen != Playing {
		return
	}
	s.result, s.former = r, 0
	if len(s.runs) > 0 {
		s.former = s.runs[0].Score
	}
	if s.runs, s.place = insert(s.runs, r.Run); s.place >= 0 {
		s.unsaved = true
		s.saveRuns()
	}
	if r.Won {
		s.show(Ending)
		return
	}
	s.show(Over)
}

// FocusLost pauses what is played.
func (s *Shell) FocusLost() {
	if s.screen == Playing {
		s.pause()
	}
}

// Close saves what is not saved yet, also what failed before. The Shell may still be used.
func (s *Shell) Close() {
	s.save()
	s.saveRuns()
}

func (s *Shell) pause() {
	s.under = s.screen
	s.show(Paused)
}

func (s *Shell) show(screen Screen) {
	s.screen, s.age, s.selected, s.slot, s.drag, s.capture, s.note = screen, 0, 0, 0, false, 0, ""
	s.build()
}

// back is show for a way back: the item that led away is selected again.
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
