package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

func TestInput_EncodesEveryField(t *testing.T) {
	ins := []Input{{}, {Move: mgl32.Vec2{-1, 0.5}}, {Aim: mgl32.Vec2{0.6, -0.8}}}
	for i := range 32 {
		ins = append(ins, Input{Down: 1 << i}, Input{Pressed: 1 << i})
	}
	seen := map[uint64]bool{}
	for _, in := range ins {
		b := in.AppendTo(nil)
		if len(b) != InputBytes {
			t.Errorf("%d bytes, want %d", len(b), InputBytes)
		}
		back, err := DecodeInput(b)
		if err != nil || back != in {
			t.Errorf("%+v came back as %+v, %v", in, back, err)
		}
		var h Hasher
		in.Hash(&h)
		seen[h.Sum()] = true
	}
	if len(seen) != len(ins) {
		t.Errorf("%d hashes of %d inputs", len(seen), len(ins))
	}
}

func TestDecodeInput_RefusesWhatNoInputHas(t *testing.T) {
	spoiled := func(at int, v byte) []byte {
		b := (&Input{}).AppendTo(nil)
		b[at] = v
		return b
	}
	for want, b := range map[string][]byte{
		"input of 23 bytes; it takes 24": make([]byte, 23),
		"axis 0 is":                      spoiled(3, 0x7F), // infinite or no number
		"axis 3 is":                      spoiled(15, 0x40),
	} {
		if _, err := DecodeInput(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestButtons_SetAndHas(t *testing.T) {
	var b Buttons
	b.Set(5, true)
	if b != 5 || !b.Has(4) || b.Has(2) || !b.Has(6) {
		t.Errorf("%b", b)
	}
	if b.Set(4, false); b != 1 {
		t.Errorf("%b", b)
	}
}

func TestInput_Clamped(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for in, want := range map[Input]Input{
		{Move: mgl32.Vec2{3, 4}, Aim: mgl32.Vec2{0, 7}}: {Move: mgl32.Vec2{0.6, 0.8}, Aim: mgl32.Vec2{0, 1}},
		{Move: mgl32.Vec2{0.5, 0}, Down: 1}:             {Move: mgl32.Vec2{0.5, 0}, Down: 1},
		{Move: mgl32.Vec2{inf, 0}}:                      {},
		{Aim: mgl32.Vec2{1, nan}}:                       {},
	} {
		if got := in.Clamped(); got != want {
			t.Errorf("%+v becomes %+v, want %+v", in, got, want)
		}
	}
}

func FuzzDecodeInput(f *testing.F) {
	f.Add((&Input{Down: 1}).AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := DecodeInput(b)
		if err != nil {
			return
		}
		if again, err := DecodeInput(in.AppendTo(nil)); err != nil || again != in {
			t.Errorf("%+v, %v", again, err)
		}
	})
}
