package particles

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/strata-go/strata/engine/abtest"
)

// A flat is the hand-written alternative to a System: particles are values in one slice of the
// Go heap, moved and taken out in one loop. The arithmetic is the System's, and so is the chance. A slice
// for each field was tried, too: see rows.
type flat struct {
	gs    []grain
	kinds []Kind
	looks []look
	steps [maxKinds]step
	rng   random
}

// emit is System.emit and fill in one, if the capacity suffices.
func (f *flat) emit(e *Emitter, n int) {
	k := &f.kinds[e.Kind]
	turns := k.turns()
	rng := f.rng
	for range n {
		x, y := e.X, e.Y
		u, w, spare := rng.pair()
		angle := e.Angle + float32(e.Spread*(u-0.5))
		if e.Shape != Point {
			dx, dy, out := e.jitter(&rng)
			x, y = x+dx, y+dy
			if e.Radial {
				angle += out
			}
		}
		sin, cos := sincos(angle)
		speed := e.Speed.at(w)
		u, w, _ = rng.pair()
		life := max(e.Life.at(u), shortestLife)
		g := grain{x: x, y: y, vx: float32(cos * speed), vy: float32(sin * speed), left: life, inv: 1 / life, size: e.Size.at(w), kind: uint8(e.Kind), tint: spare}
		if turns {
			u, w, _ = rng.pair()
			g.rot = float32(k.Angle.at(u) * perTurn)
			g.spin = float32(float32(k.Spin.at(w)*life) * perTurn)
		}
		f.gs = append(f.gs, g)
	}
	f.rng = rng
}

func (f *flat) refill(es *[3]Emitter, n int) {
	for i := 0; len(f.gs) < n; i = (i + 1) % 3 {
		f.emit(&es[i], min(50, n-len(f.gs)))
	}
}

// draw is System.Build.
func (f *flat) draw(v View, regions []Region, verts []Vertex, indices []uint32) (quads int) {
	for i := range f.gs {
		g := &f.gs[i]
		l := &f.looks[g.kind]
		t := 1 - g.left*g.inv
		sh := &l.ramp[uint32(int32(t*(rampSteps-1.0/64)))%rampSteps]
		px, py := g.x*v.Scale+v.X, g.y*v.Scale+v.Y
		h := g.size * sh.size * v.Scale * 0.5
		ax, ay := h, float32(0)
		bx, by := float32(0), h
		reach := h
		switch l.mode {
		case turned:
			d := &circle[uint32(int32((g.rot+g.spin*t)*circleSteps))%circleSteps]
			ax, ay = h*d.cos, h*d.sin
			bx, by = -ay, ax
			reach = h * math.Sqrt2
		case stretched:
			ax, ay, bx, by = along(g.vx, g.vy, h, l.stretch*v.Scale)
			reach = abs(ax) + abs(ay) + h
		}
		if !(px+reach >= 0 && px-reach <= v.W && py+reach >= 0 && py-reach <= v.H) {
			continue
		}
		if len(verts) < VertsPerQuad*(quads+1) || len(indices) < IndicesPerQuad*(quads+1) {
			return quads
		}
		k := 1 - l.vary*float32(g.tint)
		r, gr, b, a := sh.color.R*k, sh.color.G*k, sh.color.B*k, sh.color.A
		reg := &regions[g.kind]
		q := (*[VertsPerQuad]Vertex)(verts[VertsPerQuad*quads:])
		q[0].set(px-ax-bx, py-ay-by, reg.X0, reg.Y0, r, gr, b, a)
		q[1].set(px+ax-bx, py+ay-by, reg.X1, reg.Y0, r, gr, b, a)
		q[2].set(px-ax+bx, py-ay+by, reg.X0, reg.Y1, r, gr, b, a)
		q[3].set(px+ax+bx, py+ay+by, reg.X1, reg.Y1, r, gr, b, a)
		ix := (*[IndicesPerQuad]uint32)(indices[IndicesPerQuad*quads:])
		first := VertsPerQuad * uint32(quads)
		ix[0], ix[1], ix[2] = first, first+1, first+2
		ix[3], ix[4], ix[5] = first+1, first+3, first+2
		quads++
	}
	return quads
}

// rows is flat with a slice for each field, as far as the step goes.
type rows struct {
	kind, tint         []uint8
	x, y, vx, vy, left []float32
	birth              []birth
	steps              *[maxKinds]step
}

