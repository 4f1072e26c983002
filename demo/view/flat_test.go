package view

import (
	"runtime"
	"slices"
	"testing"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/abtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/render"
)

// A flat is what is in sight as slices of the Go heap, with the trails of all enemies row by row and its own
// vertices. A program without components and tiers would draw from it.
type flat struct {
	seen    []game.Seen // in drawing order; Ribbon is 1 + the row
	trails  []flatTrail
	shots   []flatShot
	verts   []render.Vertex
	indices []uint32
	quads   render.Quads
}

type flatTrail struct {
	at, count, most uint8
	points          [32]vec
}

type flatShot struct {
	p, v    vec
	hostile bool
}

// copyOf takes what a view shows into slices.
func copyOf(v *View) *flat {
	g := v.s.Game
	f := &flat{verts: make([]render.Vertex, 4*crowdQuads), indices: make([]uint32, 6*crowdQuads)}
	rows := map[uint16]uint16{}
	for _, e := range ecs.NewFilter3[game.Position, game.Velocity, game.Enemy](g.World()).All() {
		r, t := g.Ribbon(&game.Seen{Ribbon: e.C.Ribbon}), flatTrail{}
		t.at, t.count, t.most = uint8(r.At), uint8(r.Count), uint8(len(r.Points))
		copy(t.points[:], r.Points)
		f.trails = append(f.trails, t)
		if e.C.Ribbon != 0 {
			rows[e.C.Ribbon] = uint16(len(f.trails))
		}
	}
	g.EachSeen(func(s *game.Seen) {
		one := *s
		one.Ribbon = rows[s.Ribbon]
		f.seen = append(f.seen, one)
	})
	g.EachShot(func(p, vel vec, s *game.Shot) { f.shots = append(f.shots, flatShot{p, vel, s.Hostile}) })
	return f
}

// draw writes the quads of enemies and shots, as View.enemies and View.shots do.
func (f *flat) draw(v *View) {
	q := &f.quads
	q.Begin(f.verts, f.indices, v.atlas, window.View())
	q.SetView(v.cam.View(window))
	for i := range f.seen {
		e := &f.seen[i]
		if e.Ribbon != 0 {
			f.trail(v, &f.trails[e.Ribbon-1])
		}
		if e.Tells {
			f.rare(v, func() { v.tell(e) })
		}
	}
	f.bodies(v)
	soft, orb, bullet := v.atlas.Soft(), v.region(v.ids.orb, v.atlas.Soft()), v.region(v.ids.bullet, v.atlas.Soft())
	hot, glow, dim := v.ours().Mix(white, 0.45).Light(1), v.ours().Light(0.35), v.pal[2].Light(0.5)
	beat := 12 + v.pulse(11, 1.6)
	for i := range f.shots {
		s := &f.shots[i]
		if s.hostile {
			q.Sprite(soft, s.p[0], s.p[1], 26, 26, 0, dim)
			q.Ring(s.p[0], s.p[1], 4, 8, 0, 8, night.Fade(0.9))
			q.Sprite(orb, s.p[0], s.p[1], beat, beat, 0, v.pal[4])
			continue
		}
		dir := s.v.Normalize()
		q.Turned(bullet, s.p[0], s.p[1], 18, 7, dir[0], dir[1], hot)
		q.Sprite(soft, s.p[0], s.p[1], 26, 26, 0, glow)
	}
}

func (f *flat) trail(v *View, t *flatTrail) {
	if t.count < 2 {
		return
	}
	point := func(i int) vec {
		k := int(t.at) - 1 - i
		if k < 0 {
			k += int(t.most)
		}
		return t.points[k&31]
	}
	n, a := int(t.count), point(0)
	for i := 0; i+1 < n; i++ {
		b := point(i + 1)
		k := 1 - float32(i)/float32(n)
		f.quads.Line(a[0], a[1], b[0], b[1], 1+5*k, v.pal[2].Light(0.4*k*k))
		a = b
	}
}

