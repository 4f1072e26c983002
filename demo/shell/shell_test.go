package shell_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// A desk is a shell with everything around it.
type desk struct {
	*shell.Shell
	keys render.Bindings
	log  []string
}

func newDesk(t *testing.T, store shell.Store, change ...func(*shell.Config)) *desk {
	t.Helper()
	d := &desk{keys: render.DefaultBindings()}
	cfg := shell.Config{Store: store, Bindings: &d.keys, Log: func(s string) { d.log = append(d.log, s) }}
	for _, f := range change {
		f(&cfg)
	}
	d.Shell = shell.New(cfg)
	return d
}

// choose selects the item of this label with the keys, and presses it.
func (d *desk) choose(t *testing.T, label string) shell.Command {
	t.Helper()
	d.seek(t, label)
	return d.Step(shell.Nav{Select: true})
}

// sure chooses in the pause an item that asks, and confirms it.
func (d *desk) sure(t *testing.T, label string) shell.Command {
	t.Helper()
	if cmd := d.choose(t, label); cmd != shell.None || d.Screen() != shell.Ask {
		t.Fatalf("%s is command %d at once, on screen %d", label, cmd, d.Screen())
	}
	d.wait()
	return d.choose(t, label)
}

func (d *desk) seek(t *testing.T, label string) *shell.Item {
	t.Helper()
	for range 40 {
		for i := range d.Items() {
			if it := &d.Items()[i]; it.Selected && it.Label == label {
				return it
			}
		}
		d.Step(shell.Nav{Down: true})
	}
	t.Fatalf("nothing is called %q on screen %d: %+v", label, d.Screen(), d.Items())
	return nil
}

func (d *desk) wait() {
	for range 60 {
		d.Step(shell.Nav{})
	}
}

func (d *desk) want(t *testing.T, screen shell.Screen, running bool) {
	t.Helper()
	if d.Screen() != screen || d.Running() != running {
		t.Fatalf("screen %d, running %v; want %d, %v", d.Screen(), d.Running(), screen, running)
	}
}

func TestShell_FromTheTitleThroughAGameAndBack(t *testing.T) {
	d := newDesk(t, nil)
	d.want(t, shell.Title, true)
	if !d.Attract() {
		t.Error("nobody plays behind the title")
	}
	if cmd := d.choose(t, "PLAY"); cmd != shell.Start || d.Attract() {
		t.Errorf("command %d", cmd)
	}
	d.want(t, shell.Playing, true)
	d.Step(shell.Nav{Pause: true, Back: true}) // Esc is both
	d.want(t, shell.Paused, false)
	if cmd := d.Step(shell.Nav{Pause: true, Back: true}); cmd != shell.Resume {
		t.Errorf("command %d", cmd)
	}
	d.want(t, shell.Playing, true)
	d.Step(shell.Nav{Pause: true})
	if cmd := d.sure(t, "START AGAIN"); cmd != shell.Restart {
		t.Errorf("command %d", cmd)
	}
	d.End(shell.Result{Run: shell.Run{Score: 100}})
	d.want(t, shell.Over, false)
	d.wait()
	if cmd := d.choose(t, "TITLE"); cmd != shell.Leave {
		t.Errorf("command %d", cmd)
	}
	if cmd := d.choose(t, "QUIT"); cmd != shell.Quit {
		t.Errorf("command %d", cmd)
	}
}

func TestShell_LosingTheFocusPausesOnlyWhatIsPlayed(t *testing.T) {
	d := newDesk(t, nil)
	d.FocusLost()
	d.want(t, shell.Title, true)
	d.choose(t, "PLAY")
	d.FocusLost()
	d.want(t, shell.Paused, false)
	if !strings.Contains(d.Note(), "FOCUS") {
		t.Errorf("the pause says %q", d.Note())
	}
	d.FocusLost()
	d.Step(shell.Nav{Back: true})
	d.want(t, shell.Playing, true)
}

