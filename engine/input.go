package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/go-gl/mathgl/mgl32"
)

// Input is what the player wants in one tick: plain data without pointers. A window fills it
// from devices; an autopilot, a replay or a test fills it by hand. With the seed it is all that
// the simulation depends on.
type Input struct {
	Move mgl32.Vec2 // length 0 to 1; +x right, +y down
	Aim  mgl32.Vec2 // a direction of length 1, or zero: nobody aims
	Fire bool       // held

	// True in the tick of the press only.
	Dash, Pause, Restart, Mute, AnyKey bool
	F                                  [9]bool // F[1] to F[8]; F[0] is unused
}

// Held returns what remains of the input in the next tick, if the player does nothing: the
// sticks and the trigger stay, presses are over.
func (in Input) Held() Input { return Input{Move: in.Move, Aim: in.Aim, Fire: in.Fire} }

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
	h.Uint64(uint64(in.bits()))
}

// InputBytes is the length of an encoded Input.
const InputBytes = 18

// AppendTo appends the input as InputBytes bytes, little-endian, for a recording: Move, Aim,
// then a bit per button (Fire, Dash, Pause, Restart, Mute, AnyKey, F[0] ... F[8]).
func (in *Input) AppendTo(dst []byte) []byte {
	for _, f := range [4]float32{in.Move[0], in.Move[1], in.Aim[0], in.Aim[1]} {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return binary.LittleEndian.AppendUint16(dst, in.bits())
}

// DecodeInput reads what AppendTo wrote. The error says that src is too short, or holds
// something that no Input has; nothing is read from beyond InputBytes.
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
	bits := binary.LittleEndian.Uint16(src[16:])
	if bits>>15 != 0 {
		return Input{}, fmt.Errorf("engine: input: button bits %#04x; bit 15 is unused and must be 0", bits)
	}
	in := Input{Move: mgl32.Vec2{f[0], f[1]}, Aim: mgl32.Vec2{f[2], f[3]}}
	for i, b := range in.buttons() {
		*b = bits>>i&1 != 0
	}
	for i := range in.F {
		in.F[i] = bits>>(i+6)&1 != 0
	}
	return in, nil
}

func (in *Input) buttons() [6]*bool {
	return [6]*bool{&in.Fire, &in.Dash, &in.Pause, &in.Restart, &in.Mute, &in.AnyKey}
}

func (in *Input) bits() (bits uint16) {
	for i, b := range in.buttons() {
		if *b {
			bits |= 1 << i
		}
	}
	for i, f := range in.F {
		if f {
			bits |= 1 << (i + 6)
		}
	}
	return bits
}
