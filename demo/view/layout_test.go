package view

import (
	"image"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hajimehoshi/ebiten/v2"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
	"github.com/strata-go/strata/render/overlay"
)

// windows are usual sizes: of a small window, of desktops, and of a phone in both directions.
var windows = []image.Point{{X: 640, Y: 360}, {X: 1280, Y: 720}, {X: 1920, Y: 1080}, {X: 390, Y: 844}, {X: 844, Y: 390}}

// small are the sizes of small phones in both directions, and of small windows. On these the canvas is the smallest.
var small = []image.Point{{X: 320, Y: 568}, {X: 360, Y: 640}, {X: 300, Y: 460}, {X: 320, Y: 552}, {X: 568, Y: 320}, {X: 460, Y: 300}, {X: 530, Y: 360}}

// parts are what the HUD draws at most at the same time, with notices and a hint.
func (v *View) parts() map[string]func() {
	at := v.safe()
	return map[string]func(){
		"score": func() { v.scores(at.lo) }, "seals and heat": func() { v.progress(vec{at.hi[0], at.lo[1]}) }, "gauges": func() { v.gauges(at) },
		"map": v.drawMap, "warden": func() { middle, wide := v.bossAt(at); v.bossGauge(middle, wide, 1) }, "shortage": v.shortage, "absence": func() { v.absence(1) },
		"rewinding": v.rewinding, "hint": func() { v.subtitle("THE ARROW POINTS AT A SEAL: BREAK ALL FOUR OF THEM, ONE AFTER THE OTHER") },
	}
}

// What is read at the same time does not overlap, and the overlay begins below score, seals and heat.
func TestHUD_NothingThatIsReadTogetherOverlaps(t *testing.T) {
	const near = 0.5 // pixels
	v := newShown(t, session.Config{Autopilot: true, Rewind: 1 << 20, Game: game.Config{Seed: 7, Quads: 20_000}})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Playing: true}), &keys) // without a menu every device is a keyboard
	v.playTo(t, 2)
	v.s.Game.Multiplier, v.s.Game.Score = 9, 1_234_567
	v.back.share, v.back.left, v.back.off = 1, 1, 0 // in debug builds states are too slow for Rewind, which has a notice
	for i := range game.LostKinds {
		v.short.left[i] = 9
	}
	for _, size := range slices.Concat(windows, small) {
		for _, d := range []render.Device{render.Keyboard, render.Touch} {
			v.Point(vec{}, d, false, [2]render.Thumb{})
			v.frameOf(shaped(size), 1)
			at := map[string][4]float32{}
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.parts()["hint"]() // notices move off it
			for name, draw := range v.parts() {
				v.open()
				v.begin(game.Signs, v.ui.view)
				draw()
				x0, y0, x1, y1 := extent(&v.quads)
				if v.quads.Len() == 0 {
					t.Errorf("%v: no %s", size, name)
				}
				at[name] = [4]float32{x0, y0, x1, y1}
			}
			for a, p := range at {
				for b, q := range at {
					if a < b && p[0]+near < q[2] && q[0]+near < p[2] && p[1]+near < q[3] && q[1]+near < p[3] {
						t.Errorf("%v, device %v: %s at %v lies over %s at %v", size, d, a, p, b, q)
					}
				}
			}
			scale := max(1, float32(math.Floor(float64(size.Y)/360))/2) // the overlay's
			above, _ := v.margins()
			top := scale * float32(math.Round(float64(render.Grid+above*float32(size.Y)/scale)))
			for _, name := range []string{"score", "seals and heat"} {
				if at[name][3] > top {
					t.Errorf("%v: %s end at %g, the overlay begins at %g", size, name, at[name][3], top)
				}
			}
		}
	}
}

