package view

import (
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/demo/coach"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/newcomer"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// Every line is complete and on the screen, in windows of every shape and in the wording of every device.
func TestCoach_EveryLineFitsTheScreen(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	e, keys := newEye(t, v), render.DefaultBindings()
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 390, Y: 844}, {X: 844, Y: 390}, {X: 1024, Y: 768}} {
		vp := shaped(size)
		v.frameOf(vp, 1)
		for _, d := range []render.Device{render.Keyboard, render.Gamepad, render.Touch} {
			for line, text := range coachLines(&keys, d) {
				if (text == "") != (line == int(coach.Silent)) {
					t.Errorf("%v: line %d is %q", d, line, text)
				}
				e.begin(size)
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.subtitle(text)
				e.look(&v.quads)
				var rows []string
				for _, r := range e.frame.Texts {
					rows = append(rows, r.Text)
					if in := vp.Drawn(); r.X < float32(in.Min.X) || r.Y < float32(in.Max.Y)/2 || r.X+r.Width > float32(in.Max.X) || r.Y+r.Height > float32(in.Max.Y) {
						t.Errorf("%v: %q is at %v,%v", size, r.Text, r.X, r.Y)
					}
				}
				if got := strings.Join(rows, " "); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
					t.Errorf("%v, %v: %q is drawn as %q", size, d, text, rows)
				}
			}
		}
	}
}

// A hint and the sticks at rest leave the gauges free, and a hint leaves the sticks free.
func TestCoach_HintsAndSticksLeaveTheGaugesFree(t *testing.T) {
	keys := render.DefaultBindings()
	v := newShown(t, session.Config{Autopilot: true, Rewind: 8 << 20, Game: game.Config{Seed: 7, Quads: 20_000}})
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	v.playTo(t, 2)
	v.s.Game.Player.Most = 12
	batch := func(draw func()) []render.Vertex {
		v.open()
		v.begin(game.Signs, v.ui.view)
		draw()
		return slices.Clone(v.quads.Vertices())
	}
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 640, Y: 360}, {X: 390, Y: 844}, {X: 844, Y: 390}, {X: 1024, Y: 768}} {
		for _, d := range []render.Device{render.Keyboard, render.Gamepad, render.Touch} {
			v.Point(vec{}, d, false, [2]render.Thumb{})
			v.frameOf(shaped(size), 1)
			v.Menu.ui = v.ui
			gauges := batch(func() { v.gauges(v.safe()) })
			var sticks []render.Vertex
			if d == render.Touch {
				for side := range 2 {
					batch(func() {
						lo, hi := v.ui.safe()
						v.quads.SetView(v.ui.screen)
						v.Menu.begin(&v.quads)
						v.Menu.stick(&render.Thumb{}, lo, hi, side)
					})
					x0, y0, x1, y1 := extent(&v.quads)
					middle, r := vec{(x0 + x1) / 2, (y0 + y1) / 2}, (x1-x0)/2
					for _, g := range gauges {
						if middle.Sub(vec{g.DstX, g.DstY}).Len() < r {
							t.Errorf("%v: a gauge lies on stick %d at %v,%v", size, side, g.DstX, g.DstY)
							break
						}
					}
				}
			}
			if d == render.Touch {
				sticks = batch(v.thumbsOf)
			}
			for _, text := range coachLines(&keys, d) {
				if text == "" {
					continue
				}
				batch(func() { v.subtitle(text) })
				x0, y0, x1, y1 := extent(&v.quads)
				for _, g := range append(gauges, sticks...) {
					if g.DstX > x0 && g.DstX < x1 && g.DstY > y0 && g.DstY < y1 {
						t.Errorf("%v, %v: %q lies on %v,%v", size, d, text, g.DstX, g.DstY)
						break
					}
				}
			}
		}
	}
}

