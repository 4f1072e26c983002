package tiers

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/compact"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// A program with many allocators must learn from the error which of them is full, and which field would help. The text
// begins with what refused: the budget of the tier or of the source, the reservation, or the system.
func TestFull_TheErrorNamesTheTierAndTheField(t *testing.T) {
	const (
		some  = 1 << 20
		need  = "out of memory: need "
		arena = "tiers: static: plan: new Arena of 4194304 bytes: tiers: static: "
	)
	var all [Count]uintptr
	for tier := range all {
		all[tier] = some
	}
	each := func(refused string) [Count]string {
		return [Count]string{
			Static: arena + refused, Frame: "tiers: frame: " + refused, Level: "tiers: level: " + refused, Pools: "pool: enemies: tiers: pools: " + refused,
			Slab: "tiers: slab: " + refused, Large: "tiers: large: " + refused, Inbox: "tiers: inbox of worker 1: " + refused,
		}
	}
	budget, reservation := each("budget: "+need), each("reservation: "+need)
	budget[Static] += "4194304 bytes, have 1048576 of 1048576"
	budget[Frame] = "tiers: frame: budget: no space in the frame's buffer of 524288 bytes, one of 2; raise "
	reservation[Static] += "4194304 bytes, have 1048576 of 1048576"
	reservation[Frame] = "tiers: frame: reservation: no space in the frame's buffer of 458752 bytes, one of 2; raise "
	reservation[Pools] = "pool: new Pool of enemies: tiers: pools: reservation: " + need
	for _, c := range []struct {
		name, help string
		config     Config
		want       [Count]string
	}{
		{"budget", "; raise tiers.Config.Budget[", Config{Budget: all}, budget},
		{"reservation", "; raise tiers.Config.Reserve[", Config{Reserve: all}, reservation},
		{"too large", "; raise tiers.Config.Reserve[", Config{Reserve: all}, [Count]string{
			Level: "tiers: level: need 2097152 bytes, reserved are 1048576",
			Large: "tiers: large: need 2097152 bytes, reserved are 1048576",
			Inbox: "tiers: inbox of worker 1: need 2097152 bytes, reserved are ",
		}},
		{"source", "; raise the whole", Config{}, each("game: budget: " + need)},
		{"system", "", Config{}, each("memtest: injected commit: " + need)},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := memtest.NewFaulty()
			whole := page.NewLimit(src, 0)
			c.config.Source, c.config.Tags = whole, true
			m := newManager(t, c.config)
			tag := newTag(t, m, "ai")
			must(t, m.BeginLevel())
			switch c.name {
			case "system":
				src.FailAt, src.ForGood = src.Calls()+1, true
			case "source":
				whole.Name("game").Advise(page.Advice{Budget: "raise the whole"}).SetBudget(1)
			}
			plan4, err := plan.Fast([]plan.Buffer{{Size: 4 << 20, Death: 1}})
			must(t, err)
			_, static := m.Declare(plan4)
			enemies, pools := NewPool[[1 << 10]byte](m, pool.Config{Capacity: 2 << 10, Name: "enemies"})
			for pools == nil {
				_, _, pools = enemies.New()
			}
			must(t, m.NextFrame())
			type alloc = func(size, al uintptr) (unsafe.Pointer, error)
			for tier, allocs := range [Count][2]alloc{
				Static: {func(_, _ uintptr) (unsafe.Pointer, error) { return nil, static }},
				Frame:  {m.Frame().Alloc, tag.Frame().Alloc},
				Level:  {m.Level().Alloc, tag.Level().Alloc},
				Pools:  {func(_, _ uintptr) (unsafe.Pointer, error) { return nil, pools }},
				Slab:   {m.Alloc, tag.Alloc},
				Large:  {m.Alloc, tag.Alloc},
				Inbox:  {m.Worker(1).Alloc, m.Worker(1).Tag(tag).Alloc},
			} {
				want, size, is := c.want[tier], uintptr(5000), memory.ErrOutOfMemory
				switch {
				case want == "":
					continue
				case c.name == "too large":
					size, is = 2<<20, memory.ErrTooLarge
				case Tier(tier) == Slab:
					size = 64
				}
				for i, alloc := range allocs {
					if alloc == nil {
						continue
					}
					var err error
					for err == nil {
						_, err = alloc(size, 8)
					}
					help := c.help
					if strings.HasSuffix(help, "[") {
						help += []string{"Static", "Frame", "Level", "Pools", "Slab", "Large", "Inbox"}[tier] + "]"
					}
					if s := err.Error(); !errors.Is(err, is) || !strings.HasPrefix(strings.TrimPrefix(s, `tiers: tag "ai": `), want) || !strings.Contains(s, help) ||
						c.help == "" && strings.Contains(s, "raise") || strings.HasPrefix(s, `tiers: tag "ai": `) != (i == 1) {
						t.Errorf("%s: %v\nwant %q and %q", Tier(tier), err, want, help)
					}
				}
			}
			if c.name != "budget" {
				return
			}
			if n := testing.AllocsPerRun(100, func() { tag.Frame().Alloc(5000, 8) }); n != 0 && !invariant.Debug {
				t.Errorf("a frame that is full refuses a tag with %v allocations", n)
			}
			scratch, err := m.Worker(0).BeginTask()
			must(t, err)
			_, err = scratch.Alloc(scratch.Available()+1, 1)
			if want := "tiers: no space in the task's scratch of 262144 bytes; raise Config.Scratch: "; !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("scratch: %v\nwant %q", err, want)
			}
			m.Worker(0).EndTask()
		})
	}
	cfg := Config{shrunk: true} // by a system that refuses: then a larger field does not help
	if a := cfg.advice(Level); a.Reserve != "the system refused to reserve more" || a.Carve != a.Reserve {
		t.Errorf("%+v", a)
	}
}

