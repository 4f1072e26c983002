package memory_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/remote"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

const top = ^uintptr(0)

// A construction calls a constructor with one configuration. what is a part of the error text.
type construction struct {
	what string
	call func(page.Source) (io.Closer, error)
}

// of makes a construction of a constructor and a configuration.
func of[C any, T io.Closer](what string, construct func(page.Source, C) (T, error), cfg C) construction {
	return construction{what, func(src page.Source) (io.Closer, error) { return construct(src, cfg) }}
}

func window(src page.Source, cfg arena.WindowConfig) (*arena.Window[int32], error) {
	return arena.NewWindow(src, memory.MustType[int32](), cfg)
}

// bad lists configurations that can never work, with the field that the error must name.
var bad = []construction{
	of("reserve", arena.NewLinear, arena.LinearConfig{Bytes: top}),
	of("reserve", arena.NewGrowing, arena.GrowingConfig{Reserve: top}),
	of("Step 1048577: want at most 1048576", arena.NewGrowing, arena.GrowingConfig{Reserve: 1 << 20, Step: 1<<20 + 1}),
	of("Buffers -1: want 1 to 1024", arena.NewFrames, arena.FramesConfig{Buffers: -1}),
	of("Buffers 1025: want 1 to 1024", arena.NewFrames, arena.FramesConfig{Buffers: 1025}),
	of("reserve", arena.NewFrames, arena.FramesConfig{Bytes: top}),
	of("RegionBytes", arena.NewRegion, arena.RegionConfig{RegionBytes: top}),
	of("Reserve 16384: want at least 65536", arena.NewRegion, arena.RegionConfig{Reserve: 16 << 10}),
	of("reserve", arena.NewRegion, arena.RegionConfig{Reserve: top}),
	of("", arena.NewStepBack, arena.StepBackConfig{Bytes: top}),
	of("Keep -1", window, arena.WindowConfig{Keep: -1}),
	of("Keep 5 of Capacity 5", window, arena.WindowConfig{Keep: 5, Capacity: 5}),
	of("Keep", window, arena.WindowConfig{Keep: math.MaxInt}),
	of("Capacity", window, arena.WindowConfig{Capacity: math.MaxInt}),
	{"the zero Type", func(src page.Source) (io.Closer, error) {
		return arena.NewWindow(src, memory.Type[int32]{}, arena.WindowConfig{})
	}},
	of("reserve", stack.New, stack.Config{Bytes: top}),
	of("reserve", stack.NewDouble, stack.DoubleConfig{Bytes: top}),
	of("Forward", stack.NewPivot, stack.PivotConfig{Forward: top}),
	of("reserve", stack.NewPivot, stack.PivotConfig{Forward: math.MaxInt, Backward: 7}),
	of("Align 3: want a power of two", pool.NewBlocks, pool.BlocksConfig{Align: 3}),
	of("Align 8192", pool.NewBlocks, pool.BlocksConfig{Align: 8192}),
	of("Size", pool.NewBlocks, pool.BlocksConfig{Size: top}),
	of("Capacity -1", pool.NewBlocks, pool.BlocksConfig{Capacity: -1}),
	of("Capacity", pool.NewBlocks, pool.BlocksConfig{Capacity: math.MaxInt}),
	of("Capacity -1", pool.New[int32], pool.Config{Capacity: -1}),
	of("Capacity", pool.New[int32], pool.Config{Capacity: math.MaxInt}),
	of("Capacity -1", pool.NewSplit[int32, int64], pool.Config{Capacity: -1}),
	of("Reserve", slab.New, slab.Config{Reserve: top}),
	of("Reserve 65535: want 65536", slab.New, slab.Config{Reserve: 65535}),
	of("MaxSize 65537: want at most 65536", slab.New, slab.Config{MaxSize: 65537}),
	of("ClassTable(9)", slab.New, slab.Config{Classes: 9}),
	of("258 classes", slab.New, slab.Config{Classes: slab.Step16, MaxSize: 4097}),
	of("Large is a nil", slab.New, slab.Config{Large: (*tlsf.Heap)(nil)}),
	of("Granule 100", freelist.New, freelist.Config{Granule: 100}),
	of("Policy(7)", freelist.New, freelist.Config{Policy: 7}),
	of("eserve", freelist.New, freelist.Config{Reserve: top}),
	of("MinBlock 100", buddy.New, buddy.Config{MinBlock: 100}),
	of("System(7)", buddy.New, buddy.Config{System: 7}),
	of("Reserve", buddy.New, buddy.Config{Reserve: top}),
	of("Granule 100", tlsf.New, tlsf.Config{Granule: 100}),
	of("Step 70000: want at most 65536", tlsf.New, tlsf.Config{Reserve: 64 << 10, Step: 70000}),
	of("Blocks -1", tlsf.New, tlsf.Config{Blocks: -1}),
	of("Blocks", tlsf.New, tlsf.Config{Blocks: math.MaxInt}),
	of("", tlsf.New, tlsf.Config{Reserve: top}),
	of("Align 8", compact.New, compact.Config{Align: 8}),
	of("Step 70000: want at most 65536", compact.New, compact.Config{Reserve: 64 << 10, Step: 70000}),
	of("Blocks -1", compact.New, compact.Config{Blocks: -1}),
	of("Blocks", compact.New, compact.Config{Blocks: math.MaxInt}),
	of("", compact.New, compact.Config{Reserve: top}),
}

