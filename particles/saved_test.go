package particles

import (
	"errors"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tiers"
)

// savedSparks makes a system with a kind of particles, and a sealed Set of it.
func savedSparks(t *testing.T, capacity int) (s *System, id KindID, set *save.Set) {
	t.Helper()
	s, err := New(nil, Config{Capacity: capacity, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	id, err = s.Register(Kind{Name: "spark"})
	set = new(save.Set)
	if err = errors.Join(err, set.Add("particles", s), set.Seal()); err != nil {
		t.Fatal(err)
	}
	return s, id, set
}

func TestSystem_SavedStatesAreRestored(t *testing.T) {
	s, id, set := savedSparks(t, 20_000)
	run := func(n int) (h uint64) {
		for i := range n {
			s.Emit(&Emitter{Kind: id, X: float32(i), Speed: Range{1, 5}, Life: Range{0.2, 0.9}, Size: Just(2)}, 40*i%900)
			s.Update(1.0 / 60)
		}
		return s.Hash(0)
	}
	run(50)
	n, err := set.Size()
	slot := set.NewSlot(n)
	if err = errors.Join(err, set.Save(slot)); err != nil {
		t.Fatal(err)
	}
	was, live := s.Hash(0), s.Len()
	next := run(100)
	for range 3 {
		err = errors.Join(set.Load(slot), s.Check())
		if got := s.Hash(0); err != nil || got != was || s.Len() != live {
			t.Fatalf("loaded %d particles with hash %x, want %d, %x: %v", s.Len(), got, live, was, err)
		}
		if got := run(100); got != next {
			t.Fatalf("after a load the hash is %x, was %x", got, next)
		}
		s.Reset()
		if err := s.Trim(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSystem_DiffOfMoreParticlesThanThereAre(t *testing.T) {
	s, id, set := savedSparks(t, 100_000)
	small, large := set.NewCanonical(16<<20), set.NewCanonical(16<<20)
	if err := set.Save(small); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s.Emit(&Emitter{Kind: id, Speed: Range{1, 5}, Life: Range{5, 9}, Size: Just(2)}, 1000)
	}
	if err := errors.Join(set.Save(large), set.Load(small)); err != nil {
		t.Fatal(err)
	}
	if _, differ, err := set.Diff(small, large); err != nil || !differ {
		t.Errorf("%t, %v", differ, err)
	}
}

// The manager saves and checks a registered System, so a Set with both would save it twice.
func TestSystem_PoolOfAManagerIsSavedOnce(t *testing.T) {
	m, err := tiers.New(tiers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(m.PoolSource(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	m.AddPool("sparks", s.Pool())
	var set save.Set
	err = errors.Join(set.Add("manager", m), set.Add("sparks", s), set.Seal())
	if want := `"manager" and "sparks" both save the *particles.System`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	s.n = -1
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), `pool "sparks": particles:`) {
		t.Errorf("Check of the manager: %v", err)
	}
	s.n = 0
	if !m.RemovePool(s.Pool()) || m.RemovePool(s.Pool()) {
		t.Error("it is not removed once")
	}
	if err := errors.Join(s.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}
