package particles

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A model particle is found again by its size, which is unique and never changes.
type model struct{ x, y, vx, vy, left float32 }

func (s *System) model() map[float32]model {
	m := map[float32]model{}
	for i := range s.n {
		m[s.birth[i].size] = model{s.x[i], s.y[i], s.vx[i], s.vy[i], s.left[i]}
	}
	return m
}

func TestUpdate_KeepsExactlyThoseThatLive(t *testing.T) {
	testenv.Long(t)
	s := newSystem(t, Config{Capacity: 50_000})
	kinds := [2]KindID{register(t, s, Kind{Drag: 1, GravityY: 30}), register(t, s, Kind{GravityX: -5})}
	next := float32(1)
	for round := range 40 {
		for s.Len() < 40_000 { // three blocks
			e := Emitter{Kind: kinds[int(next)%2], Spread: 6, Speed: Range{1, 50}, Life: Range{0.01, 0.5}, Size: Just(next)}
			s.Emit(&e, 1)
			next++
		}
		want := map[float32]model{}
		byKind := [2]int{}
		for id, p := range s.model() {
			k := &s.kinds[kinds[int(id)%2]]
			keep := 1 / (1 + float32(k.Drag*dt))
			p.vx = float32(p.vx*keep) + float32(k.GravityX*dt)
			p.vy = float32(p.vy*keep) + float32(k.GravityY*dt)
			p.x += float32(p.vx * dt)
			p.y += float32(p.vy * dt)
			if p.left -= dt; p.left > 0 {
				want[id] = p
				byKind[int(id)%2]++
			}
		}
		s.Update(dt)
		got := s.model()
		if len(got) != s.Len() || len(got) != len(want) || s.Count(kinds[0]) != byKind[0] || s.Count(kinds[1]) != byKind[1] {
			t.Fatalf("round %d: %d rows with %d particles, want %d", round, s.Len(), len(got), len(want))
		}
		for id, p := range want {
			if got[id] != p {
				t.Fatalf("round %d: particle %v is %v, want %v", round, id, got[id], p)
			}
		}
		mustCheck(t, s)
	}
}

func TestMotion_IsWhatLives(t *testing.T) {
	s := newSystem(t, Config{})
	s.Emit(&Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}, 10)
	x, y, vx, vy := s.Motion()
	if len(x) != 10 || cap(x) != 10 || len(y) != 10 || len(vx) != 10 || len(vy) != 10 {
		t.Fatalf("%d of %d", len(x), cap(x))
	}
	vx[3] = 60
	if s.Update(dt); abs(s.x[3]-1) > 1e-6 {
		t.Errorf("x = %v", s.x[3])
	}
}

func TestUpdate_Edges(t *testing.T) {
	s := newSystem(t, Config{Capacity: 2*blockRows + 1})
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1)}
	s.Update(dt)
	for _, n := range []int{1, blockRows - 1, blockRows, blockRows + 1, 2*blockRows + 1} {
		s.Emit(&e, n-s.Len())
		h := s.Hash(0)
		for _, still := range []float32{0, -1, float32(math.NaN())} {
			s.Update(still)
		}
		if s.Hash(0) != h {
			t.Errorf("time stood still and %d particles moved", n)
		}
	}
	s.Update(0.5)
	mustCheck(t, s)
	s.Update(0.5) // exactly the whole life
	if s.Len() != 0 || s.Count(e.Kind) != 0 {
		t.Errorf("%d live beyond their life", s.Len())
	}
	s.Emit(&e, 2*blockRows+1)
	s.Update(float32(math.Inf(1)))
	if s.Len() != 0 {
		t.Errorf("%d live for ever", s.Len())
	}
	mustCheck(t, s)
}