// panels are what the overlay covers, in its own pixels, in windows of a size: a strip, a panel, and both, as F1 and F3
// place them.
func (v *View) panels(size image.Point) (scale float32, all [][]reach) {
	scale = max(1, float32(math.Floor(float64(size.Y)/360))/2)
	w, h := float32(size.X)/scale, float32(size.Y)/scale
	above, below := v.margins()
	top, foot := float32(math.Round(float64(render.Grid+above*h))), float32(math.Round(float64(h-render.Grid-below*h)))
	strip, side := min(w-16, 592), min(w-16, 304)
	if w >= 960 {
		side = 592
	}
	left, right := reach{vec{8, top}, vec{8 + side, foot}}, reach{vec{w - 8 - side, top}, vec{w - 8, foot}}
	first, last := reach{vec{8, top}, vec{8 + strip, top + 48}}, reach{vec{8, foot - 48}, vec{8 + strip, foot}}
	all = [][]reach{{}, {first}, {last}}
	if size.Y < size.X { // a panel of an upright phone is as wide as the screen, and lower
		all = append(all, []reach{left}, []reach{right})
		for _, panel := range []reach{left, right} {
			under, over := panel, panel
			under.lo[1], over.hi[1] = top+56, foot-56
			all = append(all, []reach{first, under}, []reach{last, over})
		}
	} else {
		left.hi[1] = top + 312
		all = append(all, []reach{left}, []reach{first, {vec{8, top + 56}, left.hi.Add(vec{0, 56})}})
	}
	return scale, all
}

// The strip of the overlay has up to seven lines on a narrow screen, and lay where the map is. The map moves below it.
func TestHUD_TheMapLeavesTheStrip(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.Overlay.Show(overlay.Strip, true)
	for _, size := range slices.Concat(windows, small) {
		v.frameOf(shaped(size), 1)
		v.Overlay.Leave(v.margins())
		v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
		x, y, free := v.mapAt()
		if !free || v.hidden(x, y, mapSide, mapSide) {
			t.Errorf("%v: the strip ends at %g, the map begins at %g, free %v", size, v.Overlay.Bottom(), v.ui.view.Apply(vec{x, y})[1], free)
		}
	}
}

// On the title F3 was below the menu, and cards, and in small windows the pause, lay over panels. Title and pause move
// aside. If there is no space the panels are not drawn, and the prompt names the key that shows them.
func TestMenu_LiesBesidePanels(t *testing.T) {
	keys := render.DefaultBindings()
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Gifts[game.GiftSparks] = 1
	aside := []image.Point{{X: 1280, Y: 720}, {X: 1920, Y: 1080}, {X: 844, Y: 390}, {X: 390, Y: 844}, {X: 360, Y: 800}}
	for screen, reach := range screens {
		sh := shell.New(shell.Config{Bindings: &keys})
		v.Attach(sh, &keys)
		if reach(sh); screen == shell.Playing {
			continue
		}
		for i, size := range append(aside, image.Pt(640, 360), image.Pt(480, 270), image.Pt(320, 180)) {
			for _, open := range [][]overlay.Part{{overlay.Strip}, {overlay.Tiers}, {overlay.Help}, {overlay.Strip, overlay.Tiers}, {overlay.Tiers, overlay.Maps, overlay.Memory}} {
				v.frameWith(size, open)
				c := v.Canvas(render.Keyboard)
				for sh.Place(c.Shell()); sh.Age() < 90; {
					sh.Step(shell.Nav{})
				}
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.menu()
				v.begin(game.Signs, v.ui.view)
				v.Menu.Hint = "YOUR EMBERS BOUGHT A GIFT: TAKE ONE"
				v.Menu.Draw(&v.quads)
				n, over := 0, 0
				letters(&v.quads, func(x0, y0, x1, y1 float32) {
					n++
					if v.Overlay.Covers(x0, y0, x1-x0, y1-y0) {
						over++
					}
				})
				said, _ := v.Menu.prompted()
				fits := i < len(aside) && len(open) == 1 && v.Menu.narrow() && (screen != shell.Gifts || open[0] == overlay.Strip && size.X > 360 && size.Y > 400)
				switch said = said[max(0, len(said)-len("F5: PANELS")):]; {
				case n < 20 || over > 0 && !v.Menu.away || fits && v.Menu.away:
					t.Errorf("%v, screen %d, parts %v: of %d letters %d lie over a panel; away: %v", size, screen, open, n, over, v.Menu.away)
				case (said == "F5: PANELS") != v.Menu.away && v.Menu.narrow():
					t.Errorf("%v, screen %d, parts %v: away: %v, and the screen says %q", size, screen, open, v.Menu.away, said)
				case screen == shell.Setup && !v.Menu.away:
					t.Errorf("%v, parts %v: they shine through the settings", size, open)
				}
				for _, part := range open {
					v.Overlay.Show(part, false)
				}
			}
		}
	}
}

