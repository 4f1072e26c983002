package compose_test

import (
	"errors"
	"io"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// A slab cannot be closed while it commits, and stays open. A composition is closed nevertheless.
func TestAlloc_ACompositionThatTheSoftMarkClosesIsClosed(t *testing.T) {
	open := func(src page.Source) (memory.Allocator, error) {
		return slab.New(src, slab.Config{Reserve: 1 << 20, MaxSize: 16 << 10})
	}
	for name, m := range map[string]maker{
		"the first": fallback(open, newTLSF(1<<20)),
		"the second": fallback(func(src page.Source) (memory.Allocator, error) {
			return slab.New(src, slab.Config{Reserve: 1 << 20, MaxSize: 1000})
		}, open),
		"small":   bySize(10_000, open, newTLSF(1<<20)),
		"large":   bySize(1000, newTLSF(1<<20), open),
		"counted": counted(compose.CountedConfig{}, open),
	} {
		t.Run(name, func(t *testing.T) {
			memtest.SoftMarkCloses(t, func(src page.Source) memory.Allocator {
				a, err := m(src)
				if err != nil {
					t.Fatal(err)
				}
				return a
			})
		})
	}
}

// OnEvent may close the page source. Then the block of the event is gone, also if OnEvent asks for Stats.
func TestCounted_OnEventMayEndTheSource(t *testing.T) {
	for _, ends := range []compose.Op{compose.Allocated, compose.Resized, compose.Freed} {
		for k := range 4 {
			live, asks := k%2, k/2 == 1
			src := memtest.NewMortal(t, nil, 4<<20)
			var on compose.Op = 99
			var a memory.Allocator
			var err error
			cfg := compose.CountedConfig{OnEvent: func(e compose.Event) {
				if e.Op != on {
					return
				}
				if src.End(t); asks {
					a.(memory.StatsReporter).Stats()
				}
			}}
			a, err = counted(cfg, newTLSF(1<<20))(src.Carve)
			if err != nil {
				t.Fatal(err)
			}
			for range live {
				memtest.MustAlloc(t, a, 100, 8)
			}
			p := memtest.MustAlloc(t, a, 2000, 8)
			switch on = ends; ends {
			case compose.Allocated:
				if p, err := a.Alloc(100, 8); p != nil || err != memory.ErrClosed {
					t.Errorf("Alloc = %p, %v; want nil and ErrClosed", p, err)
				}
			case compose.Resized:
				if a.(memory.Resizer).Resize(p, 2000, 1000) {
					t.Error("the block was resized")
				}
			default:
				memtest.Misuse(t, func() { a.Free(p, 2000) }, "the heap is closed")
			}
			memtest.MustCheck(t, a.(memory.Checker))
			if s := a.(memory.StatsReporter).Stats(); s.Live != 0 || s.Committed != 0 {
				t.Errorf("%v: %+v", ends, s)
			}
		}
	}
}

// If Close or Reset of inner panics after it has freed blocks, the Counter has none of them either.
func TestCounted_APanicOfInnerLeavesNoFreedBlock(t *testing.T) {
	for name, c := range map[string]struct {
		open func(page.Source) (memory.Allocator, error)
		call func(a memory.Allocator)
	}{
		"Close": {newStack, func(a memory.Allocator) { _ = a.(io.Closer).Close() }},
		"Reset": {newHooked, func(a memory.Allocator) { a.(memory.Resetter).Reset() }},
	} {
		src := memtest.NewFaulty()
		a, err := counted(compose.CountedConfig{}, c.open)(src)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			memtest.MustAlloc(t, a, 100, 8)
		}
		src.PanicReturnAt = 1
		if r := panicked(func() { c.call(a) }); r != memtest.ErrInjected {
			t.Errorf("%s: %v", name, r)
		}
		src.PanicReturnAt = 0
		memtest.MustCheck(t, a.(memory.Checker))
		if s := a.(memory.StatsReporter).Stats(); s.Live != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if err := a.(io.Closer).Close(); err != nil || src.Reserved() != 0 {
			t.Errorf("%s: then Close leaves %d reservations: %v", name, src.Reserved(), err)
		}
	}
}

// Counters share an arena. A hook that frees a block of one of them, and then panics, frees no block of the other.
func TestCounted_APanicOfInnerKeepsItsBlocks(t *testing.T) {
	h, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ai, err := compose.NewCounted(h, compose.CountedConfig{})
	props, err2 := compose.NewCounted(h, compose.CountedConfig{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	kept, freed := memtest.MustAlloc(t, ai, 100, 8), memtest.MustAlloc(t, props, 100, 8)
	h.OnReset(func() {
		props.Free(freed, 100)
		panic(memtest.ErrInjected)
	})
	if r := panicked(ai.(memory.Resetter).Reset); r != memtest.ErrInjected {
		t.Errorf("Reset: %v", r)
	}
	if s := ai.Stats(); s.Live != 1 || ai.SizeOf(kept) != 100 {
		t.Errorf("%+v", s)
	}
	memtest.MustCheck(t, ai)
}

// unsteady has Stats that panic.
type unsteady struct{ *tlsf.Heap }

func (unsteady) Stats() memory.Stats { panic("stats") }

// Close does not need Stats of inner.
func TestCounted_CloseWithoutStats(t *testing.T) {
	src := memtest.NewFaulty()
	h, err := tlsf.New(src, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	a, err := compose.NewCounted(unsteady{h}, compose.CountedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil || src.Reserved() != 0 {
		t.Errorf("%v, %d reservations", err, src.Reserved())
	}
}

func newStack(src page.Source) (memory.Allocator, error) { return stack.New(src, stack.Config{}) }

// newHooked returns a composition whose Reset panics in a hook of the second part.
func newHooked(src page.Source) (memory.Allocator, error) {
	first, err := newTLSF(1 << 20)(src)
	second, err2 := arena.NewGrowing(src, arena.GrowingConfig{Reserve: 1 << 20})
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	second.OnReset(func() { panic(memtest.ErrInjected) })
	return compose.NewFallback(first, second)
}

func panicked(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}
