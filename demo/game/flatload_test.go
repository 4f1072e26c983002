package game

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/abtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A load is the same crowd three times: as the game has it, once more, and flat. All of it is within the
// grid, where every rule applies to everybody; the player goes in a circle through it.
type load struct {
	games          [2]*host
	flat           *flat
	enemies, shots int
	middle         vec
	chance         [3]engine.Rand // of what comes: the same for each
}

const (
	loadReach  = 780 // units about the middle, along an axis
	loadCircle = 90  // the player's
	roundTicks = 31  // ticks of a round: the fields change between rounds, another lane's each time
)

// newLoad fills three games alike and takes the last one's crowd into slices.
func newLoad(t testing.TB, enemies, shots int) *load {
	t.Helper()
	l := &load{enemies: enemies, shots: shots, chance: [3]engine.Rand{engine.NewRand(9, 2), engine.NewRand(9, 2), engine.NewRand(9, 2)}}
	var flatten *host
	for i := range 3 {
		// Particles are another package's, and would be the same work on all sides: there is room for one.
		s := newHost(t, Config{Seed: 7, Particles: 1}, ample(), "ember")
		s.play(t, 200)
		done(t, s.endFrame())
		if i < 2 {
			l.games[i] = s
		} else {
			flatten = s
		}
		g := s.Game
		emptied(g)
		l.middle = g.Realm.Open(vec{worldSide / 2, worldSide / 2}.Add(g.Player.P).Mul(0.5), 40)
		for k := range g.Seals {
			g.Seals[k].HP = math.MaxInt16
		}
		l.place(g)
		l.refill(&gameCrowd{g}, &l.chance[i])
	}
	l.flat = newFlat(flatten.Game, enemies, shots)
	l.find(t)
	return l
}

// emptied takes every enemy and shot out of a game.
func emptied(g *Game) {
	var ids []ecs.Entity
	for id := range g.cast.enemyFilter.All() {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if _, _, e, ok := g.cast.enemies.Get(id); ok {
			g.cast.forget(g, id, e)
		}
	}
	ids = ids[:0]
	for id := range g.cast.shotFilter.All() {
		ids = append(ids, id)
	}
	for _, id := range ids {
		g.cast.world.Remove(id)
	}
}

// place moves the player on.
func (l *load) place(g *Game) {
	a := float32(g.Ticks%1024) * (2 * math.Pi / 1024)
	g.Player.P = engine.MulAdd(l.middle, vec{engine.Cos(a), engine.Sin(a)}, loadCircle)
	g.Player.Safe = 1
	g.Ticks++
}

// A crowded is what a load fills: a game or a flat.
type crowded interface {
	count() (enemies, shots int)
	enemy(k realm.Enemy, p vec)
	shot(s flatShot)
	realm() *Game
}

type gameCrowd struct{ g *Game }

func (c *gameCrowd) realm() *Game { return c.g }
func (c *gameCrowd) count() (int, int) {
	return c.g.cast.enemyFilter.Len(), c.g.cast.shotFilter.Len()
}
func (c *gameCrowd) enemy(k realm.Enemy, p vec) {
	if _, err := c.g.cast.spawn(c.g, k, p, vec{}, postHorde); err != nil {
		panic(err)
	}
}
func (c *gameCrowd) shot(s flatShot) {
	if err := c.g.cast.shoot(c.g, s.p, s.v, Shot{Life: s.life, Damage: s.damage, Hostile: s.hostile}); err != nil {
		panic(err)
	}
}

func (f *flat) realm() *Game               { return f.g }
func (f *flat) count() (int, int)          { return len(f.ps), len(f.shots) }
func (f *flat) enemy(k realm.Enemy, p vec) { f.spawnEnemy(k, p) }
func (f *flat) shot(s flatShot)            { f.shots = append(f.shots, s) }

// refill brings as many as are lacking: kinds as at full heat, a tenth of the shots the player's.
func (l *load) refill(c crowded, r *engine.Rand) {
	enemies, shots := c.count()
	open := c.realm().Realm
	for ; enemies < l.enemies; enemies++ {
		p := l.middle.Add(vec{r.Range(-loadReach, loadReach), r.Range(-loadReach, loadReach)})
		for open.Near(p, 12) {
			p = l.middle.Add(vec{r.Range(-loadReach, loadReach), r.Range(-loadReach, loadReach)})
		}
		k := realm.Swarm
		if n := r.Intn(32); n == 0 {
			k = realm.Lancer
		} else if n < 10 {
			k = realm.Drifter
		}
		c.enemy(k, p)
	}
	for ; shots < l.shots; shots++ {
		s := flatShot{p: l.middle.Add(vec{r.Range(-loadReach, loadReach), r.Range(-loadReach, loadReach)}), life: r.Range(0.2, 2), damage: 100, hostile: r.Intn(10) != 0}
		s.v = engine.Scale(r.Circle(), 420)
		if s.hostile {
			s.v = engine.Scale(s.v, 0.25)
		}
		c.shot(s)
	}
}