// On upright phones the panels of F3 and F9 hid the ship, and the strip lay where thumbs rest.
func TestHUD_PanelsLeaveTheShipAndTheSticksOfPhones(t *testing.T) {
	keys := render.DefaultBindings()
	v := newView(t, 2, tiers.Config{})
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	for _, size := range []image.Point{{X: 390, Y: 844}, {X: 360, Y: 640}, {X: 320, Y: 568}, {X: 320, Y: 552}, {X: 375, Y: 667}, {X: 390, Y: 664}, {X: 360, Y: 740}} {
		for _, d := range []render.Device{render.Keyboard, render.Touch} {
			v.Point(vec{}, d, false, [2]render.Thumb{})
			v.frameOf(shaped(size), 1)
			for _, part := range []overlay.Part{overlay.Help, overlay.Tiers, overlay.Memory, overlay.Strip} {
				v.Overlay.Show(part, true)
				v.Overlay.Show(overlay.Tiers, part == overlay.Tiers || part == overlay.Strip)
				v.Overlay.Leave(v.margins())
				v.Overlay.Avoid(v.shipArea())
				v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
				v.Overlay.Show(part, false)
				v.Overlay.Show(overlay.Tiers, false)
				ship := v.shipArea()
				over := func(x, y, w, h float32) bool {
					lo, hi := v.ui.view.Apply(vec{x, y}), v.ui.view.Apply(vec{x + w, y + h})
					return ship.Overlaps(image.Rect(int(lo[0]+0.5), int(lo[1]+0.5), int(hi[0]), int(hi[1])))
				}
				if x, y, free := v.mapAt(); free && over(x, y, mapSide, mapSide) {
					t.Errorf("%v, device %v, part %d: the map at %v,%v lies over the ship", size, d, part, x, y)
				}
				for i := range 8 {
					aim := engine.Heading(float32(i) / 8 * 2 * math.Pi)
					v.cam.Center = v.s.Game.Player.P.Add(aim.Mul(lookAhead))
					at, r := v.cam.View(v.port).Apply(v.s.Game.Player.P), (beaconLeast+beaconCrowd)*v.port.Scale
					if v.Overlay.Covers(at[0]-r, at[1]-r, 2*r, 2*r) {
						t.Errorf("%v, device %v, part %d: the ship at %v is covered", size, d, part, at)
					}
				}
			}
			if _, all := v.panels(size); d == render.Touch {
				stick := float32(size.Y) - (stickAbove+render.ThumbTravel)*v.port.Scale
				if foot := all[2][0].hi[1]; foot > stick {
					t.Errorf("%v: the overlay ends at %g, the sticks begin at %g", size, foot, stick)
				}
			}
		}
	}
}

// In windows of 568 × 320 to 1280 × 720 a panel of the overlay hid the ship.
func TestHUD_TheShipIsBesidePanels(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	for _, size := range []image.Point{{X: 568, Y: 320}, {X: 640, Y: 360}, {X: 844, Y: 390}, {X: 960, Y: 540}, {X: 1280, Y: 720}, {X: 1920, Y: 1080}} {
		for _, part := range []overlay.Part{overlay.Help, overlay.Tiers, overlay.Maps, overlay.Memory, overlay.Heap} {
			for _, strip := range []bool{false, true} {
				v.Overlay.Show(part, true)
				v.Overlay.Show(overlay.Strip, strip)
				v.frameOf(shaped(size), 1)
				v.Overlay.Leave(v.margins())
				v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
				for range 120 {
					v.Update()
				}
				at, r := v.cam.View(v.port).Apply(v.s.Game.Player.P), (beaconLeast+beaconCrowd)*v.port.Scale
				if v.Overlay.Covers(at[0]-r, at[1]-r, 2*r, 2*r) || at[0]-r < 0 || at[0]+r > float32(size.X) {
					t.Errorf("%v, part %d, strip %v: the ship at %v is covered", size, part, strip, at)
				}
				lo, hi := v.cam.Bounds(v.port)
				if p := v.s.Game.Player.P[0]; max(p-lo[0], hi[0]-p) > 470 && size.X*9 <= size.Y*16 {
					t.Errorf("%v, part %d: %g to %g are in sight of %g", size, part, lo[0], hi[0], p)
				}
				v.Overlay.Show(part, false)
			}
		}
	}
	v.Overlay.Show(overlay.Strip, false)
	v.Overlay.Draw(ebiten.NewImage(640, 360))
	for range 120 {
		v.Update()
	}
	if v.aside > 1 || v.aside < -1 {
		t.Errorf("without a panel the ship is %g aside", v.aside)
	}
}

