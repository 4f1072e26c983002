package memory_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/buddy"
	"github.com/strata-go/strata/memory/freelist"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/pool"
	"github.com/strata-go/strata/memory/slab"
	"github.com/strata-go/strata/memory/stack"
	"github.com/strata-go/strata/memory/tlsf"
)

// A counting allocator has statistics and can be closed.
type counting interface {
	memory.Allocator
	memory.StatsReporter
	memory.Checker
	io.Closer
}

// cached is a Cache with the statistics of its Central, which is closed with it.
type cached struct {
	*slab.Cache
	central *slab.Central
}

func (c cached) Stats() memory.Stats { return c.central.Stats() }
func (c cached) Check() error {
	if err := c.Cache.Check(); err != nil {
		return err
	}
	return c.central.Check()
}
func (c cached) Close() error {
	_ = c.Cache.Close()
	return c.central.Close()
}

// allocators reserve a MiB. Some commit all of it at once, and some free the newest block alone.
var allocators = []struct {
	name   string
	newest bool // only the newest block can be freed
	make   func(src page.Source) (counting, error)
}{
	{"slab", false, func(src page.Source) (counting, error) { return slab.New(src, slab.Config{Reserve: 1 << 20}) }},
	{"slab.PowerOfTwo", false, func(src page.Source) (counting, error) {
		return slab.New(src, slab.Config{Reserve: 1 << 20, MaxSize: 64 << 10, Classes: slab.PowerOfTwo})
	}},
	{"slab.Cache", false, func(src page.Source) (counting, error) {
		h, err := slab.New(src, slab.Config{Reserve: 1 << 20, MaxSize: 16 << 10})
		if err != nil {
			return nil, err
		}
		central, err := slab.NewCentral(h)
		if err != nil {
			return nil, err
		}
		return cached{slab.NewCache(central), central}, nil
	}},
	{"tlsf", false, func(src page.Source) (counting, error) {
		return tlsf.New(src, tlsf.Config{Reserve: 1 << 20, Granule: 16, Step: 64 << 10})
	}},
	{"tlsf.quick", false, func(src page.Source) (counting, error) {
		return tlsf.New(src, tlsf.Config{Reserve: 1 << 20, Granule: 16, Step: 64 << 10, QuickBytes: 64 << 10})
	}},
	{"freelist", false, func(src page.Source) (counting, error) {
		return freelist.New(src, freelist.Config{Reserve: 1 << 20, Granule: 16})
	}},
	{"buddy", false, func(src page.Source) (counting, error) {
		return buddy.New(src, buddy.Config{Reserve: 1 << 20, MinBlock: 16})
	}},
	{"buddy.Fibonacci", false, func(src page.Source) (counting, error) {
		return buddy.New(src, buddy.Config{Reserve: 1 << 20, MinBlock: 16, System: buddy.Fibonacci})
	}},
	{"pool", false, func(src page.Source) (counting, error) {
		return pool.NewBlocks(src, pool.BlocksConfig{Size: 2048, Align: 64, Capacity: 512})
	}},
	{"arena.Region", false, func(src page.Source) (counting, error) {
		return arena.NewRegion(src, arena.RegionConfig{Reserve: 1 << 20})
	}},
	{"arena.Linear", true, func(src page.Source) (counting, error) {
		return arena.NewLinear(src, arena.LinearConfig{Bytes: 300 << 10})
	}},
	{"arena.Growing", true, func(src page.Source) (counting, error) {
		return arena.NewGrowing(src, arena.GrowingConfig{Reserve: 1 << 20, Step: 64 << 10})
	}},
	{"arena.StepBack", true, func(src page.Source) (counting, error) {
		return arena.NewStepBack(src, arena.StepBackConfig{Bytes: 300 << 10})
	}},
	{"stack", true, func(src page.Source) (counting, error) { return stack.New(src, stack.Config{Bytes: 300 << 10}) }},
}

// A cold source commits up to a budget, and nothing while it is cold.
type cold struct {
	page.Source
	on bool
}

func (c *cold) Commit(m page.Memory, off, size uintptr) error {
	if c.on {
		return &memory.Exhausted{Op: "test: commit", Need: size, Cause: io.EOF}
	}
	return c.Source.Commit(m, off, size)
}

type allocated struct {
	p    unsafe.Pointer
	size uintptr
}

// A call that fails changes nothing in Stats but Failures. The calls ask for too large a size or a bad
// alignment, or they reach the end of the reservation, a budget, or a refusal of the system.
func TestAlloc_AFailureChangesNoStatistics(t *testing.T) {
	for _, allocator := range allocators {
		for seed := uint64(0); seed < uint64(memtest.Rounds(20)); seed += uint64(testenv.Step(4)) {
			for _, budget := range []uintptr{0, 320 << 10, 512 << 10} {
				src := &cold{Source: page.NewLimit(nil, budget)}
				a, err := allocator.make(src)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s, seed %d, budget %d", allocator.name, seed, budget)
				failing(t, what, a, src, allocator.newest, rand.New(rand.NewPCG(seed, 106)))
				if err := a.Close(); err != nil {
					t.Error(err)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// failing runs a random program of which many calls fail.
func failing(t *testing.T, what string, a counting, src *cold, newest bool, r *rand.Rand) {
	t.Helper()
	var live []allocated
	failed := 0
	for phase := range 12 {
		src.on = phase%4 == 3
		most := []uint{100, 2000, 64, 16_000}[r.IntN(4)]
		for range 300 {
			if len(live) > 0 && r.IntN(10) < 3+phase%3 {
				i := r.IntN(len(live))
				if newest {
					i = len(live) - 1
				}
				a.Free(live[i].p, live[i].size)
				live = append(live[:i], live[i+1:]...)
				continue
			}
			size, align := uintptr(r.UintN(most)), uintptr(1)<<r.UintN(13)
			switch r.IntN(40) {
			case 0:
				align = 3 * align
			case 1:
				size = ^uintptr(0) >> r.UintN(45)
			case 2, 3:
				size *= 40
			}
			before := a.Stats()
			p, err := a.Alloc(size, align)
			if err == nil {
				live = append(live, allocated{p, size})
				continue
			}
			failed++
			after := a.Stats()
			after.Failures = before.Failures
			if after != before {
				t.Errorf("%s: Alloc(%d, %d) failed with %v and changed\n%+v to\n%+v", what, size, align, err, before, after)
				return
			}
		}
		memtest.MustCheck(t, a)
	}
	if failed < 10 {
		t.Errorf("%s: %d calls failed", what, failed)
	}
	for i := len(live) - 1; i >= 0; i-- {
		a.Free(live[i].p, live[i].size)
	}
	memtest.MustCheck(t, a)
	if n := a.Stats().Live; n != 0 && !newest {
		if _, ok := a.(cached); !ok {
			t.Errorf("%s: %d blocks live at the end", what, n)
		}
	}
}