func TestFull_AFrameWithoutMemoryNamesTheBudget(t *testing.T) {
	m := newManager(t, Config{})
	must(t, m.SetBudget(Frame, 64<<10))
	must(t, m.NextFrame())
	_, err := m.Frame().Alloc(100, 8)
	if want := "tiers: frame: budget: out of memory: need "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), " of 65536; raise tiers.Config.Budget[Frame]") {
		t.Errorf("%v, want %s", err, want)
	}
	must(t, m.SetBudget(Frame, 64<<20))
	for range 3 {
		must(t, m.NextFrame())
	}
	_, err = m.Frame().Alloc(100, 8)
	must(t, err)
}

// The error of BeginTask is that of the commit, not of a budget that has space.
func TestFull_AScratchWithoutMemoryNamesTheReason(t *testing.T) {
	src := memtest.NewFaulty()
	cfg := small()
	cfg.Source = src
	m := newManager(t, cfg)
	src.FailAt, src.ForGood = src.Calls()+1, true
	before := m.Worker(1).Stats().Failures
	_, err := m.Worker(1).BeginTask()
	if !errors.Is(err, memory.ErrOutOfMemory) || !strings.HasPrefix(err.Error(), "tiers: inbox of worker 1: memtest: injected commit: ") || !strings.HasSuffix(err.Error(), " (tiers: scratch of worker 1: need 262144 bytes, have 4194304)") {
		t.Error(err)
	}
	if n := m.Worker(1).Stats().Failures - before; n != 1 {
		t.Errorf("%d failures", n)
	}
	src.FailAt = 0
	must(t, m.Check())
}

// Each allocator says the name of the Limit that it was made on, or its own. If it has one size of blocks or never
// grows, the same refusals again make no Go allocation: it may be full in every frame.
func TestFull_AllocatorsSayTheNameOfTheirLimit(t *testing.T) {
	const name = "enemies"
	for _, c := range []struct {
		name  string
		quiet bool
		make  func(src page.Source, n uintptr) (memory.Allocator, error)
	}{
		{"Linear", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return arena.NewLinear(src, arena.LinearConfig{Bytes: n})
		}},
		{"Growing", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return arena.NewGrowing(src, arena.GrowingConfig{Reserve: n, Step: page.Granule})
		}},
		{"Frames", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return arena.NewFrames(src, arena.FramesConfig{Bytes: n, Buffers: 1})
		}},
		{"Region", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return arena.NewRegion(src, arena.RegionConfig{Reserve: n, RegionBytes: page.Granule})
		}},
		{"StepBack", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return arena.NewStepBack(src, arena.StepBackConfig{Bytes: n})
		}},
		{"Stack", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return stack.New(src, stack.Config{Bytes: n})
		}},
		{"Double", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			d, err := stack.NewDouble(src, stack.DoubleConfig{Bytes: n})
			if err != nil {
				return nil, err
			}
			return cornerOf{d.Top(), d}, nil
		}},
		{"Pivot", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			p, err := stack.NewPivot(src, stack.PivotConfig{Forward: n / 2})
			if err != nil {
				return nil, err
			}
			return cornerOf{p.Backward(), p}, nil
		}},
		{"buddy", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return buddy.New(src, buddy.Config{Reserve: n})
		}},
		{"freelist", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return freelist.New(src, freelist.Config{Reserve: n})
		}},
		{"tlsf", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return tlsf.New(src, tlsf.Config{Reserve: n})
		}},
		{"slab", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return slab.New(src, slab.Config{Reserve: n})
		}},
		{"compact", false, func(src page.Source, n uintptr) (memory.Allocator, error) {
			h, err := compact.New(src, compact.Config{Reserve: n})
			return handles{h}, err
		}},
		{"Blocks", true, func(src page.Source, n uintptr) (memory.Allocator, error) {
			return pool.NewBlocks(src, pool.BlocksConfig{Size: 1000, Capacity: int(n / 1000)})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			says := func(when string, a memory.Allocator, err error) {
				t.Helper()
				if err == nil {
					defer a.(io.Closer).Close()
				}
				for err == nil {
					_, err = a.Alloc(1000, 8)
				}
				if !errors.Is(err, memory.ErrOutOfMemory) || !strings.Contains(err.Error(), name+": ") {
					t.Errorf("%s: %v; want the name", when, err)
				}
			}
			a, err := c.make(page.NewLimit(nil, 0).Name(name), 128<<10)
			must(t, err)
			defer a.(io.Closer).Close()
			for err == nil {
				_, err = a.Alloc(1000, 8)
			}
			says("full", a, err)
			if n := testing.AllocsPerRun(100, func() { a.Alloc(1000, 8); a.Alloc(2000, 16) }); c.quiet && n != 0 && !invariant.Debug {
				t.Errorf("refusing costs %v allocations", n)
			}
			a, err = c.make(page.NewLimit(nil, 96<<10).Name(name), 128<<10)
			says("budget", a, err)
			mem, err := page.Default().Reserve(64 << 10)
			must(t, err)
			defer page.Default().Release(mem)
			carve, err := page.NewCarve(page.Default(), mem)
			must(t, err)
			defer carve.Close()
			a, err = c.make(page.NewLimit(carve, 0).Name(name), 128<<10)
			says("carve", a, err)
		})
	}
}

// cornerOf is an End with the Close of its buffer.
type cornerOf struct {
	*stack.End
	io.Closer
}

// handles makes an allocator of a compact.Heap.
type handles struct{ *compact.Heap }

func (h handles) Alloc(size, _ uintptr) (unsafe.Pointer, error) {
	_, err := h.Heap.Alloc(size)
	return nil, err
}

func (h handles) Free(unsafe.Pointer, uintptr) {}