// In windows of 640 × 360 and less F1 and F3 hid the ship, and in larger ones two panels did. No set of at most two of
// the overlay's panels hides it, wherever it aims. Panels that have no space are named.
func TestHUD_TwoPanelsLeaveTheShip(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	sets := [][]overlay.Part{{}}
	for a := overlay.Strip; a <= overlay.Heap; a++ {
		sets = append(sets, []overlay.Part{a})
		for b := a + 1; b <= overlay.Heap; b++ {
			sets = append(sets, []overlay.Part{a, b})
		}
	}
	for _, size := range []image.Point{{X: 480, Y: 270}, {X: 568, Y: 320}, {X: 600, Y: 450}, {X: 640, Y: 360}, {X: 800, Y: 450}, {X: 844, Y: 390}, {X: 960, Y: 540}, {X: 1024, Y: 768}, {X: 1100, Y: 600}, {X: 1280, Y: 720}} {
		for _, density := range []float32{0, 1} {
			for _, open := range sets {
				v.Overlay.Density(density)
				v.frameWith(size, open)
				v.aside = v.besidePanels()
				for i := range 8 {
					aim := engine.Heading(float32(i) / 8 * 2 * math.Pi)
					v.cam.Center = v.s.Game.Player.P.Add(aim.Mul(lookAhead)).Sub(vec{v.aside, 0})
					at, r := v.cam.View(v.port).Apply(v.s.Game.Player.P), (beaconLeast+beaconCrowd)*v.port.Scale
					if v.Overlay.Covers(at[0]-r, at[1]-r, 2*r, 2*r) {
						t.Errorf("%v, density %g, parts %v: the ship at %v is covered", size, density, open, at)
						break
					}
				}
				for _, part := range open {
					v.Overlay.Show(part, false)
				}
			}
		}
	}
}

// The arrow named WARDEN pointed at the heart, also while the warden was on the other side of the screen.
func TestHUD_TheArrowPointsAtTheWarden(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	g := v.s.Game
	g.Goal = realm.Heart
	v.frameOf(shaped(image.Pt(1280, 720)), 1)
	ship := g.Player.P
	v.cam.Center = ship
	v.warden.drawn = true
	v.open()
	v.begin(game.Sprites, v.port.View())
	if v.enemies(); v.warden.drawn {
		t.Error("a warden is remembered that is not there")
	}
	for _, p := range []vec{{900, 0}, {-400, 0}, {0, 600}} {
		v.warden.note(&game.Seen{Kind: realm.Drifter, P: ship}, ship)
		v.warden.note(&game.Seen{Kind: realm.Warden, P: ship.Add(p)}, ship)
	}
	arrow := func() (x float32, n int) {
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.compass()
		x0, _, x1, _ := extent(&v.quads)
		return (x0 + x1) / 2, v.quads.Len()
	}
	if x, n := arrow(); n == 0 || x > 400 {
		t.Errorf("the nearest warden is at the left, the arrow of %d vertices at %g", n, x)
	}
	v.warden.at = ship.Add(vec{200, 100})
	if _, n := arrow(); n != 0 {
		t.Error("the warden is in sight, and there is an arrow")
	}
	g.Phase, g.PortalAt = game.Opened, ship.Add(vec{900, 0})
	if x, n := arrow(); n == 0 || x < 800 {
		t.Errorf("the portal is at the right, the arrow of %d vertices at %g", n, x)
	}
}

// The arrow lay over the seals, the gauges and the map of small windows, and below the strip of the overlay.
func TestHUD_TheArrowLiesOverNothing(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	for i, size := range slices.Concat(windows, small, windows, small) {
		v.Overlay.Show(overlay.Strip, i >= len(windows)+len(small))
		v.frameOf(shaped(size), 1)
		v.Overlay.Leave(v.margins())
		v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
		at := map[string][4]float32{}
		for _, name := range []string{"score", "seals and heat", "gauges", "map"} {
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.parts()[name]()
			x0, y0, x1, y1 := extent(&v.quads)
			at[name] = [4]float32{x0, y0, x1, y1}
		}
		for i := range 64 {
			to := engine.Heading(float32(i) / 64 * 2 * math.Pi)
			v.cam.Center = v.s.Game.GoalAt().Sub(to.Mul(1500))
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.compass()
			x0, y0, x1, y1 := extent(&v.quads)
			if v.quads.Len() == 0 && !v.Overlay.Shown(overlay.Strip) {
				t.Errorf("%v: towards %v there is no arrow", size, to)
			}
			for name, p := range at {
				if x0 < p[2] && p[0] < x1 && y0 < p[3] && p[1] < y1 {
					t.Errorf("%v: towards %v the arrow at %v,%v to %v,%v lies over %s at %v", size, to, x0, y0, x1, y1, name, p)
				}
			}
			if v.Overlay.Covers(x0, y0, x1-x0, y1-y0) {
				t.Errorf("%v: towards %v the arrow at %v,%v to %v,%v is below the strip", size, to, x0, y0, x1, y1)
			}
		}
	}
}