// The bar of a frozen game was below the gifts, which hid the ticks that it selects.
func TestView_FreezingHidesTheGifts(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	keys, sh := render.DefaultBindings(), shell.New(shell.Config{Playing: true})
	v.Attach(sh, &keys)
	quads := func(draw func()) int {
		v.open()
		v.begin(game.Signs, v.ui.view)
		draw()
		return v.quads.Len()
	}
	sh.Offer([]shell.Gift{{Name: "FROST"}})
	if !v.menuAbove() || quads(v.hud) != 0 {
		t.Error("the gifts do not lie above all")
	}
	v.frozen = true
	if n := quads(v.menu); v.menuAbove() || n != 0 || quads(v.hud) == 0 {
		t.Errorf("frozen: a menu of %d vertices, above the overlay: %v", n, v.menuAbove())
	}
	sh.Withdraw()
	sh.FocusLost()
	if v.menuAbove() || quads(v.menu) == 0 {
		t.Error("frozen: the pause does not lie below the overlay")
	}
}

func (v *View) thumbsOf() {
	v.Menu.begin(&v.quads)
	v.Menu.thumbs()
}

// Rewinding and notices leave the map free.
func TestHUD_LinesLeaveTheMapFree(t *testing.T) {
	keys := render.DefaultBindings()
	v := newView(t, 2, tiers.Config{})
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	v.back.share, v.back.left = 1, 1
	for i := range v.short.left {
		v.short.left[i] = 9
	}
	for _, size := range append(phones, image.Pt(1280, 720)) {
		for _, d := range []render.Device{render.Keyboard, render.Touch} {
			v.Point(vec{}, d, false, [2]render.Thumb{})
			v.frameOf(shaped(size), 1)
			x, y, _ := v.mapAt()
			lo, hi := v.ui.view.Apply(vec{x, y}), v.ui.view.Apply(vec{x + mapSide, y + mapSide})
			for name, draw := range map[string]func(){"rewinding": v.rewinding, "absence": func() { v.absence(1) }, "shortage": v.shortage} {
				v.open()
				v.begin(game.Signs, v.ui.view)
				draw()
				if x0, y0, x1, y1 := extent(&v.quads); x0 < hi[0] && x1 > lo[0] && y0 < hi[1] && y1 > lo[1] {
					t.Errorf("%v, %v: %s lies on the map: %v,%v to %v,%v", size, d, name, x0, y0, x1, y1)
				} else if x1 > float32(size.X) {
					t.Errorf("%v, %v: %s ends at %v", size, d, name, x1)
				}
			}
		}
	}
}

