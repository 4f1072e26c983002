package ecs_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/tlsf"
)

type savedHit struct {
	Target ecs.Entity
	Damage float32
	Kind   uint8
}

// savedQueue makes a queue of T, its allocator, and a sealed Set of both, or of the queue alone.
func savedQueue[T any](t *testing.T, capacity int, whole bool) (*ecs.Events[T], *tlsf.Heap, *save.Set) {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	q, err := ecs.NewEvents[T](heap, capacity)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(q.Close(), heap.Close()) })
	set := new(save.Set)
	if whole {
		err = set.Add("heap", heap)
	}
	if err = errors.Join(err, set.Add("hits", q), set.Seal()); err != nil {
		t.Fatal(err)
	}
	return q, heap, set
}

// Systems that read events of the tick before go on as before after a load, in every distance of Synctest.
func TestEvents_SynctestAgrees(t *testing.T) {
	for _, lacks := range []bool{false, true} {
		q, heap, set := savedQueue[savedHit](t, 8, true)
		w, err := ecs.New(heap, ecs.Config{})
		if err != nil {
			t.Fatal(err)
		}
		hurt := ecs.NewMap1[savedPlace](w)
		place, _ := ecs.Register[savedPlace](w)
		e, err := hurt.NewEntity(savedPlace{1000, 0})
		tick := 0
		all := new(save.Set)
		err = errors.Join(err, all.Add("heap", heap), all.Add("world", w), save.Value(all, "tick", &tick))
		if !lacks {
			err = errors.Join(err, all.Add("hits", q))
		}
		if err = errors.Join(err, all.Seal()); err != nil {
			t.Fatal(err, set)
		}
		done, err := engine.Synctest(engine.Sync{Set: all, Ticks: 20, Distance: 4,
			Step: func() error {
				tick++
				for _, h := range q.Read() {
					p, _ := place.Get(h.Target)
					p.X -= h.Damage
				}
				if tick%3 == 0 {
					q.Send(savedHit{e, float32(tick), 1})
				}
				q.Swap()
				return nil
			},
			Hash: func() uint64 { return w.Hash(uint64(tick)) }})
		if (err != nil) != lacks {
			t.Errorf("lacks %v: %v after %d ticks", lacks, err, done)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestEvents_SavedStatesAreRestored(t *testing.T) {
	for _, whole := range []bool{false, true} {
		for swaps := range 3 {
			q, _, set := savedQueue[savedHit](t, 3, whole)
			for range swaps {
				q.Swap()
			}
			q.Send(savedHit{Damage: 1})
			q.Send(savedHit{Damage: 2, Kind: 7})
			q.Swap()
			q.Send(savedHit{Damage: float32(math.NaN())})
			slots := []*save.Slot{set.NewSlot(4 << 20)} // debug builds save all bytes
			if !whole {
				slots = append(slots, set.NewCanonical(1<<10))
			}
			hash := q.Hash(5)
			for _, slot := range slots {
				if err := set.Save(slot); err != nil {
					t.Fatal(err)
				}
				for more := range 4 { // with both buffers the one that is written
					for i := range 5 {
						q.Send(savedHit{Damage: float32(10 * i)})
					}
					for range more {
						q.Swap()
					}
					if q.Hash(5) == hash {
						t.Fatal("the hash does not depend on the events")
					}
					if err := errors.Join(set.Load(slot), q.Check()); err != nil {
						t.Fatal(err)
					}
					if r := q.Read(); len(r) != 2 || r[0].Damage != 1 || r[1] != (savedHit{Damage: 2, Kind: 7}) || q.Pending() != 1 || q.Dropped() != 0 || q.Hash(5) != hash {
						t.Fatalf("whole %v, %d swaps, then %d: %v, %d pending, %d dropped", whole, swaps, more, r, q.Pending(), q.Dropped())
					}
				}
			}
		}
	}
}

// Equal queues have equal canonical bytes and hashes, whichever of their buffers is written.
func TestEvents_CanonicalBytesOmitTheBuffer(t *testing.T) {
	q, _, set := savedQueue[savedHit](t, 3, false)
	slot := set.NewCanonical(1 << 10)
	seen := map[[2]uint64]bool{}
	for range 4 {
		q.Clear()
		q.Send(savedHit{Damage: 3})
		q.Swap()
		q.Send(savedHit{Damage: 4})
		sum, err := set.SaveHash(slot)
		if err != nil {
			t.Fatal(err)
		}
		seen[[2]uint64{sum, q.Hash(0)}] = true
	}
	if len(seen) != 1 {
		t.Error(seen)
	}
	one := q.Hash(0)
	q.Swap()
	if q.Clear(); q.Hash(0) == one || q.Hash(0) == q.Hash(1) {
		t.Error("the hash does not depend on the events or on h")
	}
	if n := testing.AllocsPerRun(100, func() { q.Hash(0) }); n != 0 {
		t.Errorf("Hash allocates %v times", n)
	}
}

// A pending event and a readable one are not the same.
func TestEvents_HashTellsReadableFromPending(t *testing.T) {
	q, _, _ := savedQueue[uint8](t, 3, false)
	q.Send(7)
	pending := q.Hash(0)
	if q.Swap(); q.Hash(0) == pending {
		t.Error("equal hashes")
	}
}

func TestEvents_FilesFitOtherCapacities(t *testing.T) {
	a, _, from := savedQueue[savedHit](t, 8, false)
	b, _, to := savedQueue[savedHit](t, 3, false)
	b.Swap()
	for i := range 3 {
		a.Send(savedHit{Damage: float32(i), Target: ecs.Entity{}})
	}
	a.Swap()
	a.Send(savedHit{Kind: 9})
	for _, most := range []int{1, 4} {
		for range most - 1 {
			a.Send(savedHit{})
		}
		var file bytes.Buffer
		if err := from.Write(&file); err != nil {
			t.Fatal(err)
		}
		was := b.Hash(0)
		err := errors.Join(to.Read(&file, nil), b.Check())
		if most <= 3 && (err != nil || !slices.Equal(a.Read(), b.Read()) || b.Pending() != most || a.Hash(0) != b.Hash(0)) {
			t.Errorf("%v; %v, %d pending", err, b.Read(), b.Pending())
		}
		if most > 3 && (!errors.Is(err, save.ErrLayout) || !strings.Contains(err.Error(), "hits: ") || !strings.Contains(err.Error(), "capacity is 3") || b.Hash(0) != was) {
			t.Errorf("%v", err)
		}
	}
	slot := from.NewSlot(1 << 10)
	if err := from.Save(slot); err != nil {
		t.Error(err)
	}
}

func TestEvents_SaveRefusesWhatHasNoMeaning(t *testing.T) {
	type pointed struct{ P memory.Handle[int] }
	q, _, set := savedQueue[pointed](t, 3, false)
	if err := set.Portable(); !errors.Is(err, save.ErrPortable) || !strings.Contains(err.Error(), ".P: ") {
		t.Errorf("an event with a handle: %v", err)
	}
	_ = q.Close()
	if _, err := set.Size(); !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), "hits: ") {
		t.Errorf("a closed queue: %v", err)
	}
	_, _, other := savedQueue[uintptr](t, 3, false)
	if err := other.Portable(); !errors.Is(err, save.ErrPortable) {
		t.Errorf("an address: %v", err)
	}
	none, _, bare := savedQueue[struct{}](t, 300, false) // events of no bytes
	for range 200 {
		none.Send(struct{}{})
	}
	slot := bare.NewSlot(1 << 10)
	var file bytes.Buffer
	err := errors.Join(bare.Save(slot), bare.Write(&file))
	none.Clear()
	if err = errors.Join(err, bare.Load(slot)); err != nil || none.Pending() != 200 {
		t.Errorf("%v, %d pending", err, none.Pending())
	}
	none.Clear()
	if err = bare.Read(&file, nil); err != nil || none.Pending() != 200 {
		t.Errorf("%v, %d pending", err, none.Pending())
	}
}