func TestUpdate_BounceStaysWithinBounds(t *testing.T) {
	s := newSystem(t, Config{})
	debris := register(t, s, Kind{Bounce: 0.5, GravityY: 200})
	spark := register(t, s, Kind{})
	b := Bounds{-20, -10, 20, 10}
	s.SetBounds(b)
	for _, k := range []KindID{debris, spark} {
		s.Emit(&Emitter{Kind: k, Spread: tau, Speed: Range{0, 5000}, Life: Just(10)}, 500)
	}
	for range 120 {
		s.Update(dt)
		for i := range s.n {
			if KindID(s.kind[i]) == debris && !(s.x[i] >= b.MinX && s.x[i] <= b.MaxX && s.y[i] >= b.MinY && s.y[i] <= b.MaxY) {
				t.Fatalf("debris at %v, %v", s.x[i], s.y[i])
			}
		}
	}
	out := 0
	for i := range s.n {
		if KindID(s.kind[i]) == spark && (s.x[i] < b.MinX || s.x[i] > b.MaxX || s.y[i] < b.MinY || s.y[i] > b.MaxY) {
			out++
		}
	}
	if out < 400 {
		t.Errorf("only %d sparks have left the bounds", out)
	}
	memtest.Misuse(t, func() { s.SetBounds(Bounds{1, 1, 1, 2}) }, "particles.SetBounds", "is not a rectangle")
	s.SetBounds(Bounds{})
	s.Update(1)
	mustCheck(t, s)
}

func TestReflect_MirrorsAndLosesSpeed(t *testing.T) {
	for _, c := range []struct{ p, v, wantP, wantV float32 }{
		{12, 8, 8, -4}, {-13, -8, -7, 4}, {12, -1, 8, -1}, {100, 8, -10, -4}, {-100, -8, 10, 4},
	} {
		p, v := c.p, c.v
		if reflect(&p, &v, -10, 10, 0.5); p != c.wantP || v != c.wantV {
			t.Errorf("%v: %v, %v", c, p, v)
		}
	}
}

// golden is the state after a scripted second and a half. It is the same on every
// architecture, with every build tag, and whatever the size of the blocks.
const golden = 0xf581c27f4a564e74

// scripted plays every shape and every force.
func scripted(s *System, es *[3]Emitter, budget int) uint64 {
	for tick := range 90 {
		for i := range es {
			e := &es[i]
			e.Shape, e.Radial, e.Angle = Shape(tick+i)%4, tick%3 == 0, float32(tick)*0.3
			e.VX, e.VY, e.Inherit, e.Rate = float32(tick), -20, 0.25, float32(budget)/3
			s.EmitRate(e, dt)
			e.X += float32(e.VX * dt)
		}
		if tick%10 == 0 {
			es[tick/10%3].Burst = 50
			s.Burst(&es[tick/10%3])
		}
		s.Update(dt)
	}
	return s.Hash(1)
}

func TestHash_IsTheSameEverywhere(t *testing.T) {
	s := newSystem(t, Config{Capacity: 40_000})
	es := crowd(t, s, 1)
	if err := s.SetKind(es[2].Kind, Kind{Drag: 0.5, GravityY: 60, GravityX: -7, Spin: Range{-3, 3}, Angle: Range{0, 6}, Bounce: 0.7}); err != nil {
		t.Fatal(err)
	}
	s.SetBounds(Bounds{100, 50, 500, 300})
	first := *es
	for range 2 {
		s.Reset()
		*es = first
		if h := scripted(s, es, 30_000); h != golden {
			t.Errorf("hash %#x, want %#x, with %d alive", h, uint64(golden), s.Len())
		}
		mustCheck(t, s)
	}
	other := newSystem(t, Config{Capacity: 40_000, Seed: 7})
	if scripted(other, crowd(t, other, 1), 30_000) == golden {
		t.Error("another seed gives the same state")
	}
}

func TestHash_SeesEveryColumn(t *testing.T) {
	s := newSystem(t, Config{})
	register(t, s, Kind{})
	s.Emit(&Emitter{Life: Just(1)}, 3)
	h := s.Hash(0)
	for name, change := range map[string]func(){
		"x": func() { s.x[1]++ }, "y": func() { s.y[1]++ }, "vx": func() { s.vx[1]++ }, "vy": func() { s.vy[1]++ },
		"left": func() { s.left[1]++ }, "inv": func() { s.birth[1].inv++ }, "size": func() { s.birth[1].size++ },
		"rot": func() { s.birth[1].rot++ }, "spin": func() { s.birth[1].spin++ },
		"kind": func() { s.kind[1]++ }, "tint": func() { s.tint[1]++ }, "random": func() { s.rng++ },
	} {
		change()
		if now := s.Hash(0); now == h {
			t.Errorf("a change of %s is not seen", name)
		} else {
			h = now
		}
	}
	s.x[0] = math.Float32frombits(0x7FC00001)
	h = s.Hash(0)
	if s.x[0] = math.Float32frombits(0xFFC00000); s.Hash(0) != h {
		t.Error("two NaNs differ")
	}
}