// The name at the arrow lay below the strip, and notices lay over it. It is not written there, and is in the colour of
// the arrow: in the spore it had the colour of elites.
func TestHUD_TheNameAtTheArrowIsRead(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.teacher.on = true
	n := 0
	for _, size := range slices.Concat(windows, small) {
		for _, parts := range [][]overlay.Part{nil, {overlay.Strip}, {overlay.Strip, overlay.Tiers}} {
			v.frameWith(size, parts)
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.subtitle("BREAK THE FOUR SEALS, THEN THE WARDEN: FOLLOW THE ARROW")
			v.notice([]byte("TIME RUNS AT 43 %: THIS MACHINE IS TOO SLOW"))
			v.rewinding()
			var text [][4]float32
			letters(&v.quads, func(x0, y0, x1, y1 float32) { text = append(text, [4]float32{x0, y0, x1, y1}) })
			for i := range 64 {
				to := engine.Heading(float32(i) / 64 * 2 * math.Pi)
				v.cam.Center = v.s.Game.GoalAt().Sub(to.Mul(1500))
				v.open()
				v.begin(game.Signs, v.ui.view)
				v.compass()
				letters(&v.quads, func(x0, y0, x1, y1 float32) {
					n++
					covered := v.Overlay.Covers(x0, y0, x1-x0, y1-y0)
					for _, b := range text {
						covered = covered || x0 < b[2] && x1 > b[0] && y0 < b[3] && y1 > b[1]
					}
					if covered {
						t.Errorf("%v, parts %v, towards %v: a letter at %v,%v is covered", size, parts, to, x0, y0)
					}
				})
				if c, at := faintest(&v.quads); c < leastContrast {
					t.Errorf("%v: the name has a contrast of %.2f at %v", size, c, at)
				}
			}
			for _, part := range parts {
				v.Overlay.Show(part, false)
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d letters are written", n)
	}
}

// With F3 open the notice of a slow machine lay over the ship. Notices, and what rewinding writes, are off the ship,
// the hint, the overlay and each other.
func TestHUD_NoticesLieOverNothing(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	v.back.share, v.back.left = 1, 1
	texts := []string{"NO ROOM FOR SCORCHED GROUND", "GROUND DOES NOT COME: TRYING AGAIN", "REWIND IS OFF: A STATE HAS 100.1 MiB OF 64.0 MiB", "TIME RUNS AT 43 %: THIS MACHINE IS TOO SLOW"}
	for _, size := range slices.Concat(windows, small) {
		for _, parts := range [][]overlay.Part{nil, {overlay.Strip}, {overlay.Tiers}, {overlay.Strip, overlay.Tiers}, {overlay.Tiers, overlay.Memory}} {
			for _, d := range []render.Device{render.Keyboard, render.Touch} {
				v.Point(vec{}, d, false, [2]render.Thumb{})
				v.frameWith(size, parts)
				v.aside = v.besidePanels()
				for _, at := range [][]int{{0, 3}, {1}, {2}, {0, len(texts)}} { // at the same time
					v.noticed = 0
					v.open()
					v.begin(game.Signs, v.ui.view)
					v.subtitle("THE ARROW POINTS AT A SEAL: BREAK ALL FOUR OF THEM, ONE AFTER THE OTHER")
					x0, y0, x1, y1 := extent(&v.quads)
					taken := []image.Rectangle{image.Rect(int(x0+0.5), int(y0+0.5), int(x1), int(y1))}
					if slices.Contains(windows, size) && !v.ui.tall() && len(parts) < 2 {
						taken = append(taken, v.shipArea())
					}
					for _, i := range at {
						v.open()
						v.begin(game.Signs, v.ui.view)
						if i < len(texts) {
							v.notice([]byte(texts[i]))
						} else {
							v.rewinding()
						}
						if v.quads.Len() == 0 {
							if len(parts) == 0 && slices.Contains(windows, size) || size == (image.Point{X: 1280, Y: 720}) && len(parts) < 2 {
								t.Errorf("%v, device %v, parts %v: no text %d", size, d, parts, i)
							}
							continue
						}
						x0, y0, x1, y1 := extent(&v.quads)
						r := image.Rect(int(x0+0.5), int(y0+0.5), int(x1), int(y1))
						if v.Overlay.Covers(x0, y0, x1-x0, y1-y0) || !r.In(image.Rectangle{Max: size}) || slices.ContainsFunc(taken, r.Overlaps) {
							t.Errorf("%v, device %v, parts %v: text %d is at %v; the hint, the ship and others are at %v", size, d, parts, i, r, taken)
						}
						taken = append(taken, r)
					}
				}
				for _, part := range parts {
					v.Overlay.Show(part, false)
				}
			}
		}
	}
}

// A shortage has one row: in the next one another notice is written.
func TestHUD_AShortageTakesOneRow(t *testing.T) {
	var v View
	for most := int(noticeLeast / render.GlyphW); most < 120; most++ {
		for first := range shortKinds {
			v.short.left[first] = 1
			if text := v.shortages(nil, most); utf8.RuneCount(text) > most {
				t.Errorf("%d letters are allowed: %q", most, text)
			}
		}
		v.short.left = [shortKinds]int{}
	}
}

// The overlay leaves the gauges at the foot free.
func TestHUD_TheOverlayEndsAboveTheGauges(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Rewind: 1 << 20, Game: game.Config{Seed: 7, Quads: 20_000}}) // with charges
	v.playTo(t, 2)
	v.back.off = 0 // the notice that Rewind is off is no gauge
	for _, most := range []int{game.HullMax, game.HullMax + 10} {
		v.s.Game.Player.Most = most
		for _, size := range slices.Concat(windows, small) {
			v.frameOf(shaped(size), 1)
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.gauges(v.safe())
			scale, all := v.panels(size)
			bottom := scale * all[2][0].hi[1]
			if _, top, _, _ := extent(&v.quads); top < bottom-1 {
				t.Errorf("%v, hull %d: the gauges begin at %g, the overlay ends at %g", size, most, top, bottom)
			}
			var plates []image.Rectangle
			for q := v.quads.Vertices(); len(q) >= render.VertsPerQuad; q = q[1:] {
				high := (q[3].DstY - q[0].DstY) / v.ui.view.Scale
				if q[0].DstX != q[2].DstX || q[0].DstY != q[1].DstY || q[3].DstX-q[0].DstX < 40 || math.Abs(float64(high)-17) > 0.01 {
					continue // it is no plate
				}
				p := image.Rect(int(q[0].DstX+0.5), int(q[0].DstY+0.5), int(q[3].DstX+0.5), int(q[3].DstY+0.5))
				q = q[render.VertsPerQuad-1:]
				for _, other := range plates {
					if p.Overlaps(other) {
						t.Errorf("%v, hull %d: the gauge at %v lies over that at %v", size, most, p, other)
					}
				}
				if plates = append(plates, p); p.Min.X < 0 || p.Max.X > size.X {
					t.Errorf("%v, hull %d: a gauge is at %v", size, most, p)
				}
			}
			if n := len(plates); n < 3 || n < 4 && most == game.HullMax && slices.Contains(windows, size) {
				t.Errorf("%v, hull %d: %d gauges", size, most, n)
			}
		}
	}
}

