// Package replay records the inputs of a game, tick by tick, so that the same ticks can be played again.
//
// A [Tape] has the inputs of consecutive ticks in memory. [Tape.AppendTo] and [Decode] write and read its form in
// files. The simulation depends on its state and its inputs only, so a state and a tape are enough to play a run again.
//
//	tape  | first tick | number | tick | tick | …
//	tick  | which of the six words of the input differ from the tick before, a byte | those words, 4 bytes each |
//
// A Tape belongs to one goroutine at a time.
package replay

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/strata-go/strata/engine"
)

// A Tape has the inputs of consecutive ticks. The zero Tape is empty and grows.
type Tape struct {
	first  uint64 // tick
	inputs []engine.Input
}

// Add appends the input of a tick. If the tape has the tick already, because the game went back, Add first drops the
// inputs of this tick and of all later ones. If ticks are missing between the end of the tape and this tick, or if the
// tick is before the tape, Add first drops all inputs.
func (t *Tape) Add(tick uint64, in engine.Input) {
	t.Cut(tick)
	if len(t.inputs) == 0 || tick != t.End() {
		t.first, t.inputs = tick, t.inputs[:0]
	}
	t.inputs = append(t.inputs, in)
}

// At returns the input of a tick and true. If the tape does not have the input, At returns false.
func (t *Tape) At(tick uint64) (engine.Input, bool) {
	if tick-t.first >= uint64(len(t.inputs)) { // also for a tick before the first
		return engine.Input{}, false
	}
	return t.inputs[tick-t.first], true
}

// Cut drops the inputs of a tick and of all later ones.
func (t *Tape) Cut(tick uint64) {
	if tick < t.End() {
		t.inputs = t.inputs[:max(tick, t.first)-t.first]
	}
}

// First returns the tick of the first input. If the tape is empty, First and End return the same tick.
func (t *Tape) First() uint64 { return t.first }

// End returns the tick after the last input. If the tape is empty, End and First return the same tick.
func (t *Tape) End() uint64 { return t.first + uint64(len(t.inputs)) }

// Len returns the number of inputs.
func (t *Tape) Len() int { return len(t.inputs) }

const (
	headBytes = 16
	words     = engine.InputBytes / 4
)

// AppendTo appends the encoded tape to dst and returns the extended slice. The encoding takes 16 bytes, and 1 to 25
// bytes for each input.
func (t *Tape) AppendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, t.first)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(t.inputs)))
	var last, now [engine.InputBytes]byte
	for _, in := range t.inputs {
		in.AppendTo(now[:0])
		mask := len(dst)
		dst = append(dst, 0)
		for k := range words {
			if w := now[4*k:][:4]; string(w) != string(last[4*k:][:4]) {
				dst[mask] |= 1 << k
				dst = append(dst, w...)
			}
		}
		last = now
	}
	return dst
}

// Decode decodes a tape at the start of src and returns the part of src after it. If src does not begin with a complete
// tape of [Tape.AppendTo], or if [engine.DecodeInput] rejects an input, Decode fails. The error names the tick and the
// byte, unless the first 16 bytes are invalid. Decode allocates at most 24 times the bytes of src.
func Decode(src []byte) (t *Tape, rest []byte, err error) {
	if len(src) < headBytes {
		return nil, nil, fmt.Errorf("replay: a tape of %d bytes; its head takes %d", len(src), headBytes)
	}
	first, n := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
	if n > uint64(len(src)-headBytes) || first+n < first {
		return nil, nil, fmt.Errorf("replay: a tape of %d inputs from tick %d on, in %d bytes", n, first, len(src))
	}
	t = &Tape{first: first, inputs: make([]engine.Input, 0, n)}
	var now [engine.InputBytes]byte
	at := headBytes
	for range n {
		if at, err = decodeTick(src, at, &now); err == nil {
			err = t.decoded(&now)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("replay: tick %d, byte %d: %w", t.End(), at, err)
		}
	}
	return t, src[at:], nil
}

// decoded appends an input from its bytes.
func (t *Tape) decoded(now *[engine.InputBytes]byte) error {
	in, err := engine.DecodeInput(now[:])
	if err == nil {
		t.inputs = append(t.inputs, in)
	}
	return err
}

var errShort = errors.New("the tape ends")

// decodeTick changes the words of now that differ, and returns the byte after the tick.
func decodeTick(src []byte, at int, now *[engine.InputBytes]byte) (int, error) {
	if at >= len(src) {
		return at, errShort
	}
	mask := src[at]
	if mask>>words != 0 {
		return at, fmt.Errorf("mask %#x has more than %d words", mask, words)
	}
	at++
	for k := range words {
		if mask>>k&1 == 0 {
			continue
		}
		w := now[4*k:][:4]
		switch {
		case len(src)-at < 4:
			return at, errShort
		case string(w) == string(src[at:at+4]):
			return at, fmt.Errorf("word %d is marked as different and is not", k)
		}
		at += copy(w, src[at:at+4])
	}
	return at, nil
}
