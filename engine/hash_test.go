package engine

import (
	"math"
	"testing"

	"github.com/go-gl/mathgl/mgl32"
)

func TestHasher_Golden(t *testing.T) {
	var h Hasher
	if h.Sum() != fnvOffset {
		t.Errorf("empty: %#x", h.Sum())
	}
	h.Uint64(1)
	h.Int(-1)
	h.Bool(true)
	h.Float32(1.5)
	h.Vec2(mgl32.Vec2{1, -2})
	h.Bytes([]byte("strata is made of layers"))
	h.String("spark")
	if got, want := h.Sum(), uint64(0xf221e3250444c9a7); got != want {
		t.Errorf("hash %#x, want %#x", got, want)
	}
	h.Reset()
	if h != (Hasher{}) {
		t.Error("Reset does not start again")
	}
}

func TestHasher_TellsApart(t *testing.T) {
	sum := func(f func(*Hasher)) uint64 {
		var h Hasher
		f(&h)
		return h.Sum()
	}
	seen := map[uint64]string{}
	for name, f := range map[string]func(*Hasher){
		"nothing": func(h *Hasher) {}, "0": func(h *Hasher) { h.Uint64(0) }, "0 0": func(h *Hasher) { h.Uint64(0); h.Uint64(0) },
		"top bit": func(h *Hasher) { h.Uint64(1 << 63) }, "two top bits": func(h *Hasher) { h.Uint64(1 << 63); h.Uint64(1 << 63) },
		"-0": func(h *Hasher) { h.Float32(float32(math.Copysign(0, -1))) }, "1 2": func(h *Hasher) { h.Uint64(1); h.Uint64(2) },
		"2 1": func(h *Hasher) { h.Uint64(2); h.Uint64(1) }, "ab": func(h *Hasher) { h.String("ab") },
		"a b": func(h *Hasher) { h.String("a"); h.String("b") }, "ab0": func(h *Hasher) { h.String("ab\x00") },
		"12345678": func(h *Hasher) { h.String("12345678") }, "123456789": func(h *Hasher) { h.String("123456789") },
	} {
		s := sum(f)
		if other, twice := seen[s]; twice {
			t.Errorf("%q and %q have the same hash", name, other)
		}
		seen[s] = name
	}
	str, raw := sum(func(h *Hasher) { h.String("0123456789") }), sum(func(h *Hasher) { h.Bytes([]byte("0123456789")) })
	if str != raw {
		t.Error("String and Bytes of the same text differ")
	}
}

func TestHasher_NoNumberIsOneValue(t *testing.T) {
	var a, b Hasher
	a.Float32(math.Float32frombits(0x7FC00001))
	b.Float32(math.Float32frombits(0xFFC00000))
	if a != b {
		t.Error("two representations of no number differ")
	}
}
