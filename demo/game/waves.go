package game

import (
	"github.com/strata-go/strata/demo/level"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// An order is one enemy to come: its wave and when, counted from the start of the wave.
type order struct {
	At      float32
	Wave    uint8
	Kind    level.Enemy
	Pattern level.Pattern
	N, Of   uint16 // its place among those spawned together
}

var orderType = memory.MustType[order]()

// An Omen announces an enemy: it shows for a moment, then the enemy stands there.
type Omen struct {
	P    vec
	Kind level.Enemy
	Left float32 // seconds
}

// OmenTime is how long an enemy is announced, in seconds.
const OmenTime = 0.55

// Waves returns the number of waves of the level, the boss included.
func (g *Game) Waves() int { return len(g.Level.Waves) + 1 }

// writeOrders turns the level's waves into orders in the level tier. What does not fit there
// does not come.
func (g *Game) writeOrders() {
	g.orders = nil
	n := 0
	for i := range g.Level.Waves {
		for _, s := range g.Level.Waves[i].Spawns {
			n += g.crowd(s.Count)
		}
	}
	n += g.Level.Boss.Count
	room := n
	for room > 0 && g.orders == nil {
		orders, err := arena.MakeSliceIn(g.mem.Level(), orderType, room)
		if err != nil {
			room /= 2 // a smaller wave
			continue
		}
		g.orders = orders[:0]
	}
	for i := range g.Level.Waves {
		first := len(g.orders)
		for _, s := range g.Level.Waves[i].Spawns {
			g.write(i, s, g.crowd(s.Count))
		}
		g.sortByTime(g.orders[first:])
	}
	g.write(len(g.Level.Waves), g.Level.Boss, g.Level.Boss.Count)
	g.Lost.Orders += n - len(g.orders)
}

// crowd grows a wave with each round through the levels.
func (g *Game) crowd(count int) int { return count + count*g.Round/2 }

func (g *Game) write(wave int, s level.Spawn, count int) {
	for i := range count {
		if len(g.orders) == cap(g.orders) {
			return
		}
		g.orders = append(g.orders, order{
			At: s.After + mul(s.Interval, float32(i)), Wave: uint8(wave), Kind: s.Enemy,
			Pattern: s.Pattern, N: uint16(i), Of: uint16(count),
		})
	}
}

// sortByTime sorts a wave by merging, with its scratch on top of the ground, or by insertion
// where that is full. Both are stable.
func (g *Game) sortByTime(o []order) {
	if g.ground == nil {
		insertionSort(o)
		return
	}
	scratch, err := memory.MakeSlice[order](g.ground.Top(), len(o))
	if err != nil {
		insertionSort(o)
		return
	}
	mergeSort(o, scratch)
	g.ground.ResetTop()
}

func insertionSort(o []order) {
	for i := 1; i < len(o); i++ {
		for j := i; j > 0 && o[j].At < o[j-1].At; j-- {
			o[j], o[j-1] = o[j-1], o[j]
		}
	}
}

func mergeSort(o, scratch []order) {
	if len(o) < 8 {
		insertionSort(o)
		return
	}
	half := len(o) / 2
	mergeSort(o[:half], scratch)
	mergeSort(o[half:], scratch)
	left := scratch[:copy(scratch, o[:half])]
	i, j := 0, half
	for k := range o {
		if i == len(left) {
			return // the rest of the right half is in place
		}
		if j == len(o) || left[i].At <= o[j].At {
			o[k] = left[i]
			i++
		} else {
			o[k] = o[j]
			j++
		}
	}
}

// direct is the director: it announces waves, gives orders, and opens the portal.
func (g *Game) direct() error {
	switch g.Phase {
	case Announce:
		if g.PhaseTime >= g.delay() {
			g.enter(Fighting)
		}
	case Fighting:
		g.giveOrders()
		if g.waveDone() {
			return g.nextWave()
		}
	case Opened:
		g.fx.portal(g.PortalAt)
		d := engine.Distance(g.Player.P, g.PortalAt)
		if d < 140 { // it draws the spark in
			pull := engine.Normalize(g.PortalAt.Sub(g.Player.P))
			g.Player.V = engine.MulAdd(g.Player.V, pull, 9)
		}
		if d < 22 || g.PhaseTime > 12 {
			g.enter(Leaving)
			g.fx.leave(g.Player.P)
			g.Shake(6)
		}
	case Leaving:
		g.fx.portal(g.PortalAt)
		g.Player.P = engine.Mix(g.Player.P, g.PortalAt, 0.2)
	}
	return nil
}

func (g *Game) delay() float32 {
	if g.Wave < len(g.Level.Waves) {
		return g.Level.Waves[g.Wave].Delay
	}
	return 0.6
}

// Title returns what to announce.
func (g *Game) Title() string {
	if g.Wave < len(g.Level.Waves) {
		return g.Level.Waves[g.Wave].Title
	}
	return "The Warden"
}

func (g *Game) giveOrders() {
	for g.next < len(g.orders) {
		o := &g.orders[g.next]
		if int(o.Wave) != g.Wave || o.At > g.PhaseTime {
			return
		}
		g.next++
		g.announce(o.Kind, g.place(o))
	}
}

func (g *Game) announce(k level.Enemy, at vec) {
	_, omen, err := g.omens.New() // omens die of age, in address order, and need no handle
	if err != nil {
		g.Lost.Enemies++
		return
	}
	*omen = Omen{P: at, Kind: k, Left: OmenTime}
	if k == level.Warden {
		omen.Left = 1.1
	}
	g.fx.omen(at, breeds[k].size)
}

func (g *Game) waveDone() bool {
	left := g.next < len(g.orders) && int(g.orders[g.next].Wave) == g.Wave
	// The last stragglers do not hold up the next wave, but they do the portal.
	stragglers := 2
	if g.Wave >= g.Waves()-1 {
		stragglers = 0
	}
	return !left && g.PhaseTime > 0.2 && g.Enemies() <= g.cfg.Enemies+stragglers
}

// nextWave announces the next wave with a gift, or opens the portal after the last.
func (g *Game) nextWave() error {
	g.Wave++
	if g.Wave < g.Waves() {
		g.enter(Announce)
		if g.Player.Power < len(volleys)-1 {
			return g.drop(engine.MulAdd(g.Player.P, g.Player.Aim, 60), PickupPower)
		}
		return nil
	}
	g.PortalAt = vec{mul(g.Level.Arena.Width, 0.5), mul(g.Level.Arena.Height, 0.5)}
	g.Cleared++
	g.enter(Opened)
	g.Shake(4)
	return nil
}

// place chooses where an order's enemy appears: in view, but not on the player.
func (g *Game) place(o *order) vec {
	w, h := g.Level.Arena.Width, g.Level.Arena.Height
	centre := g.Player.P
	var p vec
	switch o.Pattern {
	case level.Ring:
		p = engine.MulAdd(centre, engine.Heading(mul(float32(o.N), 6.2831855/float32(o.Of))), 190)
	case level.Line:
		p = vec{centre[0] + mul(float32(o.N)-mul(float32(o.Of-1), 0.5), 46), centre[1] - 165}
	case level.Corners:
		p = centre.Add([4]vec{{-260, -150}, {260, -150}, {260, 150}, {-260, 150}}[o.N%4])
	case level.Center:
		p = vec{mul(w, 0.5), mul(h, 0.5)}
		if engine.Distance(p, centre) < 150 {
			p = engine.MulAdd(centre, engine.Normalize(vec{mul(w, 0.5) + 1, mul(h, 0.5)}.Sub(centre)), 170)
		}
	default: // the edge of what the player sees
		dir := g.rng.Circle()
		p = engine.MulAdd(centre, dir, g.rng.Range(200, 290))
	}
	p = engine.MulAdd(p, g.rng.Disc(), 14)
	margin := float32(36)
	return vec{clamp(p[0], margin, w-margin), clamp(p[1], margin, h-margin)}
}

// stress adds the drifters of Config.Enemies, all over the arena.
func (g *Game) stress() {
	for range g.cfg.Enemies {
		at := vec{g.rng.Range(20, g.Level.Arena.Width-20), g.rng.Range(20, g.Level.Arena.Height-20)}
		if g.spawnEnemy(level.Drifter, at, vec{}) != nil {
			g.Lost.Enemies++
		}
	}
}
