package arena_test

import (
	"errors"
	"io"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

// lenient is the misuse that builds other than debug do not detect. Bump allocators check the newest block to the byte
// and do not record the blocks below it.
func lenient() memtest.Misuses {
	if invariant.Debug {
		return 0
	}
	return memtest.DoubleFree | memtest.OldBlocks
}

// regionLenient: memfast builds keep no live bits.
func regionLenient() memtest.Misuses {
	if invariant.Exact {
		return 0
	}
	return memtest.DoubleFree | memtest.Interior
}

// bump sets what every bump allocator promises that does not reclaim older blocks.
func bump(s memtest.Subject) memtest.Subject {
	s.KeepsFreed, s.Lenient, s.ExactSizes = true, lenient(), invariant.Debug
	s.Hook = func(a memory.Allocator, f func()) {
		if ring, ok := a.(*arena.Frames); ok {
			a = ring.Current()
		}
		a.(interface{ OnReset(func()) }).OnReset(f)
	}
	return ofArena(s)
}

func ofArena(s memtest.Subject) memtest.Subject {
	s.Package, s.Closed = "arena", memory.ErrClosed
	return s
}

const farSize = 64 << 20

// reservation is more than 4 GiB, where there is such a number.
func reservation() uintptr {
	far := uint64(5) << 30
	return uintptr(far)
}

// backed has all of a's reservation committed, or says that the system refuses: a limit on
// data counts what is committed, and not what is touched.
func backed(a interface {
	memory.Allocator
	memory.Resetter
	io.Closer
}, err error) (memory.Allocator, error) {
	if err != nil {
		return nil, err
	}
	for range reservation() / farSize {
		if _, err := a.Alloc(farSize, 1); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	a.Reset()
	return a, nil
}

var subjects = map[string]memtest.Subject{
	"Linear": bump(memtest.Subject{FarSize: farSize, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewLinear(src, arena.LinearConfig{Bytes: 300_000})
	}, Far: func(src page.Source) (memory.Allocator, error) {
		return arena.NewLinear(src, arena.LinearConfig{Bytes: reservation()})
	}}),
	"Growing": bump(memtest.Subject{FarSize: farSize, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewGrowing(src, arena.GrowingConfig{Reserve: 512 << 10, Step: 32 << 10})
	}, Far: func(src page.Source) (memory.Allocator, error) {
		g, err := arena.NewGrowing(src, arena.GrowingConfig{Reserve: reservation()})
		return backed(g, err)
	}}),
	"Frames": bump(memtest.Subject{FarSize: farSize, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewFrames(src, arena.FramesConfig{Buffers: 2, Bytes: 200_000})
	}, Far: func(src page.Source) (memory.Allocator, error) {
		return arena.NewFrames(src, arena.FramesConfig{Buffers: 1, Bytes: reservation()})
	}}),
	"StepBack": ofArena(memtest.Subject{LIFO: true, ExactSizes: true, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewStepBack(src, arena.StepBackConfig{Bytes: 300_000})
	}}),
	// A region holds one block of MaxSize, so freeing the newest one empties its region.
	"Region": ofArena(memtest.Subject{MaxSize: 16 << 10, FarSize: farSize, Lenient: regionLenient(), ExactSizes: invariant.Debug, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewRegion(src, arena.RegionConfig{RegionBytes: 16 << 10, Reserve: 512 << 10})
	}, Far: func(src page.Source) (memory.Allocator, error) {
		r, err := arena.NewRegion(src, arena.RegionConfig{RegionBytes: farSize, Reserve: reservation()})
		return backed(r, err)
	}}),
	"Region of 32 KiB": ofArena(memtest.Subject{MaxSize: 32 << 10, Lenient: regionLenient(), ExactSizes: invariant.Debug, New: func(src page.Source) (memory.Allocator, error) {
		return arena.NewRegion(src, arena.RegionConfig{RegionBytes: 32 << 10, Reserve: 256 << 10})
	}}),
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

func FuzzLinear(f *testing.F)   { memtest.Fuzz(f, subjects["Linear"]) }
func FuzzGrowing(f *testing.F)  { memtest.Fuzz(f, subjects["Growing"]) }
func FuzzFrames(f *testing.F)   { memtest.Fuzz(f, subjects["Frames"]) }
func FuzzStepBack(f *testing.F) { memtest.Fuzz(f, subjects["StepBack"]) }
func FuzzRegion(f *testing.F)   { memtest.Fuzz(f, subjects["Region"]) }
