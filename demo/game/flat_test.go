package game

import (
	"slices"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine"
)

// A flat is the horde and the shots as somebody would write them by hand who has no component system and
// no tiers: slices of the Go heap with room from the start, numbers of rows in the place of handles, trails
// of fixed room beside their enemies, and scratch that is cut to [:0]. The rules are the game's, and so is
// the arithmetic: where a rule asks for no storage it is the game's own function, told of a row by pointers.
//
// What it leaves to the game: the realm, the fields, chance, and what the fallen leave. It has no elites, no
// shields, and nothing that burns, as its load has none.
type flat struct {
	g      *Game // with no enemy and no shot of its own
	fields [realm.Lanes]*realm.Field
	ps     []Position
	vs     []Velocity
	ks     []Enemy
	trails []flatTrail
	counts []uint8 // of marks
	marks  [][markMost]Mark
	marked int // how many have any
	shots  []flatShot

	grid  grid // begin, at and crowds; not who
	begin [gridRoom]int32
	whole [gridCells * gridCells]crowd
	cells []uint16 // of each enemy
	at    []vec
	who   []flatWho
	hits  []flatHit
	dead  []int32 // rows, in the order of their ends
	spent []int32 // shots
	far   int     // enemies beyond the grid, which the load has none of

	visible, ordered []Seen
	keys             [2][]key
	seen             []Seen
}

// A flatTrail is a ring of the last places, up to most.
type flatTrail struct {
	at, count, most uint8
	points          [32]vec
}

type flatShot struct {
	p, v    vec
	life    float32
	damage  int16
	hostile bool
}

type flatWho struct {
	radius float32
	row    int32
}

type flatHit struct {
	shot, row int32 // row is -1 where a seal took it
	p, v      vec
	damage    int16
}

func (t *flatTrail) push(p vec) {
	t.points[t.at] = p
	if t.at++; t.at == t.most {
		t.at = 0
	}
	t.count = min(t.count+1, t.most)
}

// tick is a tick of the horde and the shots.
func (f *flat) tick() {
	f.moveEnemies()
	f.fade()
	f.moveShots()
	f.collide()
	f.look()
}

func (f *flat) moveEnemies() {
	g := f.g
	w := walk{g: g, r: g.Realm, fields: f.fields, player: g.Player.P, ticks: g.age()}
	gr := &f.grid
	clear(f.begin[:])
	clear(f.whole[:])
	gr.x0, gr.y0 = corner(g.Player.P[0]), corner(g.Player.P[1])
	begin := f.begin[:]
	gr.begin, gr.crowds = begin, f.whole[:]
	n := len(f.ps)
	f.cells = f.cells[:n]
	for i := range f.ps {
		k := gr.cellOf(f.ps[i].P)
		if k < 0 {
			f.far++
			k = 0
		}
		begin[k+2]++
		f.cells[i] = uint16(k)
	}
	for i := 2; i < len(begin); i++ {
		begin[i] += begin[i-1]
	}
	at, who := f.at[:n], f.who[:n]
	for i, k := range f.cells {
		j := begin[k+1]
		at[j], who[j] = f.ps[i].P, flatWho{breeds[f.ks[i].Kind].radius, int32(i)}
		begin[k+1] = j + 1
	}
	gr.at = at
	for i := range f.ps {
		e := &f.ks[i]
		w.pace, w.every = step, 4
		if d := f.ps[i].P.Sub(w.player); !inSight(d, e.Kind) {
			if w.turn(e)%2 != 0 {
				continue
			}
			w.pace = 2 * step
		} else if engine.LengthSquared(d) < closeBy*closeBy {
			w.every = 2
		}
		f.near(&w, i)
	}
}

// near is walk.near without what the load has none of.
func (f *flat) near(w *walk, i int) {
	g, k := f.g, int(f.cells[i])
	p, v, e := &f.ps[i], &f.vs[i], &f.ks[i]
	e.Flash = max(0, e.Flash-mul(w.pace, 6))
	e.Timer -= w.pace
	switch e.Kind {
	case realm.Drifter:
		w.drift(p, v, e)
	case realm.Lancer:
		w.lance(p, v, e)
	case realm.Swarm:
		w.swarm(p, v, e)
	}
	from, b := p.P, &breeds[e.Kind]
	p.P = engine.MulAdd(p.P, v.V, w.pace)
	if e.Kind == realm.Lancer {
		p.P = engine.MulAdd(p.P, f.grid.jostle(k, from), w.pace)
	} else {
		if w.turn(e)%w.every == w.every/2 {
			e.Aim = f.grid.jostle(k, from)
		}
		p.P = engine.MulAdd(p.P, e.Aim, w.pace)
	}
	w.r.Slide(&p.P, &v.V, from, min(b.radius, widest), 0.5)
	d, reach := w.player.Sub(p.P), b.radius+playerRadius
	if engine.LengthSquared(d) < mul(reach, reach) && g.Player.Alive {
		g.Player.hurt(g, b.damage, p.P, Cause(e.Kind))
	}
	if e.Kind == realm.Lancer || (w.ticks+uint64(e.Phase))%4 == 1 {
		f.trails[i].push(p.P)
	}
}