func TestShell_AScreenInTheMiddleOfPlayTakesNoPressAtOnce(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "PLAY")
	d.Offer([]shell.Gift{{Name: "MINES"}, {Name: "BEAM"}, {Name: "HASTE"}})
	d.want(t, shell.Gifts, false)
	for _, n := range []shell.Nav{{Select: true}, {Choose: 2}, {Click: true, X: 320, Y: 200}} {
		if cmd := d.Step(n); cmd != shell.None {
			t.Errorf("%+v gives %d at once", n, cmd)
		}
	}
	d.wait()
	if cmd := d.Step(shell.Nav{Choose: 2}); cmd != shell.ChooseGift || d.Chosen() != 1 {
		t.Errorf("command %d, gift %d", cmd, d.Chosen())
	}
	d.End(shell.Result{})
	if cmd := d.Step(shell.Nav{Select: true}); cmd != shell.None {
		t.Errorf("the end is clicked away: %d", cmd)
	}
}

func TestShell_GiftsAreReachedByEveryDevice(t *testing.T) {
	for name, steps := range map[string][]shell.Nav{
		"keys":   {{Right: true}, {Right: true}, {Select: true}},
		"number": {{Choose: 3}},
		"touch":  {{Click: true, Moved: true, X: 560, Y: 200}},
		"mouse":  {{Moved: true, X: 560, Y: 200}, {Click: true, X: 560, Y: 200}},
		"round":  {{Left: true}, {Select: true}},
	} {
		d := newDesk(t, nil)
		d.choose(t, "PLAY")
		d.Offer([]shell.Gift{{Name: "A"}, {Name: "B"}, {Name: "C"}})
		d.wait()
		var cmd shell.Command
		for _, n := range steps {
			cmd = d.Step(n)
		}
		if cmd != shell.ChooseGift || d.Chosen() != 2 {
			t.Errorf("%s: command %d, gift %d", name, cmd, d.Chosen())
		}
		d.want(t, shell.Playing, true)
	}
}

func TestShell_APauseOverGiftsGoesBackToThem(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "PLAY")
	d.Offer([]shell.Gift{{Name: "A"}, {Name: "B"}, {Name: "C"}})
	d.Step(shell.Nav{Pause: true})
	d.want(t, shell.Paused, false)
	d.choose(t, "GO ON")
	d.want(t, shell.Gifts, false)
}

func TestSettings_EachIsChangedByKeysAndByThePointer(t *testing.T) {
	value := func(d *desk, label string) string { return d.seek(t, label).Value }
	for _, label := range []string{"VOLUME", "EFFECTS", "MUSIC", "SHAKE", "MUTE", "FULLSCREEN", "BLOOM", "REDUCED FLASHING", "COLOUR-BLIND PALETTE"} {
		d := newDesk(t, nil)
		d.choose(t, "SETTINGS")
		before := value(d, label)
		by := shell.Nav{Right: true}
		if label == "SHAKE" {
			by = shell.Nav{Left: true}
		}
		if cmd := d.Step(by); cmd != shell.SettingsChanged || value(d, label) == before {
			t.Errorf("%s by keys: command %d, %s", label, cmd, value(d, label))
		}
		it := d.seek(t, label)
		before = it.Value
		x := it.Box.X + it.Box.W - 40
		if it.Kind == shell.Slider {
			x = it.Track().X
		}
		if cmd := d.Step(shell.Nav{Click: true, Held: true, X: x, Y: it.Box.Y + 3}); cmd != shell.SettingsChanged || value(d, label) == before {
			t.Errorf("%s by a click: command %d, %s", label, cmd, value(d, label))
		}
	}
}

func TestSettings_ASliderFollowsTheFingerBeyondItsEnds(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "SETTINGS")
	it := d.seek(t, "MUSIC")
	track, y := it.Track(), it.Box.Y+4
	d.Step(shell.Nav{Click: true, Held: true, X: track.X + track.W/2, Y: y})
	if d.Settings().Music != 5 {
		t.Errorf("music %d", d.Settings().Music)
	}
	d.Step(shell.Nav{Moved: true, Held: true, X: 639, Y: 350})
	if d.Settings().Music != shell.Steps || d.Settings().Effects != 8 {
		t.Errorf("%+v", d.Settings())
	}
	d.Step(shell.Nav{Moved: true, X: 0, Y: y})
	if d.Settings().Music != shell.Steps {
		t.Error("let go, it still follows")
	}
}

