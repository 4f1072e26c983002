package ecs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever a world did before, after a load it writes the file that it has read, and goes on as a new world that reads
// it. Tables with targets of a discarded future stayed, and the next file was refused.
func TestReadBinary_AUsedWorldGoesOnAsANewOneWould(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 5))
		a := newBinaryCast(t)
		for range 6 {
			a.play(t, rng, rng.IntN(300))
			file, es := binaryFile(t, a.w), slices.Clone(a.es)
			a.play(t, rng, rng.IntN(300))
			a.w.Reset()
			if err := a.w.ReadBinary(bytes.NewReader(file), nil); err != nil {
				t.Fatal(seed, err)
			}
			a.es = es
			if again := binaryFile(t, a.w); !bytes.Equal(again, file) {
				t.Fatalf("seed %d: another file", seed)
			}
			b := newBinaryCast(t)
			if err := b.w.ReadBinary(bytes.NewReader(file), nil); err != nil {
				t.Fatal(seed, err)
			}
			b.es = slices.Clone(es)
			s := rng.Uint64()
			a.play(t, rand.New(rand.NewPCG(s, 1)), 100)
			b.play(t, rand.New(rand.NewPCG(s, 1)), 100)
			if a.w.Hash(0) != b.w.Hash(0) || a.w.Check() != nil || b.w.Check() != nil {
				t.Fatalf("seed %d: %x, %x, %v", seed, a.w.Hash(0), b.w.Hash(0), a.w.Check())
			}
		}
	}
}