func (r *rows) update() {
	n := len(r.left)
	for i := 0; i < n; {
		st := &r.steps[r.kind[i]]
		u := float32(r.vx[i]*st.keep) + st.gx
		v := float32(r.vy[i]*st.keep) + st.gy
		r.vx[i], r.vy[i] = u, v
		r.x[i] += float32(u * dt)
		r.y[i] += float32(v * dt)
		if r.left[i] -= dt; r.left[i] > 0 {
			i++
			continue
		}
		n--
		r.kind[i], r.tint[i], r.x[i], r.y[i] = r.kind[n], r.tint[n], r.x[n], r.y[n]
		r.vx[i], r.vy[i], r.left[i], r.birth[i] = r.vx[n], r.vy[n], r.left[n], r.birth[n]
	}
	r.cut(n)
}

func (r *rows) cut(n int) {
	r.kind, r.tint, r.x, r.y = r.kind[:n], r.tint[:n], r.x[:n], r.y[:n]
	r.vx, r.vy, r.left, r.birth = r.vx[:n], r.vy[:n], r.left[:n], r.birth[:n]
}

// take appends what a flat has emitted.
func (r *rows) take(gs []grain) {
	for i := range gs {
		g := &gs[i]
		r.kind, r.tint, r.x, r.y = append(r.kind, g.kind), append(r.tint, g.tint), append(r.x, g.x), append(r.y, g.y)
		r.vx, r.vy, r.left = append(r.vx, g.vx), append(r.vy, g.vy), append(r.left, g.left)
		r.birth = append(r.birth, birth{g.inv, g.size, g.rot, g.spin})
	}
}

// A pair is two Systems and a flat with the same particles.
type pair struct {
	n    int
	sys  [2]*System
	es   [2]*[3]Emitter
	flat flat
}

func newPair(t testing.TB, n int) *pair {
	p := &pair{n: n}
	for i := range p.sys {
		p.sys[i] = newSystem(t, Config{Capacity: n})
		p.es[i] = crowd(t, p.sys[i], n)
		settle(p.sys[i], p.es[i], n)
	}
	s := p.sys[0]
	p.flat = flat{gs: grains(make([]grain, 0, n), s, 0), kinds: s.kinds, looks: s.looks, steps: s.steps, rng: s.rng}
	return p
}

func (p *pair) shipped(i int) {
	p.sys[i].Update(dt)
	refill(p.sys[i], p.es[i], p.n)
}

func (p *pair) byHand() {
	p.flat.gs = updateGrains(p.flat.gs, &p.flat.steps)
	p.flat.refill(p.es[0], p.n)
}

