package view

import (
	"image"
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/render"
)

// outlineSide is the side, in pixels of a window of 1280 × 720, of the frame in which outlines are compared.
const outlineSide = 180

// An outline is what shines of a thing that is drawn alone, without its halo.
type outline struct {
	lit   [outlineSide][outlineSide]bool
	light float64 // mean lightness
}

func (s *scenery) outline(at vec, write func(at vec)) *outline {
	s.port = render.Fit(2*Width, 2*Height, Width, Height)
	defer func() { s.port = render.Fit(Width, Height, Width, Height) }()
	p := s.port.View().Apply(s.cam.ToScreen(at))
	r := newRaster(image.Rect(0, 0, outlineSide, outlineSide).Add(image.Pt(int(p[0])-outlineSide/2, int(p[1])-outlineSide/2)), s.texels)
	r.draw(s.batch(func() { write(at) }))
	o, n := &outline{}, 0.0
	for i, c := range r.pix {
		if max(c[0], c[1], c[2]) >= 0.4 {
			o.lit[i/outlineSide][i%outlineSide] = true
			o.light, n = o.light+tintOf(c).l, n+1
		}
	}
	o.light /= max(n, 1)
	return o
}

// overlap is the share of the pixels of both, by every fourth, that is common to them, at the angle at which it is
// largest: things in flight turn.
func (o *outline) overlap(b *outline) (most float64) {
	const angles, mid = 16, outlineSide / 2
	for k := range angles {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / angles)
		common, all := 0, 0
		for y := 0; y < outlineSide; y += 2 {
			for x := 0; x < outlineSide; x += 2 {
				dx, dy := float64(x)+0.5-mid, float64(y)+0.5-mid
				bx, by := int(math.Floor(dx*cos-dy*sin+mid)), int(math.Floor(dx*sin+dy*cos+mid))
				there := uint(bx) < outlineSide && uint(by) < outlineSide && b.lit[by][bx]
				if o.lit[y][x] && there {
					common++
				}
				if o.lit[y][x] || there {
					all++
				}
			}
		}
		most = max(most, float64(common)/float64(max(all, 1)))
	}
	return most
}

// still is overlap without a turn.
func (o *outline) still(b *outline) float64 {
	common, all := 0, 0
	for y := range o.lit {
		for x := range o.lit[y] {
			if o.lit[y][x] && b.lit[y][x] {
				common++
			}
			if o.lit[y][x] || b.lit[y][x] {
				all++
			}
		}
	}
	return float64(common) / float64(max(all, 1))
}

// things returns the outlines of what a player must tell apart, as drawn.
func (s *scenery) things() map[string]*outline {
	d, f := s.dress(), s.fire()
	at := s.s.Game.Player.P
	all := map[string]*outline{
		"ship":         s.outline(at, func(vec) { s.ship(s.port) }),
		"shot":         s.outline(at, func(at vec) { s.shot(&f, at, vec{1, 0}, false) }),
		"hostile shot": s.outline(at, func(at vec) { s.shot(&f, at, vec{1, 0}, true) }),
		"ember": s.outline(at, func(at vec) {
			s.ember(s.atlas.Lookup(s.ids.pickup[game.PickupScore]), s.ours().Mix(white, 0.4), at, 10)
		}),
	}
	for k, name := range game.PickupNames {
		all[name] = s.outline(at, func(at vec) { s.pickup(at, game.PickupKind(k)) })
	}
	for k := range realm.EnemyKinds {
		kind := realm.Enemy(k)
		all[kind.String()] = s.outline(at, func(at vec) { s.enemy(&game.Seen{P: at, Kind: kind}, &d) })
		all["elite "+kind.String()] = s.outline(at, func(at vec) { s.enemy(&game.Seen{P: at, Kind: kind, Elite: true}, &d) })
	}
	return all
}

const (
	mostAlike  = 0.5  // overlap of two outlines that differ at a glance
	leastShade = 0.05 // between the lightness of two kinds of the horde's small enemies
)

func TestOutlines_DifferInShapeLightAndMotion(t *testing.T) {
	testenv.Long(t)
	s := newScenery(t, realm.Names[0], 30, false)
	s.hurt(false)
	s.time = 0
	s.shapes(t)
	s.motion(t)
}

func (s *scenery) shapes(t *testing.T) {
	all := s.things()
	for a, x := range all {
		for b, y := range all {
			coins := strings.HasPrefix(a, "pickup") && strings.HasPrefix(b, "pickup") // told apart by what is on them
			if o := x.overlap(y); a < b && o > mostAlike && !coins {
				t.Errorf("%s and %s overlap by %.2f; at most %.2f", a, b, o, mostAlike)
			}
		}
	}
}

// Kinds of enemies differ in lightness, and only some of them change in shape.
func (s *scenery) motion(t *testing.T) {
	for _, clear := range [2]bool{false, true} {
		s.comfort.clear = clear
		s.frame(t)
		d := s.dress()
		var light, moves [realm.EnemyKinds]float64
		for k := range light {
			draw := func(at vec) { s.enemy(&game.Seen{P: at, Kind: realm.Enemy(k)}, &d) }
			s.time = 0
			was := s.outline(s.s.Game.Player.P, draw)
			light[k], moves[k] = was.light, 1
			for range 12 {
				s.time += 1.0 / 20 // the camera stays
				moves[k] = min(moves[k], was.still(s.outline(s.s.Game.Player.P, draw)))
			}
		}
		if light[realm.Lancer] < light[realm.Drifter]+leastShade || light[realm.Drifter] < light[realm.Swarm]+leastShade {
			t.Errorf("colour-blind %v: the lightness of the kinds is %.2f", clear, light)
		}
		if moves[realm.Swarm] > 0.85 || moves[realm.Drifter] > 0.9 || moves[realm.Lancer] < 0.97 {
			t.Errorf("colour-blind %v: of the kinds' outlines stay %.2f", clear, moves)
		}
	}
}

// leastMark is how many pixels of an upright phone the mark of an elite lights at least. That of a small elite had 48.
const leastMark = 80

// On phones an elite among the small ones was not found: its mark was small, thin and dim.
func TestElites_HaveALargeMarkOnPhones(t *testing.T) {
	s := newScenery(t, realm.Names[0], 30, false)
	s.time = 0
	for _, size := range []image.Point{{X: 390, Y: 844}, {X: 320, Y: 568}, {X: 844, Y: 390}} {
		s.port = shaped(size)
		s.frameOf(s.port, 1)
		d, at := s.dress(), s.s.Game.Player.P
		p := s.port.View().Apply(s.cam.ToScreen(at))
		for k := range realm.EnemyKinds {
			lit := [2]int{}
			for i := range lit {
				r := newRaster(image.Rect(-90, -90, 90, 90).Add(image.Pt(int(p[0]), int(p[1]))), s.texels)
				r.draw(s.batch(func() { s.enemy(&game.Seen{P: at, Kind: realm.Enemy(k), Elite: i == 1}, &d) }))
				for _, c := range r.pix {
					if max(c[0], c[1], c[2]) >= 0.6 {
						lit[i]++
					}
				}
			}
			if mark := lit[1] - lit[0]; mark < leastMark {
				t.Errorf("%v: the mark of an elite %v lights %d pixels", size, realm.Enemy(k), mark)
			}
		}
	}
}
