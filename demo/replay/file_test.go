package replay_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/replay"
)

// recorded returns a recording of ticks 7 to 1006.
func recorded(n uint64) *replay.Recording {
	r := &replay.Recording{Build: "strata demo 1.0", Autopilot: true}
	for tick := uint64(7); tick < 7+n; tick++ {
		if r.Wants(tick) {
			r.AddState(tick, []byte{byte(tick)})
		}
		r.Tape.Add(tick, played(tick))
		r.AddHash(tick, tick*tick)
	}
	return r
}

func TestRecording_ReadReturnsWhatWasWritten(t *testing.T) {
	r := recorded(1000)
	back, err := replay.Read(r.AppendTo(nil))
	if err != nil || back.Build != r.Build || !back.Autopilot || !reflect.DeepEqual(back.States, r.States) || !reflect.DeepEqual(back.Hashes, r.Hashes) {
		t.Fatalf("%+v, %v", back, err)
	}
	has(t, &back.Tape, 7, 1007)
	if len(back.States) != 4 || back.Before(7).Tick != 7 || back.Before(606).Tick != 307 || back.Before(607).Tick != 607 || back.Hash(600) != 360_000 || back.Hash(5000) != 0 {
		t.Errorf("%d states; before tick 606 is %d", len(back.States), back.Before(606).Tick)
	}
}

func TestRecording_GoingBackDropsWhatIsLater(t *testing.T) {
	r := recorded(1000)
	if r.Wants(500) || len(r.States) != 2 || len(r.Hashes) != 493 {
		t.Errorf("%d states, %d hashes", len(r.States), len(r.Hashes))
	}
	has(t, &r.Tape, 7, 500)
	if !r.Wants(3) || r.Tape.Len() != 0 {
		t.Error("a tick before the recording does not begin another one")
	}
}

func TestRecording_WithoutTicksIsReadAgain(t *testing.T) {
	var r replay.Recording
	r.AddState(300, []byte("a"))
	r.AddState(300, []byte("b"))
	back, err := replay.Read(r.AppendTo(nil))
	if err != nil || !reflect.DeepEqual(back.States, []replay.State{{Tick: 300, File: []byte("b")}}) || back.Tape.First() != 300 || back.Tape.Len() != 0 {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestRead_EveryTruncationAndBitIsRefused(t *testing.T) {
	file := recorded(40).AppendTo(nil)
	for n := range file {
		if _, err := replay.Read(file[:n]); err == nil {
			t.Fatalf("%d bytes of %d are accepted", n, len(file))
		}
	}
	for i := range 8 * len(file) {
		bad := bytes.Clone(file)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := replay.Read(bad); err == nil || !strings.HasPrefix(err.Error(), "replay: the recording is not valid: ") {
			t.Fatalf("bit %d: %v", i, err)
		}
	}
	if _, err := replay.Read((&replay.Recording{}).AppendTo(nil)); err == nil || !strings.Contains(err.Error(), "no state") {
		t.Errorf("an empty recording: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(recorded(40).AppendTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := replay.Read(resum(data))
		if err == nil && !bytes.Equal(r.AppendTo(nil), resum(data)) {
			t.Error("the recording is written as another file")
		}
	})
}

// resum returns a file with the right length and sum.
func resum(data []byte) []byte {
	if len(data) < 20 {
		return data
	}
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint64(data[8:], uint64(len(data)))
	end := len(data) - 4
	binary.LittleEndian.PutUint32(data[end:], crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)))
	return data
}
