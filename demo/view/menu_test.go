package view

import (
	"encoding/json"
	"image"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/render"
)

// A menuBench is a menu with a shell and buffers.
type menuBench struct {
	m  *Menu
	sh *shell.Shell
	q  render.Quads

	atlas *render.Atlas
	verts []render.Vertex
	ix    []uint32
}

func newMenuBench(t testing.TB) *menuBench {
	t.Helper()
	b := &menuBench{verts: make([]render.Vertex, 4*quadLeast), ix: make([]uint32, 6*quadLeast)}
	var err error
	if b.atlas, err = render.NewAtlas(render.AtlasConfig{}); err != nil {
		t.Fatal(err)
	}
	font, err := render.NewFont(b.atlas)
	if err != nil {
		t.Fatal(err)
	}
	keys := render.DefaultBindings()
	b.sh = shell.New(shell.Config{Bindings: &keys})
	b.m = NewMenu(font, b.sh, &keys)
	b.m.Palette = emberPalette
	return b
}

// shape makes the window one of another shape.
func (b *menuBench) shape(vp render.Viewport, density float32, d render.Device) {
	b.m.Device, b.m.ui = d, canvasOf(vp, density, d)
	b.sh.Place(b.m.ui.Shell())
}

// draw returns the number of quads.
func (b *menuBench) draw() int {
	b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
	b.m.Draw(&b.q)
	return b.q.Len() / render.VertsPerQuad
}

// screens are ways to each screen from the title.
var screens = map[shell.Screen]func(*shell.Shell){
	shell.Title:   func(*shell.Shell) {},
	shell.Playing: play,
	shell.Paused:  func(s *shell.Shell) { play(s); s.Step(shell.Nav{Pause: true}) },
	shell.Ask:     func(s *shell.Shell) { play(s); s.Step(shell.Nav{Restart: true}) },
	shell.Setup:   func(s *shell.Shell) { press(s, 2) },
	shell.Keys:    func(s *shell.Shell) { press(s, 2); press(s, 10) },
	shell.Gifts:   func(s *shell.Shell) { play(s); s.Offer(gifts) },
	shell.Ending:  func(s *shell.Shell) { play(s); s.End(shell.Result{Run: shell.Run{Score: 1234567, Won: true}}) },
	shell.Over:    func(s *shell.Shell) { play(s); s.End(longResult) },
	shell.Legend: func(s *shell.Shell) {
		s.Step(shell.Nav{Up: true})
		s.Step(shell.Nav{Up: true})
		s.Step(shell.Nav{Select: true})
	},
	shell.Table: func(s *shell.Shell) {
		for i := range shell.BestRuns {
			play(s)
			s.End(shell.Result{Run: shell.Run{Score: 1e12 + int64(i), Realm: "SPORE", Seed: 1 << 63, Kills: 1e6, Ticks: 1e6}})
			for range 60 {
				s.Step(shell.Nav{})
			}
			s.Step(shell.Nav{Back: true})
		}
		press(s, 1)
	},
}

// longResult is a result with all the figures that there are.
var longResult = shell.Result{Run: shell.Run{Score: 12_345_678, Realm: "EMBER", Kills: 1e6, Ticks: 1e6}, Cause: "ENDED BY A LANCER'S CHARGE",
	Figures: slices.Repeat([]shell.Figure{{Label: "MOST PARTICLES ALIVE", Value: "123,456"}}, 11), Gifts: slices.Repeat([]string{"CHAIN LIGHTNING 5"}, 9)}

var gifts = []shell.Gift{{Name: "WIDER FIRE", Lines: []string{"two more streams,", "a wider fan"}}, {Name: "ORBIT"}, {Name: "HASTE"}}

func play(s *shell.Shell) { s.Step(shell.Nav{Select: true}) }

// press goes down n times and presses.
func press(s *shell.Shell, n int) {
	for range n {
		s.Step(shell.Nav{Down: true})
	}
	s.Step(shell.Nav{Select: true})
}

