package particles

import (
	"errors"
	"fmt"
	"math"
	refl "reflect" // reflect is a function of this package
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

// wild are floats that no field may have, unless it is said here.
var wild = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, 1e10, -1e10,
}

// A leaf is a float32 of a structure, with its path.
type leaf struct {
	name string
	at   refl.Value
}

// leaves finds every float32 of a value, in fields, structures and slices.
func leaves(v refl.Value, name string) (out []leaf) {
	switch v.Kind() {
	case refl.Float32:
		return []leaf{{name, v}}
	case refl.Struct:
		for i := range v.NumField() {
			out = append(out, leaves(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."))...)
		}
	case refl.Slice:
		for i := range v.Len() {
			out = append(out, leaves(v.Index(i), fmt.Sprintf("%s[%d]", name, i))...)
		}
	}
	return out
}

func sampleKind() Kind {
	return Kind{Name: "ember", Ramp: []Stop{{0.25, Color{1, 1, 1, 1}}, {0.75, Color{1, 0, 0, 1}}}, Size: []Key{{0.25, 1}, {0.75, 2}}, Vary: 0.5, Drag: 1}
}

func sampleEmitter(id KindID) Emitter {
	return Emitter{Kind: id, Shape: Disc, Radius: 3, VX: 5, VY: 6, Inherit: 0.5, Spread: tau, Speed: Range{-3, 9}, Life: Range{0.5, 2}, Size: Range{1, 4}, Rate: 90}
}

// refuses complains if a check accepts a wild value in any float, or does not name it.
func refuses(t *testing.T, of any, check func() error) {
	t.Helper()
	if err := check(); err != nil {
		t.Fatal(err)
	}
	all := leaves(refl.ValueOf(of).Elem(), "")
	if len(all) < 16 {
		t.Fatalf("%d floats", len(all))
	}
	for _, l := range all {
		before := l.at.Interface().(float32)
		for _, v := range wild {
			l.at.Set(refl.ValueOf(v))
			err := check()
			if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), fmt.Sprintf(": %s %v: want ", l.name, v)) {
				t.Errorf("%s = %v: %v", l.name, v, err)
			}
		}
		l.at.Set(refl.ValueOf(before))
	}
	if err := check(); err != nil {
		t.Error(err)
	}
}

func TestKind_EveryFloatIsValidatedByName(t *testing.T) {
	k := sampleKind()
	refuses(t, &k, k.check)
	k.Ramp, k.Size = nil, nil
	k.Angle, k.Spin = Range{1, 2}, Range{3, 4}
	if err := k.check(); err != nil {
		t.Error(err)
	}
}