// On an upright screen the bar of the gift ended before the plates above and below it.
func TestHUD_RowsOfAnUprightScreenEndTogether(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Rewind: 1 << 20, Game: game.Config{Seed: 7, Quads: 20_000}}) // with charges
	v.playTo(t, 2)
	for _, size := range slices.Concat(windows, small) {
		if v.frameOf(shaped(size), 1); !v.ui.tall() {
			continue
		}
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.gauges(v.safe())
		ends := map[int]float32{} // of the last plate, by its upper edge
		for q := v.quads.Vertices(); len(q) >= render.VertsPerQuad; q = q[1:] {
			high := (q[3].DstY - q[0].DstY) / v.ui.view.Scale
			if q[0].DstX == q[2].DstX && q[0].DstY == q[1].DstY && q[3].DstX-q[0].DstX >= 40 && math.Abs(float64(high)-gaugeHigh) < 0.01 {
				ends[int(q[0].DstY+0.5)] = max(ends[int(q[0].DstY+0.5)], q[3].DstX)
			}
		}
		want := v.ui.view.Apply(vec{v.safe().hi[0] + 4, 0})[0]
		for y, end := range ends {
			if end < want/2 && !slices.Contains(windows, size) {
				continue // the hull's row, without the gauge of memory
			}
			if len(ends) != 2 || math.Abs(float64(end-want)) > 0.5 {
				t.Errorf("%v: the row at %d ends at %g of %d; want %g", size, y, end, len(ends), want)
			}
		}
	}
}