func TestMenu_EveryScreenFitsItsRoomAndAllocatesNothing(t *testing.T) {
	for screen, reach := range screens {
		for _, device := range []render.Device{render.Keyboard, render.Gamepad, render.Touch} {
			b := newMenuBench(t)
			reach(b.sh)
			for range 90 {
				b.sh.Step(shell.Nav{})
			}
			if b.sh.Screen() != screen {
				t.Fatalf("screen %d, want %d", b.sh.Screen(), screen)
			}
			b.m.Device = device
			n := b.draw()
			if least := map[bool]int{true: 0, false: 20}[screen == shell.Playing && device != render.Touch]; n < least {
				t.Errorf("screen %d is %d quads with %s", screen, n, device)
			}
			if b.q.Dropped > 0 {
				t.Errorf("screen %d: %d quads have no room", screen, b.q.Dropped)
			}
			if a := testing.AllocsPerRun(20, func() { b.draw() }); a != 0 {
				t.Errorf("screen %d costs %v allocations a frame", screen, a)
			}
		}
	}
}

// Nothing that is written leaves the logical screen, whatever the figures are.
func TestMenu_NothingLeavesTheScreen(t *testing.T) {
	for _, screen := range []shell.Screen{shell.Paused, shell.Setup, shell.Keys, shell.Over, shell.Table} {
		b := newMenuBench(t)
		screens[screen](b.sh)
		for range 90 {
			b.sh.Step(shell.Nav{})
		}
		b.draw()
		for _, v := range b.q.Vertices() {
			if v.DstX < -200 || v.DstX > float32(window.W)+200 || v.DstY < -200 || v.DstY > float32(window.H)+200 {
				t.Fatalf("screen %d draws at %v, %v", screen, v.DstX, v.DstY)
			}
		}
	}
}

func TestMenu_EverySymbolIsADifferentPicture(t *testing.T) {
	seen := map[float32]int{}
	for s := range Symbols {
		b := newMenuBench(t)
		b.q.Begin(b.verts, b.ix, b.atlas, window.View())
		b.m.q = &b.q
		b.m.symbol(s, 100, 100, 1)
		sum := float32(0)
		for i, v := range b.q.Vertices() {
			sum += v.DstX*float32(i+1) + v.DstY*float32(2*i+1)
		}
		if other, ok := seen[sum]; ok {
			t.Errorf("symbols %d and %d are the same", s, other)
		}
		seen[sum] = s
	}
}

func TestMenu_ReducedFlashingStandsStill(t *testing.T) {
	b := newMenuBench(t)
	b.m.calm = true
	for i := range 50 {
		b.m.Time = float32(i) * 0.13
		if p := b.m.pulse(8, 0.4); p != 1 {
			t.Fatalf("it pulses: %v", p)
		}
	}
	b.m.calm = false
	if b.m.pulse(8, 0.4) == 1 {
		t.Error("and without it nothing does")
	}
}

func TestMenu_PromptsNameWhatIsInHand(t *testing.T) {
	b := render.DefaultBindings()
	if err := b.Bind(int(render.Dash), 0, "K"); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[render.Device]string{render.Keyboard: "K: DASH", render.Gamepad: "PAD A: DASH", render.Touch: "THUMB"} {
		var h hints
		h.update(&b, device, false)
		if !strings.Contains(h.title, want) {
			t.Errorf("%s: %q, want %q", device, h.title, want)
		}
	}
	// The prompt named Esc also to a player with a gamepad.
	m := newMenuBench(t)
	screens[shell.Keys](m.sh)
	m.shape(shaped(image.Pt(1280, 720)), 1, render.Keyboard)
	m.sh.Step(shell.Nav{Down: true})
	m.sh.Step(shell.Nav{Select: true})
	for device := range render.Touch + 1 {
		m.m.Device = device
		m.draw()
		if s, _ := m.m.prompted(); !m.sh.Capturing() || strings.Contains(s, "ESC") != (device == render.Keyboard) {
			t.Errorf("%s: while it waits for a control, the prompt is %q", device, s)
		}
	}
}

// TestMenu_AGiftShowsTheKeyThatTakesIt has other keys than 1, 2, 3, and none under a finger.
func TestMenu_AGiftShowsTheKeyThatTakesIt(t *testing.T) {
	b := render.DefaultBindings()
	if err := b.Bind(int(render.Choose2), 0, "K"); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[render.Device][3]string{render.Keyboard: {"1", "K", "3"}, render.Touch: {}} {
		var h hints
		if h.update(&b, device, false); h.choose != want {
			t.Errorf("%s: %q, want %q", device, h.choose, want)
		}
	}
}

func TestFigures_AreGroupedAndTimed(t *testing.T) {
	for v, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := string(group(nil, v)); got != want {
			t.Errorf("%d is %s, want %s", v, got, want)
		}
	}
	for v, want := range map[uint64]string{0: "0:00", 59 * 60: "0:59", 61 * 60: "1:01", 3600 * 60: "60:00"} {
		if got := string(clock(nil, v)); got != want {
			t.Errorf("%d is %s, want %s", v, got, want)
		}
	}
}

