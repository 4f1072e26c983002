package tiers

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/tlsf"
)

// The realloc trace of malloc courses: one block grows from 4 to 600 KiB, 128 bytes at a time, and
// after each step a block of 128 bytes is handed out. In one form the small block before it is
// freed then, in the other all of them live on.
const (
	growFrom, growTo, growStep = 4 << 10, 600 << 10, 128
	growSteps                  = (growTo - growFrom) / growStep
)

// growth is one run of it.
type growth struct {
	a     memory.Allocator
	keep  bool
	block unsafe.Pointer
	small [growSteps]unsafe.Pointer
	moved int
	asked uint64 // bytes live at the end
}

func (g *growth) run() error {
	var err error
	if g.block, err = g.a.Alloc(growFrom, 16); err != nil {
		return err
	}
	g.moved, g.asked = 0, growTo
	last := unsafe.Pointer(nil)
	for i := range growSteps {
		size := uintptr(growFrom + i*growStep)
		p, err := memory.Grow(g.a, g.block, size, size+growStep, 16)
		if err != nil {
			return err
		}
		if p != g.block {
			g.moved++
		}
		g.block = p
		*(*uint64)(unsafe.Add(p, size)) = uint64(i)
		q, err := g.a.Alloc(growStep, 16)
		if err != nil {
			return err
		}
		*(*uint64)(q) = uint64(i)
		if g.small[i] = q; !g.keep {
			g.small[i] = nil
			g.a.Free(last, growStep)
			last = q
		}
	}
	if last != nil {
		g.small[0] = last
	}
	for _, q := range g.small {
		if q != nil {
			g.asked += growStep
		}
	}
	return nil
}

// end frees what run left, having looked at the contents.
func (g *growth) end() error {
	for i := range growSteps {
		if v := *(*uint64)(unsafe.Add(g.block, growFrom+i*growStep)); v != uint64(i) {
			return fmt.Errorf("what was written in step %d is %d", i, v)
		}
		g.a.Free(g.small[i], growStep)
		g.small[i] = nil
	}
	g.a.Free(g.block, growTo)
	return nil
}

func growManager(t testing.TB) *Manager {
	cfg := small()
	cfg.GC.Keep, cfg.Workers = true, 1
	return newManager(t, cfg)
}

// growers are what the trace is run on, with what is committed.
func growers(t testing.TB) map[string]func() (memory.Allocator, func() uint64) {
	return map[string]func() (memory.Allocator, func() uint64){
		"manager": func() (memory.Allocator, func() uint64) {
			m := growManager(t)
			return m, func() uint64 { return m.Stats(Slab).Committed + m.Stats(Large).Committed }
		},
		"worker": func() (memory.Allocator, func() uint64) {
			m := growManager(t)
			return m.Worker(0), func() uint64 { return m.Stats(Inbox).Committed }
		},
		"tlsf": func() (memory.Allocator, func() uint64) {
			h, err := tlsf.New(nil, tlsf.Config{Reserve: 4 << 20, Step: largeStep})
			memtest.Opened(t, h, err)
			return h, func() uint64 { return h.Stats().Committed }
		},
	}
}

// footprints are the most that may be committed of what is live at the end, and the most that the
// block may move. A granule of tlsf and of a worker's heap is twice a small block. So these heaps commit at least
// 1.5 times the requested bytes if all blocks stay live.
var footprints = map[string]struct {
	share float64
	moves int
}{
	"manager, freed": {1.1, 1}, "manager, kept": {1.1, 1},
	"worker, freed": {1.1, 1}, "worker, kept": {1.6, 8},
	"tlsf, freed": {1.1, 1}, "tlsf, kept": {1.6, 8},
}

var growForms = map[string]bool{"freed": false, "kept": true}

func TestGrow_TheFootprintIsWhatIsAskedFor(t *testing.T) {
	for form, keep := range growForms {
		for name, make := range growers(t) {
			a, committed := make()
			g := &growth{a: a, keep: keep}
			must(t, g.run())
			got, most := float64(committed())/float64(g.asked), footprints[name+", "+form]
			t.Logf("%s, small blocks %s: %d moves, committed/asked %.3f", name, form, g.moved, got)
			if got > most.share || g.moved > most.moves {
				t.Errorf("%s, small blocks %s: %d moves and %.3f of what was asked for; want %d and %.2f at most", name, form, g.moved, got, most.moves, most.share)
			}
			if m, ok := a.(*Manager); ok && float64(m.Stats(Large).Committed) > 1.1*growTo {
				t.Errorf("the large tier has %d bytes for a block of %d", m.Stats(Large).Committed, growTo)
			}
			must(t, g.end())
			if c, ok := a.(memory.Checker); ok {
				must(t, c.Check())
			}
		}
	}
}

// BenchmarkGrow is a step of the trace: a Grow, an Alloc and, where the small blocks are freed, a
// Free. The rounds interleave, so that a drift of the machine meets all alike.
func BenchmarkGrow(b *testing.B) {
	for form, keep := range growForms {
		for round := range 3 {
			for name, make := range growers(b) {
				b.Run(fmt.Sprintf("small=%s/%s/round=%d", form, name, round), func(b *testing.B) {
					a, committed := make()
					g := &growth{a: a, keep: keep}
					share := 0.0
					for b.Loop() {
						must(b, g.run())
						share = float64(committed()) / float64(g.asked)
						must(b, g.end())
					}
					b.ReportMetric(share, "committed/asked")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/growSteps, "ns/step")
				})
			}
			b.Run(fmt.Sprintf("small=%s/goheap/round=%d", form, round), func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				small, step := make([][]byte, growSteps), make([]byte, growStep)
				asked := 0
				for b.Loop() {
					block := make([]byte, growFrom)
					asked = growTo + growStep
					for i := range growSteps {
						block = append(block, step...)
						*(*uint64)(unsafe.Pointer(&block[len(block)-growStep])) = uint64(i)
						small[i] = make([]byte, growStep)
						small[i][0] = byte(i)
						if keep {
							asked += growStep
						} else if i > 0 {
							small[i-1] = nil
						}
					}
					garbage = block
				}
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapSys-after.HeapReleased)/float64(asked), "committed/asked")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/growSteps, "ns/step")
			})
		}
	}
}
