package pool

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func TestMaxSlots_IsWhatTheCommentsSay(t *testing.T) {
	want := uint64(1<<32 - 2)
	if math.MaxInt == math.MaxInt32 {
		want = 1<<27 - 1
	}
	if uint64(maxSlots) != want {
		t.Errorf("at most %d slots; want %d", uint64(maxSlots), want)
	}
}

func TestBlocks_CheckNamesACorruptShape(t *testing.T) {
	b := newBlocks(t, nil, BlocksConfig{Size: 64, Align: 32, Capacity: 100})
	mustGet(t, b)
	for name, c := range map[string]func(){
		"size 0": func() { b.size = 0 }, "size": func() { b.size = 80 }, "align 0": func() { b.align = 0 },
		"align 8": func() { b.align = 8 }, "align 48": func() { b.align = 48 }, "capacity 0": func() { b.capacity = 0 },
		"capacity": func() { b.capacity = math.MaxUint / 32 },
	} {
		size, al, capacity := b.size, b.align, b.capacity
		c()
		if err := b.Check(); err == nil || !strings.Contains(err.Error(), "do not fit the 16384 bytes reserved") {
			t.Errorf("%s: %v", name, err)
		}
		b.size, b.align, b.capacity = size, al, capacity
	}
	live := b.live
	b.live = nil
	mustName(t, b, "0 words of bits")
	b.live = live
	b.peak = 101
	mustName(t, b, "peak 101 or soiled 0 is above the capacity of 100")
	b.peak, b.soiled = 100, 101
	mustName(t, b, "peak 100 or soiled 101")
	b.soiled = 100
	mustCheck(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, corrupt := range []func(int){
		func(n int) { b.n = uint(n) }, func(n int) { b.opened = uintptr(n) }, func(n int) { b.capacity = uintptr(n) },
		func(n int) { b.soiled = uintptr(n) }, func(n int) { b.free = make([]uint32, n) }, func(n int) { b.live = make([]uint64, n) },
		func(n int) { b.free, b.asked = make([]uint32, n), make([]uintptr, n) },
		func(n int) { b.live, b.asked = make([]uint64, n), make([]uintptr, n) },
		func(n int) { b.free, b.live = make([]uint32, n), make([]uint64, n) },
		func(n int) { b.opened, b.capacity = uintptr(n), uintptr(n) },
	} {
		corrupt(1)
		mustName(t, b, "pool: closed, with")
		corrupt(0)
	}
	mustCheck(t, b)
}

// Metadata that does not fit the Go heap is an error.
func TestPool_MetadataThatDoesNotFitChangesNothing(t *testing.T) {
	p := newPool(t, nil, 1000)
	mustNew(t, p)
	before, capacity := p.Stats(), p.capacity
	p.capacity = math.MaxUint / 9 // as on a machine with memory for the slots, but not for the metadata
	for _, n := range []uint{math.MaxUint / 9, math.MaxUint / 10} {
		if err := meta(&p.slots).provide(n, noGround{}); !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("metadata for %d slots: %v", n, err)
		}
	}
	if err := meta(&p.slots).provide(200, noGround{}); err != nil || len(p.gens) != 200 || len(p.free) != 200 || len(p.live) != 4 {
		t.Errorf("capacity for 200: %v, %d generations", err, len(p.gens))
	}
	if err := meta(&p.slots).provide(201, noGround{}); err != nil || len(p.gens) != 400 {
		t.Errorf("capacity for 201: %v, %d generations; want them doubled", err, len(p.gens))
	}
	p.capacity = capacity
	if p.Stats() != before {
		t.Errorf("the statistics changed from %+v to %+v", before, p.Stats())
	}
	mustCheck(t, p)
}

// noGround is memory without end.
type noGround struct{ backing }

func (noGround) ensure(uint) error { return nil }
func (noGround) Name() string      { return "" }

