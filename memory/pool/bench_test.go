package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/cputime"
)

type block [64]byte

// Each iteration is a pair: a block got, written to, and put back.
func BenchmarkGetPut(b *testing.B) {
	for _, depth := range []int{1, 64} {
		slots := make([]unsafe.Pointer, depth)
		b.Run(fmt.Sprintf("blocks/lifo=%d", depth), func(b *testing.B) {
			p := newBlocks(b, nil, BlocksConfig{Capacity: depth})
			i := 0
			for b.Loop() {
				q := p.TryGet()
				if q == nil {
					q = mustGet(b, p)
				}
				*(*uint64)(q) = 1
				slots[i] = q
				if i++; i == depth {
					for i > 0 {
						i--
						p.Put(slots[i])
					}
				}
			}
		})
		b.Run(fmt.Sprintf("goheap/lifo=%d", depth), func(b *testing.B) {
			i := 0
			for b.Loop() {
				q := new(block)
				q[0] = 1
				slots[i] = unsafe.Pointer(q)
				if i++; i == depth {
					i = 0
				}
			}
		})
	}
	const many = 10_000
	slots := make([]unsafe.Pointer, many)
	b.Run("blocks/fifo=10000", func(b *testing.B) {
		p := newBlocks(b, nil, BlocksConfig{Capacity: many})
		i := 0
		for b.Loop() {
			q := p.TryGet()
			if q == nil {
				q = mustGet(b, p)
			}
			*(*uint64)(q) = 1
			slots[i] = q
			if i++; i == many {
				for _, q := range slots {
					p.Put(q)
				}
				i = 0
			}
		}
	})
	b.Run("goheap/fifo=10000", func(b *testing.B) {
		i := 0
		for b.Loop() {
			q := new(block)
			q[0] = 1
			slots[i] = unsafe.Pointer(q)
			if i++; i == many {
				i = 0
			}
		}
	})
}

type particle struct {
	X, Y, Z, VX, VY, VZ float32
	ID                  uint64
	Life, Size          float32
	Color, _            uint32
}

// 10,000 particles live; each iteration kills one at random and spawns another.
func BenchmarkChurn(b *testing.B) {
	const live = 10_000
	order := rand.New(rand.NewPCG(1, 2)).Perm(live)
	b.Run("blocks", func(b *testing.B) {
		p := newBlocks(b, nil, BlocksConfig{Size: 48, Capacity: live})
		all := make([]unsafe.Pointer, live)
		for i := range all {
			all[i] = mustGet(b, p)
		}
		i := 0
		for b.Loop() {
			at := &all[order[i]]
			p.Put(*at)
			q := p.TryGet()
			(*particle)(q).VX = 1
			*at = q
			if i++; i == live {
				i = 0
			}
		}
	})
	b.Run("pool", func(b *testing.B) {
		p, err := New[particle](nil, Config{Capacity: live})
		if err != nil {
			b.Fatal(err)
		}
		closeAtEnd(b, p.Close)
		all := make([]memory.Handle[particle], live)
		for i := range all {
			all[i], _, _ = p.New()
		}
		i := 0
		for b.Loop() {
			at := &all[order[i]]
			p.Free(*at)
			h, q, _ := p.New()
			q.VX = 1
			*at = h
			if i++; i == live {
				i = 0
			}
		}
	})
	b.Run("goheap", func(b *testing.B) {
		all := make([]*particle, live)
		for i := range all {
			all[i] = new(particle)
		}
		i := 0
		for b.Loop() {
			q := new(particle)
			q.VX = 1
			all[order[i]] = q
			if i++; i == live {
				i = 0
			}
		}
	})
}

func BenchmarkGetByHandle(b *testing.B) {
	const live = 10_000
	p, err := New[particle](nil, Config{Capacity: live})
	if err != nil {
		b.Fatal(err)
	}
	closeAtEnd(b, p.Close)
	handles, pointers, heap := make([]memory.Handle[particle], live), make([]*particle, live), make([]*particle, live)
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(live) {
		handles[at], pointers[at], _ = p.New()
		heap[at] = &particle{ID: uint64(i)}
	}
	sum := float32(0)
	b.Run("handle", func(b *testing.B) {
		i := 0
		for b.Loop() {
			if q, ok := p.Get(handles[i]); ok {
				sum += q.X
			}
			if i++; i == live {
				i = 0
			}
		}
	})
	for name, pointers := range map[string][]*particle{"pointer": pointers, "goheap": heap} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				sum += pointers[i].X
				if i++; i == live {
					i = 0
				}
			}
		})
	}
}

// The walks are functions of their own, as a game's systems are.

//go:noinline
func rangeOver(p *Pool[particle]) {
	for _, q := range p.All() {
		q.X++
	}
}

