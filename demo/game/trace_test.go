package game

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
)

// A fact is one line of a trace: a name, and the value that it has now. An empty value is left out.
type fact struct{ name, value string }

// A tracer describes a game in facts. Places are offsets from its origin, rounded to a unit; times have two digits.
type tracer struct {
	g      *Game
	origin vec
	heard  []string
}

// Sound implements cue.Sink.
func (r *tracer) Sound(k cue.Kind, x, y, strength float32) {
	r.heard = append(r.heard, fmt.Sprintf("%v %.2f at %s", k, strength, r.at(vec{x, y})))
}

// whole rounds to an integer, and writes no -0.
func whole(v float32) int { return int(math.Round(float64(v))) }

func pair(v vec) string { return fmt.Sprintf("%d,%d", whole(v[0]), whole(v[1])) }

func (r *tracer) at(p vec) string { return pair(p.Sub(r.origin)) }

// with appends a name and a number where the number is not 0.
func with(s []string, name string, v float32) []string {
	if v == 0 {
		return s
	}
	return append(s, fmt.Sprintf("%s %.2f", name, v))
}

// counted writes how often each of some strings occurs, in the order of the first of each.
func counted(all []string) string {
	var b strings.Builder
	for i, s := range all {
		if slices.Index(all, s) < i {
			continue
		}
		n := 0
		for _, o := range all {
			if o == s {
				n++
			}
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		if b.WriteString(s); n > 1 {
			fmt.Fprintf(&b, " ×%d", n)
		}
	}
	return b.String()
}

var phaseNames = [...]string{Announce: "announce", Fighting: "fighting", Opened: "opened", Leaving: "leaving", Over: "over"}

var pickupNames = [PickupKinds]string{"hull", "power", "score"}

var markNames = [MarkKinds]string{"shard", "dent", "flame", "frost", "arc", "crack"}

// facts describes the game, and forgets the sounds.
func (r *tracer) facts() []fact {
	g := r.g
	all := []fact{
		{"phase", r.phase()}, {"player", r.player()},
		{"score", fmt.Sprintf("%d, times %d, %d kills", g.Score, g.Multiplier, g.Kills)},
		{"camera", strings.Join(with(with(nil, "shake", g.ShakeNow), "frozen ticks", float32(g.freeze)), ", ")},
		{"bag", r.bag()}, {"siege", r.siege()}, {"enemies", r.enemies()}, {"shots", r.shots()}, {"pickups", r.pickups()},
		{"embers", r.embers()}, {"omens", r.omens()}, {"arms", r.arms()}, {"popups", r.popups()}, {"particles", r.particles()},
		{"ground", r.ground()}, {"sounds", counted(r.heard)}, {"lost", r.lost()},
	}
	r.heard = nil
	return all
}

func (r *tracer) phase() string {
	if r.g.Cleared > 0 {
		return fmt.Sprintf("%s, %d cleared", phaseNames[r.g.Phase], r.g.Cleared)
	}
	return phaseNames[r.g.Phase]
}

func (r *tracer) player() string {
	p := &r.g.Player
	s := []string{fmt.Sprintf("at %s flying %s, hull %d of %d", r.at(p.P), pair(p.V), p.Hull, p.Most)}
	if p.Aim != right {
		s = append(s, fmt.Sprintf("aims %.2f,%.2f", p.Aim[0], p.Aim[1]))
	}
	s = with(with(with(with(with(s, "cool", max(0, p.Cool)), "safe", p.Safe), "dash", max(0, p.Dash)), "rest", p.Rest), "recoil", p.Recoil)
	if !p.Alive {
		s = append(s, "dead")
	}
	if p.Beaming {
		s = append(s, "beam to "+r.at(r.g.BeamTo()))
	}
	return strings.Join(s, ", ")
}

func (r *tracer) bag() string {
	b := &r.g.Bag
	s := fmt.Sprintf("%d of %d embers, gifts %v", b.Embers, b.Need, b.Gifts)
	if b.Offered {
		s += fmt.Sprintf(", offered %s, %s, %s", GiftNames[b.Offer[0]], GiftNames[b.Offer[1]], GiftNames[b.Offer[2]])
	}
	return s
}

func (r *tracer) siege() string {
	g := r.g
	s := []string{fmt.Sprintf("goal %d at %s", g.Goal, r.at(g.GoalAt()))}
	for i := range g.Seals {
		x := &g.Seals[i]
		switch one := fmt.Sprintf("seal %d: %d of %d, %d waves", i, x.HP, g.SealMost(), x.Waves); {
		case x.HP != g.SealMost() && x.HP > 0:
			s = append(s, strings.Join(with([]string{one}, "flash", x.Flash), ", "))
		case x.Broken:
			s = append(s, fmt.Sprintf("seal %d is broken", i))
		case x.Woken:
			s = append(s, fmt.Sprintf("seal %d is woken", i))
		}
	}
	if at, radius := g.Ripple(); radius > 0 {
		s = append(s, fmt.Sprintf("ring %d about %s", whole(radius), r.at(at)))
	}
	if g.Siege.Woken {
		s = append(s, "the warden was called")
	}
	return strings.Join(s, "; ")
}

// enemies lists three of them in full, and of more the kinds and hulls.
func (r *tracer) enemies() string {
	c := &r.g.cast
	var full, short []string
	for id, e := range c.enemyFilter.All() {
		full = append(full, r.enemy(id, e.A.P, e.B.V, e.C))
		short = append(short, fmt.Sprintf("%v %d", e.C.Kind, e.C.HP))
	}
	if len(full) <= 3 {
		return strings.Join(full, "; ")
	}
	if n := r.g.Statuses(); n != [StatusKinds]int{} {
		short = append(short, fmt.Sprintf("burning, chilled, elite, shielded %v", n))
	}
	return counted(short)
}

func (r *tracer) enemy(id ecs.Entity, p, v vec, e *Enemy) string {
	c := &r.g.cast
	s := []string{fmt.Sprintf("%v at %s flying %s, hull %d", e.Kind, r.at(p), pair(v), e.HP)}
	if e.Kind == realm.Lancer {
		s = append(s, [...]string{"stalks", "tells", "charges", "rests"}[e.State])
	}
	s = with(with(s, "angle", e.Angle), "flash", e.Flash)
	if b, ok := c.burning.Get(id); ok {
		s = append(s, fmt.Sprintf("burns %.2f, next %.2f", b.Left, b.Next))
	}
	if x, ok := c.chilled.Get(id); ok {
		s = append(s, fmt.Sprintf("chilled %.2f", x.Left))
	}
	if x, ok := c.elite.Get(id); ok {
		s = append(s, fmt.Sprintf("elite worth %d", x.Worth))
	}
	if x, ok := c.shielded.Get(id); ok {
		s = append(s, fmt.Sprintf("shield %d", x.HP))
	}
	if e.Post != postHorde {
		s = append(s, fmt.Sprintf("post %d", e.Post))
	}
	seen := Seen{Ribbon: e.Ribbon, Marks: e.Marks}
	var marks []string
	for _, m := range r.g.Marks(&seen) {
		marks = append(marks, fmt.Sprintf("%s %d at %d,%d", markNames[m.Kind], m.Left, m.X, m.Y))
	}
	if len(marks) > 0 {
		s = append(s, "marks "+counted(marks))
	}
	if t := r.g.Ribbon(&seen); t.Count > 0 {
		s = append(s, fmt.Sprintf("trail %d from %s to %s", t.Count, r.at(t.Point(t.Count-1)), r.at(t.Point(0))))
	}
	return strings.Join(s, ", ")
}

// few joins a list, and of one above 7 says how many.
func few(all []string, what string) string {
	if len(all) > 7 {
		return fmt.Sprintf("%d %s", len(all), what)
	}
	return counted(all)
}

func (r *tracer) shots() string {
	var s []string
	r.g.EachShot(func(p, v vec, x *Shot) {
		s = append(s, fmt.Sprintf("at %s flying %s, %.2f s, damage %d", r.at(p), pair(v), x.Life, x.Damage))
		if x.Hostile {
			s[len(s)-1] += ", hostile"
		}
	})
	return few(s, "shots")
}

func (r *tracer) pickups() string {
	var s []string
	r.g.EachPickup(func(p vec, k *Pickup) {
		s = append(s, fmt.Sprintf("%s at %s, %.2f s", pickupNames[k.Kind], r.at(p), k.Life))
	})
	return few(s, "pickups")
}

func (r *tracer) embers() string {
	var s []string
	worth := 0
	r.g.EachEmber(func(e *Ember) {
		s = append(s, fmt.Sprintf("%d at %s flying %s, %.2f s", e.Worth, r.at(e.P), pair(e.V), e.Life))
		worth += int(e.Worth)
	})
	if len(s) > 3 {
		return fmt.Sprintf("%d worth %d", len(s), worth)
	}
	return counted(s)
}

func (r *tracer) omens() string {
	var full, short []string
	for o := range r.g.Omens() {
		full = append(full, fmt.Sprintf("%v at %s, post %d, %.2f s", o.Kind, r.at(o.P), o.Post, o.Left))
		short = append(short, fmt.Sprintf("%v of post %d, %.2f s", o.Kind, o.Post, o.Left))
	}
	if len(full) <= 3 {
		return counted(full)
	}
	return counted(short)
}

func (r *tracer) arms() string {
	var s []string
	for i := range r.g.Sparks() {
		s = append(s, "spark at "+r.at(r.g.SparkAt(i)))
	}
	var mines []string
	for _, m := range r.g.Mines() {
		mines = append(mines, fmt.Sprintf("mine at %s, armed in %.2f, %.2f s", r.at(m.P), max(0, m.Wait), m.Left))
	}
	if len(mines) > 0 {
		s = append(s, few(mines, "mines"))
	}
	for _, f := range r.g.Fires() {
		s = append(s, fmt.Sprintf("fire at %s, radius %d, %.2f s", r.at(f.P), whole(f.Radius), f.Left))
	}
	for i := range r.g.Bolts() {
		b := &r.g.Bolts()[i]
		if b.Life == 0 && len(b.Points()) == 0 {
			continue
		}
		s = append(s, fmt.Sprintf("bolt of %d, %.2f s", len(b.Points()), b.Life))
		for _, p := range b.Points() {
			s[len(s)-1] += " " + r.at(p)
		}
	}
	return strings.Join(s, "; ")
}

func (r *tracer) popups() string {
	var s []string
	r.g.EachPopup(func(p *Popup, text []byte) { s = append(s, fmt.Sprintf("%s at %s, %.2f s", text, r.at(p.P), p.Life)) })
	return few(s, "popups")
}

var lookNames = [lookCount]string{"spark", "ember", "glow", "smoke", "ring", "flare", "debris", "exhaust", "omen", "cool"}

func (r *tracer) particles() string {
	var s []string
	for i, name := range lookNames {
		if n := r.g.fx.sys.Count(r.g.fx.kinds[i]); n > 0 {
			s = append(s, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(s, ", ")
}

func (r *tracer) ground() string {
	sectors, heat := 0, 0
	for i := range realm.Sectors * realm.Sectors {
		if block := r.g.Scorched(i%realm.Sectors, i/realm.Sectors); block != nil {
			sectors++
			for _, h := range block {
				heat += int(h)
			}
		}
	}
	if sectors == 0 {
		return ""
	}
	return fmt.Sprintf("heat %d in %d sectors", heat, sectors)
}

func (r *tracer) lost() string {
	var s []string
	for i, n := range r.g.Lost.Counts() {
		if n > 0 {
			s = append(s, fmt.Sprintf("%d %s", n, strings.ToLower(LostNames[i])))
		}
	}
	return strings.Join(s, ", ")
}

// A digest folds the parts of a game into a sum each, tick by tick, for what the facts round or leave out.
type digest struct{ state, world, particles, lists engine.Hasher }

func (d *digest) add(g *Game) {
	g.State.hash(&d.state)
	d.world.Uint64(g.cast.world.Hash(0))
	d.particles.Uint64(g.fx.sys.Hash(0))
	g.cast.hash(&d.lists)
	g.popups.hash(&d.lists)
	g.scorch.hash(&d.lists)
	g.arms.hash(&d.lists)
}

// String returns the last digits of the sums. Lists are also omens, embers, popups and the scorched ground.
func (d *digest) String() string {
	short := func(h *engine.Hasher) uint16 {
		x := h.Sum()
		return uint16(x ^ x>>16 ^ x>>32 ^ x>>48)
	}
	return fmt.Sprintf("state %04x, world %04x, particles %04x, lists %04x", short(&d.state), short(&d.world), short(&d.particles), short(&d.lists))
}