func TestPool_CheckNamesACorruptShape(t *testing.T) {
	p := newPool(t, nil, 1000)
	mustNew(t, p)
	for want, corrupt := range map[string]func(){
		"a capacity of 0 slots of":       func() { p.capacity = 0 },
		"a capacity of 1048576 slots of": func() { p.capacity = 1 << 20 }, "peak 1001": func() { p.peak = 1001 },
		"soiled 1001": func() { p.soiled = 1001 }, "is odd": func() { p.key |= 1 },
		"words of bits": func() { p.live = nil }, "stack of 0": func() { p.free = nil }, "capacity 1 are not": func() { p.capacity = 1 },
		"65 vacant": func() { p.n = 65 }, "18446744073709551615 retired": func() { p.retired = math.MaxUint },
	} {
		if math.MaxUint == math.MaxUint32 {
			want = strings.Replace(want, "18446744073709551615", "4294967295", 1)
		}
		saved := p.slots
		corrupt()
		mustName(t, p, want)
		p.slots = saved
	}
	mustCheck(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, corrupt := range []func(uint){
		func(n uint) { p.n = n }, func(n uint) { p.opened = n }, func(n uint) { p.retired = n }, func(n uint) { p.capacity = n },
		func(n uint) { p.soiled = n }, func(n uint) { p.gens = make([]uint32, n) }, func(n uint) { p.live = make([]uint64, n) },
		func(n uint) { p.free = make([]uint32, n) }, func(n uint) { p.n, p.opened = n, n },
		func(n uint) { p.free, p.gens = make([]uint32, n), make([]uint32, n) },
		func(n uint) { p.free, p.live = make([]uint32, n), make([]uint64, n) },
		func(n uint) { p.gens, p.live = make([]uint32, n), make([]uint64, n) },
	} {
		corrupt(1)
		mustName(t, p, "pool: closed, with")
		corrupt(0)
	}
	mustCheck(t, p)
}

// If a batch is refused, the one slot that is needed may still be available.
func TestPools_TheLastSlotsOfABudgetAreFound(t *testing.T) {
	const size = unsafe.Sizeof(big{})
	p, err := New[big](page.NewLimit(nil, 2*page.Granule), Config{Capacity: 20})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, p.Close)
	b := newBlocks(t, page.NewLimit(nil, 2*page.Granule), BlocksConfig{Size: size, Capacity: 20})
	for name, make := range map[string]func() error{
		"Pool":   func() error { _, _, err := p.New(); return err },
		"Blocks": func() error { _, err := b.Get(); return err },
	} {
		n := 0
		for ; n < 20 && err == nil; n++ {
			err = make()
		}
		if n != 6 || !errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: the budget serves %d and then %v; want 5 and ErrOutOfMemory", name, n-1, err)
		}
		err = nil
	}
	mustCheck(t, p)
	mustCheck(t, b)
}

func TestPool_GrowBeyondTheBudgetIsRefusedAndCounted(t *testing.T) {
	p := newPool(t, page.NewLimit(nil, page.Granule), 10_000)
	if err := p.Grow(10_000); !errors.Is(err, memory.ErrOutOfMemory) || p.Stats().Failures != 1 {
		t.Errorf("Grow: %v, %d failures", err, p.Stats().Failures)
	}
	if err := p.Grow(-1); !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("Grow(-1): %v", err)
	}
	mustNew(t, p)
	p.retired = 1
	mustName(t, p, "0 retired (1 counted)", "64 opened slots are not 63 vacant, 1 live")
	p.retired = 0
}

func TestPools_GrowSeldom(t *testing.T) {
	memtest.GrowsSeldom(t, func(src page.Source) func() error {
		p, err := New[big](src, Config{})
		memtest.Opened(t, p, err)
		return func() error { _, _, err := p.New(); return err }
	})
	memtest.GrowsSeldom(t, func(src page.Source) func() error {
		b := newBlocks(t, src, BlocksConfig{Size: unsafe.Sizeof(big{})})
		return func() error { _, err := b.Get(); return err }
	})
}

// Of n slots that Grow has prepared, none costs a call of the source or memory of the Go heap, whatever n is.
func TestGrow_TheLastSlotsCommitNoMore(t *testing.T) {
	src := memtest.NewFaulty()
	b := newBlocks(t, src, BlocksConfig{Size: unsafe.Sizeof(big{}), Capacity: 1000})
	p, err := New[big](src, Config{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSplit[hot, cold](src, Config{Capacity: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		grow func(int) error
		take func() error
	}{
		"Blocks": {b.Grow, func() error { _, err := b.Get(); return err }},
		"Pool":   {p.Grow, func() error { _, _, err := p.New(); return err }},
		"Split":  {s.Grow, func() error { _, _, _, err := s.New(); return err }},
	} {
		const n = 97
		if err := c.grow(n); err != nil {
			t.Fatal(err)
		}
		calls := src.Calls()
		for range n {
			if err := c.take(); err != nil || src.Calls() != calls {
				t.Errorf("%s: %v, %d calls of the source", name, err, src.Calls()-calls)
				break
			}
		}
	}
	if err := errors.Join(b.Check(), p.Check(), s.Check(), p.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