// sorted are particles as bytes, in the order of those.
func sorted(gs []grain) [][]byte {
	all := make([][]byte, len(gs))
	for i := range gs {
		all[i], _ = binary.Append(nil, binary.LittleEndian, struct {
			F          [9]float32
			Kind, Tint uint8
		}{[...]float32{gs[i].x, gs[i].y, gs[i].vx, gs[i].vy, gs[i].left, gs[i].inv, gs[i].size, gs[i].rot, gs[i].spin}, gs[i].kind, gs[i].tint})
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

// differ says whether the Systems and the flat do not have the same particles, to the last bit. The order of
// The order of rows is unspecified.
func (p *pair) differ(t testing.TB) {
	t.Helper()
	want := sorted(p.flat.gs)
	for i := range p.sys {
		if !slices.EqualFunc(sorted(grains(nil, p.sys[i], 0)), want, bytes.Equal) {
			t.Fatalf("system %d has other particles than the slice", i)
		}
	}
}

// sameQuads compares what is drawn of the same rows, and returns how much that is.
func (p *pair) sameQuads(t testing.TB, d *drawn) int {
	t.Helper()
	s := p.sys[0]
	f := flat{gs: grains(nil, s, 0), looks: s.looks}
	nv, ni, _ := s.Build(sight, d.regions, d.verts[0], d.indices[0], 0)
	quads := f.draw(sight, d.regions, d.verts[1], d.indices[1])
	if nv != VertsPerQuad*quads || !slices.Equal(d.indices[0][:ni], d.indices[1][:ni]) {
		t.Fatalf("%d vertices, and %d quads by hand", nv, quads)
	}
	if runtime.GOARCH != "amd64" { // elsewhere a compiler may fuse what is only seen
		return quads
	}
	if !slices.Equal(d.verts[0][:nv], d.verts[1][:nv]) {
		t.Fatal("the vertices differ")
	}
	return quads
}

// drawn is the storage of vertices and indices.
type drawn struct {
	regions []Region
	verts   [2][]Vertex
	indices [2][]uint32
}

func newDrawn(n int) *drawn {
	d := &drawn{regions: []Region{{0, 0, 16, 16}, {16, 0, 32, 16}, {32, 0, 48, 16}}}
	for i := range 2 {
		d.verts[i], d.indices[i] = make([]Vertex, VertsPerQuad*n), make([]uint32, IndicesPerQuad*n)
	}
	return d
}

func TestFlat_HasTheSameParticlesAndQuadsToTheLastBit(t *testing.T) {
	p := newPair(t, 4000)
	for range 100 {
		p.shipped(0)
		p.shipped(1)
		p.byHand()
	}
	p.differ(t)
	if n := p.sameQuads(t, newDrawn(p.n)); n < 3000 {
		t.Errorf("only %d of %d are in sight", n, p.n)
	}
}

func TestFlat_RowsAreTheSameParticles(t *testing.T) {
	p := newPair(t, 4000)
	gs := grains(nil, p.sys[0], 0)
	var r rows
	r.steps = &p.flat.steps
	r.take(gs)
	r.update()
	s := System{n: len(r.left), columns: columns{kind: r.kind, tint: r.tint, x: r.x, y: r.y, vx: r.vx, vy: r.vy, left: r.left, birth: r.birth}}
	if gs = updateGrains(gs, &p.flat.steps); !slices.EqualFunc(sorted(gs), sorted(grains(nil, &s, 0)), bytes.Equal) {
		t.Error("a slice for each field has other particles than one of values")
	}
}

// BenchmarkFlat compares 100,000 particles with a hand-written slice of values and with a slice for each field. It
// measures the update, with as many births as deaths, and the quads.
func BenchmarkFlat(b *testing.B) {
	const n, ticks = 100_000, 10
	b.Run("tick", func(b *testing.B) {
		p := newPair(b, n)
		sides := p.sides(ticks)
		for b.Loop() {
			f := abtest.Measure(40, func() {}, sides...)
			p.differ(b)
			f.Report(b, ticks)
		}
	})
	b.Run("rows", func(b *testing.B) { // births are copied in from a slice of values, which costs a little more
		p := newPair(b, n)
		r := rows{steps: &p.flat.steps}
		r.take(p.flat.gs)
		f := flat{kinds: p.flat.kinds, rng: p.flat.rng, gs: make([]grain, 0, n)}
		sides := p.sides(ticks)
		sides[2] = abtest.Side{Name: "flat", Run: func() {
			for range ticks {
				r.update()
				lack := n - len(r.left)
				f.gs = f.gs[:0]
				f.refill(p.es[0], lack)
				r.take(f.gs)
			}
		}}
		for b.Loop() {
			abtest.Measure(40, func() {}, sides...).Report(b, ticks)
		}
	})
	b.Run("quads", func(b *testing.B) {
		p, d := newPair(b, n), newDrawn(n)
		p.flat.gs = grains(p.flat.gs[:0], p.sys[0], 0)
		var sides []abtest.Side
		for range 2 {
			sides = append(sides, abtest.Side{Name: "system", Run: func() { p.sys[0].Build(sight, d.regions, d.verts[0], d.indices[0], 0) }})
		}
		sides = append(sides, abtest.Side{Name: "flat", Run: func() { p.flat.draw(sight, d.regions, d.verts[0], d.indices[0]) }})
		b.ReportMetric(float64(p.sameQuads(b, d)), "quads")
		for b.Loop() {
			abtest.Measure(200, func() {}, sides...).Report(b, 1)
		}
	})
}

func (p *pair) sides(ticks int) []abtest.Side {
	run := func(f func()) func() {
		return func() {
			for range ticks {
				f()
			}
		}
	}
	return []abtest.Side{{Name: "system", Run: run(func() { p.shipped(0) })}, {Name: "system", Run: run(func() { p.shipped(1) })}, {Name: "flat", Run: run(p.byHand)}}
}
