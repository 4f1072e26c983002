package pool_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
)

var subjects = map[string]memtest.Subject{
	"Blocks": {MaxSize: 96, MaxAlign: 32, New: func(src page.Source) (memory.Allocator, error) {
		return pool.NewBlocks(src, pool.BlocksConfig{Size: 96, Align: 32, Capacity: 3000})
	}},
	"Chunks": {MaxSize: 16 << 10, MaxAlign: 4096, New: func(src page.Source) (memory.Allocator, error) {
		return pool.NewBlocks(src, pool.BlocksConfig{Size: 16 << 10, Align: 4096, Capacity: 40})
	}},
}

func TestConformance(t *testing.T) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { memtest.Run(t, s) })
	}
}

func TestFaults(t *testing.T) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { memtest.Faults(t, s) })
	}
}

func FuzzBlocks(f *testing.F) { memtest.Fuzz(f, subjects["Blocks"]) }
func FuzzChunks(f *testing.F) { memtest.Fuzz(f, subjects["Chunks"]) }
