package pool_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
)

// lenient is what memfast builds do not see: see [pool.Blocks].
var lenient = func() memtest.Misuses {
	if invariant.Exact {
		return 0
	}
	return memtest.DoubleFree | memtest.Interior
}()

var subjects = map[string]memtest.Subject{
	"Blocks": {MaxSize: 96, MaxAlign: 32, New: func(src page.Source) (memory.Allocator, error) {
		return pool.NewBlocks(src, pool.BlocksConfig{Size: 96, Align: 32, Capacity: 3000})
	}, Package: "pool", Closed: memory.ErrClosed, Lenient: lenient,
		FarSize: 256 << 20, Far: farBlocks},
	"Chunks": {MaxSize: 16 << 10, MaxAlign: 4096, New: func(src page.Source) (memory.Allocator, error) {
		return pool.NewBlocks(src, pool.BlocksConfig{Size: 16 << 10, Align: 4096, Capacity: 40})
	}, Package: "pool", Closed: memory.ErrClosed, Lenient: lenient},
}

func farBlocks(src page.Source) (memory.Allocator, error) {
	return pool.NewBlocks(src, pool.BlocksConfig{Size: 256 << 20, Align: 4096, Capacity: 20})
}

func TestConformance(t *testing.T) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { memtest.Run(t, s) })
	}
}

func TestSaved(t *testing.T) { memtest.Each(t, subjects, memtest.Saved) }

func TestFaults(t *testing.T) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { memtest.Faults(t, s) })
	}
}

func FuzzBlocks(f *testing.F) { memtest.Fuzz(f, subjects["Blocks"]) }
func FuzzChunks(f *testing.F) { memtest.Fuzz(f, subjects["Chunks"]) }
