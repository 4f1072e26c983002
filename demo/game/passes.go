package game

import (
	"errors"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/plan"
)

// The buffers of a frame's passes. Each is needed for a part of the frame only, so a plan
// places them in less room than they take together:
//
//	pass        0 cull   1 sort   2 sprites   3 sparks   4 signs
//	visible     |-----------------|
//	keys                 |--------|
//	order                |----------------------------------------|
//	sprites                       |-----------|
//	sparks                                    |----------|
//	signs                                                |--------|
//
// The last three are vertices and indices of what is built and submitted one after the other: the
// world, the particles over it, and what is to be read.
const (
	bufVisible uint32 = iota
	bufKeys
	bufOrder
	bufDrawn // vertices, and indices behind them, of each Pass
)

// A Pass is a batch of quads. A frame draws the passes in the order of their constants.
type Pass uint32

// The passes: the world, the particles over it, and text and signs.
const (
	Sprites Pass = iota
	Sparks
	Signs
	passes
)

// Vertices returns the id of the buffer for the vertices of the pass, see plan.Buffer.
func (p Pass) Vertices() uint32 { return bufDrawn + 2*uint32(p) }

// Indices returns the id of the buffer for the indices of the pass, see plan.Buffer.
func (p Pass) Indices() uint32 { return p.Vertices() + 1 }

// The passes, as moments of the plan.
const (
	passCull = iota
	passSort
	passDrawn
	passEnd = passDrawn + int(passes)
)

// Quads returns the number of quads for which the pass has space, if Config.Quads is `all`, which is at least 256. If
// the static tier is short, there is space for fewer quads: see [Game.Lacking]. A quad takes four vertices of 48 bytes
// and six indices of type uint32.
func (p Pass) Quads(all int) int {
	if p == Signs {
		return min(all, 4096)
	}
	return all * 3 / 5 // the world and the particles lie in the same place
}

// A Seen is an enemy that may be in sight, with the data to draw it. Aim, Angle, Flash and Phase are fields of its
// [Enemy], and Tells is the result of [Enemy.Tells]. Ribbon and Marks are for [Game.Ribbon] and [Game.Marks].
type Seen struct {
	P, Aim                            vec
	Angle, Flash                      float32
	Phase                             uint16
	Ribbon, Marks                     uint16
	Kind                              realm.Enemy
	Tells                             bool
	Burning, Chilled, Elite, Shielded bool
}

// A key orders the visible: far ones first, that is from the top of the screen down.
type key struct{ Y, Index uint32 }

var (
	seenType = memory.MustType[Seen]()
	keyType  = memory.MustType[key]()
)

// seenMost bounds how many enemies are drawn; a screen holds far fewer that can be told apart.
const seenMost = 8192

// A sight is what the frame draws: the arena of its passes, and the enemies that may be visible.
type sight struct {
	passes  *plan.Arena // nil if the static tier had no space
	seen    []Seen      // of this tick, in drawing order
	built   bool        // the passes have advanced to drawing
	halved  bool        // the static tier had no space for as many quads as were asked for
	glimpse Seen        // the argument of eachNear, which would be a Go allocation each otherwise
}

// declare places the realm's pass buffers in the static tier: for as many quads as were asked
// for, or half as many, and so on. Where not even a few fit there is no plan, and whoever
// draws does without the sorting.
func (s *sight) declare(g *Game) error {
	s.passes, s.seen, s.built, s.halved = nil, nil, true, false // what is drawn before the first tick, as in a pause, looks first
	for quads, most := g.cfg.Quads, seenMost; quads >= 256; quads, most = quads/2, max(most/2, 64) {
		buffers := []plan.Buffer{
			{ID: bufVisible, Size: uintptr(most) * seenType.Size(), Birth: passCull, Death: passDrawn},
			{ID: bufKeys, Size: 2 * uintptr(most) * keyType.Size(), Birth: passSort, Death: passDrawn},
			{ID: bufOrder, Size: uintptr(most) * seenType.Size(), Birth: passSort, Death: passEnd},
		}
		for k := range passes {
			n, at := uintptr(k.Quads(quads)), passDrawn+int(k)
			buffers = append(buffers,
				plan.Buffer{ID: k.Vertices(), Size: n * 4 * 48, Align: 64, Birth: at, Death: at + 1},
				plan.Buffer{ID: k.Indices(), Size: n * 6 * 4, Align: 64, Birth: at, Death: at + 1})
		}
		p, err := plan.Fast(buffers)
		if err != nil {
			return err
		}
		s.passes, err = g.store.declare(p)
		if err == nil {
			return nil
		}
		if !errors.Is(err, memory.ErrOutOfMemory) {
			return err
		}
		g.Lost.Quads += quads - quads/2
		s.halved = true
	}
	return nil
}

func (s *sight) end(st *store) error {
	err := st.undeclare(s.passes)
	s.passes, s.seen = nil, nil
	return err
}