func TestMenu_KeysWithLongNamesAreToldApart(t *testing.T) {
	b := render.DefaultBindings()
	var h hints
	h.update(&b, render.Keyboard, false)
	if !strings.HasPrefix(h.title, "WASD: MOVE") {
		t.Errorf("%q", h.title)
	}
	if err := b.Bind(int(render.MoveDown), 0, "F11"); err != nil {
		t.Fatal(err)
	}
	h.update(&b, render.Keyboard, false)
	if !strings.HasPrefix(h.title, "W A F11 D: MOVE") {
		t.Errorf("%q", h.title)
	}
}

// What is written large is of letters that are equally sharp, whatever else was baked of some of them.
func TestFont_WordsThatAreLargeAreOfLettersOfOneSize(t *testing.T) {
	words := []string{"THE FORGE IS YOURS", "COOLED DOWN", "PAUSED", "SETTINGS", "1,234,567,890", "+600"}
	for _, name := range realm.Names {
		l, err := fs.ReadFile(assets.FS(), "levels/"+name+".json")
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Title string }
		if err := json.Unmarshal(l, &file); err != nil || file.Title == "" {
			t.Fatalf("%s: %q, %v", name, file.Title, err)
		}
		words = append(words, file.Title)
	}
	lie := func(r rune, texels int) bool {
		return slices.ContainsFunc(largeLetters[:], func(l largeLetter) bool { return l.texels == texels && strings.ContainsRune(l.letters, r) })
	}
	for _, w := range words {
		for _, r := range w {
			if r != ' ' && !lie(r, largeTexels) {
				t.Errorf("%q: %q is not there with %d texels a dot", w, r, largeTexels)
			}
		}
	}
	for _, r := range "STRATA" {
		if !lie(r, titleTexels) {
			t.Errorf("%q of the title is not there", r)
		}
	}
}

func TestGround_BeyondTheRealmIsItsRim(t *testing.T) {
	for f, want := range map[float32]int{-320: -1, -0.5: -1, 0: 0, 511.5: 0, 512: 1, 24*512 - 0.5: 23, 24 * 512: 24} {
		if got := sectorOf(f); got != want {
			t.Errorf("%v is in sector %d; want %d", f, got, want)
		}
	}
	whole := render.Region{X0: 100, Y0: 200, X1: 100 + 16*ground.Sectors, Y1: 200 + 16*ground.Sectors}
	last := float32(16*ground.Sectors) - 0.5
	for at, want := range map[[2]int]render.Region{
		{-1, 3}:                 {X0: 100.5, X1: 100.5, Y0: 248, Y1: 264},
		{2, ground.Sectors}:     {X0: 132, X1: 148, Y0: 200 + last, Y1: 200 + last},
		{ground.Sectors, -1}:    {X0: 100 + last, X1: 100 + last, Y0: 200.5, Y1: 200.5},
		{ground.Sectors - 1, 0}: part(whole, ground.Sectors-1, 0),
	} {
		if got := rim(whole, at[0], at[1]); got != want {
			t.Errorf("sector %v is drawn with %v; want %v", at, got, want)
		}
	}
}

// In rows for fingers a label stood higher than its value. Prompts name the arrows that do something.
func TestMenu_LabelsStandBesideValuesAndPromptsNameTheArrows(t *testing.T) {
	for _, c := range []struct {
		screen shell.Screen
		size   image.Point
		prompt string
	}{
		{shell.Setup, image.Pt(1280, 720), "← →: CHANGE"}, {shell.Setup, image.Pt(390, 844), "← →: CHANGE"},
		{shell.Over, image.Pt(1280, 720), "← →: CHOOSE"}, {shell.Ending, image.Pt(1280, 720), "← →: CHOOSE"}, {shell.Over, image.Pt(390, 844), "↑ ↓: CHOOSE"},
		{shell.Gifts, image.Pt(1280, 720), "OR ← → AND ENTER"}, {shell.Gifts, image.Pt(390, 844), "OR ↑ ↓ AND"},
	} {
		b := newMenuBench(t)
		screens[c.screen](b.sh)
		for range 90 {
			b.sh.Step(shell.Nav{})
		}
		b.shape(shaped(c.size), 1, render.Keyboard)
		v := &View{atlas: b.atlas, font: b.m.font}
		e := newEye(t, v)
		e.begin(c.size)
		b.draw()
		e.look(&b.q)
		at, prompted := map[string]float32{}, false
		for _, text := range e.frame.Texts {
			at[text.Text] = text.Y
			prompted = prompted || strings.Contains(text.Text, c.prompt)
		}
		if !prompted {
			t.Errorf("screen %d, %v: no prompt has %q: %v", c.screen, c.size, c.prompt, at)
		}
		if c.screen == shell.Setup && at["SHAKE"] != at["10"] {
			t.Errorf("%v: the label is at %v, its value at %v", c.size, at["SHAKE"], at["10"])
		}
	}
}

