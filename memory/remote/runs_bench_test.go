package remote

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/slab"
)

// The ways home to a slab.Heap: block by block through FreeAny, or a batch at a time through
// FreeRun.
type (
	eachBlock struct {
		h    *slab.Heap
		base unsafe.Pointer
		size uintptr
	}
	runOfBlocks struct{ eachBlock }
)

func (e eachBlock) FreeAny(p unsafe.Pointer) { e.h.FreeAny(p) }
func (e eachBlock) Base() unsafe.Pointer     { return e.base }
func (e eachBlock) Extent() uintptr          { return e.size }
func (r runOfBlocks) FreeRun(base unsafe.Pointer, offs []uintptr) int {
	return r.h.FreeRun(base, offs)
}

// grouped is a Freer behind BatchIt's cache (Filardo and Parkinson, ISMM 2024): the blocks of a
// slab gather in one way of a set, and go on as one run when it is full or another slab takes
// its place.
type grouped struct {
	f    *Freer
	base unsafe.Pointer
	ways int
	sets [16][4]group
}

type group struct {
	slab uintptr // plus 1; 0: none
	n    int
	ptrs [16]unsafe.Pointer
}

func (g *grouped) free(p unsafe.Pointer) {
	slab := (uintptr(p)-uintptr(g.base))>>16 + 1
	set := &g.sets[slab*0x7EFB352D>>16%16]
	for i := range g.ways {
		if w := &set[i]; w.slab == slab {
			w.ptrs[w.n] = p
			if w.n++; w.n == len(w.ptrs) {
				g.close(w)
			}
			return
		}
	}
	w := &set[g.ways-1] // the one that came last makes way, the others move down
	g.close(w)
	for i := g.ways - 1; i > 0; i-- {
		set[i] = set[i-1]
	}
	w = &set[0]
	w.slab, w.n, w.ptrs[0] = slab, 1, p
}

// close passes a run on.
func (g *grouped) close(w *group) {
	for _, p := range w.ptrs[:w.n] {
		g.f.FreeAny(p)
	}
	w.n = 0
}

func (g *grouped) flush() {
	for i := range g.sets {
		for j := range g.ways {
			g.close(&g.sets[i][j])
		}
	}
	_ = g.f.Flush()
}

// A sender frees for one goroutine.
type sender interface {
	free(p unsafe.Pointer)
	flush()
}

var waysHome = []struct {
	name string
	ways int // of each set at the sender; 0: none
	runs bool
}{
	{"each", 0, false}, {"runs", 0, true},
	{"grouped=1", 1, true}, {"grouped=2", 2, true}, {"grouped=4", 4, true}, {"grouped=2,each", 2, false},
}

// home makes a heap, the inbox before it, and senders.
func newHome(b *testing.B, ways int, runs bool, senders int) (*slab.Heap, *Inbox, []sender) {
	const reserve = 256 << 20
	h, err := slab.New(nil, slab.Config{Reserve: reserve, MaxSize: 64 << 10})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.Close() })
	first, err := h.Alloc(16, 16)
	if err != nil {
		b.Fatal(err)
	}
	e := eachBlock{h, first, reserve}
	h.Free(first, 16)
	var target Target = e
	if runs {
		target = runOfBlocks{e}
	}
	in, err := New(target, Config{})
	if err != nil {
		b.Fatal(err)
	}
	var all []sender
	for range senders {
		if f := in.NewFreer(); ways == 0 {
			all = append(all, plainSender{f})
		} else {
			all = append(all, &grouped{f: f, base: first, ways: ways})
		}
	}
	return h, in, all
}

type plainSender struct{ f *Freer }

func (p plainSender) free(q unsafe.Pointer) { p.f.FreeAny(q) }
func (p plainSender) flush()                { _ = p.f.Flush() }

// A load is what is allocated and in which order it is freed.
type load struct {
	name    string
	sizes   []uintptr
	order   []int // of freeing, by sender in turns
	senders int
}

// loads are W8, and two of a game: workers decode pictures of several sizes, and the game frees
// them in any order; effects of three sizes that several workers end.
func loads() []load {
	rng := rand.New(rand.NewPCG(1, 2))
	make := func(name string, n, senders int, shuffled bool, size func() uintptr) load {
		l := load{name: name, senders: senders, order: rng.Perm(n)}
		for i := range n {
			l.sizes = append(l.sizes, size())
			if !shuffled {
				l.order[i] = i
			}
		}
		return l
	}
	of := func(sizes ...uintptr) func() uintptr { return func() uintptr { return sizes[rng.IntN(len(sizes))] } }
	return []load{
		make("W8", 4096, 1, false, of(256)),
		make("W8/shuffled", 4096, 1, true, of(256)),
		make("pictures", 512, 3, true, of(1<<10, 4<<10, 4<<10, 16<<10, 64<<10)),
		make("effects", 8192, 3, true, of(48, 96, 320)),
	}
}

// BenchmarkRuns compares what a block costs on its way home to a slab.Heap, Alloc included, with
// and without FreeRun, and with the blocks of a slab gathered at the sender: the work on one
// goroutine, and between a game and its workers.
func BenchmarkRuns(b *testing.B) {
	for _, l := range loads() {
		for _, way := range waysHome {
			b.Run(fmt.Sprintf("work/%s/%s", l.name, way.name), func(b *testing.B) {
				h, in, to := newHome(b, way.ways, way.runs, l.senders)
				blocks := make([]unsafe.Pointer, len(l.sizes))
				for b.Loop() {
					allocAll(b, h, l, blocks)
					for i, k := range l.order {
						to[i%len(to)].free(blocks[k])
					}
					for _, s := range to {
						s.flush()
					}
					in.Drain()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(blocks)), "ns/block")
			})
			b.Run(fmt.Sprintf("across/%s/%s", l.name, way.name), func(b *testing.B) {
				h, in, to := newHome(b, way.ways, way.runs, l.senders)
				across(b, l, h, in, to)
			})
		}
	}
}

func allocAll(b *testing.B, a memory.Allocator, l load, blocks []unsafe.Pointer) {
	for i, size := range l.sizes {
		p, err := a.Alloc(size, 16)
		if err != nil {
			b.Fatal(err)
		}
		*(*uint64)(p) = uint64(i)
		blocks[i] = p
	}
}

// across has the owner allocate rounds that senders free on goroutines of their own.
func across(b *testing.B, l load, h *slab.Heap, in *Inbox, to []sender) {
	mail := make([]chan []unsafe.Pointer, len(to))
	var done sync.WaitGroup
	for k, s := range to {
		mail[k] = make(chan []unsafe.Pointer, 4)
		done.Go(func() {
			for blocks := range mail[k] {
				for i := k; i < len(l.order); i += len(to) {
					s.free(blocks[l.order[i]])
				}
				s.flush()
			}
		})
	}
	rounds := [8][]unsafe.Pointer{}
	for i := range rounds {
		rounds[i] = make([]unsafe.Pointer, len(l.sizes))
	}
	n := 0
	for b.Loop() {
		blocks := rounds[n%len(rounds)]
		n++
		in.Drain()
		allocAll(b, h, l, blocks)
		for _, m := range mail {
			m <- blocks
		}
	}
	for _, m := range mail {
		close(m)
	}
	done.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(l.sizes)), "ns/block")
}