func TestSettings_MuteAndFullscreenHaveKeysOnEveryScreen(t *testing.T) {
	d := newDesk(t, nil)
	for range 2 {
		if cmd := d.Step(shell.Nav{Mute: true}); cmd != shell.SettingsChanged || !d.Settings().Mute {
			t.Errorf("command %d, %+v", cmd, d.Settings())
		}
		d.Step(shell.Nav{Mute: true})
		if cmd := d.Step(shell.Nav{Fullscreen: true}); cmd != shell.SettingsChanged || !d.Settings().Fullscreen {
			t.Errorf("command %d, %+v", cmd, d.Settings())
		}
		d.Step(shell.Nav{Fullscreen: true})
		d.choose(t, "PLAY")
		d.Step(shell.Nav{Pause: true})
		d.sure(t, "LEAVE")
	}
}

func TestSettings_FullscreenFollowsTheWindowAndIsKept(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	d.choose(t, "SETTINGS")
	for _, on := range []bool{true, false} {
		d.Covers(on)
		if d.Settings().Fullscreen != on || newDesk(t, store).Settings().Fullscreen != on {
			t.Errorf("covered %v: %+v", on, d.Settings())
		}
		for _, it := range d.Items() {
			if want := map[bool]string{true: "ON", false: "OFF"}[on]; it.Label == "FULLSCREEN" && it.Value != want {
				t.Errorf("covered %v, it shows %s", on, it.Value)
			}
		}
	}
}

func TestKeys_AreCapturedSwappedAndKept(t *testing.T) {
	store := memory{}
	d := newDesk(t, store)
	d.choose(t, "SETTINGS")
	d.choose(t, "CONTROLS")
	d.choose(t, "DASH")
	if !d.Capturing() {
		t.Fatal("no key is waited for")
	}
	if cmd := d.Step(shell.Nav{Captured: "R"}); cmd != shell.SettingsChanged || d.Capturing() {
		t.Errorf("command %d", cmd)
	}
	if d.seek(t, "DASH").Slots[0] != "R" || d.seek(t, "START AGAIN").Slots[0] != "SPACE" {
		t.Errorf("%+v", d.Items())
	}
	d.Step(shell.Nav{Back: true})
	if d.seek(t, "CONTROLS"); d.Screen() != shell.Setup {
		t.Error("back is not where it was")
	}
	d.Step(shell.Nav{Back: true})
	again := newDesk(t, store)
	if again.keys != d.keys || len(again.log) > 0 {
		t.Errorf("kept: %v, %v", again.keys, again.log)
	}
}

func TestKeys_ARefusalIsSaidAndEscOrTimeCancels(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "SETTINGS")
	d.choose(t, "CONTROLS")
	d.choose(t, "FIRE")
	d.Step(shell.Nav{Captured: "F1"})
	if !strings.Contains(d.Note(), "overlay") {
		t.Errorf("note %q", d.Note())
	}
	d.choose(t, "FIRE")
	d.Step(shell.Nav{Cancel: true, Captured: "Escape"})
	if d.Capturing() || d.keys != render.DefaultBindings() || d.Screen() != shell.Keys {
		t.Error("Esc does not cancel")
	}
	d.choose(t, "FIRE")
	for range 400 {
		d.Step(shell.Nav{})
	}
	if d.Capturing() {
		t.Error("it waits for ever")
	}
}