// The arrows of a choice touched a long value in a low window.
func TestMenu_TextsOfALineKeepApart(t *testing.T) {
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 854, Y: 480}, {X: 844, Y: 390}, {X: 568, Y: 320}, {X: 390, Y: 844}} {
		for _, screen := range []shell.Screen{shell.Setup, shell.Keys} {
			b := newMenuBench(t)
			screens[screen](b.sh)
			b.shape(shaped(size), 1, render.Keyboard)
			e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
			for range 2 * len(b.sh.Items()) { // with each value of a choice
				for range 3 {
					b.sh.Step(shell.Nav{Right: true})
					e.begin(size)
					b.draw()
					e.look(&b.q)
					texts := e.frame.Texts
					for i, p := range texts {
						for _, o := range texts[i+1:] {
							least := 2 * b.m.ui.view.Scale
							if p.Y < o.Y+o.Height && o.Y < p.Y+p.Height && p.X < o.X+o.Width+least && o.X < p.X+p.Width+least {
								t.Fatalf("%v, screen %d: %q touches %q", size, screen, p.Text, o.Text)
							}
						}
					}
				}
				b.sh.Step(shell.Nav{Down: true})
			}
		}
	}
}

// In a window of 1280 × 720 half of the settings' screen was empty. Between the settings and the prompt a line says
// what the selected one does, and the settings fill most of the rest.
func TestMenu_TheSelectedSettingIsExplained(t *testing.T) {
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 1920, Y: 1080}, {X: 720, Y: 1280}, {X: 390, Y: 844}} {
		b := newMenuBench(t)
		screens[shell.Setup](b.sh)
		b.shape(shaped(size), 1, render.Keyboard)
		_, _, foot := b.m.extent()
		if used := foot - b.m.top(); size.X > size.Y && used < 0.45*b.m.ui.H {
			t.Errorf("%v: the settings use %g of %g", size, used, b.m.ui.H)
		}
		e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
		for i := range b.sh.Items() {
			want := b.sh.Items()[i].About
			if (want == "") != (b.sh.Items()[i].Label == "BACK") {
				t.Errorf("%s: %q", b.sh.Items()[i].Label, want)
			}
			e.begin(size)
			b.draw()
			e.look(&b.q)
			var got []string
			for _, text := range e.frame.Texts {
				if y := text.Y / b.m.ui.view.Scale; y >= foot-0.5 && y+render.GlyphH <= b.m.promptTop()+0.5 {
					got = append(got, text.Text)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%v: below the settings is %q, want %q", size, got, want)
			}
			b.sh.Step(shell.Nav{Down: true})
		}
	}
}

// The page of gestures did not say what binds keys.
func TestMenu_TheGesturesSayWhatBindsKeys(t *testing.T) {
	for _, size := range append(phones, image.Pt(1280, 720)) {
		b := newMenuBench(t)
		b.shape(shaped(size), 1, render.Touch)
		screens[shell.Keys](b.sh)
		e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
		e.begin(size)
		b.draw()
		e.look(&b.q)
		said := ""
		for _, text := range e.frame.Texts {
			said += text.Text + " "
		}
		if !strings.Contains(said, touchFixed) {
			t.Errorf("%v: the screen says %q", size, said)
		}
	}
}

func TestMenu_TheHintOnGiftsLiesAboveTheCards(t *testing.T) {
	for _, size := range append(phones, image.Pt(1280, 720), image.Pt(640, 360)) {
		b := newMenuBench(t)
		screens[shell.Gifts](b.sh)
		for range 90 {
			b.sh.Step(shell.Nav{})
		}
		b.shape(shaped(size), 1, render.Keyboard)
		b.m.Hint = "TAKE"
		e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
		e.begin(size)
		b.draw()
		e.look(&b.q)
		foot, top := float32(0), b.m.ui.view.Apply(vec{0, b.sh.Items()[0].Box.Y - 4})[1] // the selected card is higher
		for _, text := range e.frame.Texts {
			if text.Text == b.m.Hint {
				foot = text.Y + text.Height
			}
		}
		if foot == 0 || foot > top+0.5 {
			t.Errorf("%v: the hint ends at %v, the card begins at %v", size, foot, top)
		}
	}
}

