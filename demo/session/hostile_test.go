package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/game"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// forge changes the state of a run's file at random, behind its head, and makes its sum right.
func forge(rng *rand.Rand, file []byte) []byte {
	file = bytes.Clone(file)
	_, state, err := ReadAbout(file)
	if err != nil {
		panic(err)
	}
	from, end := 32+int(binary.LittleEndian.Uint32(state[28:])), len(state)-8
	world := bytes.Index(state, []byte("strata\x00W")) // it has a sum of its own
	last := world + int(binary.LittleEndian.Uint64(state[world+8:])) - 8
	for range 1 + rng.IntN(4) {
		at := from + rng.IntN(end-from)
		switch word := state[at&^3:]; rng.IntN(5) {
		case 0:
			state[at] ^= 1 << rng.IntN(8)
		case 1:
			state[at] = byte(rng.Uint32())
		case 2:
			binary.LittleEndian.PutUint32(word, math.Float32bits([...]float32{float32(math.NaN()), float32(math.Inf(1)), -3e38, 1e-40, -1}[rng.IntN(5)]))
		case 3:
			binary.LittleEndian.PutUint32(word, [...]uint32{0, 1, math.MaxUint32, 1 << 31, 65_535}[rng.IntN(5)])
		default:
			copy(state[at:min(at+rng.IntN(200), end)], state[from+rng.IntN(end-from):end])
		}
	}
	binary.LittleEndian.PutUint64(state[last:], uint64(crc32.Checksum(state[world:last], castagnoli)))
	binary.LittleEndian.PutUint32(state[end:], crc32.Checksum(state[:end], castagnoli))
	return file
}

// A changed file with right sums is refused, or it is a run that can be played: nothing panics, and Check finds nothing.
func TestSession_ForgedFileDoesNoHarm(t *testing.T) {
	testenv.Long(t)
	warm, files := uint64(60), uint64(1)
	if *whole {
		warm, files = 400, 300
	}
	file := written(t, synced(t, 4, warm))
	s := newSession(t, Config{Game: game.Config{Seed: 99, Particles: 100_000}, Rewind: 16 << 20})
	play(t, s, 30)
	refused, ended, went := 0, 0, 0
	for seed := range files {
		data := forge(rand.New(rand.NewPCG(seed, 5)), file)
		if err := s.Restore(data, nil); err != nil {
			refused++
			continue
		}
		done, err := false, error(nil)
		for !done && err == nil {
			if err = s.EndFrame(); err == nil {
				s.Flow.Update()
				time.Sleep(50 * time.Microsecond) // the workers are loading
				done, err = s.Restored()
			}
		}
		if err != nil {
			ended++
		} else {
			went++
		}
		for range 40 {
			if err := s.Frame(engine.Input{}); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if err := errors.Join(s.EndFrame(), s.Check()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d files were refused at once, %d later, %d were played", refused, ended, went)
}