func (f *flat) bodies(v *View) {
	q, soft := &f.quads, v.atlas.Soft()
	var core [realm.EnemyKinds]render.Color
	for k := range core {
		core[k] = v.pal[game.CoreOf(realm.Enemy(k))]
	}
	var body, cores [realm.EnemyKinds]render.Region
	var lit [realm.EnemyKinds]bool
	for k := range body {
		body[k] = v.region(v.ids.enemy[k], v.atlas.Placeholder())
		if lit[k] = v.atlas.Loaded(v.ids.core[k]); lit[k] {
			cores[k] = v.atlas.Lookup(v.ids.core[k])
		}
	}
	var looks [realm.EnemyKinds]game.Look
	var tint, halo [realm.EnemyKinds]render.Color
	for k := range looks {
		looks[k] = game.LookOf(realm.Enemy(k))
		tint[k], halo[k] = v.pal[looks[k].From].Mix(v.pal[looks[k].To], looks[k].Mix), v.pal[2].Light(looks[k].Glow)
	}
	for i := range f.seen {
		e := &f.seen[i]
		p, size, flash, w := e.P, game.SizeOf(e.Kind), min(1, e.Flash), &looks[e.Kind]
		if e.Kind == realm.Warden {
			flash *= 0.35
		}
		c := tint[e.Kind].Mix(white, flash)
		if e.Elite {
			size *= 1.35
		}
		if e.Chilled {
			c = c.Mix(frost, 0.6)
		}
		if e.Shielded {
			q.Ring(p[0], p[1], size*0.62, 1.5, v.time*2, 8, v.pal[3].Light(0.65)) // ember, where pal[4] is nearly white
		}
		if e.Burning {
			q.Sprite(soft, p[0], p[1], size*2, size*2, 0, v.pal[3].Light(0.6))
		}
		q.Sprite(soft, p[0], p[1], size*w.Wide, size*w.Wide, 0, halo[e.Kind])
		if e.Elite {
			q.Ring(p[0], p[1], size*0.74, 5.1, -v.time*1.7, 3, night.Fade(0.8))
			q.Ring(p[0], p[1], size*0.74, 2.6, -v.time*1.7, 3, v.pal[3])
		}
		high := size
		if w.Swell > 0 {
			high *= 1 + w.Swell*engine.Sin(v.time*w.Beat+float32(e.Phase))
		}
		q.Sprite(body[e.Kind], p[0], p[1], size, high, e.Angle, c)
		if lit[e.Kind] {
			glow := 0.8 + 0.2*engine.Sin(v.time*7+float32(e.Phase))
			q.Sprite(cores[e.Kind], p[0], p[1], size, high, e.Angle, core[e.Kind].Light(glow+e.Flash))
		}
		if e.Marks != 0 {
			f.rare(v, func() { v.marks(e, size) })
		}
	}
	f.rare(v, v.omens)
}

// rare makes the view append something rare to the flat's batch.
func (f *flat) rare(v *View, write func()) {
	own := v.quads
	v.quads = f.quads
	write()
	f.quads, v.quads = v.quads, own
}

const crowdQuads = 400_000

// newCrowd is a view of the horde at full heat with so many shots, of which a fifth are the player's.
func newCrowd(t testing.TB, ticks uint64, shots int) *View {
	t.Helper()
	mem := tiers.Config{Reserve: [tiers.Count]uintptr{tiers.Static: 192 << 20, tiers.Frame: 8 << 20, tiers.Level: 16 << 20, tiers.Pools: 96 << 20, tiers.Slab: 16 << 20, tiers.Large: 64 << 20, tiers.Inbox: 8 << 20}}
	v := newShown(t, session.Config{Autopilot: true, Memory: mem, Game: game.Config{Seed: 7, Heat: game.HeatMost, Quads: crowdQuads}})
	v.playTo(t, ticks)
	s := v.s
	r := engine.NewRand(9, 3)
	m := ecs.NewMap3[game.Position, game.Velocity, game.Shot](s.Game.World())
	for i := range shots {
		p := s.Game.Player.P.Add(vec{r.Range(-300, 300), r.Range(-170, 170)})
		if _, err := m.NewEntity(game.Position{P: p}, game.Velocity{V: r.Circle().Mul(420)}, game.Shot{Life: 1, Hostile: i%5 != 0}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// shipped writes the same quads as the game does.
func (v *View) shipped() {
	v.open()
	v.begin(game.Sprites, window.View())
	v.quads.SetView(v.cam.View(window))
	v.enemies()
	v.shots()
}

// sameQuads compares what both draw, and returns how much that is.
func sameQuads(t testing.TB, v *View, f *flat) int {
	t.Helper()
	v.shipped()
	f.draw(v)
	if v.quads.Dropped+f.quads.Dropped > 0 {
		t.Fatalf("%d and %d quads had no room", v.quads.Dropped, f.quads.Dropped)
	}
	a, b := v.quads.Vertices(), f.quads.Vertices()
	if len(a) != len(b) || !slices.Equal(v.quads.Indices(), f.quads.Indices()) {
		t.Fatalf("%d vertices, and %d by hand", len(a), len(b))
	}
	for i := range a {
		p, q := a[i], b[i]
		p.Custom0, p.Custom1, p.Custom2, p.Custom3 = 0, 0, 0, 0 // they are not written
		if p != q && runtime.GOARCH == "amd64" {                // elsewhere a compiler may fuse what is only seen
			t.Fatalf("vertex %d of %d is %+v, and %+v by hand", i, len(a), p, q)
		}
	}
	return len(a) / render.VertsPerQuad
}

func TestFlat_DrawsTheSameQuads(t *testing.T) {
	testenv.Long(t)
	v := newCrowd(t, 500, 300)
	if n := sameQuads(t, v, copyOf(v)); n < 1000 {
		t.Errorf("%d quads", n)
	}
}

// BenchmarkFlat is the quads of the horde in sight and of 5,000 shots as the game writes them, beside the
// same from slices of the Go heap.
func BenchmarkFlat(b *testing.B) {
	v := newCrowd(b, 1500, 5000)
	f := copyOf(v)
	n := sameQuads(b, v, f)
	sides := []abtest.Side{{Name: "view", Run: v.shipped}, {Name: "view", Run: v.shipped}, {Name: "flat", Run: func() { f.draw(v) }}}
	for b.Loop() {
		abtest.Measure(60, func() {}, sides...).Report(b, 1)
	}
	b.ReportMetric(float64(n), "quads")
	b.ReportMetric(float64(v.s.Game.Enemies()), "enemies")
	b.ReportMetric(float64(len(f.seen)), "seen")
}