// The gifts of a run are no wider than the figures above them.
func TestMenu_TheGiftsOfARunAreAsWideAsItsFigures(t *testing.T) {
	b := newMenuBench(t)
	b.shape(window, 1, render.Keyboard)
	b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
	b.m.begin(&b.q)
	b.m.taken([]string{"WIDER FIRE 1", "ORBITING SPARKS 2", "CHAIN LIGHTNING 3", "MINES 1", "BEAM 2", "HASTE 3", "SECOND HULL 1"}, 100, true)
	if x0, _, x1, _ := extent(&b.q); x1-x0 > takenWide*b.m.ui.view.Scale || x1-x0 < takenWide {
		t.Errorf("they are from %g to %g of %g", x0, x1, b.m.ui.W*b.m.ui.view.Scale)
	}
}

// The horde stays visible between the cards. The prompt below them has a plate of its own.
func TestMenu_ThePromptOfGiftsHasAPlate(t *testing.T) {
	for _, size := range windows {
		b := newMenuBench(t)
		screens[shell.Gifts](b.sh)
		b.shape(shaped(size), 1, render.Keyboard)
		b.draw()
		b.q.Begin(b.verts, b.ix, b.atlas, b.m.ui.view)
		b.m.prompt()
		x0, y0, x1, y1 := float32(1e9), float32(1e9), float32(0), float32(0)
		letters(&b.q, func(a0, b0, a1, b1 float32) { x0, y0, x1, y1 = min(x0, a0), min(y0, b0), max(x1, a1), max(y1, b1) })
		if text := image.Rect(int(x0)+1, int(y0)+3, int(x1), int(y1)-3); !covers(&b.q, text) {
			t.Errorf("%v: the prompt at %v lies on no plate", size, text)
		}
	}
}

// On low screens the figure of a gift lay against the line above it, with free space below.
func TestMenu_TheFigureOfAGiftLiesOffItsText(t *testing.T) {
	b := newMenuBench(t)
	play(b.sh)
	b.sh.Offer([]shell.Gift{{Name: "MINES", Lines: []string{"three mines more"}, Figure: "6 → 9 MINES"}})
	for range 90 {
		b.sh.Step(shell.Nav{})
	}
	for _, size := range slices.Concat(windows, small) {
		b.shape(shaped(size), 1, render.Keyboard)
		b.draw()
		var rows []float32 // where lines of letters begin, in pixels of the canvas
		letters(&b.q, func(x0, y0, x1, y1 float32) {
			y := b.m.ui.view.Invert(vec{x0, y0})[1]
			if high := (y1 - y0) / b.m.ui.view.Scale; high < render.GlyphH+0.1 && !slices.ContainsFunc(rows, func(r float32) bool { return r > y-1 && r < y+1 }) {
				rows = append(rows, y)
			}
		})
		slices.Sort(rows)
		if n := len(rows); n < 4 || rows[n-2]-rows[n-3] < 21 { // the prompt is the last line
			t.Errorf("%v: lines at %v", size, rows)
		}
	}
}

// The mark of a run that was rewound was explained nowhere. Its explanation lies over no other text.
func TestMenu_TheMarkOfARewoundRunIsExplained(t *testing.T) {
	type box struct{ x0, y0, x1, y1 float32 }
	for _, size := range slices.Concat(windows, small) {
		var n [2]int
		for rewinds := range n {
			b := newMenuBench(t)
			b.shape(shaped(size), 1, render.Touch)
			play(b.sh)
			b.sh.End(shell.Result{Run: shell.Run{Score: 123_456_789, Realm: "SPORE", Rewinds: rewinds}})
			for range 60 {
				b.sh.Step(shell.Nav{})
			}
			b.sh.Step(shell.Nav{Back: true})
			press(b.sh, 1)
			b.draw()
			var all []box
			letters(&b.q, func(x0, y0, x1, y1 float32) {
				in := (y1 - y0) / 5 // above and below a letter
				p := box{x0 + 1, y0 + in, x1 - 1, y1 - in}
				for _, o := range all {
					if p.x0 < o.x1 && o.x0 < p.x1 && p.y0 < o.y1 && o.y0 < p.y1 {
						t.Errorf("%v: a letter at %v lies over another at %v", size, p, o)
					}
				}
				all = append(all, p)
			})
			n[rewinds] = len(all)
		}
		if n[1]-n[0] != len("REWOUND") {
			t.Errorf("%v: %d letters, and %d with a mark", size, n[0], n[1])
		}
	}
}