// In a window of 1280 × 720 half of a hint was below a panel.
func TestHint_LiesBesidePanels(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	b := render.DefaultBindings()
	lines := coachLines(&b, render.Keyboard)
	var long [2]overlay.Part // one above the other
	for i := range long {
		var err error
		if long[i], err = v.Overlay.Add(overlay.Panel{Title: "long", Cols: 38, Rows: 28, Draw: func(*render.Panel) {}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []image.Point{{X: 1280, Y: 720}, {X: 1920, Y: 1080}} {
		for _, parts := range [][]overlay.Part{{overlay.Strip}, long[:]} {
			for _, part := range parts {
				v.Overlay.Show(part, true)
			}
			v.frameOf(shaped(size), 1)
			v.Overlay.Leave(v.margins())
			v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
			for _, text := range lines[coach.Silent+1:] {
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.subtitle(text)
				x0, y0, x1, y1 := extent(&v.quads)
				if middle := (x0 + x1) / float32(size.X); len(parts) == 1 && (middle < 0.98 || middle > 1.02) || v.Overlay.Covers(x0, y0, x1-x0, y1-y0) {
					t.Errorf("%v, parts %v: %q is at %v,%v to %v,%v", size, parts, text, x0, y0, x1, y1)
				}
			}
			for _, part := range parts {
				v.Overlay.Show(part, false)
			}
		}
	}
}

// On phones a hint lay below the panel of F3.
func TestHint_IsNotBelowPanelsOfPhones(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	v.Point(vec{}, render.Touch, false, [2]render.Thumb{})
	v.Overlay.Density(1)
	lines := coachLines(&keys, render.Touch)
	for _, size := range phones {
		for _, parts := range [][]overlay.Part{nil, {overlay.Strip}, {overlay.Tiers}, {overlay.Strip, overlay.Tiers}} {
			v.frameWith(size, parts)
			for _, text := range lines[coach.Silent+1:] {
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.subtitle(text)
				x0, y0, x1, y1 := extent(&v.quads)
				if n := v.quads.Len(); n > 0 && v.Overlay.Covers(x0, y0, x1-x0, y1-y0) || n == 0 && len(parts) == 0 {
					t.Errorf("%v, parts %v: %q of %d vertices is at %v,%v to %v,%v", size, parts, text, n, x0, y0, x1, y1)
				}
			}
			for _, part := range parts {
				v.Overlay.Show(part, false)
			}
		}
	}
}

func TestSplit_CutsBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text        string
		most        int
		first, rest string
	}{
		{"A HORDE", 7, "A HORDE", ""}, {"A HORDE", 6, "A", "HORDE"}, {"A HORDE", 0, "A", "HORDE"}, {"HORDES", 2, "HORDES", ""},
		{"A    B", 3, "A", "B"}, {"A B    C D", 7, "A B", "C D"}, {"Ä Ö Ü", 3, "Ä Ö", "Ü"}, {"", 3, "", ""}, {"HORDES COME", 3, "HORDES", "COME"},
	} {
		if first, rest := split(c.text, c.most); first != c.first || rest != c.rest {
			t.Errorf("%q in %d: %q and %q", c.text, c.most, first, rest)
		}
	}
}

// still never does anything, and only has the eye look.
func still(f *newcomer.Frame) { f.Texts, f.Sprites, f.Rings, f.Triangles = nil, nil, nil, nil }

// lesson plays for two seconds without a player, and returns the texts on the screen.
func lesson(t *testing.T, set func(b *sitting)) (texts []string, hash uint64) {
	t.Helper()
	b := sit(t, 1, "ember")
	b.sh.Step(shell.Nav{Select: true})
	set(b)
	var all []string
	b.blind = func(f *newcomer.Frame) {
		all = all[:0]
		for _, x := range f.Texts {
			all = append(all, x.Text)
		}
		still(f)
	}
	b.play(120, func(*game.Game) bool { return false })
	return slices.Clone(all), b.v.s.Game.Hash()
}

// A new player reads how to move, in the words of the bindings and the device, and what the arrow points at. The game
// does not depend on it.
func TestView_TeachesANewPlayer(t *testing.T) {
	testenv.Long(t)
	var hashes []uint64
	for _, c := range []struct {
		name string
		set  func(*sitting)
		want string // "" is no hint
	}{
		{"a keyboard", func(*sitting) {}, "WASD: MOVE"},
		{"other keys", func(b *sitting) { _ = b.keys.Bind(int(render.MoveUp), 0, "I") }, "IASD: MOVE"},
		{"a gamepad", func(b *sitting) { b.device = render.Gamepad }, "LEFT STICK: MOVE"},
		{"fingers", func(b *sitting) { b.device = render.Touch }, "LEFT THUMB: MOVE"},
		{"not a player", func(b *sitting) { b.v.Teach(false) }, ""},
		{"the settings", func(b *sitting) { b.sh.End(shell.Result{}); b.sh.Step(shell.Nav{}); again(b.sh) }, ""},
	} {
		texts, hash := lesson(t, c.set)
		hashes = append(hashes, hash)
		if told := slices.Contains(texts, c.want) && slices.Contains(texts, "SEAL"); told != (c.want != "") {
			t.Errorf("%s: the screen says %q, want %q", c.name, texts, c.want)
		}
		if c.want == "" && slices.ContainsFunc(texts, func(s string) bool { return strings.HasSuffix(s, ": MOVE") || s == "SEAL" }) {
			t.Errorf("%s: the screen says %q", c.name, texts)
		}
	}
	for _, h := range hashes {
		if h != hashes[0] {
			t.Errorf("hints change the game: %x", hashes)
		}
	}
}

// again starts a second run.
func again(s *shell.Shell) {
	for range 60 {
		s.Step(shell.Nav{})
	}
	s.Step(shell.Nav{Select: true})
}