// The compiler may fuse a product with a sum where the source does not round the product.
// Only Build, whose result is a picture, may let it.
func TestSimulation_IsNotFusedOnARM(t *testing.T) {
	if testenv.Brief() || runtime.GOOS == "js" {
		t.Skip("compiles for another processor")
	}
	cmd := testenv.Command(t, "go", "build", "-gcflags=-S", ".")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOEXPERIMENT=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fusedIn := map[string]int{}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "FMADD") || strings.Contains(line, "FMSUB") || strings.Contains(line, "FNMADD") || strings.Contains(line, "FNMSUB") {
			for _, file := range []string{"build.go", "kind.go", "emitter.go", "update.go", "random.go", "hash.go", "system.go"} {
				if strings.Contains(line, "/"+file+":") {
					fusedIn[file]++
				}
			}
		}
	}
	if fusedIn["build.go"] == 0 {
		t.Error("no fused instruction was found in Build: the test does not see them")
	}
	for _, file := range []string{"emitter.go", "update.go", "random.go", "hash.go", "system.go"} {
		if fusedIn[file] != 0 {
			t.Errorf("%s has %d fused instructions", file, fusedIn[file])
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	s := newSystem(t, Config{Capacity: 20_000})
	es := crowd(t, s, 10_000)
	s.SetBounds(Bounds{0, 0, 640, 360})
	verts, indices, regions := make([]Vertex, 20_000), make([]uint32, 30_000), make([]Region, 3)
	if n := testing.AllocsPerRun(20, func() {
		s.Update(dt)
		for i := range es {
			es[i].Rate, es[i].Burst = 1000, 10
			s.Emit(&es[i], 10)
			s.EmitRate(&es[i], dt)
			s.Burst(&es[i])
		}
		s.Build(sight, regions, verts, indices, 0)
		s.Hash(0)
		s.Stats()
	}); n != 0 {
		t.Errorf("a frame allocates %v times", n)
	}
	fresh := newSystem(t, Config{Capacity: 200_000})
	e := Emitter{Kind: register(t, fresh, Kind{}), Life: Just(1)}
	if n := testenv.LeastObjects(11, func() { fresh.Emit(&e, 15_000) }); n != 0 {
		t.Errorf("growing allocates %v times", n)
	}
}

func TestEmit_DrawsWithinItsRanges(t *testing.T) {
	s := newSystem(t, Config{})
	id := register(t, s, Kind{Angle: Range{0, tau}, Spin: Range{-tau, tau}})
	e := Emitter{
		Kind: id, X: 100, Y: 50, VX: 10, VY: -10, Inherit: 0.5,
		Angle: 1, Spread: 0.5, Speed: Range{10, 20}, Life: Range{1, 2}, Size: Range{3, 4},
	}
	s.Emit(&e, 2000)
	for i := range s.n {
		vx, vy := float64(s.vx[i]-5), float64(s.vy[i]+5)
		speed, angle, b := math.Hypot(vx, vy), math.Atan2(vy, vx), s.birth[i]
		if s.x[i] != 100 || s.y[i] != 50 || speed < 9.99 || speed > 20.01 || angle < 0.74 || angle > 1.26 ||
			s.left[i] < 1 || s.left[i] > 2 || b.size < 3 || b.size > 4 || b.rot < 0 || b.rot > 1 || b.spin < -2 || b.spin > 2 {
			t.Fatalf("row %d: speed %v, angle %v, left %v, %+v", i, speed, angle, s.left[i], b)
		}
	}
	for shape, distance := range map[Shape]Range{Disc: {0, 7.001}, Ring: {6.999, 7.001}, Line: {0, 7.001}} {
		s.Reset()
		e := Emitter{Kind: id, Shape: shape, Radius: 7, Radial: true, Speed: Just(1), Life: Just(1)}
		s.Emit(&e, 1000)
		far := float32(0)
		for i := range s.n {
			d := sqrt(s.x[i]*s.x[i] + s.y[i]*s.y[i])
			far = max(far, d)
			if d < distance.Min || d > distance.Max || shape == Line && s.x[i] != 0 {
				t.Fatalf("shape %d: at %v, %v", shape, s.x[i], s.y[i])
			}
			if out := s.x[i]*s.vx[i] + s.y[i]*s.vy[i]; shape != Line && out < 0.99*d {
				t.Fatalf("shape %d: a radial particle flies %v, %v", shape, s.vx[i], s.vy[i])
			}
		}
		if far < 6.8 {
			t.Errorf("shape %d reaches only %v of 7", shape, far)
		}
	}
}

func TestEmit_ImpossibleLivesAreCutShort(t *testing.T) {
	s := newSystem(t, Config{})
	id := register(t, s, Kind{})
	for _, life := range []float32{0, -1, float32(math.NaN())} {
		s.Emit(&Emitter{Kind: id, Life: Just(life)}, 10)
		mustCheck(t, s)
	}
	s.Update(shortestLife)
	if s.Len() != 0 {
		t.Errorf("%d live", s.Len())
	}
}

func TestEmitRate_CarriesFractionsAndFillsTheWay(t *testing.T) {
	s := newSystem(t, Config{})
	e := Emitter{Kind: register(t, s, Kind{}), Life: Just(1), Rate: 90, VX: 600}
	total := 0
	for range 60 {
		total += s.EmitRate(&e, dt)
	}
	if total != 90 || e.Owed < 0 || e.Owed >= 1 {
		t.Errorf("%d in a second, %v owed", total, e.Owed)
	}
	s.Reset()
	e.Rate, e.Owed = 300, 0
	s.EmitRate(&e, dt)
	want := []float32{-9, -7, -5, -3, -1}
	if !slices.EqualFunc(s.x[:s.n], want, func(a, b float32) bool { return abs(a-b) < 1e-4 }) {
		t.Errorf("the trail lies at %v, want %v", s.x[:s.n], want)
	}
	for _, rate := range []float32{float32(math.NaN()), -100, 0} {
		e.Rate, e.Owed = rate, 0
		if n := s.EmitRate(&e, 1); n != 0 || e.Owed != 0 {
			t.Errorf("rate %v: %d particles, %v owed", rate, n, e.Owed)
		}
	}
	e.Rate = float32(math.Inf(1))
	if n := s.EmitRate(&e, 1); s.Len() != s.Capacity() || n == 0 {
		t.Errorf("an endless rate: %d particles", n)
	}
}

func TestSincos_IsAccurateAndTotal(t *testing.T) {
	for a := -100.0; a < 100; a += 0.0137 {
		f := float32(a)
		s, c := sincos(f)
		if math.Abs(float64(s)-math.Sin(float64(f))) > 2e-6 || math.Abs(float64(c)-math.Cos(float64(f))) > 2e-6 {
			t.Fatalf("sincos(%v) = %v, %v", f, s, c)
		}
	}
	for _, a := range []float32{float32(math.NaN()), float32(math.Inf(-1)), 1e5} {
		if s, c := sincos(a); s != 0 || c != 1 {
			t.Errorf("sincos(%v) = %v, %v", a, s, c)
		}
	}
}

func TestBuild_QuadsLieWhereTheirParticlesAre(t *testing.T) {
	s := newSystem(t, Config{})
	plain := register(t, s, Kind{Ramp: []Stop{{0, Color{0.5, 0.25, 1, 0.5}}}})
	add := register(t, s, Kind{Additive: true, Angle: Just(tau / 8)})
	fast := register(t, s, Kind{Stretch: 0.1})
	regions := []Region{{0, 0, 8, 8}, {8, 0, 16, 8}, {16, 0, 24, 8}}
	e := Emitter{X: 10, Y: 20, Life: Just(1), Size: Just(4)}
	for _, k := range []KindID{plain, add, fast} {
		e.Kind = k
		s.Emit(&e, 1)
	}
	s.vx[2], s.vy[2] = 0, 100
	verts, indices := make([]Vertex, 12), make([]uint32, 18)
	nv, ni, dropped := s.Build(View{X: 5, Y: 6, Scale: 2, W: 100, H: 100}, regions, verts, indices, 40)
	if nv != 12 || ni != 18 || dropped != 0 {
		t.Fatalf("%d vertices, %d indices, %d dropped", nv, ni, dropped)
	}
	if want := []uint32{40, 41, 42, 41, 43, 42, 44, 45, 46, 45, 47, 46}; !slices.Equal(indices[:12], want) {
		t.Errorf("indices %v", indices[:12])
	}
	// Corners relative to the middle at (25, 46), half sides of 4 pixels.
	d := float32(4 * math.Sqrt2)
	for q, want := range [3][4][2]float32{
		{{-4, -4}, {4, -4}, {-4, 4}, {4, 4}},
		{{0, -d}, {d, 0}, {-d, 0}, {0, d}},
		{{4, -14}, {4, 14}, {-4, -14}, {-4, 14}}, // 100 units/s for 0.1 s, twice as large: 20 pixels more
	} {
		for i, w := range want {
			v := verts[4*q+i]
			if abs(v.DstX-25-w[0]) > 1e-2 || abs(v.DstY-46-w[1]) > 1e-2 {
				t.Errorf("quad %d corner %d at %v, %v; want %v", q, i, v.DstX-25, v.DstY-46, w)
			}
			if r := regions[q]; v.SrcX != [2]float32{r.X0, r.X1}[i%2] || v.SrcY != [2]float32{r.Y0, r.Y1}[i/2] {
				t.Errorf("quad %d corner %d shows %v, %v", q, i, v.SrcX, v.SrcY)
			}
		}
	}
	if v := verts[0]; v.ColorR != 0.5 || v.ColorG != 0.25 || v.ColorB != 1 || v.ColorA != 0.5 {
		t.Errorf("colour %+v", v)
	}
	if v := verts[4]; v.ColorR != 1 || v.ColorA != 0 {
		t.Errorf("additive colour %+v", v)
	}
	memtest.Misuse(t, func() { s.Build(View{}, regions[:2], nil, nil, 0) }, "particles.Build: 2 regions for 3 kinds")
}

func TestBuild_CullsAndDropsExactly(t *testing.T) {
	s := newSystem(t, Config{})
	id := register(t, s, Kind{})
	for _, p := range [][2]float32{{-6, 5}, {-4, 5}, {5, 5}, {104, 5}, {106, 5}, {5, -6}, {5, 56}, {5, 54}, {float32(math.NaN()), 5}} {
		s.Emit(&Emitter{Kind: id, X: p[0], Y: p[1], Life: Just(1), Size: Just(10)}, 1)
	}
	view := View{Scale: 1, W: 100, H: 50}
	for quads, want := range []int{0, 1, 2, 3, 4, 4} {
		verts, indices := make([]Vertex, 4*quads+3), make([]uint32, 6*quads+5)
		nv, ni, dropped := s.Build(view, make([]Region, 1), verts, indices, 0)
		if nv != 4*want || ni != 6*want || dropped != 4-want {
			t.Errorf("room for %d: %d vertices, %d indices, %d dropped", quads, nv, ni, dropped)
		}
		if len(verts) > nv && verts[nv] != (Vertex{}) {
			t.Error("a vertex beyond the count is written")
		}
	}
}

func TestVertex_HasEbitenginesLayout(t *testing.T) {
	v := Vertex{}
	if unsafe.Sizeof(v) != 48 || unsafe.Offsetof(v.SrcX) != 8 || unsafe.Offsetof(v.ColorR) != 16 || unsafe.Offsetof(v.ColorA) != 28 || unsafe.Offsetof(v.Custom3) != 44 {
		t.Error("renderers cannot cast it")
	}
}

func TestClose_LeavesNothingReserved(t *testing.T) {
	s, err := New(nil, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Check()); err != nil || s.Stats().Memory.Reserved != 0 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}
