package memtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/save"
)

// detours plays equal programs on two subjects. One of them plays other programs in between, without memory at times, and
// loads. All its operations return what those of the other one return.
func detours(t testing.TB, s Subject) {
	for seed := range uint64(8 / testenv.Step(4)) {
		src := NewFaulty()
		limit := page.NewLimit(src, 0)
		loaded, straight := newDetour(t, s, limit), newDetour(t, s, page.NewLimit(NewFaulty(), 0))
		chaos := rand.New(rand.NewPCG(seed, 77))
		var ring []*moment
		for round := range 10 {
			for _, x := range []*saved{loaded, straight} {
				x.rng = rand.New(rand.NewPCG(seed, uint64(round)))
				x.trace, x.serial = x.trace[:0], 0
				x.program(60)
			}
			if i, a, b := firstDifference(loaded.trace, straight.trace); i >= 0 {
				t.Fatalf("seed %d, round %d, operation %d after a load: %s, without one: %s", seed, round, i, a, b)
			}
			ring = append(ring[max(0, len(ring)-9):], &moment{})
			now := ring[len(ring)-1]
			loaded.save(now)
			straight.stats() // it may coalesce blocks
			for range chaos.IntN(4) {
				loaded.rng = chaos
				loaded.program(chaos.IntN(80))
				if chaos.IntN(2) == 0 {
					loaded.load(ring[chaos.IntN(len(ring))])
				}
				switch m := ring[chaos.IntN(len(ring))]; chaos.IntN(6) {
				case 0, 1:
					loaded.loadWithout(limit, m)
				case 2:
					loaded.loadRefused(m)
				case 3:
					loaded.loadKept(src, m)
				}
			}
			loaded.load(now)
		}
		for _, x := range []*saved{loaded, straight} {
			for len(x.blocks) > 0 {
				x.free(len(x.blocks) - 1)
			}
			check(t, x.a)
		}
	}
}

func firstDifference(a, b []string) (i int, x, y string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i, a[i], b[i]
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b)), fmt.Sprint(len(a), " operations"), fmt.Sprint(len(b))
	}
	return -1, "", ""
}

func newDetour(t testing.TB, s Subject, src page.Source) *saved {
	a := s.make(t, src)
	x := &saved{t: t, s: s, a: a, traced: true}
	later := func(c *save.Coder) {
		if !c.Fitting() || x.refused == 0 {
			return
		}
		c.Commit(nil)
		if x.refused--; x.refused == 0 {
			c.Differs("it is another")
		}
	}
	if err := errors.Join(x.set.Add("subject", a.(save.State)), x.set.AddFunc("later", later), x.set.Seal()); err != nil {
		t.Fatal(err)
	}
	return x
}

// place returns what is equal for the addresses of equal blocks of two subjects.
func (x *saved) place(p unsafe.Pointer) uintptr {
	if b, ok := x.a.(memory.Baser); ok && b.Base() != nil {
		return uintptr(p) - uintptr(b.Base())
	}
	return uintptr(p) % page.BaseAlign
}

// note adds to the trace.
func (x *saved) note(op string, v ...any) {
	if x.traced {
		x.trace = append(x.trace, op+" "+fmt.Sprint(v...))
	}
}

// image returns the canonical bytes of the present state.
func (x *saved) image() []byte {
	slot := x.set.NewCanonical(0)
	err := x.set.Save(slot)
	if short := (*memory.Exhausted)(nil); errors.As(err, &short) {
		slot = x.set.NewCanonical(int(short.Need))
		err = x.set.Save(slot)
	}
	if err != nil {
		x.t.Fatalf("Save of the canonical state: %v", err)
	}
	return slot.Bytes()
}

// unchanged compares the present state with one before a load that was refused.
func (x *saved) unchanged(before []byte, why error) {
	if now := x.image(); !bytes.Equal(now, before) {
		at := 0
		for at < min(len(now), len(before)) && now[at] == before[at] {
			at++
		}
		x.t.Fatalf("a refused Load has changed byte %d of the %d canonical bytes, now %d: %v", at, len(before), len(now), why)
	}
}

// loadWithout loads a state without a budget: the state is loaded, or nothing has changed.
func (x *saved) loadWithout(limit *page.Limit, m *moment) {
	image := x.image()
	limit.SetBudget(1)
	defer limit.SetBudget(0)
	before := slices.Clone(x.blocks)
	switch err := x.set.Load(m.slot); {
	case err == nil:
		x.blocks = append(x.blocks[:0], m.blocks...)
	case !errors.Is(err, memory.ErrOutOfMemory):
		x.t.Fatalf("Load without memory: %v", err)
	default:
		x.blocks = before
		x.unchanged(image, err)
	}
	x.verify()
}

// loadRefused loads a state that a later part refuses: nothing has changed.
func (x *saved) loadRefused(m *moment) {
	for pass := range 3 { // in the second one the subject has committed memory
		image := x.image()
		x.refused = pass + 1
		err := x.set.Load(m.slot)
		if !errors.Is(err, save.ErrLayout) {
			x.t.Fatalf("Load with a part that refuses: %v", err)
		}
		x.unchanged(image, err)
	}
	x.verify()
}

// loadKept loads a state while the source keeps memory that the state had not committed.
func (x *saved) loadKept(src *Faulty, m *moment) {
	src.FailReturns = true
	if err := x.set.Load(m.slot); err != nil {
		x.t.Fatalf("Load with a source that decommits nothing: %v", err)
	}
	src.FailReturns = false
	x.blocks = append(x.blocks[:0], m.blocks...)
	x.verify()
}