// find has both games look for the ways, as they do in the tick; the flat one goes by the first one's.
func (l *load) find(t testing.TB) {
	for _, s := range l.games {
		if err := s.horde.find(s.Game); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(4 * time.Millisecond) // the workers are done
	for k := range l.flat.fields {
		l.flat.fields[k] = l.games[0].horde.flow.Field(k)
	}
	for _, g := range []*Game{l.games[0].Game, l.games[1].Game, l.flat.g} {
		g.cast.embers.Reset()
		for _, r := range g.cast.dropFilter.All() {
			r.C.Life = 0
		}
		if err := g.cast.movePickups(g); err != nil {
			t.Fatal(err)
		}
	}
}

// shipped is the part of a tick that moves the crowd, as the game has it.
func (l *load) shipped(i int) {
	s := l.games[i]
	g := s.Game
	must(s.m.BeginFrame())
	l.place(g)
	must(g.horde.move(g))
	must(g.cast.weather(g))
	must(g.cast.moveShots(g))
	must(g.cast.collide(g))
	must(g.horde.reap(g))
	must(g.sight.look(g))
	l.refill(&gameCrowd{g}, &l.chance[i])
	must(s.m.EndFrame())
}

// byHand is the same in slices.
func (l *load) byHand() {
	l.place(l.flat.g)
	l.flat.tick()
	l.refill(l.flat, &l.chance[2])
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// differ says where a game and the flat one are not the same, to the last bit.
func (l *load) differ(t testing.TB, g *Game) {
	t.Helper()
	f, i := l.flat, 0
	for _, r := range g.cast.enemyFilter.All() {
		if i == len(f.ps) {
			t.Fatalf("%d enemies, and more in the game", i)
		}
		e := *r.C
		rb := g.Ribbon(&Seen{Ribbon: e.Ribbon})
		marks := g.Marks(&Seen{Marks: e.Marks})
		e.Ribbon, e.Marks = 0, 0
		if *r.A != f.ps[i] || *r.B != f.vs[i] || e != f.ks[i] {
			t.Fatalf("enemy %d is %v %v %+v in the game, and %v %v %+v flat", i, *r.A, *r.B, e, f.ps[i], f.vs[i], f.ks[i])
		}
		if !slices.Equal(marks, f.marks[i][:f.counts[i]]) {
			t.Fatalf("enemy %d has the marks %v in the game, and %v flat", i, marks, f.marks[i][:f.counts[i]])
		}
		tr := &f.trails[i]
		if int(tr.count) != rb.Count {
			t.Fatalf("the trail of enemy %d has %d points in the game, and %d flat", i, rb.Count, tr.count)
		}
		flat := Ribbon{Points: tr.points[:tr.most], At: int(tr.at), Count: int(tr.count)}
		for k := range rb.Count {
			if rb.Point(k) != flat.Point(k) {
				t.Fatalf("point %d of %d of enemy %d's trail is %v in the game, and %v flat", k, rb.Count, i, rb.Point(k), flat.Point(k))
			}
		}
		i++
	}
	n := 0
	for _, r := range g.cast.shotFilter.All() {
		if s := (flatShot{r.A.P, r.B.V, r.C.Life, r.C.Damage, r.C.Hostile}); n == len(f.shots) || s != f.shots[n] {
			t.Fatalf("shot %d of %d is %+v in the game", n, len(f.shots), s)
		}
		n++
	}
	if i != len(f.ps) || n != len(f.shots) || len(g.sight.seen) != len(f.seen) {
		t.Fatalf("%d enemies, %d shots, %d in sight in the game, and %d, %d, %d flat", i, n, len(g.sight.seen), len(f.ps), len(f.shots), len(f.seen))
	}
	for k := range g.sight.seen {
		s := g.sight.seen[k]
		s.Ribbon, s.Marks = f.seen[k].Ribbon, f.seen[k].Marks // numbers of books
		if s != f.seen[k] {
			t.Fatalf("in sight at %d is %+v in the game, and %+v flat", k, s, f.seen[k])
		}
	}
	if g.Kills != f.g.Kills || g.rng != f.g.rng || g.Score != f.g.Score || g.toll != f.g.toll {
		t.Fatalf("%d kills in the game, and %d flat, or chance went on otherwise", g.Kills, f.g.Kills)
	}
	if f.far > 0 {
		t.Fatalf("%d enemies were beyond the grid, for which the flat one has no rule", f.far)
	}
}

func (l *load) round() (sides []abtest.Side) {
	for i := range l.games {
		sides = append(sides, abtest.Side{Name: "game", Run: func() {
			for range roundTicks {
				l.shipped(i)
			}
		}})
	}
	return append(sides, abtest.Side{Name: "flat", Run: func() {
		for range roundTicks {
			l.byHand()
		}
	}})
}

func TestFlat_IsTheSameGameToTheLastBit(t *testing.T) {
	testenv.Long(t)
	rounds, fallen := 6, 100
	if testenv.Brief() {
		rounds, fallen = 3, 50
	}
	l := newLoad(t, 3000, 800)
	kills := l.flat.g.Kills
	for range rounds {
		l.find(t)
		for _, s := range l.round() {
			s.Run()
		}
		l.differ(t, l.games[0].Game)
		l.differ(t, l.games[1].Game)
	}
	if n := l.flat.g.Kills - kills; n < fallen {
		t.Errorf("only %d have fallen", n)
	}
}

// BenchmarkFlat is the tick of 20,000 enemies and 5,000 shots as it ships beside the same rules in slices of
// the Go heap: the ratio is the game's time over theirs, A/A that of the game over the game once more.
func BenchmarkFlat(b *testing.B) {
	l := newLoad(b, 20_000, 5000)
	for _, s := range l.round() { // nobody stands where he came
		s.Run()
	}
	kills := l.flat.g.Kills
	for b.Loop() {
		f := abtest.Measure(24, func() { l.find(b) }, l.round()...)
		l.differ(b, l.games[0].Game)
		l.differ(b, l.games[1].Game)
		f.Report(b, roundTicks)
	}
	b.ReportMetric(float64(l.flat.g.Kills-kills)/24/roundTicks/float64(b.N), "kills/tick")
	b.ReportMetric(float64(len(l.flat.seen)), "seen")
}
