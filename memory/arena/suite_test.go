package arena_test

import (
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

var subjects = map[string]memtest.Subject{
	"Linear": {KeepsFreed: true, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewLinear(src, arena.LinearConfig{Bytes: 300_000})
	}},
	"Growing": {KeepsFreed: true, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewGrowing(src, arena.GrowingConfig{Reserve: 512 << 10, Step: 32 << 10})
	}},
	"Frames": {KeepsFreed: true, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewFrames(src, arena.FramesConfig{Buffers: 2, Bytes: 200_000})
	}},
	"StepBack": {LIFO: true, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewStepBack(src, arena.StepBackConfig{Bytes: 300_000})
	}},
	// A region holds one block of MaxSize, so freeing the newest one empties its region.
	"Region": {MaxSize: 16 << 10, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewRegion(src, arena.RegionConfig{RegionBytes: 16 << 10, Reserve: 512 << 10})
	}},
	"Region of 32 KiB": {MaxSize: 32 << 10, Package: "arena", Closed: memory.ErrClosed, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewRegion(src, arena.RegionConfig{RegionBytes: 32 << 10, Reserve: 256 << 10})
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

func FuzzLinear(f *testing.F)   { memtest.Fuzz(f, subjects["Linear"]) }
func FuzzGrowing(f *testing.F)  { memtest.Fuzz(f, subjects["Growing"]) }
func FuzzFrames(f *testing.F)   { memtest.Fuzz(f, subjects["Frames"]) }
func FuzzStepBack(f *testing.F) { memtest.Fuzz(f, subjects["StepBack"]) }
func FuzzRegion(f *testing.F)   { memtest.Fuzz(f, subjects["Region"]) }
