package compose_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/compose"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/slab"
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

// OnEvent may close the page source. Then the block of the event is gone.
func TestCounted_OnEventMayEndTheSource(t *testing.T) {
	for _, ends := range []compose.Op{compose.Allocated, compose.Resized, compose.Freed} {
		for live := range 2 {
			src := memtest.NewMortal(t, nil, 4<<20)
			var on compose.Op = 99
			cfg := compose.CountedConfig{OnEvent: func(e compose.Event) {
				if e.Op == on {
					src.End(t)
				}
			}}
			a, err := counted(cfg, newTLSF(1<<20))(src.Carve)
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
