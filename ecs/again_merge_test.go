package ecs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/layout"
)

type (
	mergedBond struct{}
	mergedAt   struct{ X int32 }
	mergedMark struct{ X int32 }
	mergedGone struct{ N int32 }
)

// An archetype without a relation that merges took a number of the order of targets from one that has one.
func TestWorld_AMergedPlainArchetypeTakesNoSince(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a := relatedWorld(t)
		bond, err := ecs.RegisterRelation[mergedBond](a)
		at, err2 := ecs.Register[mergedAt](a)
		mark, err3 := ecs.Register[mergedMark](a)
		gone, err4 := ecs.Register[mergedGone](a)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		var ps []ecs.Entity
		for range 300 {
			p, err := a.NewEntity()
			e, err2 := a.NewEntity()
			ps = append(ps, p)
			if rng.IntN(10) == 0 { // only archetypes without the relation have what is dropped
				if rng.IntN(2) == 0 {
					err = errors.Join(err, at.Add(e, mergedAt{}))
				}
				if rng.IntN(2) == 0 {
					err = errors.Join(err, mark.Add(e, mergedMark{}))
				}
				err = errors.Join(err, gone.Add(e, mergedGone{}))
			} else {
				err = errors.Join(err, bond.Add(e, mergedBond{}, ps[rng.IntN(len(ps))]))
			}
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				i := rng.IntN(len(ps))
				bond.RemoveTree(ps[i])
				ps[i], ps = ps[len(ps)-1], ps[:len(ps)-1]
				if len(ps) == 0 {
					break
				}
			}
		}
		var file bytes.Buffer
		if err := a.WriteBinary(&file); err != nil {
			t.Fatal(err)
		}
		b := relatedWorld(t)
		_, err = ecs.RegisterRelation[mergedBond](b)
		_, err2 = ecs.Register[mergedAt](b)
		_, err3 = ecs.Register[mergedMark](b)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if err := b.ReadBinary(&file, &layout.Migration{Dropped: []string{"ecs_test.mergedGone"}}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