// Passes returns the arena with the buffers of the frame's passes. If Config.Quads is below 256, but not 0, or if there
// was no space, Passes returns nil. It also returns nil while no realm is played.
func (g *Game) Passes() *plan.Arena { return g.sight.passes }

// Saved returns the bytes that the buffers of [Game.Passes] take, and the sum of their sizes, which they would take
// without overlapping. If Passes returns nil, both are 0.
func (g *Game) Saved() (taken, sideBySide uint64) {
	if g.sight.passes == nil {
		return 0, 0
	}
	for b := range g.sight.passes.Plan().All() {
		sideBySide += uint64(b.Size)
	}
	return uint64(g.sight.passes.Plan().Total()), sideBySide
}

// Build starts a pass and returns the arena with the buffers of the pass. They are valid until the next Build, Tick or
// End. Begin each frame with Build(Sprites), and go on in the order of the constants: Build(Sparks) after Build(Signs)
// panics. If a frame is drawn again without a tick in between, Build(Sprites) selects the visible enemies again. If
// [Game.Passes] returns nil, so does Build.
func (g *Game) Build(p Pass) *plan.Arena {
	if g.sight.passes == nil {
		return nil
	}
	if p == Sprites {
		if g.sight.built {
			_ = g.sight.look(g) // it did not fail in the tick
		}
		g.sight.built = true
	}
	g.sight.passes.Advance(passDrawn + int(p))
	return g.sight.passes
}

// look lists the enemies about the player and puts them in drawing order: the first two
// passes of the frame.
func (s *sight) look(g *Game) error {
	s.seen, s.built = nil, false
	if s.passes == nil {
		return nil
	}
	s.passes.Begin(passCull)
	visible, err := plan.Slice(s.passes, seenType, bufVisible)
	if err != nil {
		return err
	}
	n := 0
	s.eachNear(g, func(e *Seen) {
		if n < len(visible) {
			visible[n] = *e
			n++
		}
	})
	s.passes.Advance(passSort)
	keys, err := plan.Slice(s.passes, keyType, bufKeys)
	if err != nil {
		return err
	}
	ordered, err := plan.Slice(s.passes, seenType, bufOrder)
	if err != nil {
		return err
	}
	half := len(keys) / 2
	a, b := keys[:n], keys[half:][:n]
	for i := range a {
		a[i] = key{Y: uint32(max(visible[i].P[1], 0)), Index: uint32(i)}
	}
	radix(a, b, 0)
	radix(b, a, 8)
	for i := range a {
		ordered[i] = visible[a[i].Index]
	}
	s.seen = ordered[:n]
	return nil
}

// radix sorts src by eight bits of Y from shift on into dst, stably.
func radix(src, dst []key, shift uint) {
	var count [257]int
	for i := range src {
		count[src[i].Y>>shift&255+1]++
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	for i := range src {
		d := src[i].Y >> shift & 255
		dst[count[d]] = src[i]
		count[d]++
	}
}

// The camera follows the player, so what it shows lies within half a screen of it, and a bit: pictures
// are wide, it looks ahead, and trails hang behind. Some are long.
const (
	sightX, sightY = 320 + 150, 180 + 150
	sightTrail     = 250
)

// inSight reports whether the camera might show an enemy, so far from the player.
func inSight(d vec, k realm.Enemy) bool {
	x, y := max(d[0], -d[0]), max(d[1], -d[1])
	if breeds[k].wide {
		return x <= sightX+sightTrail && y <= sightY+sightTrail
	}
	return x <= sightX && y <= sightY
}

// eachNear calls f with every enemy that the camera might show, in storage order. What f gets
// is the game's own, and valid during the call.
func (s *sight) eachNear(g *Game, f func(*Seen)) {
	a := &g.cast
	for es, c := range a.enemyFilter.Chunks() {
		s.glimpse = Seen{Burning: a.burning.Column(es) != nil, Chilled: a.chilled.Column(es) != nil, Elite: a.elite.Column(es) != nil, Shielded: a.shielded.Column(es) != nil}
		for i := range c.A {
			p := c.A[i].P
			if !inSight(p.Sub(g.Player.P), c.C[i].Kind) {
				continue
			}
			e, x := &c.C[i], &s.glimpse
			x.P, x.Aim, x.Angle, x.Flash, x.Phase, x.Ribbon, x.Marks, x.Kind, x.Tells = p, e.Aim, e.Angle, e.Flash, e.Phase, e.Ribbon, e.Marks, e.Kind, e.Tells()
			f(x)
		}
	}
}

// EachSeen calls f with the enemies that may be in sight, at most 8,192, from the top of the screen to the bottom. Call
// it after Build(Sprites). If [Game.Passes] returns nil, there is no limit, and the enemies come in storage order. The
// argument of f is valid during the call.
func (g *Game) EachSeen(f func(*Seen)) {
	if g.sight.passes == nil {
		g.sight.eachNear(g, f)
		return
	}
	for i := range g.sight.seen {
		f(&g.sight.seen[i])
	}
}
