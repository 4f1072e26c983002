package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// Buttons is a set of up to 32 buttons, one bit each. The game names them:
//
//	const (
//		Fire engine.Buttons = 1 << iota
//		Dash
//	)
type Buttons uint32

// Has reports whether b contains at least one button of b2.
func (b Buttons) Has(b2 Buttons) bool { return b&b2 != 0 }

// Set adds the buttons of b2 to b if on is true, and removes them otherwise.
func (b *Buttons) Set(b2 Buttons, on bool) {
	*b &^= b2
	if on {
		*b |= b2
	}
}

// Input is the player's input for one tick: plain data without pointers. A window fills the Input from devices. An
// autopilot, a replay or a test computes it. The simulation depends only on the seed and the Inputs.
type Input struct {
	Move mgl32.Vec2 // length 0 to 1; +x right, +y down
	Aim  mgl32.Vec2 // a direction of length 1, or zero if the player does not aim

	Down    Buttons // buttons that are held
	Pressed Buttons // buttons that were pressed since the previous tick
}

// Held returns the input of the next tick if the player changes nothing: it has Move, Aim and Down of in, and an
// empty Pressed.
func (in Input) Held() Input { return Input{Move: in.Move, Aim: in.Aim, Down: in.Down} }

// Clamped returns the input with valid vectors. A Move longer than 1 is shortened to length 1. Aim gets length 1; a
// zero Aim stays zero. Both lengths are exact only up to rounding. A vector that is not finite becomes zero. The result
// has the same bits on every processor.
func (in Input) Clamped() Input {
	in.Move, in.Aim = Limit(finite(in.Move), 1), Normalize(finite(in.Aim))
	return in
}

func finite(v mgl32.Vec2) mgl32.Vec2 {
	if v[0]-v[0] != 0 || v[1]-v[1] != 0 {
		return mgl32.Vec2{}
	}
	return v
}

// Hash adds the input to h.
func (in *Input) Hash(h *Hasher) {
	h.Vec2(in.Move)
	h.Vec2(in.Aim)
	h.Uint64(uint64(in.Pressed)<<32 | uint64(in.Down))
}

// InputBytes is the length of an encoded Input.
const InputBytes = 24

// AppendTo appends the input to dst as InputBytes bytes, little-endian, for a recording, and returns the
// extended slice. The order is Move, Aim, Down, Pressed.
func (in *Input) AppendTo(dst []byte) []byte {
	for _, f := range [4]float32{in.Move[0], in.Move[1], in.Aim[0], in.Aim[1]} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(in.Down))
	return binary.LittleEndian.AppendUint32(dst, uint32(in.Pressed))
}

// DecodeInput returns the Input that [Input.AppendTo] has written to the first InputBytes bytes of src. If src is
// shorter, or if a component of Move or Aim is NaN or outside of -1.001 to 1.001, DecodeInput returns an error. Nothing
// else is checked.
func DecodeInput(src []byte) (Input, error) {
	if len(src) < InputBytes {
		return Input{}, fmt.Errorf("engine: input of %d bytes; it takes %d", len(src), InputBytes)
	}
	var f [4]float32
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		if !(f[i] >= -1.001 && f[i] <= 1.001) {
			return Input{}, fmt.Errorf("engine: input: axis %d is %v; allowed: -1 to 1", i, f[i])
		}
	}
	return Input{
		Move: mgl32.Vec2{f[0], f[1]}, Aim: mgl32.Vec2{f[2], f[3]},
		Down:    Buttons(binary.LittleEndian.Uint32(src[16:])),
		Pressed: Buttons(binary.LittleEndian.Uint32(src[20:])),
	}, nil
}