func TestConfig_InvalidIsErrConfigEverywhere(t *testing.T) {
	for i, c := range bad {
		src := memtest.NewFaulty()
		a, err := c.call(src)
		if !errors.Is(err, memory.ErrConfig) || !strings.Contains(err.Error(), c.what) {
			t.Errorf("%d, %q: %v; want ErrConfig", i, c.what, err)
		}
		if errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%d: %v is an ErrOutOfMemory too", i, err)
		}
		if err == nil {
			_ = a.Close()
		}
		if src.Reserved() != 0 {
			t.Errorf("%d: %v left %d reservations", i, err, src.Reserved())
		}
	}
}

func TestConfig_RefusalOfTheSystemIsOutOfMemory(t *testing.T) {
	for _, c := range good {
		src := memtest.NewFaulty()
		src.FailAt, src.ForGood = 1, true
		if _, err := c.call(src); !errors.Is(err, memory.ErrOutOfMemory) || errors.Is(err, memory.ErrConfig) {
			t.Errorf("%s: %v; want ErrOutOfMemory alone", c.what, err)
		}
		a, err := c.call(nil)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// good has the smallest and the largest value that some fields allow.
var good = []construction{
	of("Linear", arena.NewLinear, arena.LinearConfig{Bytes: 1}),
	of("Growing", arena.NewGrowing, arena.GrowingConfig{Reserve: 1 << 20, Step: 1 << 20}),
	of("Frames", arena.NewFrames, arena.FramesConfig{Buffers: 1, Bytes: 1}),
	of("Region", arena.NewRegion, arena.RegionConfig{Reserve: 64 << 10}),
	of("StepBack", arena.NewStepBack, arena.StepBackConfig{Bytes: 1}),
	of("Window", window, arena.WindowConfig{Keep: 1, Capacity: 2}),
	of("Stack", stack.New, stack.Config{Bytes: 1}),
	of("Double", stack.NewDouble, stack.DoubleConfig{Bytes: 1}),
	of("Pivot", stack.NewPivot, stack.PivotConfig{Forward: 1, Backward: 1}),
	of("Blocks", pool.NewBlocks, pool.BlocksConfig{Size: 1, Align: 4096, Capacity: 1}),
	of("Pool", pool.New[int32], pool.Config{Capacity: 1}),
	of("Split", pool.NewSplit[int32, int64], pool.Config{Capacity: 1}),
	of("slab", slab.New, slab.Config{Reserve: 64 << 10, MaxSize: 64 << 10}),
	of("Step16", slab.New, slab.Config{Reserve: 1 << 20, MaxSize: 4096, Classes: slab.Step16}),
	of("freelist", freelist.New, freelist.Config{Reserve: 1 << 20, Granule: 8}),
	of("buddy", buddy.New, buddy.Config{Reserve: 1 << 20, MinBlock: 16 << 10}),
	of("tlsf", tlsf.New, tlsf.Config{Reserve: 64 << 10, Step: 64 << 10, Blocks: 1}),
	of("compact", compact.New, compact.Config{Reserve: 64 << 10, Step: 64 << 10, Blocks: 1}),
}

// A variable of a concrete source that was never set is no source, and not page.Default either.
func TestConfig_ANilPointerIsNoSource(t *testing.T) {
	var none *page.Carve
	calls := append(slices.Clone(good),
		construction{"Reserve", func(src page.Source) (io.Closer, error) { _, err := page.Reserve(src, 1<<20, 0); return nil, err }},
		construction{"Carve", func(src page.Source) (io.Closer, error) {
			mem, err := page.Reserve(nil, 1<<20, 0)
			if err != nil {
				return nil, err
			}
			defer page.Default().Release(mem)
			_, err = page.NewCarve(src, mem)
			return nil, err
		}},
		construction{"plan", func(src page.Source) (io.Closer, error) {
			p, err := plan.Fast([]plan.Buffer{{Size: 100, Death: 1}})
			if err != nil {
				return nil, err
			}
			return plan.New(src, p)
		}},
		construction{"Registry", func(src page.Source) (io.Closer, error) {
			_, err := pool.Register[int32](pool.NewRegistry(src), pool.Config{})
			return nil, err
		}},
		of("Stomp", guard.NewStomp, guard.StompConfig{}),
		construction{"tiers", func(src page.Source) (io.Closer, error) {
			return tiers.New(tiers.Config{Source: src, GC: gcpace.Config{Keep: true}})
		}},
		construction{"Central", func(page.Source) (io.Closer, error) { _, err := slab.NewCentral(nil); return nil, err }},
		construction{"NewPool", func(page.Source) (io.Closer, error) { return tiers.NewPool[int](nil, pool.Config{}) }},
	)
	for _, c := range calls {
		if _, err := c.call(none); !errors.Is(err, memory.ErrConfig) || errors.Is(err, memory.ErrOutOfMemory) {
			t.Errorf("%s: %v; want ErrConfig", c.what, err)
		}
	}
}

func TestConfig_PageAndRemoteRefuseWithErrConfig(t *testing.T) {
	h, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	registry := pool.NewRegistry(nil)
	defer registry.Close()
	if _, err := pool.Register[int32](registry, pool.Config{}); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		"reserve 0 bytes: want 1 to":         func() error { _, err := page.Reserve(nil, 0, 0); return err },
		"page: reserve 0":                    func() error { _, err := page.NewPrefix(nil, 0, 0, 0); return err },
		fmt.Sprintf("reserve %d bytes", top): func() error { _, err := page.Reserve(nil, top, 0); return err },
		"a Carve of 0 bytes":                 func() error { _, err := page.NewCarve(nil, page.Memory{}); return err },
		"target nil":                         func() error { _, err := remote.New(nil, remote.Config{}); return err },
		"Batch 65: want 1 to 64":             func() error { _, err := remote.New(h, remote.Config{Batch: 65}); return err },
		"Batch -1: want 1 to 64":             func() error { _, err := remote.New(h, remote.Config{Batch: -1}); return err },
		"add pool of 0 bytes: want 1 to":     func() error { return h.AddPool(nil, 0) },
		"want a type without a pool":         func() error { _, err := pool.Register[int32](registry, pool.Config{}); return err },
	} {
		if err := call(); !errors.Is(err, memory.ErrConfig) || errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v; want ErrConfig", what, err)
		}
	}
}