// The prompt named no key that changes the action on saved runs, and named one on buttons. With a finger a page of
// gestures had none.
func TestMenu_PromptsFollowTheSelectedItem(t *testing.T) {
	for _, c := range []struct {
		screen  shell.Screen
		device  render.Device
		back    bool // BACK is selected
		changes bool
	}{
		{shell.Setup, render.Keyboard, false, true}, {shell.Setup, render.Keyboard, true, false}, {shell.Setup, render.Touch, true, true},
		{shell.Saved, render.Gamepad, false, true}, {shell.Saved, render.Keyboard, true, false}, {shell.Saved, render.Touch, true, true},
		{shell.Keys, render.Touch, false, true}, {shell.Table, render.Keyboard, true, false}, {shell.Title, render.Keyboard, false, false},
	} {
		b := newMenuBench(t)
		reach := screens[c.screen]
		if c.screen == shell.Saved {
			b.sh = shell.New(shell.Config{Bindings: b.m.Bindings, Saves: true})
			b.m.Source, reach = b.sh, func(s *shell.Shell) { screens[shell.Paused](s); press(s, 1) }
		}
		b.shape(shaped(image.Pt(1280, 720)), 1, c.device)
		reach(b.sh)
		label := b.sh.Items()[0].Label
		if c.back {
			label = "BACK"
		}
		for it := b.sh.Items(); !slices.ContainsFunc(it, func(i shell.Item) bool { return i.Selected && i.Label == label }); it = b.sh.Items() {
			b.sh.Step(shell.Nav{Down: true})
		}
		b.draw()
		if s, _ := b.m.prompted(); strings.Contains(s, "CHANGE") != c.changes {
			t.Errorf("screen %d, %s, %s selected: the prompt is %q", c.screen, c.device, label, s)
		}
	}
}

// In a low window the line of the heading lay over the first row of controls.
func TestMenu_TheHeadingOfControlsEndsAboveThem(t *testing.T) {
	for _, size := range slices.Concat(windows, small) {
		b := newMenuBench(t)
		b.shape(shaped(size), 1, render.Touch)
		screens[shell.Keys](b.sh)
		for range 12 { // the line grows
			b.sh.Step(shell.Nav{})
		}
		b.draw()
		found, v := 0, b.m.ui.view
		for q := b.q.Vertices(); len(q) >= render.VertsPerQuad; q = q[1:] {
			x0, y0, x1, y1 := (q[0].DstX-v.X)/v.Scale, (q[0].DstY-v.Y)/v.Scale, (q[3].DstX-v.X)/v.Scale, (q[3].DstY-v.Y)/v.Scale
			if q[1].DstY != q[0].DstY || q[1].DstX != q[3].DstX || y1-y0 < 0.9 || y1-y0 > 1.1 || x1-x0 < 2*render.Width("CONTROLS", 1)-1 || y0 > 60 {
				continue // no line as long as the heading
			}
			if found++; y1 > b.m.top()+0.01 || y0 < 28 {
				t.Errorf("%v: the line is at %g to %g, the first row begins at %g", size, y0, y1, b.m.top())
			}
		}
		if found != 1 {
			t.Errorf("%v: %d lines", size, found)
		}
	}
}

// On a small phone the right arrow of the device lay over the side of its row.
func TestMenu_TheArrowsOfAChoiceStayInItsRow(t *testing.T) {
	for _, size := range slices.Concat(windows, small) {
		b := newMenuBench(t)
		b.shape(shaped(size), 1, render.Keyboard)
		screens[shell.Keys](b.sh)
		e := newEye(t, &View{atlas: b.atlas, font: b.m.font})
		e.begin(size)
		b.draw()
		e.look(&b.q)
		row := b.sh.Items()[0].Box
		for _, text := range e.frame.Texts {
			if end := (text.X + text.Width - b.m.ui.view.X) / b.m.ui.view.Scale; strings.Contains(text.Text, "►") && end > row.X+row.W {
				t.Errorf("%v: %q ends at %g, its row at %g", size, text.Text, end, row.X+row.W)
			}
		}
	}
}
