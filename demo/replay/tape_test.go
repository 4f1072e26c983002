package replay_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/replay"
	"github.com/strata-go/strata/engine"
)

// played returns an input that depends on the tick: some ticks change nothing.
func played(tick uint64) engine.Input {
	r := rand.New(rand.NewPCG(tick/3, 1))
	in := engine.Input{Down: engine.Buttons(r.Uint32N(4)), Pressed: engine.Buttons(tick % 2)}
	in.Move[0], in.Aim[1] = r.Float32(), -r.Float32()
	return in
}

func filled(t *replay.Tape, from, to uint64) *replay.Tape {
	for tick := from; tick < to; tick++ {
		t.Add(tick, played(tick))
	}
	return t
}

// has fails the test unless the tape has the inputs of these ticks and no others.
func has(t *testing.T, tape *replay.Tape, from, to uint64) {
	t.Helper()
	if tape.First() != from || tape.End() != to || tape.Len() != int(to-from) {
		t.Fatalf("the tape has ticks %d to %d, %d of them; want %d to %d", tape.First(), tape.End(), tape.Len(), from, to)
	}
	for tick := from; tick < to; tick++ {
		if in, ok := tape.At(tick); !ok || in != played(tick) {
			t.Fatalf("tick %d: %+v, %v; want %+v", tick, in, ok, played(tick))
		}
	}
	for _, tick := range []uint64{from - 1, to, to + 100} {
		if in, ok := tape.At(tick); ok {
			t.Errorf("tick %d: %+v", tick, in)
		}
	}
}

func TestTape_GoingBackDropsLaterInputs(t *testing.T) {
	tape := filled(new(replay.Tape), 10, 1000)
	has(t, tape, 10, 1000)
	tape.Add(45, played(45))
	has(t, tape, 10, 46)
	filled(tape, 46, 60)
	has(t, tape, 10, 60)
	tape.Cut(58)
	has(t, tape, 10, 58)
	in := played(58)
	if n := testing.AllocsPerRun(100, func() { tape.Add(58, in) }); n != 0 {
		t.Errorf("Add allocates %v times in a tape that was longer", n)
	}
	tape.Cut(3)
	if tape.Len() != 0 {
		t.Errorf("after Cut before the first tick %d inputs are left", tape.Len())
	}
	filled(tape, 20, 25)
	has(t, tape, 20, 25)
	filled(tape, 100, 103) // ticks are missing
	has(t, tape, 100, 103)
}

func TestTape_DecodeReturnsTheTape(t *testing.T) {
	for _, tape := range []*replay.Tape{new(replay.Tape), filled(new(replay.Tape), 7, 700)} {
		data := tape.AppendTo([]byte("head"))
		back, rest, err := replay.Decode(append(data, "rest"...)[4:])
		if err != nil || string(rest) != "rest" {
			t.Fatalf("%v, and %q is left", err, rest)
		}
		has(t, back, tape.First(), tape.End())
		if n := len(data) - 4 - 16; n > 17*tape.Len() {
			t.Errorf("%d bytes for %d inputs", n, tape.Len())
		}
	}
}

func TestDecode_TruncatedOrMalformedIsAnError(t *testing.T) {
	data := filled(new(replay.Tape), 7, 40).AppendTo(nil)
	for n := range data {
		if _, _, err := replay.Decode(data[:n]); err == nil {
			t.Fatalf("%d bytes of %d are accepted", n, len(data))
		}
	}
	bad := func(change func(b []byte), want string) {
		t.Helper()
		b := append([]byte(nil), data...)
		change(b)
		if _, _, err := replay.Decode(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	bad(func(b []byte) { b[15] = 1 }, "inputs from tick 7 on")
	bad(func(b []byte) { copy(b, "\xff\xff\xff\xff\xff\xff\xff\xff") }, "inputs from tick")
	bad(func(b []byte) { b[16] |= 1 << 7 }, "tick 7, byte 16: mask 0x")
	bad(func(b []byte) { b[20] = 0x7f; b[19] = 0xc0 }, "tick 7, byte") // NaN
	bad(func(b []byte) { clear(b[17:21]) }, "word 0 is marked as different")
}

func FuzzDecode(f *testing.F) {
	f.Add(filled(new(replay.Tape), 7, 40).AppendTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		tape, rest, err := replay.Decode(data)
		if err != nil {
			return
		}
		if again := tape.AppendTo(nil); string(again)+string(rest) != string(data) {
			t.Errorf("%d bytes became %d", len(data)-len(rest), len(again))
		}
	})
}