func (f *flat) moveShots() {
	g := f.g
	f.spent = f.spent[:0]
	for i := range f.shots {
		s := &f.shots[i]
		s.p = engine.MulAdd(s.p, s.v, step)
		s.life -= step
		switch {
		case g.Realm.Solid(s.p):
			g.fx.splash(s.p, s.v)
		case s.life <= 0:
		case s.hostile:
			if !g.Player.Alive || engine.LengthSquared(s.p.Sub(g.Player.P)) >= (4+playerRadius)*(4+playerRadius) {
				continue
			}
			g.Player.hurt(g, s.damage, s.p, CauseShot)
		default:
			continue
		}
		s.life = -1
		f.spent = append(f.spent, int32(i))
	}
	f.dropShots()
}

// dropShots takes the spent out, each in its turn: the last takes its place.
func (f *flat) dropShots() {
	for n, i := range f.spent {
		last := len(f.shots) - 1
		if int(i) != last && f.shots[last].life < 0 { // it is spent, too, and found at i from now on
			f.spent[n+1+slices.Index(f.spent[n+1:], int32(last))] = i
		}
		f.shots[i] = f.shots[last]
		f.shots = f.shots[:last]
	}
}

func (f *flat) touch(p vec, radius float32) int32 {
	gr := &f.grid
	x0, x1, y0, y1 := gr.rows(p, widest+radius)
	for y := y0; y <= y1; y++ {
		row := y * gridCells
		for j := gr.begin[row+x0]; j < gr.begin[row+x1+1]; j++ {
			reach := f.who[j].radius + radius
			if d := p.Sub(f.at[j]); engine.LengthSquared(d) < mul(reach, reach) {
				return f.who[j].row
			}
		}
	}
	return -1
}

func (f *flat) collide() {
	g := f.g
	f.hits, f.dead, f.spent = f.hits[:0], f.dead[:0], f.spent[:0]
	for i := range f.shots {
		s := &f.shots[i]
		if s.hostile || len(f.hits) == maxHits {
			continue
		}
		if row := f.touch(s.p, 3); row >= 0 {
			f.hits = append(f.hits, flatHit{int32(i), row, s.p, s.v, s.damage})
		} else if k := g.sealAt(s.p, 3); k >= 0 {
			g.crack(g, k, s.damage)
			f.hits = append(f.hits, flatHit{int32(i), -1, s.p, s.v, 0})
		}
	}
	for k := range f.hits {
		h := &f.hits[k]
		if h.row >= 0 && f.ks[h.row].HP <= 0 {
			continue // another one of this tick was faster; a shot flies on
		}
		f.shots[h.shot].life = -1
		f.spent = append(f.spent, h.shot)
		g.fx.hit(h.p, h.v)
		if h.row >= 0 {
			f.strike(h)
		}
	}
	f.dropShots()
	f.bury()
}

func (f *flat) strike(h *flatHit) {
	p, v, e := &f.ps[h.row], &f.vs[h.row], &f.ks[h.row]
	e.Flash = 1
	v.V = engine.MulAdd(v.V, h.v, 0.05)
	if e.HP -= h.damage; e.HP > 0 {
		return
	}
	f.g.toll[e.Kind]--
	f.dead = append(f.dead, h.row)
	if err := f.g.cast.fall(f.g, p.P, v.V, e.Kind, e.Post, breeds[e.Kind].worth); err != nil {
		panic(err)
	}
	f.splinter(p.P)
}

// splinter throws the shards of one that burst at the first few beside it.
func (f *flat) splinter(at vec) {
	gr, room := &f.grid, shardMost
	x0, x1, y0, y1 := gr.rows(at, shardReach)
	for y := y0; y <= y1; y++ {
		row := y * gridCells
		for j := gr.begin[row+x0]; j < gr.begin[row+x1+1]; j++ {
			if engine.LengthSquared(at.Sub(f.at[j])) >= shardReach*shardReach {
				continue
			}
			if i := f.who[j].row; f.ks[i].HP > 0 {
				f.mark(i, engine.Scale(at.Sub(f.at[j]), 0.4))
			}
			if room--; room == 0 {
				return
			}
		}
	}
}

func (f *flat) mark(i int32, from vec) {
	n := f.counts[i]
	if n == markMost || n == 0 && f.marked == markedMost {
		return
	}
	if n == 0 {
		f.marked++
	}
	k := 64 / breeds[f.ks[i].Kind].radius
	at := func(v float32) int8 { return int8(clamp(mul(v, k), -64, 64)) }
	f.marks[i][n] = Mark{Left: MarkTime[MarkShard], Kind: MarkShard, X: at(from[0]), Y: at(from[1])}
	f.counts[i] = n + 1
}

