package newcomer

import (
	"math"
	"strings"
)

const (
	lookEvery = 1.0 / 20 // seconds between two frames that the player looks at
	late      = 5        // frames between what it sees and what it does: a quarter of a second
	shipWidth = 29       // of its picture in units; all lengths are in units of this size
)

// foes are the names of the pictures that come at the player.
var foes = map[string]bool{"drifter": true, "lancer": true, "swarm": true, "warden": true, "orb": true}

// A foe is an enemy that was seen, and its velocity in pixels a second.
type foe struct {
	at, v vec
	name  string
}

// A Player plays the game. It knows only the texts that it has read in frames. The zero Player has read nothing.
type Player struct {
	lore
	ground ground

	later [late]Hands
	n     int

	unit   float32 // pixels
	ship   vec
	foes   []foe
	before []foe
	want   vec // where it wants to fly
	goal   *Ring

	marker  vec // its own on the map, some time ago
	stood   int // frames for which that has not moved
	detour  int // frames left to fly another way
	around  float32
	clicked int
	dashed  int
}

// Look takes a frame and returns the input until the next call. Call it twenty times a second. The input answers the
// frame of five calls before, a quarter of a second ago: the first five calls return no input.
func (p *Player) Look(f *Frame) Hands {
	p.read(f.Texts)
	h := &p.later[p.n%late]
	now := *h
	*h = Hands{Held: h.Held[:0:0]}
	p.decide(f, h)
	p.n++
	return now
}

func (p *Player) decide(f *Frame, h *Hands) {
	if t := f.find("PLAY"); t != nil {
		p.click(t, h)
		return
	}
	if f.find("CHOOSE") != nil || f.find("YOUR EMBERS BOUGHT A GIFT: TAKE ONE") != nil { // the first time
		if t := f.find("1"); t != nil {
			p.click(t, h)
		}
		return
	}
	p.clicked = 0
	if !p.orient(f) {
		return
	}
	p.ground.see(f, 8*p.unit)
	p.plan(f)
	p.fly(h)
	p.shoot(h)
}

// click points at a text, and presses once a second.
func (p *Player) click(t *Text, h *Hands) {
	h.Mouse[0], h.Mouse[1] = t.Middle()
	h.Click = p.clicked%20 == 10
	p.clicked++
}

func (p *Player) hold(h *Hands, control string) {
	if control != "" {
		h.Held = append(h.Held, control)
	}
}

// orient finds the ship and what comes at it.
func (p *Player) orient(f *Frame) bool {
	var ship *Sprite // the largest of its pictures: a small one is a sign
	for i := range f.Sprites {
		if s := &f.Sprites[i]; s.Name == "player" && (ship == nil || s.W > ship.W) {
			ship = s
		}
	}
	if ship == nil || ship.W < 20 {
		return false
	}
	p.ship, p.unit = vec{ship.X, ship.Y}, ship.W/shipWidth
	p.before, p.foes = p.foes, p.before[:0]
	for i := range f.Sprites {
		s := &f.Sprites[i]
		if !foes[s.Name] {
			continue
		}
		e := foe{at: vec{s.X, s.Y}, name: s.Name}
		nearest := 40 * p.unit
		for _, b := range p.before {
			if d := b.at.to(e.at); b.name == e.name && d < nearest {
				nearest, e.v = d, e.at.sub(b.at).mul(1/lookEvery)
			}
		}
		p.foes = append(p.foes, e)
	}
	return true
}

// soon returns where a foe will be when the hands move.
func (e *foe) soon() vec { return e.at.add(e.v.mul(late * lookEvery)) }

// plan decides where to fly: to a hexagon, along an arrow, or to embers that lie near.
func (p *Player) plan(f *Frame) {
	p.want, p.goal = vec{}, nil
	p.stuck(f)
	if p.hexagon {
		p.goal = p.seal(f)
	}
	dir, shown := f.arrow()
	switch {
	case p.goal != nil:
		p.want = p.about(vec{p.goal.X, p.goal.Y})
	case p.arrow && shown:
		if p.detour > 0 {
			s, c := math.Sincos(float64(p.around))
			dir = vec{dir[0]*float32(c) - dir[1]*float32(s), dir[0]*float32(s) + dir[1]*float32(c)}
		}
		p.want = p.ground.toward(p.ship, dir)
	}
	if p.embers && (p.goal == nil || len(p.foes) == 0) {
		if at, ok := p.ember(f); ok {
			p.want = p.want.mix(p.ground.to(p.ship, at), 0.6)
		}
	}
}

// about circles a place at a distance from which it can be hit, and keeps off walls.
func (p *Player) about(at vec) vec {
	to := at.sub(p.ship)
	d, side := to.length()/p.unit, to.unit().turned()
	if p.ground.wall(p.ship.add(side.mul(40 * p.unit))) {
		side = side.mul(-1)
	}
	if d > 150 {
		return p.ground.to(p.ship, at)
	}
	return side.add(to.unit().mul((d - 100) / 40)).unit()
}

