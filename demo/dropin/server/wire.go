package main

import (
	"encoding/binary"
	"errors"
)

// What a client sends: the tick of the last packet that it has, and messages.
//
//	uvarint tick; then 'i' dx dy aim fire, or 'c' length text
//
// What it gets: the tick, the tick of the snapshot that the rest refers to, or 0, what has changed since, and lines
// of chat.
//
//	uvarint tick, base; then uvarint ID difference, fields, values; then 0; then length text, and so on
var errWire = errors.New("malformed packet")

// A message is an input or a line of chat. text is a part of the packet.
type message struct {
	input Input
	text  []byte // nil: an input
}

// acknowledged takes the tick off a packet.
func acknowledged(packet []byte) (tick uint32, rest []byte, err error) {
	v, n := binary.Uvarint(packet)
	if n <= 0 || v > 1<<32-1 {
		return 0, nil, errWire
	}
	return uint32(v), packet[n:], nil
}

// next takes a message off a packet.
func next(packet []byte) (m message, rest []byte, err error) {
	switch {
	case packet[0] == 'i' && len(packet) >= 5 && packet[3] < 16 && packet[4] < 2:
		m.input = Input{DX: int8(packet[1]), DY: int8(packet[2]), Aim: packet[3], Fire: packet[4] == 1}
		return m, packet[5:], nil
	case packet[0] == 'c' && len(packet) >= 2 && packet[1] > 0 && len(packet) >= 2+int(packet[1]):
		n := 2 + int(packet[1])
		m.text = packet[2:n]
		return m, packet[n:], nil
	}
	return m, nil, errWire
}

// Fields of an entity that follow.
const (
	fieldX = 1 << iota
	fieldY
	fieldHP
	fieldKind // and Facing
	gone      // no fields: it is out of sight
)

// mostEntityBytes is what an entity takes at most in a packet.
const mostEntityBytes = 5 + 1 + 5 + 5 + 3 + 2

// appendDelta appends what makes base into now. Both are sorted by ID.
func appendDelta(b []byte, tick, baseTick uint32, base, now []Entity) []byte {
	b = binary.AppendUvarint(b, uint64(tick))
	b = binary.AppendUvarint(b, uint64(baseTick))
	id := uint32(0)
	for len(base) > 0 || len(now) > 0 {
		var old Entity
		switch {
		case len(now) == 0 || len(base) > 0 && base[0].ID < now[0].ID:
			b = append(binary.AppendUvarint(b, uint64(base[0].ID-id)), gone)
			id, base = base[0].ID, base[1:]
			continue
		case len(base) > 0 && base[0].ID == now[0].ID:
			old, base = base[0], base[1:]
		}
		if e := now[0]; old != e {
			b = appendEntity(binary.AppendUvarint(b, uint64(e.ID-id)), &old, &e)
			id = e.ID
		}
		now = now[1:]
	}
	return append(b, 0)
}

// appendEntity appends the fields in which two differ.
func appendEntity(b []byte, old, e *Entity) []byte {
	at := len(b)
	b = append(b, 0)
	var fields byte
	if e.X != old.X {
		fields |= fieldX
		b = binary.AppendVarint(b, int64(e.X-old.X))
	}
	if e.Y != old.Y {
		fields |= fieldY
		b = binary.AppendVarint(b, int64(e.Y-old.Y))
	}
	if e.HP != old.HP {
		fields |= fieldHP
		b = binary.AppendUvarint(b, uint64(e.HP))
	}
	if e.Kind != old.Kind || e.Facing != old.Facing {
		fields |= fieldKind
		b = append(b, e.Kind, e.Facing)
	}
	b[at] = fields
	return b
}

// appendLine appends a line of chat.
func appendLine[S ~string | ~[]byte](b []byte, line S) []byte {
	return append(append(b, byte(len(line))), line...)
}