// On a desk the rows of keys filled half the screen, and the buttons below them were smaller than anywhere else.
func TestKeys_RowsUseTheSpaceOfADesk(t *testing.T) {
	d := newDesk(t, nil)
	for _, c := range []shell.Canvas{{W: 640, H: 360}, {W: 640, H: 480}, {W: 768, H: 360}} {
		d.Place(c)
		d.choose(t, "SETTINGS")
		d.choose(t, "CONTROLS")
		top, foot := c.H, float32(0)
		for _, it := range d.Items() {
			if it.Box.H < 21 {
				t.Errorf("%v: %s is %g high", c, it.Label, it.Box.H)
			}
			top, foot = min(top, it.Box.Y), max(foot, it.Box.Y+it.Box.H)
		}
		if foot > c.H-c.Foot() || foot-top < 0.6*c.H {
			t.Errorf("%v: the rows lie from %g to %g", c, top, foot)
		}
		d.Step(shell.Nav{Back: true})
		d.Step(shell.Nav{Back: true})
	}
}

// A tablet has a keyboard: a row is chosen with a finger, and the key makes the canvas one without fingers.
func TestKeys_ACaptureKeepsItsRowIfTheCanvasChanges(t *testing.T) {
	mouse := shell.Canvas{W: 640, H: 360}
	finger := shell.Canvas{W: 640, H: 360, Finger: 40}
	for _, c := range [][2]shell.Canvas{{mouse, finger}, {finger, mouse}} {
		d := newDesk(t, nil)
		d.Place(mouse)
		d.choose(t, "SETTINGS")
		d.choose(t, "CONTROLS")
		d.Place(c[0])
		row := slices.IndexFunc(d.Items(), func(it shell.Item) bool { return it.Kind == shell.KeyRow })
		label := d.Items()[row].Label
		d.choose(t, label)
		d.Place(c[1])
		d.Step(shell.Nav{Captured: "J"})
		if got := d.seek(t, label).Slots[0]; got != "J" {
			t.Errorf("%s has %q", label, got)
		}
	}
}

// What is drawn is where the pointer finds it, on the screen, apart, and large enough for a finger.
func TestItems_LieApartOnTheScreen(t *testing.T) {
	d := newDesk(t, nil)
	look := func() {
		t.Helper()
		for i, a := range d.Items() {
			b := a.Box
			if b.X < 0 || b.Y < 0 || b.X+b.W > 640 || b.Y+b.H > 360 || b.W < 100 || b.H < 17 {
				t.Errorf("screen %d: %s is at %+v", d.Screen(), a.Label, b)
			}
			for _, c := range d.Items()[:i] {
				if b.X < c.Box.X+c.Box.W && c.Box.X < b.X+b.W && b.Y < c.Box.Y+c.Box.H && c.Box.Y < b.Y+b.H {
					t.Errorf("screen %d: %s lies over %s", d.Screen(), a.Label, c.Label)
				}
			}
		}
	}
	look()
	d.choose(t, "SETTINGS")
	look()
	d.choose(t, "CONTROLS")
	look()
	d.Step(shell.Nav{Back: true})
	d.Step(shell.Nav{Back: true})
	d.choose(t, "BEST RUNS")
	look()
	d.Step(shell.Nav{Back: true})
	d.choose(t, "PLAY")
	d.Offer([]shell.Gift{{Name: "A"}, {Name: "B"}, {Name: "C"}})
	look()
	d.wait()
	d.Step(shell.Nav{Choose: 1})
	d.End(shell.Result{Run: shell.Run{Won: true}})
	d.want(t, shell.Ending, false)
	look()
}

func TestStep_InPlayAllocatesNothing(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "PLAY")
	if n := testing.AllocsPerRun(100, func() { d.Step(shell.Nav{Moved: true, Held: true, X: 4}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A window of 1280 x 720 has the canvas that a shell begins with.
func TestShell_TheFirstTurnOfADeskPauses(t *testing.T) {
	d := newDesk(t, nil)
	d.choose(t, "PLAY")
	c := shell.Canvas{W: 640, H: 360}
	d.Place(c)
	d.Step(shell.Nav{})
	if d.want(t, shell.Playing, true); t.Failed() {
		return
	}
	d.Place(shell.Canvas{W: c.H, H: c.W})
	if d.Screen() != shell.Paused || d.Note() == "" {
		t.Errorf("turned: screen %d, note %q", d.Screen(), d.Note())
	}
}
