package particles

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
)

func TestRegister_BadKindsAreRefused(t *testing.T) {
	nan := float32(math.NaN())
	s := newSystem(t, Config{})
	for want, k := range map[string]Kind{
		"9 stops":                           {Ramp: make([]Stop, 9)},
		"9 keys":                            {Size: make([]Key, 9)},
		"Ramp[1].At 0.2: want 0.5 to 1":     {Ramp: []Stop{{At: 0.5}, {At: 0.2}}},
		"Ramp[0].At NaN":                    {Ramp: []Stop{{At: nan}}},
		"Ramp[0].Color.R NaN":               {Ramp: []Stop{{Color: Color{R: nan}}}},
		"Size[0].Value -1: want 0 to 1e+09": {Size: []Key{{0, -1}}},
		"Size[0].At 2: want 0 to 1":         {Size: []Key{{2, 1}}},
		"Drag -1":                           {Drag: -1},
		"Drag NaN":                          {Drag: nan},
		"GravityY NaN":                      {GravityY: nan},
		"Bounce 2":                          {Bounce: 2},
		"Vary -1":                           {Vary: -1},
		"Stretch NaN":                       {Stretch: nan},
		"excludes Angle and Spin":           {Stretch: 1, Spin: Range{1, 2}},
		`particles: kind "ember":`:          {Name: "ember", Drag: -1},
	} {
		if _, err := s.Register(k); !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if s.Stats().Kinds != 0 {
		t.Error("a refused kind is registered")
	}
}

func TestRegister_FullAndUnknown(t *testing.T) {
	s := newSystem(t, Config{MaxKinds: 2})
	a, b := register(t, s, Kind{Name: "a"}), register(t, s, Kind{Name: "b"})
	if _, err := s.Register(Kind{}); !errors.Is(err, memory.ErrOutOfMemory) {
		t.Errorf("a third of two kinds: %v", err)
	}
	if err := s.SetKind(b, Kind{Name: "c"}); err != nil || s.Kind(a).Name != "a" || s.Kind(b).Name != "c" {
		t.Errorf("SetKind: %v", err)
	}
	if err := s.SetKind(b, Kind{Drag: -1}); err == nil || s.Kind(b).Name != "c" {
		t.Errorf("SetKind with a bad kind: %v", err)
	}
	memtest.Misuse(t, func() { s.Emit(&Emitter{Kind: 2}, 1) }, "kind 2 is not registered; there are 2 kinds")
	memtest.Misuse(t, func() { _ = s.SetKind(9, Kind{}) }, "particles.SetKind: kind 9")
	memtest.Misuse(t, func() { s.Kind(9) }, "particles.Kind: kind 9")
}

func TestRamp_RunsThroughItsStops(t *testing.T) {
	s := newSystem(t, Config{})
	id := register(t, s, Kind{
		Additive: true,
		Ramp:     []Stop{{0.25, Color{1, 0, 0, 1}}, {0.75, Color{0, 1, 0, 1}}},
		Size:     []Key{{0, 0}, {1, 2}},
	})
	r := &s.looks[id].ramp
	if r[0].color != (Color{R: 1}) || r[63].color != (Color{G: 1}) {
		t.Errorf("ends %v and %v", r[0].color, r[63].color)
	}
	if m := r[32].color; math.Abs(float64(m.R-0.5)) > 0.02 || math.Abs(float64(m.R+m.G-1)) > 1e-6 || m.A != 0 {
		t.Errorf("middle %v", m)
	}
	if math.Abs(float64(r[16].size-0.5)) > 0.02 {
		t.Errorf("size %v at a quarter", r[16].size)
	}
	plain := s.looks[register(t, s, Kind{})].ramp[5]
	if plain != (shade{color: Color{1, 1, 1, 1}, size: 1}) {
		t.Errorf("the plain kind is %v", plain)
	}
}