// A machine that is too slow is named for some seconds of play, on every screen.
func TestView_SaysThatTheMachineIsTooSlow(t *testing.T) {
	v := newShown(t, session.Config{Autopilot: true, Game: game.Config{Seed: 7, Quads: 20_000}})
	v.Slow(0.5)
	for range slowTime { // no realm is played: no notice is displayed
		v.Update()
	}
	v.playTo(t, 2)
	v.back.off = slowTime // why nothing can be rewound is in its line, and comes first
	for range slowTime {
		v.Update()
	}
	v.back.share = 1 // so is how much can be rewound
	if v.slowness(); len(v.text) > 0 {
		t.Errorf("while time runs backwards the screen says %q", v.text)
	}
	v.back.share = 0
	for _, size := range windows {
		v.frameOf(shaped(size), 1)
		v.open()
		v.begin(game.Signs, v.ui.view)
		if v.slowness(); string(v.text) != "TIME RUNS AT 50 %: THIS MACHINE IS TOO SLOW" {
			t.Errorf("the screen says %q", v.text)
		}
		if x0, y0, x1, y1 := extent(&v.quads); x0 < 0 || y0 < 0 || x1 > float32(size.X) || y1 > float32(size.Y) {
			t.Errorf("%v: it is at %v,%v to %v,%v", size, x0, y0, x1, y1)
		}
	}
	for range slowTime {
		v.Update()
	}
	v.text = v.text[:0]
	if v.slowness(); len(v.text) > 0 {
		t.Errorf("later it still says %q", v.text)
	}
}

// The small cards of a gift lie in the window: with 460 pixels they left it by three. They are not drawn in a frozen
// game: it takes none, and the overlay may lie over them.
func TestHUD_OffersLieInTheWindowUnlessFrozen(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Offered = true
	for _, size := range slices.Concat(windows, small) {
		vp := shaped(size)
		v.frameOf(vp, 1)
		for _, frozen := range []bool{false, true} {
			v.frozen = frozen
			v.open()
			v.begin(game.Signs, v.ui.view)
			v.offers()
			if x0, _, x1, _ := extent(&v.quads); (v.quads.Len() == 0) != frozen || !frozen && (x0 < float32(vp.X) || x1 > float32(vp.X+vp.W)) {
				t.Errorf("%v, frozen %v: %d vertices from %g to %g", size, frozen, v.quads.Len(), x0, x1)
			}
		}
	}
}

// The horde shone through the small cards of a gift.
func TestHUD_OffersAreOpaque(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Offered = true
	for _, size := range slices.Concat(windows, small) {
		v.frameOf(shaped(size), 1)
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.offers()
		plates := [][4]float32{}
		for q := v.quads.Vertices(); len(q) >= render.VertsPerQuad; q = q[render.VertsPerQuad:] {
			if a, b := &q[0], &q[3]; a.SrcX == b.SrcX && a.ColorA == 1 && max(a.ColorR, a.ColorG, a.ColorB) < 0.05 {
				plates = append(plates, [4]float32{a.DstX, a.DstY, b.DstX, b.DstY})
			}
		}
		letters(&v.quads, func(x0, y0, x1, y1 float32) {
			if !slices.ContainsFunc(plates, func(p [4]float32) bool { return p[0] <= x0 && p[1] <= y0 && p[2] >= x1 && p[3] >= y1-1 }) {
				t.Errorf("%v: a letter at %v,%v lies on no opaque card of %v", size, x0, y0, plates)
			}
		})
		if len(plates) != len(v.s.Game.Offer) {
			t.Errorf("%v: %d opaque cards", size, len(plates))
		}
	}
}

