package save_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/save"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// A moody source calls a function of the test before each commit.
type moody struct {
	page.Source
	before func(m page.Memory) error
}

func (m *moody) Under() page.Source { return m.Source }

func (m *moody) Commit(mem page.Memory, off, size uintptr) error {
	if m.before != nil {
		if err := m.before(mem); err != nil {
			return err
		}
	}
	return m.Source.Commit(mem, off, size)
}

// A played allocator is a part with a program. Its blocks have whole classes and granules, all of them written.
type played struct {
	a    memory.Allocator
	heap *compact.Heap // or this one, without addresses
	all  []playedBlock
}

type playedBlock struct {
	p    unsafe.Pointer
	h    compact.Handle
	size uintptr
}

// step makes the call that x selects, and returns what equal programs return.
func (x *played) step(v uint64) string {
	i := len(x.all) - 1
	switch x.a.(type) {
	case *stack.Stack, *arena.Growing:
	default:
		i = int(v >> 33 % uint64(max(len(x.all), 1)))
	}
	kind := v % 8
	switch {
	case x.heap != nil && kind == 7:
		return fmt.Sprint(x.heap.Trim())
	case x.heap != nil && kind == 6:
		n, done := x.heap.Compact(compact.Budget{Bytes: 20_000})
		return fmt.Sprint(n, done)
	case kind < 4:
		b := playedBlock{size: 64 << (v >> 8 % 11)}
		if blocks, ok := x.a.(*pool.Blocks); ok {
			b.size = blocks.Size()
		}
		err := error(nil)
		if x.heap != nil {
			b.h, err = x.heap.Alloc(b.size)
		} else {
			b.p, err = x.a.Alloc(b.size, 16)
		}
		if err != nil {
			return err.Error()
		}
		x.all = append(x.all, b)
		for j := range x.bytes(b) {
			x.bytes(b)[j] = byte(v >> 20)
		}
		if x.heap == nil && x.a.(memory.Baser).Base() != nil {
			return fmt.Sprint(uintptr(b.p) - uintptr(x.a.(memory.Baser).Base()))
		}
	case kind < 6 && i >= 0:
		for n := len(x.all); n > 0 && len(x.all) >= max(1, n-int(v>>8%8)); i = min(i, len(x.all)-1) {
			if b := x.all[i]; x.heap != nil {
				x.heap.Free(b.h)
			} else {
				x.a.Free(b.p, b.size)
			}
			x.all = slices.Delete(x.all, i, i+1)
		}
	case kind == 6:
		if t, ok := x.a.(memory.Trimmer); ok {
			return fmt.Sprint(t.Trim())
		}
	case kind == 7:
		if t, ok := x.a.(interface {
			TrimStep(uintptr) (uintptr, error)
		}); ok {
			return fmt.Sprint(t.TrimStep(64 << 10))
		}
	}
	return ""
}

func (x *played) bytes(b playedBlock) []byte {
	if x.heap == nil {
		return unsafe.Slice((*byte)(b.p), b.size)
	}
	s, _ := x.heap.Bytes(b.h)
	return s
}

// owner returns the allocator.
func (x *played) owner() memory.Owner {
	if x.heap != nil {
		return x.heap
	}
	return x.a.(memory.Owner)
}

func (x *played) check() error {
	x.owner().(memory.StatsReporter).Stats() // may coalesce blocks
	return x.owner().(memory.Checker).Check()
}

// A stage is a Set of allocators on one source. Its part in the middle refuses loads.
type stage struct {
	src    *moody
	limit  *page.Limit
	all    []*played
	set    *save.Set
	refuse int // the fitting pass in which it does; 0: none
}

