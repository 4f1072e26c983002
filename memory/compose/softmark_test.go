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
