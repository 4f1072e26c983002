package game

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// The tables that the rules read, as they are, and what chance makes of them.
func TestGame_TablesAreAsWritten(t *testing.T) {
	s := newStage(t)
	s.clear()
	g := s.Game
	var names []string
	r := open(t, "tables.txt")
	add := func(name string, lines ...string) {
		names = append(names, name)
		r.compare(t, name, strings.Join(lines, "\n"))
	}
	for _, round := range []int{0, 1, 3, 30} {
		g.Round = round
		g.horde.begin(g)
		var lines []string
		for k := range breeds {
			b := &g.horde.breeds[k]
			lines = append(lines, fmt.Sprintf("%v: hull %d, speed %.1f", realm.Enemy(k), b.hp, b.speed))
		}
		lines = append(lines, fmt.Sprintf("a seal's hull is %d", g.SealMost()))
		for _, x := range g.horde.spawns {
			lines = append(lines, fmt.Sprintf("from heat %.1f: %v, %d to %d, weight %d, elite %.2f, shield %.2f", x.Heat, x.Kind, x.Least, x.Most, x.Weight, x.Elite, x.Shield))
		}
		add(fmt.Sprintf("round %d", round), lines...)
	}
	g.Round = 0
	g.horde.begin(g)
	for k := range breeds {
		b := &breeds[k]
		add(realm.Enemy(k).String(), fmt.Sprintf("radius %v, picture %v, core colour %d, glare %v", b.radius, SizeOf(realm.Enemy(k)), CoreOf(realm.Enemy(k)), GlareOf(realm.Enemy(k))),
			fmt.Sprintf("one of %d guards, trail %d, keen %v, wide %v, fear %v within %v", b.guards, b.trail, b.keen, b.wide, b.fear, b.reach))
	}
	var guards []string
	for i := range 9 {
		guards = append(guards, guardOf(i).String())
	}
	add("guards of a garrison", strings.Join(guards, " "))
	var wanted []string
	for _, heat := range []float32{0, 0.5, 1, 3, 6.25, 9.5, 10} {
		g.Heat = heat
		for _, g.Siege.Woken = range []bool{false, true} {
			wanted = append(wanted, fmt.Sprintf("heat %.2f, warden called %v: %.1f", heat, g.Siege.Woken, g.horde.wanted(g)))
		}
	}
	g.Siege.Woken = false
	add("how large the horde should be", wanted...)
	for _, heat := range []float32{0, 0.4, 2, 7} {
		add(fmt.Sprintf("whom heat %.1f picks, of 10,000", heat), picked(g, heat)...)
	}
	for _, c := range []struct {
		heat float32
		hull int
	}{{0, 6}, {0, 5}, {6, 5}} {
		add(fmt.Sprintf("what is left by 2,000 of each kind at heat %.0f with hull %d", c.heat, c.hull), s.left(c.heat, c.hull)...)
	}
	add("where groups come from, of 400", s.rings()...)
	var bars []string
	for _, n := range []int{0, 12, 24, 30} {
		g.Embers, g.Need = n, 24
		bars = append(bars, fmt.Sprintf("%d of 24: %.2f", n, g.Bar()))
	}
	g.Embers, g.Need = 1, 0
	add("the bar", append(bars, fmt.Sprintf("1 of 0: %.2f", g.Bar()))...)
	r.close(t, names)
}

func picked(g *Game, heat float32) (lines []string) {
	g.Heat = heat
	g.rng = engine.NewRand(7, 1)
	counts := make([]int, len(g.horde.spawns))
	for range 10_000 {
		p := g.horde.pick(g)
		for i := range g.horde.spawns {
			if p == &g.horde.spawns[i] {
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%v from heat %.1f: %d", g.horde.spawns[i].Kind, g.horde.spawns[i].Heat, n))
		}
	}
	return lines
}

// left counts what the fallen leave on the ground.
func (s *stage) left(heat float32, hull int) (lines []string) {
	g := s.Game
	for k := range breeds {
		s.clear()
		g.Heat, g.Player.Hull = heat, hull
		for range 2000 {
			done(s.t, g.cast.maybeDrop(g, middle, &breeds[k]))
		}
		var n [PickupKinds]int
		g.EachPickup(func(_ vec, p *Pickup) { n[p.Kind]++ })
		lines = append(lines, fmt.Sprintf("%v: %d hull, %d power, %d score", realm.Enemy(k), n[PickupHull], n[PickupPower], n[PickupScore]))
	}
	return lines
}

// rings counts how far from the player groups come, along the farther axis.
func (s *stage) rings() (lines []string) {
	s.clear()
	var counts [12]int
	for range 400 {
		p, ok := s.horde.away(s.Game)
		if !ok {
			s.t.Fatal("no place in the open")
		}
		d := p.Sub(s.Player.P)
		counts[int(max(max(d[0], -d[0]), max(d[1], -d[1])))/200]++
	}
	for i, n := range counts {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%d to %d units: %d", 200*i, 200*i+199, n))
		}
	}
	return lines
}