func newStage(t *testing.T, seed uint64) *stage {
	s := &stage{src: &moody{Source: page.Default()}, set: new(save.Set)}
	s.limit = page.NewLimit(s.src, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 2 + rng.IntN(4) {
		x := &played{}
		const reserve = 4 << 20
		kinds := 10
		if !invariant.Exact {
			kinds = 7 // without live bits the others save free blocks, too
		}
		switch rng.IntN(kinds) {
		case 0, 1:
			x.a = some(tlsf.New(s.limit, tlsf.Config{Reserve: reserve, QuickBytes: uintptr(rng.IntN(2)) << 14, Granule: 64 << (rng.IntN(2) * 6)}))
		case 7, 8:
			x.a = some(slab.New(s.limit, slab.Config{Reserve: reserve, MaxSize: 64 << 10}))
		case 2:
			x.a = some(buddy.New(s.limit, buddy.Config{Reserve: reserve}))
		case 3:
			x.a = some(freelist.New(s.limit, freelist.Config{Reserve: reserve}))
		case 4:
			x.heap = some(compact.New(s.limit, compact.Config{Reserve: reserve}))
		case 5:
			x.a = some(arena.NewGrowing(s.limit, arena.GrowingConfig{Reserve: reserve}))
		case 6:
			x.a = some(stack.New(s.limit, stack.Config{Bytes: reserve}))
		case 9:
			x.a = some(pool.NewBlocks(s.limit, pool.BlocksConfig{Size: 5008, Capacity: 500}))
		}
		s.all = append(s.all, x)
		if x.heap != nil {
			must(t, s.set.Add(fmt.Sprint(i), x.heap))
		} else {
			must(t, s.set.Add(fmt.Sprint(i), x.a.(save.State)))
		}
		if i == 1 {
			must(t, s.set.AddFunc("refuses", func(c *save.Coder) {
				if c.Fitting() && s.refuse > 0 {
					c.Commit(nil)
					if s.refuse--; s.refuse == 0 {
						c.Differs("it is refused")
					}
				}
			}))
		}
	}
	must(t, s.set.Seal())
	return s
}

// A load that is refused changes nothing, whatever refuses it, and leaves what functions of the source have done. So two
// equal programs stay equal, of which one tries loads.
func TestSet_RefusedLoadsLeaveEqualPrograms(t *testing.T) {
	refused, meanwhile, seeds := 0, 0, 24/testenv.Step(3)
	if testenv.Short() {
		seeds = 3
	}
	for seed := range uint64(seeds) {
		a, b := newStage(t, seed), newStage(t, seed)
		rng := rand.New(rand.NewPCG(seed, 2))
		var slots []*save.Slot
		for round := range 60 {
			for range rng.IntN(40) {
				i, x := rng.IntN(len(a.all)), rng.Uint64()
				if v, w := a.all[i].step(x), b.all[i].step(x); v != w {
					t.Fatalf("seed %d, round %d: part %d returns %q, without loads %q", seed, round, i, v, w)
				}
			}
			for i := range a.all {
				must(t, a.all[i].check(), b.all[i].check())
			}
			slots = append(slots, saved(t, a.set, a.set.NewSlot))
			slot, now := slots[max(0, len(slots)-1-rng.IntN(6))], slots[len(slots)-1]
			var before [][]playedBlock
			for _, x := range a.all {
				before = append(before, slices.Clone(x.all))
			}
			how, nth, calls := rng.IntN(5), 1+rng.IntN(5), 0
			if a.refuse = 1 + rng.IntN(3); how == 0 {
				a.limit.SetBudget(a.limit.Committed() + uintptr(rng.IntN(300<<10)))
			}
			done := func() {}
			a.src.before = func(m page.Memory) error {
				if calls++; calls != nth || how == 0 {
					return nil
				}
				switch how {
				case 1:
					return memory.ErrOutOfMemory
				case 2:
					panic(memtest.ErrInjected)
				}
				i, x := rng.IntN(len(a.all)), rng.Uint64()&^3|4 // it frees or trims
				if !a.all[i].owner().Owns(m.Base) {             // what commits is not trimmed
					a.all[i].step(x)
					done = func() { meanwhile++; b.all[i].step(x) }
				}
				return nil
			}
			err := func() (err error) {
				defer func() {
					if v := recover(); v != nil {
						err = v.(error)
					}
				}()
				return a.set.Load(slot)
			}()
			a.src.before = nil
			a.limit.SetBudget(0)
			if err != nil {
				refused++
				done()
			} else {
				must(t, a.set.Load(now))
				for i, x := range a.all {
					x.all = before[i]
				}
			}
			x, y := saved(t, a.set, a.set.NewCanonical).Bytes(), saved(t, b.set, b.set.NewCanonical).Bytes()
			if !bytes.Equal(x, y) || a.limit.Committed() != b.limit.Committed() {
				t.Fatalf("seed %d, round %d: %v: the canonical bytes differ, or %d bytes are committed, without a load %d", seed, round, err, a.limit.Committed(), b.limit.Committed())
			}
		}
		for i := range a.all {
			must(t, a.all[i].owner().(io.Closer).Close(), b.all[i].owner().(io.Closer).Close())
		}
	}
	if refused < 20*seeds || meanwhile < seeds {
		t.Errorf("%d loads were refused, %d with calls meanwhile", refused, meanwhile)
	}
}
