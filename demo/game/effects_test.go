package game

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/particles"
)

// A probe measures what an effect emits. Its looks are plain: no drag, no spin, and a picture of their own each.
type probe struct {
	fx      *fx
	tracer  tracer
	regions [lookCount]particles.Region
	verts   []particles.Vertex
	indices []uint32
}

const probeMost = 1200 // particles of one effect

func newProbe(t *testing.T) *probe {
	p := &probe{verts: make([]particles.Vertex, probeMost*particles.VertsPerQuad), indices: make([]uint32, probeMost*particles.IndicesPerQuad)}
	p.fx = newEffects(t, &p.tracer)
	for i, id := range p.fx.kinds {
		p.regions[i].X0 = float32(i)
		done(t, p.fx.sys.SetKind(id, particles.Kind{Name: lookNames[i]}))
	}
	return p
}

func newEffects(t *testing.T, heard *tracer) *fx {
	sys, err := particles.New(page.Heap(), particles.Config{Capacity: probeMost, Seed: 3})
	done(t, err)
	t.Cleanup(func() { done(t, sys.Close()) })
	f, err := newFX(sys, heard)
	done(t, err)
	return f
}

// A grain is one particle: its look, place and size.
type grain struct {
	look          int
	x, y, size    float64
	speed, toward float64 // units a second, degrees
}

// grains returns the particles in their order.
func (p *probe) grains() (all []grain) {
	const half = 2048 // the middle of the view, so that nothing is skipped
	nv, _, _ := p.fx.sys.Build(particles.View{X: half, Y: half, Scale: 1, W: 2 * half, H: 2 * half}, p.regions[:], p.verts, p.indices, 0)
	for i := 0; i < nv; i += particles.VertsPerQuad {
		a, b := p.verts[i], p.verts[i+3]
		all = append(all, grain{look: int(a.SrcX), x: float64(a.DstX+b.DstX)/2 - half, y: float64(a.DstY+b.DstY)/2 - half, size: float64(b.DstX - a.DstX)})
	}
	return all
}

// A reach is the least and the most of some measurements.
type reach struct{ lo, hi float64 }

func reachOf[T any](all []T, f func(T) float64) (r reach) {
	r = reach{math.Inf(1), math.Inf(-1)}
	for _, x := range all {
		r.lo, r.hi = min(r.lo, f(x)), max(r.hi, f(x))
	}
	return r
}

func (r reach) write(b *strings.Builder, name string, digits int) {
	unit := math.Pow10(-digits)
	switch {
	case r.hi < unit/2 && r.lo > -unit/2: // nothing
	case r.hi-r.lo < unit/2:
		fmt.Fprintf(b, ", %s %.*f", name, digits, r.hi)
	default:
		fmt.Fprintf(b, ", %s %.*f to %.*f", name, digits, r.lo, digits, r.hi)
	}
}

// measure plays an effect some times at the origin, and describes the particles of each look. It writes how many one
// effect emits, and the extremes of their distances, speeds, directions, sizes and lives.
func (p *probe) measure(effect func(*fx)) string {
	const times = 4
	var of [lookCount][]grain
	var gone [lookCount][]float64
	for k := range times {
		p.fx.sys.Reset()
		for range k { // other chances each time
			p.fx.emit(lookGlow, 1, vec{}, vec{}, 0, span(0, 0), span(0, 0), span(0, 0))
		}
		p.fx.sys.Update(0.01)
		p.tracer.heard = nil
		effect(p.fx)
		all := p.grains()
		const dt = 1.0 / 64
		p.fx.sys.Update(dt)
		for i, g := range p.grains() {
			a := &all[i]
			dx, dy := (g.x-a.x)/dt, (g.y-a.y)/dt
			a.speed, a.toward = math.Hypot(dx, dy), math.Atan2(dy, dx)*180/math.Pi
			of[a.look] = append(of[a.look], *a)
		}
		for age := 2 * dt; p.fx.sys.Len() > 0; age += dt {
			var n [lookCount]int
			for i, id := range p.fx.kinds {
				n[i] = p.fx.sys.Count(id)
			}
			p.fx.sys.Update(dt)
			for i, id := range p.fx.kinds {
				for range n[i] - p.fx.sys.Count(id) {
					gone[i] = append(gone[i], age)
				}
			}
		}
	}
	var b strings.Builder
	for _, s := range p.tracer.heard {
		fmt.Fprintf(&b, "sound %s\n", s)
	}
	for i, all := range of {
		if len(all) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d %s", len(all)/times, lookNames[i])
		reachOf(all, func(g grain) float64 { return math.Hypot(g.x, g.y) }).write(&b, "off", 1)
		if speed := reachOf(all, func(g grain) float64 { return g.speed }); speed.hi > 0.1 {
			speed.write(&b, "speed", 1)
			reachOf(all, func(g grain) float64 { return g.toward }).write(&b, "toward", 0)
		}
		reachOf(all, func(g grain) float64 { return g.size }).write(&b, "size", 2)
		reachOf(gone[i], func(s float64) float64 { return s }).write(&b, "life", 2)
		b.WriteByte('\n')
	}
	return b.String()
}