// fade lets all marks grow old.
func (f *flat) fade() {
	for i, most := range f.counts {
		if most == 0 {
			continue
		}
		list, n := &f.marks[i], uint8(0)
		for _, k := range list[:most] {
			if k.Left--; k.Left > 0 {
				list[n] = k
				n++
			}
		}
		if f.counts[i] = n; n == 0 {
			f.marked--
		}
	}
}

// bury takes the dead out, in the order in which they fell.
func (f *flat) bury() {
	for n, i := range f.dead {
		last := len(f.ps) - 1
		if int(i) != last && f.ks[last].HP <= 0 {
			f.dead[n+1+slices.Index(f.dead[n+1:], int32(last))] = i
		}
		f.ps[i], f.vs[i], f.ks[i] = f.ps[last], f.vs[last], f.ks[last]
		t := &f.trails[last]
		f.trails[i].at, f.trails[i].count, f.trails[i].most = t.at, t.count, t.most
		copy(f.trails[i].points[:t.count], t.points[:t.count])
		if f.counts[i] > 0 {
			f.marked--
		}
		f.counts[i] = f.counts[last]
		copy(f.marks[i][:f.counts[i]], f.marks[last][:f.counts[i]])
		f.ps, f.vs, f.ks, f.trails = f.ps[:last], f.vs[:last], f.ks[:last], f.trails[:last]
		f.counts, f.marks = f.counts[:last], f.marks[:last]
	}
}

// look lists who is in sight, and sorts them.
func (f *flat) look() {
	n := 0
	for i := range f.ps {
		p, e := f.ps[i].P, &f.ks[i]
		if !inSight(p.Sub(f.g.Player.P), e.Kind) {
			continue
		}
		if n < len(f.visible) {
			f.visible[n] = Seen{P: p, Aim: e.Aim, Angle: e.Angle, Flash: e.Flash, Phase: e.Phase, Ribbon: uint16(i) + 1, Marks: uint16(f.counts[i]), Kind: e.Kind, Tells: e.Tells()}
			n++
		}
	}
	a, b := f.keys[0][:n], f.keys[1][:n]
	for i := range a {
		a[i] = key{Y: uint32(max(f.visible[i].P[1], 0)), Index: uint32(i)}
	}
	radix(a, b, 0)
	radix(b, a, 8)
	for i := range a {
		f.ordered[i] = f.visible[a[i].Index]
	}
	f.seen = f.ordered[:n]
}

// spawnEnemy is Game.spawnEnemy.
func (f *flat) spawnEnemy(k realm.Enemy, p vec) {
	g := f.g
	e := Enemy{Kind: k, HP: g.horde.breeds[k].hp, Phase: uint16(g.rng.Uint32()), Timer: g.rng.Range(0.4, 1.4), Post: postHorde}
	n, most := len(f.ps), breeds[k].trail
	f.trails, f.counts, f.marks = f.trails[:n+1], append(f.counts, 0), f.marks[:n+1]
	t := &f.trails[n]
	t.at, t.count, t.most = 0, 0, uint8(most/2+g.rng.Intn(most/2+1))
	t.push(p)
	f.ps, f.vs, f.ks = append(f.ps, Position{p}), append(f.vs, Velocity{}), append(f.ks, e)
	g.toll[k]++
}

// newFlat takes the enemies and shots of a game out of it into slices with room for so many.
func newFlat(g *Game, enemies, shots int) *flat {
	f := &flat{g: g, ps: make([]Position, 0, enemies), vs: make([]Velocity, 0, enemies), ks: make([]Enemy, 0, enemies),
		trails: make([]flatTrail, 0, enemies), counts: make([]uint8, 0, enemies), marks: make([][markMost]Mark, 0, enemies), shots: make([]flatShot, 0, shots), cells: make([]uint16, enemies),
		at: make([]vec, enemies), who: make([]flatWho, enemies), hits: make([]flatHit, 0, maxHits),
		dead: make([]int32, 0, maxHits), spent: make([]int32, 0, shots), visible: make([]Seen, seenMost), ordered: make([]Seen, seenMost)}
	f.keys = [2][]key{make([]key, seenMost), make([]key, seenMost)}
	for _, r := range g.cast.enemyFilter.All() {
		e := *r.C
		rb := g.Ribbon(&Seen{Ribbon: e.Ribbon})
		t := flatTrail{most: g.cast.ribbons.all[e.Ribbon-1].most}
		for k := rb.Count - 1; k >= 0; k-- {
			t.push(rb.Point(k))
		}
		e.Ribbon = 0
		f.ps, f.vs, f.ks, f.trails = append(f.ps, *r.A), append(f.vs, *r.B), append(f.ks, e), append(f.trails, t)
		f.counts, f.marks = append(f.counts, 0), f.marks[:len(f.ps)]
	}
	for _, r := range g.cast.shotFilter.All() {
		f.shots = append(f.shots, flatShot{r.A.P, r.B.V, r.C.Life, r.C.Damage, r.C.Hostile})
	}
	toll := g.toll
	emptied(g)
	g.toll = toll
	return f
}
