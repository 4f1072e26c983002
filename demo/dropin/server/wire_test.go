package main

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/strata-go/strata/engine"
)

// applied is the client's half: it makes the new snapshot from the one that it has.
func applied(t *testing.T, base []Entity, b []byte) (now []Entity, rest []byte) {
	t.Helper()
	uvarint := func() uint64 { v, n := binary.Uvarint(b); b = b[n:]; return v }
	varint := func() int32 { v, n := binary.Varint(b); b = b[n:]; return int32(v) }
	now = slices.Clone(base)
	uvarint()
	uvarint()
	for id := uint32(0); ; {
		step := uvarint()
		if step == 0 {
			return now, b
		}
		id += uint32(step)
		at, found := slices.BinarySearchFunc(now, id, func(e Entity, id uint32) int { return int(e.ID) - int(id) })
		fields := b[0]
		b = b[1:]
		if fields == gone {
			now = slices.Delete(now, at, at+1)
			continue
		}
		if !found {
			now = slices.Insert(now, at, Entity{ID: id})
		}
		e := &now[at]
		if fields&fieldX != 0 {
			e.X += varint()
		}
		if fields&fieldY != 0 {
			e.Y += varint()
		}
		if fields&fieldHP != 0 {
			e.HP = uint16(uvarint())
		}
		if fields&fieldKind != 0 {
			e.Kind, e.Facing, b = b[0], b[1], b[2:]
		}
	}
}

func TestDelta_MakesTheSnapshotThatWasSent(t *testing.T) {
	var r zone
	r.init(5, 0)
	rand := engine.NewRand(3, 3)
	var base []Entity
	for tick := uint32(1); tick <= 200; tick++ {
		for i := range r.inputs {
			v := rand.Uint32()
			r.inputs[i] = Input{int8(v%5) - 2, int8(v>>8%5) - 2, uint8(v >> 16 & 15), v>>24&3 == 0}
		}
		r.step()
		now := r.visible(nil, 4)
		if !slices.IsSortedFunc(now, func(a, b Entity) int { return int(a.ID) - int(b.ID) }) {
			t.Fatalf("tick %d: not by ID", tick)
		}
		packet := appendDelta(nil, tick, tick-1, base, now)
		if most := 11 + mostEntityBytes*(len(base)+len(now)); len(packet) > most {
			t.Fatalf("%d bytes, at most %d", len(packet), most)
		}
		got, rest := applied(t, base, appendLine(packet, "hello"))
		if !slices.Equal(got, now) || string(rest) != "\x05hello" {
			t.Fatalf("tick %d: %d entities, want %d; then %q", tick, len(got), len(now), rest)
		}
		if tick%3 == 0 { // the others are lost
			base = now
		}
	}
	if len(r.shots) == 0 {
		t.Error("nobody has fired")
	}
}

func TestNext_RefusesWhatIsCutOff(t *testing.T) {
	for _, bad := range []string{"i", "i123", "i12\x10\x01", "i12\x01\x02", "c", "c\x00", "c\x03ab", "x"} {
		if _, _, err := next([]byte(bad)); err != errWire {
			t.Errorf("%q: %v", bad, err)
		}
	}
	m, rest, err := next([]byte("c\x02abi\x01\x02\x03\x01"))
	if err != nil || string(m.text) != "ab" || len(rest) != 5 {
		t.Fatalf("%q, %q, %v", m.text, rest, err)
	}
	if m, rest, err = next(rest); err != nil || len(rest) != 0 || m.text != nil || m.input != (Input{1, 2, 3, true}) {
		t.Errorf("%+v, %q, %v", m, rest, err)
	}
	for _, bad := range []string{"", "\xff\xff\xff\xff\xff\x01", "\xff"} {
		if _, _, err := acknowledged([]byte(bad)); err != errWire {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("\x01i\x01\x02\x03\x01c\x02ab"))
	f.Add([]byte("\xff"))
	s, _ := newReused(1)
	f.Fuzz(func(t *testing.T, packet []byte) {
		if err := receive(s, 9, packet); err != nil {
			t.Fatal(err)
		}
		if n := len(s.(*reused).chats[0].lines); n > mostLines {
			t.Errorf("%d lines", n)
		}
	})
}
