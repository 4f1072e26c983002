package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// Buttons are up to 32 buttons, a bit each. The game names them:
//
//	const (
//		Fire engine.Buttons = 1 << iota
//		Dash
//	)
type Buttons uint32

// Has reports whether one of the buttons in b2 is in b.
func (b Buttons) Has(b2 Buttons) bool { return b&b2 != 0 }

// Set adds the buttons in b2 where on is true, and takes them out where it is not.
func (b *Buttons) Set(b2 Buttons, on bool) {
	*b &^= b2
	if on {
		*b |= b2
	}
}

// Input is what the player wants in one tick: plain data without pointers. A window fills it
// from devices; an autopilot, a replay or a test fills it by hand. With the seed it is all that
// the simulation depends on.
type Input struct {
	Move mgl32.Vec2 // length 0 to 1; +x right, +y down
	Aim  mgl32.Vec2 // a direction of length 1, or zero: nobody aims

	Down    Buttons // held
	Pressed Buttons // in the tick of the press only
}

// Held returns what remains of the input in the next tick, if the player does nothing: the
// sticks and what is held stay, presses are over.
func (in Input) Held() Input { return Input{Move: in.Move, Aim: in.Aim, Down: in.Down} }

// Clamped returns the input as the simulation may see it: Move shortened to length 1, Aim
// brought to length 1 or 0, and zero for what is no number. It is deterministic.
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

// AppendTo appends the input as InputBytes bytes, little-endian, for a recording: Move, Aim,
// Down, Pressed.
func (in *Input) AppendTo(dst []byte) []byte {
	for _, f := range [4]float32{in.Move[0], in.Move[1], in.Aim[0], in.Aim[1]} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(in.Down))
	return binary.LittleEndian.AppendUint32(dst, uint32(in.Pressed))
}

// DecodeInput reads what AppendTo wrote. The error says that src is too short, or holds an
// axis that no Input has; nothing is read from beyond InputBytes. Which buttons there are only
// the game knows.
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