// seal returns the hexagon to fire at: bright, and as large as no other.
func (p *Player) seal(f *Frame) (best *Ring) {
	for i := range f.Rings {
		r := &f.Rings[i]
		c := r.Colour
		if r.Batch == 0 && r.Corners == 6 && r.Radius > 22*p.unit && r.Radius < 30*p.unit && c.A > 0.9 && c.R+c.G+c.B > 1.3 {
			best = r
		}
	}
	return best
}

// ember returns the nearest of what has been left behind by the fallen: gems, and coins with other pictures.
func (p *Player) ember(f *Frame) (at vec, ok bool) {
	nearest := 220 * p.unit
	for i := range f.Sprites {
		s := &f.Sprites[i]
		if s.Batch != 0 || !strings.HasPrefix(s.Name, "pickup") {
			continue
		}
		if d := p.ship.to(vec{s.X, s.Y}); d < nearest && d > 8*p.unit {
			nearest, at, ok = d, vec{s.X, s.Y}, true
		}
	}
	return at, ok
}

// stuck notices on the map that the ship does not get on, and tries another way for some seconds.
func (p *Player) stuck(f *Frame) {
	p.detour--
	for i := range f.Triangles {
		t := &f.Triangles[i]
		c := t.Colour
		if t.Batch < 2 || c.R < 0.99 || c.G < 0.99 || c.B < 0.99 || c.A < 0.99 {
			continue
		}
		at := vec{t.A[0] + t.B[0] + t.C[0], t.A[1] + t.B[1] + t.C[1]}.mul(1.0 / 3)
		if p.stood++; p.marker.to(at) > 2 {
			p.marker, p.stood = at, 0
		}
	}
	if p.stood > 100 && p.detour <= 0 {
		p.stood, p.detour = 0, 80
		p.around = -p.around
		if p.around == 0 {
			p.around = 1.4
		}
	}
}

// fly chooses the direction that leads where it wants and is not dangerous.
func (p *Player) fly(h *Hands) {
	if p.up == "" {
		return
	}
	best, most := vec{}, float32(-1e9)
	near := 0
	for k := range 17 {
		dir := vec{}
		if k > 0 {
			s, c := math.Sincos(float64(k) * math.Pi / 8)
			dir = vec{float32(c), float32(s)}
		}
		if score := p.want.dot(dir)*1.2 - p.danger(dir); score > most {
			best, most = dir, score
		}
	}
	for i := range p.foes {
		if p.ship.to(p.foes[i].soon()) < 34*p.unit {
			near++
		}
	}
	const press = 0.38
	for _, c := range [...]struct {
		by      float32
		control string
	}{{best[0], p.right}, {-best[0], p.left}, {best[1], p.down}, {-best[1], p.up}} {
		if c.by > press {
			p.hold(h, c.control)
		}
	}
	if p.dashed++; near > 1 && p.dashed > 20 && len(h.Held) > 0 {
		p.hold(h, p.dash)
		p.dashed = 0
	}
}

// danger says how bad a direction is: foes are there, or a wall.
func (p *Player) danger(dir vec) (sum float32) {
	for i := range p.foes {
		e := &p.foes[i]
		reach := 130 * p.unit
		if e.name == "orb" {
			reach = 80 * p.unit
		}
		to := e.soon().sub(p.ship)
		d := to.length()
		if d > reach {
			continue
		}
		if along := to.unit().dot(dir) + 0.25; along > 0 {
			near := 1 - d/reach
			sum += 2.2 * along * near * near
		}
	}
	sum /= 1 + 0.35*sum
	if p.ground.wall(p.ship.add(dir.mul(14*p.unit))) || p.ground.wall(p.ship.add(dir.mul(28*p.unit))) {
		sum += 1
	}
	return sum
}

// shoot aims at the nearest foe, or at the hexagon while no foe is close.
func (p *Player) shoot(h *Hands) {
	if !p.aim || p.fire == "" {
		return
	}
	nearest, at := float32(330), vec{}
	for i := range p.foes {
		e := &p.foes[i]
		if e.name == "orb" {
			continue
		}
		if d := p.ship.to(e.at) / p.unit; d < nearest && p.clear(e.at) {
			nearest, at = d, e.soon().add(e.v.mul(d/620))
		}
	}
	if g := p.goal; g != nil && nearest > 75 && p.clear(vec{g.X, g.Y}) && p.ship.to(vec{g.X, g.Y}) < 400*p.unit {
		nearest, at = 0, vec{g.X, g.Y}
	}
	if nearest < 330 {
		h.Mouse = at
		p.hold(h, p.fire)
	}
}

// clear reports whether no wall lies between the ship and a place.
func (p *Player) clear(at vec) bool {
	to := at.sub(p.ship)
	n := int(to.length() / p.ground.side)
	for i := 1; i < n; i++ {
		x, y := p.ground.cell(p.ship[0]+to[0]*float32(i)/float32(n)), p.ground.cell(p.ship[1]+to[1]*float32(i)/float32(n))
		if x < 0 || y < 0 || x >= p.ground.cols || y >= p.ground.rows {
			continue
		}
		if p.ground.solid[y*p.ground.cols+x] {
			return false
		}
	}
	return true
}
