package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
)

// A Recording is a run: a state, and the inputs of the ticks after it. Further states allow seeking. A comparison of
// the hashes finds the first tick that differs when the run is played again.
type Recording struct {
	Build     string // of the program that recorded
	Autopilot bool   // the run restarts by itself
	Tape      Tape
	Hashes    []uint64 // the hash after each tick of the tape; 0 or missing if it is unknown
	States    []State  // in ascending order; the first is the state before the first tick of the tape
}

// A State is the state before a tick. File is written by session.Session.Write.
type State struct {
	Tick uint64
	File []byte
}

// Every is the number of ticks from one state of a recording to the next.
const Every = 300

// Wants reports whether to add a state before this tick. The result is true if there is no state, or if the last state
// is at least [Every] ticks older. Because the game may have gone back, Wants first drops the inputs and hashes from
// this tick on, and the states of later ticks. If no state is left, Wants drops all inputs and hashes.
func (r *Recording) Wants(tick uint64) bool {
	r.back(tick)
	return len(r.States) == 0 || tick >= r.States[len(r.States)-1].Tick+Every
}

// AddState adds the state before a tick, and drops the data that [Recording.Wants] drops. It replaces a state before
// the same tick. The first state begins the recording. The tick of a later state must not be after the end of the tape:
// otherwise [Read] rejects the file. The recording keeps file: the caller must not change file afterwards.
func (r *Recording) AddState(tick uint64, file []byte) {
	r.back(tick)
	if n := len(r.States); n > 0 && r.States[n-1].Tick == tick {
		r.States = r.States[:n-1]
	}
	if len(r.States) == 0 {
		r.Tape.first = tick
	}
	r.States = append(r.States, State{tick, file})
}

// back drops what is of this tick and later ones, and everything if the tick is before the recording.
func (r *Recording) back(tick uint64) {
	for n := len(r.States); n > 0 && r.States[n-1].Tick > tick; n-- {
		r.States = r.States[:n-1]
	}
	if len(r.States) == 0 {
		r.Tape, r.Hashes = Tape{}, nil
		return
	}
	r.Tape.Cut(tick)
	r.Hashes = r.Hashes[:min(len(r.Hashes), r.Tape.Len())]
}

// AddHash adds the hash after a tick. If the tape does not have the input of the tick, AddHash does nothing.
func (r *Recording) AddHash(tick, hash uint64) {
	if _, ok := r.Tape.At(tick); !ok {
		return
	}
	i := int(tick - r.Tape.First())
	for len(r.Hashes) <= i {
		r.Hashes = append(r.Hashes, 0)
	}
	r.Hashes[i] = hash
}

// Hash returns the hash after a tick, or 0 if it is unknown.
func (r *Recording) Hash(tick uint64) uint64 {
	if i := tick - r.Tape.First(); i < uint64(len(r.Hashes)) {
		return r.Hashes[i]
	}
	return 0
}

// Before returns the last state at or before a tick. If all states are later, it returns the first. If the recording
// has no state, Before panics.
func (r *Recording) Before(tick uint64) State {
	n := sort.Search(len(r.States), func(i int) bool { return r.States[i].Tick > tick })
	return r.States[max(n-1, 0)]
}

// The form of a file, all numbers little-endian:
//
//	magic   8 bytes   "strata\x00R"
//	length  8 bytes   of the whole file
//	build   2 bytes, and the text
//	flags   1 byte    1: autopilot
//	tape              see Tape.AppendTo
//	hashes  8 bytes for each tick of the tape
//	states  4 bytes, and for each its tick and its length, 8 bytes each, and its file
//	sum     4 bytes   CRC-32C of all before it
const (
	recordingMagic = "strata\x00R"
	sumBytes       = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendTo appends the recording in the form of a file to dst and returns the extended slice. Unknown hashes are
// written as 0, and at most 65,535 bytes of Build. [Read] rejects a recording without a state, and one with an input
// that [engine.DecodeInput] rejects.
func (r *Recording) AppendTo(dst []byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(append(dst, recordingMagic...), 0)
	build := r.Build[:min(len(r.Build), 1<<16-1)]
	dst = append(binary.LittleEndian.AppendUint16(dst, uint16(len(build))), build...)
	flags := byte(0)
	if r.Autopilot {
		flags = 1
	}
	dst = r.Tape.AppendTo(append(dst, flags))
	for tick := r.Tape.First(); tick < r.Tape.End(); tick++ {
		dst = binary.LittleEndian.AppendUint64(dst, r.Hash(tick))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(r.States)))
	for _, s := range r.States {
		dst = binary.LittleEndian.AppendUint64(dst, s.Tick)
		dst = append(binary.LittleEndian.AppendUint64(dst, uint64(len(s.File))), s.File...)
	}
	binary.LittleEndian.PutUint64(dst[start+8:], uint64(len(dst)-start+sumBytes))
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// Read reads the content of a file of [Recording.AppendTo]. The recording keeps parts of file: the caller must not
// change file afterwards. If file is malformed, incomplete or too long, if its checksum is wrong, or if it has no
// state, Read returns an error.
func Read(file []byte) (*Recording, error) {
	r, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("replay: the recording is not valid: %w", err)
	}
	return r, nil
}

func read(file []byte) (*Recording, error) {
	if len(file) < 16+sumBytes || string(file[:8]) != recordingMagic {
		return nil, errors.New("it does not begin as one")
	}
	if n := binary.LittleEndian.Uint64(file[8:]); n != uint64(len(file)) {
		return nil, fmt.Errorf("it has %d bytes of %d", len(file), n)
	}
	end := len(file) - sumBytes
	if crc32.Checksum(file[:end], castagnoli) != binary.LittleEndian.Uint32(file[end:]) {
		return nil, fmt.Errorf("the checksum of its %d bytes differs", len(file))
	}
	d := decoder{rest: file[16:end]}
	r := &Recording{Build: string(d.bytes(d.number(2)))}
	flags := d.number(1)
	if d.err == nil && flags > 1 {
		d.err = fmt.Errorf("flags %#x", flags)
	}
	if r.Autopilot = flags == 1; d.err != nil {
		return nil, d.err
	}
	tape, rest, err := Decode(d.rest)
	if err != nil {
		return nil, err
	}
	r.Tape, d.rest = *tape, rest
	if hashes := d.bytes(8 * uint64(tape.Len())); d.err == nil {
		r.Hashes = make([]uint64, tape.Len())
		for i := range r.Hashes {
			r.Hashes[i] = binary.LittleEndian.Uint64(hashes[8*i:])
		}
	}
	last := tape.First()
	for i := range d.number(4) {
		s := State{Tick: d.number(8), File: d.bytes(d.number(8))}
		if d.err == nil && (i == 0 && s.Tick != last || i > 0 && s.Tick <= last || s.Tick > tape.End()) {
			d.err = fmt.Errorf("state %d is of tick %d, of ticks %d to %d", i, s.Tick, last, tape.End())
		}
		if d.err != nil {
			break
		}
		last = s.Tick
		r.States = append(r.States, s)
	}
	switch {
	case d.err != nil:
		return nil, d.err
	case len(r.States) == 0:
		return nil, errors.New("it has no state")
	case len(d.rest) > 0:
		return nil, fmt.Errorf("%d bytes follow the last state", len(d.rest))
	}
	return r, nil
}

// A decoder reads numbers and bytes until the first error.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) bytes(n uint64) []byte {
	if d.err == nil && n > uint64(len(d.rest)) {
		d.err = fmt.Errorf("%d bytes are missing", n-uint64(len(d.rest)))
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) number(n uint64) (v uint64) {
	for i, b := range d.bytes(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}