//go:noinline
func walkRuns(p *Pool[particle]) {
	for run := range p.Runs() {
		for i := range run {
			run[i].X++
		}
	}
}

//go:noinline
func walkValues(values []particle) {
	for i := range values {
		values[i].X++
	}
}

//go:noinline
func walkHeap(heap []*particle) {
	for _, q := range heap {
		q.X++
	}
}

func BenchmarkIterate(b *testing.B) {
	const slots = 10_000
	for _, percent := range []int{100, 90, 50, 10} {
		p, err := New[particle](nil, Config{Capacity: slots})
		if err != nil {
			b.Fatal(err)
		}
		closeAtEnd(b, p.Close)
		handles := make([]memory.Handle[particle], slots)
		for i := range handles {
			handles[i], _, _ = p.New()
		}
		var heap []*particle
		for _, at := range rand.New(rand.NewPCG(1, 2)).Perm(slots)[slots*percent/100:] {
			p.Free(handles[at])
		}
		for range p.Len() {
			heap = append(heap, new(particle))
		}
		perLive := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.Len()), "ns/live")
		}
		b.Run(fmt.Sprintf("all/live=%d%%", percent), func(b *testing.B) {
			for b.Loop() {
				rangeOver(p)
			}
			perLive(b)
		})
		b.Run(fmt.Sprintf("runs/live=%d%%", percent), func(b *testing.B) {
			for b.Loop() {
				walkRuns(p)
			}
			perLive(b)
		})
		values := make([]particle, p.Len())
		b.Run(fmt.Sprintf("slice/live=%d%%", percent), func(b *testing.B) {
			for b.Loop() {
				walkValues(values)
			}
			perLive(b)
		})
		b.Run(fmt.Sprintf("goheap/live=%d%%", percent), func(b *testing.B) {
			for b.Loop() {
				walkHeap(heap)
			}
			perLive(b)
		})
	}
}

type fat struct {
	body
	sheet
}

//go:noinline
func stepBodies(p *Split[body, sheet]) {
	for _, q := range p.All() {
		q.X, q.Y = q.X+q.VX, q.Y+q.VY
	}
}

//go:noinline
func stepFat(p *Pool[fat]) {
	for _, q := range p.All() {
		q.X, q.Y = q.X+q.VX, q.Y+q.VY
	}
}

//go:noinline
func stepSlice(s []fat) {
	for i := range s {
		q := &s[i]
		q.X, q.Y = q.X+q.VX, q.Y+q.VY
	}
}

// A step of every body: through Split's hot region, one fat struct per slot, and the Go heap.
func BenchmarkSplit(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		perLive := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/live")
		}
		b.Run(fmt.Sprintf("split/n=%d", n), func(b *testing.B) {
			p := newSplit(b, nil, n)
			for range n {
				p.New()
			}
			for b.Loop() {
				stepBodies(p)
			}
			perLive(b)
		})
		b.Run(fmt.Sprintf("fat/n=%d", n), func(b *testing.B) {
			p, err := New[fat](nil, Config{Capacity: n})
			if err != nil {
				b.Fatal(err)
			}
			closeAtEnd(b, p.Close)
			for range n {
				p.New()
			}
			for b.Loop() {
				stepFat(p)
			}
			perLive(b)
		})
		b.Run(fmt.Sprintf("goheap/n=%d", n), func(b *testing.B) {
			s := make([]fat, n)
			for b.Loop() {
				stepSlice(s)
			}
			perLive(b)
		})
	}
}

// BenchmarkSlowestAlloc fills a new pool and reports the processor time of the slowest single Get, the least of all
// iterations.
func BenchmarkSlowestAlloc(b *testing.B) {
	for _, slots := range []int{1 << 20, 1 << 22} {
		b.Run(fmt.Sprintf("blocks/slots=%d", slots), func(b *testing.B) {
			slowest := time.Hour
			for b.Loop() {
				p := newBlocks(b, nil, BlocksConfig{Capacity: slots})
				var most time.Duration
				for range slots {
					most = max(most, cputime.Of(func() { mustGet(b, p) }))
				}
				slowest = min(slowest, most)
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(slowest)/float64(time.Microsecond), "slowest-µs")
		})
		b.Run(fmt.Sprintf("goheap/slots=%d", slots), func(b *testing.B) {
			slowest := time.Hour
			for b.Loop() {
				kept := make([]*block, slots)
				var most time.Duration
				for i := range kept {
					most = max(most, cputime.Of(func() { kept[i] = new(block) }))
				}
				slowest = min(slowest, most)
			}
			b.ReportMetric(float64(slowest)/float64(time.Microsecond), "slowest-µs")
		})
	}
}
