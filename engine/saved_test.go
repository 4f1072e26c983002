package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

func TestStates_OfTheEngineAreRestored(t *testing.T) {
	clock, rng := NewClock(3), NewRand(1, 2)
	var schedule Schedule
	schedule.MustAdd("first", func(*Tick) error { return nil })
	set := new(save.Set)
	if err := errors.Join(set.Add("clock", clock), set.Add("random numbers", &rng), set.Add("schedule", &schedule), set.Seal()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2*Step + 5)
	rng.Uint64()
	slot := set.NewSlot(200)
	if err := set.Save(slot); err != nil {
		t.Fatal(err)
	}
	want := rng.Uint64()
	clock.Advance(Step + 1)
	if err := set.Load(slot); err != nil || clock.Tick() != 2 || clock.rest != 5 || rng.Uint64() != want {
		t.Errorf("loaded tick %d, %v", clock.Tick(), err)
	}
	schedule.MustAdd("second", func(*Tick) error { return nil })
	if err := set.Load(slot); !errors.Is(err, save.ErrLayout) {
		t.Errorf("with another system: %v", err)
	}
}

func TestStates_OfTheEngineGoToFiles(t *testing.T) {
	clock, rng := NewClock(3), NewRand(1, 2)
	var schedule Schedule
	set := new(save.Set)
	if err := errors.Join(set.Add("clock", clock), set.Add("random numbers", &rng), set.Add("schedule", &schedule), set.Seal()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2*Step + 5)
	rng.Uint64()
	var file bytes.Buffer
	if err := set.Write(&file); err != nil {
		t.Fatal(err)
	}
	want := rng.Uint64()
	clock.Advance(Step + 1)
	schedule.MustAdd("of the next version", func(*Tick) error { return nil })
	if err := set.Read(bytes.NewReader(file.Bytes()), nil); err != nil || clock.Tick() != 2 || clock.rest != 5 || rng.Uint64() != want {
		t.Errorf("read tick %d and %d ns, %v", clock.Tick(), clock.rest, err)
	}
	forged := bytes.Replace(file.Bytes(), binary.LittleEndian.AppendUint64(nil, 5), binary.LittleEndian.AppendUint64(nil, uint64(Step)), 1)
	end := len(forged) - 8
	binary.LittleEndian.PutUint64(forged[end:], uint64(crc32.Checksum(forged[:end], crc32.MakeTable(crc32.Castagnoli))))
	if err := set.Read(bytes.NewReader(forged), nil); !errors.Is(err, save.ErrLayout) || clock.rest != 5 {
		t.Errorf("a rest of a whole step: %v, %d ns", err, clock.rest)
	}
}