func TestEmitter_EveryFloatIsValidatedByName(t *testing.T) {
	e := sampleEmitter(0)
	refuses(t, &e, e.Validate)
	for want, bad := range map[string]Emitter{
		"Life.Min -1: want 0 to 3600":        {Life: Range{-1, 1}},
		"Life.Max 3601: want 0 to 3600":      {Life: Range{1, 3601}},
		"Rate -1: want 0 to 1e+09":           {Rate: -1},
		"Size.Max -1e-45: want 0":            {Size: Range{0, -math.SmallestNonzeroFloat32}},
		"Radius -1: want 0":                  {Radius: -1},
		"Shape 4: want 0 to 3":               {Shape: 4},
		"Burst -1: want 0 to 16777216":       {Burst: -1},
		"Burst 16777217: want 0 to 16777216": {Burst: 16777217},
	} {
		if err := bad.Validate(); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for _, good := range []Emitter{{}, {Life: Just(3600)}, {Life: Just(math.SmallestNonzeroFloat32)}, {Life: Range{2, 1}}} {
		if err := good.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever an emitter has in any of its floats, Check holds, every life ends, and no quad is at infinity.
func TestEmit_WildFloatsMakeFiniteParticles(t *testing.T) {
	odd := append([]float32{0, -1, math.SmallestNonzeroFloat32, 1e-30, 3600, 3601, 1e6}, wild...)
	verts, indices := make([]Vertex, 4*64), make([]uint32, 6*64)
	sample := sampleEmitter(0)
	s := newSystem(t, Config{Capacity: 64})
	id := register(t, s, Kind{Stretch: 0.1})
	names := leaves(refl.ValueOf(&sample).Elem(), "")
	for i, l := range names {
		for _, v := range odd {
			for _, step := range []float32{0, 1.0 / 60, v} {
				s.Reset()
				e := sampleEmitter(id)
				leaves(refl.ValueOf(&e).Elem(), "")[i].at.Set(refl.ValueOf(v))
				if step == 0 {
					s.Emit(&e, 64)
				} else {
					s.EmitRate(&e, step)
				}
				what := fmt.Sprintf("%s = %v, step %v", l.name, v, step)
				if err := s.Check(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				for i := range s.n {
					if life := s.left[i]; !(life >= shortestLife && life <= longestLife) {
						t.Fatalf("%s: a life of %v s", what, life)
					}
					if !finite(s.x[i], s.y[i], s.vx[i], s.vy[i], s.birth[i].size) {
						t.Fatalf("%s: at %v, %v, with %v, %v, size %v", what, s.x[i], s.y[i], s.vx[i], s.vy[i], s.birth[i].size)
					}
				}
				nv, _, _ := s.Build(View{Scale: 1, W: 100, H: 100}, []Region{{0, 0, 1, 1}}, verts, indices, 0)
				for _, q := range verts[:nv] {
					if !finite(q.DstX, q.DstY, q.ColorR, q.ColorA) {
						t.Fatalf("%s: a corner at %v, %v", what, q.DstX, q.DstY)
					}
				}
			}
		}
	}
}

// The longest life ends after its time, also in steps of a thousandth of a second, of which a longer one loses most.
func TestEmit_LongestLifeGetsShorterEachStep(t *testing.T) {
	for _, life := range []float32{longestLife, 1e6, math.MaxFloat32, float32(math.Inf(1))} {
		s := newSystem(t, Config{Capacity: 8})
		id := register(t, s, Kind{})
		s.Emit(&Emitter{Kind: id, Life: Just(life)}, 1)
		for range 4 {
			before := s.left[0]
			s.Update(1.0 / 1000)
			if gone := before - s.left[0]; gone < 0.0005 || gone > 0.0015 {
				t.Fatalf("life %v: a step of 0.001 s takes %v s of %v", life, gone, before)
			}
		}
		for range 3601 {
			s.Update(1)
		}
		if s.Len() != 0 {
			t.Errorf("life %v: alive after an hour", life)
		}
	}
}

func FuzzEmitter(f *testing.F) {
	f.Add(uint32(0x7f800000), uint32(0), uint32(0xff800000), uint32(0x7fc00000), uint8(2), uint8(3))
	f.Add(math.Float32bits(1), math.Float32bits(2), math.Float32bits(3), math.Float32bits(4), uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, a, b, c, d uint32, shape, from uint8) {
		s := newSystem(t, Config{Capacity: 32})
		e := Emitter{Kind: register(t, s, Kind{Spin: Range{1, 2}}), Shape: Shape(shape), Radial: shape&8 != 0}
		all := leaves(refl.ValueOf(&e).Elem(), "")
		for i, bits := range []uint32{a, b, c, d} {
			all[(int(from)+5*i)%len(all)].at.Set(refl.ValueOf(math.Float32frombits(bits)))
		}
		s.Emit(&e, 16)
		s.EmitRate(&e, math.Float32frombits(d))
		mustCheck(t, s)
		for i := range s.n {
			if !finite(s.x[i], s.y[i], s.vx[i], s.vy[i], s.birth[i].size) || s.left[i] > longestLife {
				t.Fatalf("%+v: row %d is not finite", e, i)
			}
		}
		s.Update(1.0 / 60)
		mustCheck(t, s)
	})
}

// The bounds themselves are allowed, and the next value is not.
func TestBounded_TheBoundsAreIncluded(t *testing.T) {
	sample := sampleEmitter(0)
	names := leaves(refl.ValueOf(&sample).Elem(), "")
	for i, l := range names {
		if strings.Contains(l.name, "Rate") || strings.Contains(l.name, "Owed") {
			continue // EmitRate bounds these
		}
		high := float32(1e9)
		if strings.Contains(l.name, "Life") {
			high = 3600
		}
		inf := float32(math.Inf(1))
		for v, want := range map[float32]bool{high: true, -1e9: true, math.Nextafter32(high, inf): false, math.Nextafter32(-1e9, -inf): false} {
			e := sampleEmitter(0)
			leaves(refl.ValueOf(&e).Elem(), "")[i].at.Set(refl.ValueOf(v))
			if got := e.bounded(); got != want {
				t.Errorf("%s = %v: bounded is %v", l.name, v, got)
			}
		}
	}
}

func TestEmit_TheShortestLifeIsATickOf1024(t *testing.T) {
	s := newSystem(t, Config{Capacity: 1})
	e := sampleEmitter(register(t, s, Kind{}))
	e.Life = Range{}
	if n := s.Emit(&e, 1); n != 1 || s.left[0] != 1.0/1024 {
		t.Errorf("%d particles, which live %v s", n, s.left[0])
	}
}