// The figure was named MEMORY and is that of the pools alone: the overlay has a much larger sum.
func TestHUD_TheMemoryOfPoolsIsNamed(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.open()
	v.begin(game.Signs, v.ui.view)
	if v.memoryGauge(v.safe().hi); !strings.HasPrefix(string(v.text), "POOLS ") {
		t.Errorf("it is %q", v.text)
	}
}

// The points of what fell lay behind the items of the pause.
func TestPopups_AreNotBehindAMenu(t *testing.T) {
	keys := render.DefaultBindings()
	v := newView(t, 300, tiers.Config{})
	sh := shell.New(shell.Config{Bindings: &keys, Playing: true})
	v.Attach(sh, &keys)
	shown := func() int {
		v.open()
		v.begin(game.Signs, v.ui.view)
		v.popups(v.port)
		return v.quads.Len()
	}
	for limit := 0; shown() == 0; limit++ {
		if limit == 600 {
			t.Fatal("nothing fell")
		}
		v.playTo(t, v.s.Game.Ticks+1)
	}
	if sh.Step(shell.Nav{Pause: true}); sh.Screen() != shell.Paused || shown() != 0 {
		t.Errorf("on screen %d there are %d vertices", sh.Screen(), shown())
	}
}

// The score is written as the summary writes it.
func TestHUD_TheScoreHasGroups(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	v.s.Game.Score, v.s.Game.Multiplier = 1_234_567, 1
	v.open()
	v.begin(game.Signs, v.ui.view)
	if v.scores(v.safe().lo); string(v.text) != "1,234,567" {
		t.Errorf("the score is %q", v.text)
	}
}

// The bar of the heat is bright in every realm: a grey bar would look switched off.
func TestHUD_TheHeatIsNeverGrey(t *testing.T) {
	for _, name := range realm.Names {
		data, err := fs.ReadFile(assets.FS(), "levels/"+name+".json")
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		v := &View{}
		for i, c := range m.Palette {
			v.pal[i] = colorOf(c)
		}
		for heat := range game.HeatMost + 1 {
			if c := v.heatColor(float32(heat) / game.HeatMost); max(c.R, c.G, c.B) < 0.8 {
				t.Errorf("%s: at heat %d the bar is %v", name, heat, c)
			}
		}
	}
}

// frameWith draws the overlay with these parts in a window of this size.
func (v *View) frameWith(size image.Point, open []overlay.Part) {
	for _, part := range open {
		v.Overlay.Show(part, true)
	}
	v.frameOf(shaped(size), 1)
	v.Overlay.Leave(v.margins())
	v.Overlay.Avoid(v.avoidArea())
	v.Overlay.Within(v.panelArea())
	v.Overlay.Draw(ebiten.NewImage(size.X, size.Y))
}

// On an upright phone the name of a realm lay over the map, and on a wide one a long name did.
func TestHUD_LargeLettersLeaveMapAndNotices(t *testing.T) {
	v := newView(t, 2, tiers.Config{})
	keys := render.DefaultBindings()
	v.Attach(shell.New(shell.Config{Playing: true}), &keys)
	for _, phase := range []game.Phase{game.Announce, game.Opened} {
		v.s.Game.Phase, v.s.Game.PhaseTime = phase, 0.3
		for _, size := range slices.Concat(windows, small) {
			for _, d := range []render.Device{render.Keyboard, render.Touch} {
				v.Point(vec{}, d, false, [2]render.Thumb{})
				v.frameOf(shaped(size), 1)
				notices := func() { v.notice([]byte("GROUND DOES NOT COME: TRYING AGAIN")) }
				var taken []image.Rectangle
				for _, draw := range []func(){v.announce, v.drawMap, notices} {
					v.open()
					v.begin(game.Signs, v.ui.view)
					if draw(); v.quads.Len() == 0 {
						continue // a notice without space is not written
					}
					x0, y0, x1, y1 := extent(&v.quads)
					r := image.Rect(int(x0+0.5), int(y0+0.5), int(x1), int(y1))
					if slices.ContainsFunc(taken, r.Overlaps) {
						t.Errorf("%v, device %v, phase %v: %v lies over one of %v", size, d, phase, r, taken)
					}
					taken = append(taken, r)
				}
			}
		}
	}
}