// Each effect is a sound and particles; testdata says which.
func TestEffects_EmitWhatTheirTracesSay(t *testing.T) {
	p := newProbe(t)
	at, ahead := vec{}, vec{-300, 0} // most fly back, which is 0 degrees
	effects := map[string]func(*fx){
		"muzzle":      func(f *fx) { f.muzzle(at, right) },
		"exhaust":     func(f *fx) { f.exhaust(at, ahead) },
		"dash":        func(f *fx) { f.dash(at, ahead) },
		"dashTrail":   func(f *fx) { f.dashTrail(at, ahead) },
		"hit":         func(f *fx) { f.hit(at, ahead) },
		"omen":        func(f *fx) { f.omen(at, 30) },
		"low":         func(f *fx) { f.low(at, 2) },
		"aim":         func(f *fx) { f.aim(at) },
		"open":        func(f *fx) { f.open(at) },
		"ember":       func(f *fx) { f.ember(at) },
		"bolt":        func(f *fx) { f.bolt(at) },
		"ignite":      func(f *fx) { f.ignite(at) },
		"chill":       func(f *fx) { f.chill(at) },
		"tell":        func(f *fx) { f.tell(at) },
		"charge":      func(f *fx) { f.charge(at, ahead) },
		"streak":      func(f *fx) { f.streak(at, ahead) },
		"ringShot":    func(f *fx) { f.ringShot(at) },
		"hatch":       func(f *fx) { f.hatch(at) },
		"hurt":        func(f *fx) { f.hurt(at) },
		"portal":      func(f *fx) { f.portal(at) },
		"leave":       func(f *fx) { f.leave(at) },
		"flame":       func(f *fx) { f.flame(at) },
		"trail":       func(f *fx) { f.trail(at) },
		"splash":      func(f *fx) { f.splash(at, ahead) },
		"beam":        func(f *fx) { f.beam(at) },
		"shatter":     func(f *fx) { f.shatter(at) },
		"shatterSeal": func(f *fx) { f.shatterSeal(at) },
		"blast":       func(f *fx) { f.blast(at) },
	}
	for k := range realm.EnemyKinds {
		effects["arrival of a "+realm.Enemy(k).String()] = func(f *fx) { f.arrive(at, realm.Enemy(k)) }
		effects["burst of a "+realm.Enemy(k).String()] = func(f *fx) { f.burst(at, ahead, realm.Enemy(k)) }
	}
	for k, name := range pickupNames {
		effects["collect "+name] = func(f *fx) { f.collect(at, PickupKind(k)) }
	}
	names, r := slices.Sorted(maps.Keys(effects)), open(t, "effects.txt")
	for _, name := range names {
		r.compare(t, name, p.measure(effects[name]))
	}
	r.close(t, names)
}

// The looks take their colours from the palette. Here its ground is 1 0 0, deep 0 1 0, main 0 0 1, hot 1 1 0 and core
// 0 1 1.
func TestEffects_LooksAreDressedInThePalette(t *testing.T) {
	f := newEffects(t, &tracer{})
	f.palette(&manifest.File{Palette: [5]realm.Color{{R: 255}, {G: 255}, {B: 255}, {R: 255, G: 255}, {G: 255, B: 255}}, Ambient: manifest.Ambient{Rate: 12}})
	r := open(t, "looks.txt")
	for i, id := range f.kinds {
		k := f.sys.Kind(id)
		var b strings.Builder
		fmt.Fprintf(&b, "%q, picture %s, additive %v, stretch %v, drag %v, gravity %v, bounce %v, vary %v\n", k.Name, RegionNames[k.Region], k.Additive, k.Stretch, k.Drag, k.GravityY, k.Bounce, k.Vary)
		fmt.Fprintf(&b, "angle %.2f, spin %.2f, size %v\n", k.Angle, k.Spin, k.Size)
		for _, s := range k.Ramp {
			fmt.Fprintf(&b, "%.2f: %.2f %.2f %.2f, covers %.2f\n", s.At, s.Color.R, s.Color.G, s.Color.B, s.Color.A)
		}
		r.compare(t, lookNames[i], b.String())
	}
	e := f.ambient
	r.compare(t, "ambient", fmt.Sprintf("%s, rate %v, shape %d, radius %v, spread %.3f, speed %v, life %v, size %v\n", lookNames[e.Kind], e.Rate, e.Shape, e.Radius, e.Spread, e.Speed, e.Life, e.Size))
	r.close(t, append(lookNames[:], "ambient"))
}
