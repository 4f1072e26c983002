package ecs_test

import (
	"errors"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/tiers"
)

// TestWorld_OutlivesItsManager closes the manager under a world that it was not told of: the
// addresses may be a stranger's from then on.
func TestWorld_OutlivesItsManager(t *testing.T) {
	m, err := tiers.New(tiers.Config{GC: gcpace.Config{Keep: true}})
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := pool.NewBlocks(m.PoolSource(), pool.BlocksConfig{Size: 16 << 10, Align: 64, Capacity: 64})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ecs.New(chunks, ecs.Config{})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := ecs.NewEvents[Hit](chunks, 16)
	if err != nil {
		t.Fatal(err)
	}
	movers := ecs.NewMap2[Position, Velocity](w)
	e, err := movers.NewEntity(Position{1, 1}, Velocity{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	moving := ecs.NewFilter2[Position, Velocity](w)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := movers.Get(e); ok || w.Alive(e) {
		t.Error("an address of memory that is no longer ours")
	}
	q := moving.Query()
	for q.Next() {
		p, v := q.Get()
		p.X += v.X
	}
	if queue.Send(Hit{}) || len(queue.Read()) != 0 {
		t.Error("an event went to memory that is no longer ours")
	}
	func() {
		defer func() {
			if m, ok := recover().(*memory.Misuse); !ok || m.Error() != "ecs.NewEntity: the world is closed" {
				t.Errorf("%v", m)
			}
		}()
		movers.NewEntity(Position{}, Velocity{})
	}()
	if err := errors.Join(w.Check(), w.Close(), queue.Close(), chunks.Close()); err != nil {
		t.Error(err)
	}
}
