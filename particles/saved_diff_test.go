package particles

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/memory/save"
)

func TestSystem_DiffOfMoreParticlesThanThereAre(t *testing.T) {
	s, err := New(nil, Config{Capacity: 100_000, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := s.Register(Kind{Name: "spark"})
	set := new(save.Set)
	if err = errors.Join(err, set.Add("particles", s), set.Seal()); err != nil {
		t.Fatal(err)
	}
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
