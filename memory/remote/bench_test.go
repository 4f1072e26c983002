package remote

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

const (
	blockShift = 8
	blockBytes = 1 << blockShift
	runBlocks  = 256     // blocks per message from producer to consumer
	poolBlocks = 1 << 16 // 16 MiB: beyond the caches, and more than is ever in flight
)

// pool is the target of the benchmarks: 256-byte blocks, an index stack, a live bit.
type pool struct {
	mem  page.Prefix
	base unsafe.Pointer
	free []uint32
	live []uint64
}

func newPool(b *testing.B) *pool {
	b.Helper()
	mem, err := page.NewPrefix(nil, poolBlocks<<blockShift, poolBlocks<<blockShift, 0)
	if err == nil {
		err = mem.Ensure(poolBlocks << blockShift)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = mem.Close() })
	p := &pool{mem: mem, base: mem.Base(), live: make([]uint64, poolBlocks/64), free: make([]uint32, poolBlocks)}
	for i := range p.free {
		p.free[i] = uint32(poolBlocks - 1 - i)
	}
	return p
}

func (p *pool) alloc() unsafe.Pointer {
	k := len(p.free) - 1
	if k < 0 {
		return nil
	}
	i := p.free[k]
	p.free = p.free[:k]
	p.live[i/64%(poolBlocks/64)] |= 1 << (i % 64)
	return unsafe.Add(p.base, uintptr(i)<<blockShift)
}

func (p *pool) FreeAny(q unsafe.Pointer) {
	off := uintptr(q) - uintptr(p.base)
	if off>>blockShift >= poolBlocks || off%blockBytes != 0 {
		panic(&memory.Misuse{Package: "pool", Op: "FreeAny", Addr: uintptr(q), Reason: "not a block"})
	}
	i := uint32(off >> blockShift)
	w, bit := &p.live[i/64], uint64(1)<<(i%64)
	if *w&bit == 0 {
		panic(&memory.Misuse{Package: "pool", Op: "FreeAny", Addr: uintptr(q), Reason: "double free"})
	}
	*w &^= bit
	p.free = append(p.free, i)
}

// A carrier is one way for freed blocks to come home: free and flush on the freeing side,
// drain on the owner's.
type carrier interface {
	free(p unsafe.Pointer)
	flush()
	drain() int
}

// inboxCarrier is this package.
type inboxCarrier struct {
	in *Inbox
	f  *Freer
}

func newInboxCarrier(b testing.TB, t Target, batch int) carrier {
	in := newInbox(b, t, batch)
	return &inboxCarrier{in, in.NewFreer()}
}

// seen has the pool's base and unseen has not, so that batches hold offsets or pointers.
type (
	seen   struct{ *pool }
	unseen struct{ *pool }
)

func (s seen) Base() unsafe.Pointer { return s.base }
func (s seen) Extent() uintptr      { return poolBlocks << blockShift }

func (c *inboxCarrier) free(p unsafe.Pointer) { c.f.FreeAny(p) }
func (c *inboxCarrier) flush()                { _ = c.f.Flush() }
func (c *inboxCarrier) drain() int            { return c.in.Drain() }

// chain links the freed blocks through their first bytes: no batches at all, but the freer
// writes and the owner reads a line of every block.
type chain struct {
	target   Target
	base     unsafe.Pointer
	head     atomic.Uint64 // 1 + offset of the newest block; 0: none
	_        [lineBytes]byte
	top, end uint64
	n, size  int
}

func newChain(t Target, base unsafe.Pointer, batch int) carrier {
	return &chain{target: t, base: base, size: batch}
}

func (c *chain) free(p unsafe.Pointer) {
	link := uint64(uintptr(p)-uintptr(c.base)) + 1
	*(*uint64)(p) = c.top
	if c.top = link; c.n == 0 {
		c.end = link
	}
	if c.n++; c.n == c.size {
		c.flush()
	}
}

func (c *chain) flush() {
	if c.n == 0 {
		return
	}
	end := (*uint64)(unsafe.Add(c.base, c.end-1))
	for {
		*end = c.head.Load()
		if c.head.CompareAndSwap(*end, c.top) {
			break
		}
	}
	c.top, c.n = 0, 0
}

func (c *chain) drain() (n int) {
	if c.head.Load() == 0 {
		return 0
	}
	for link := c.head.Swap(0); link != 0; n++ {
		p := unsafe.Add(c.base, link-1)
		link = *(*uint64)(p)
		c.target.FreeAny(p)
	}
	return n
}

// locked is the plain way: a slice under a mutex, swapped out by the owner.
type locked struct {
	target     Target
	mu         sync.Mutex
	in, out    []unsafe.Pointer
	mine       []unsafe.Pointer
	size       int
	hasArrived atomic.Bool
}

func (c *locked) free(p unsafe.Pointer) {
	if c.mine = append(c.mine, p); len(c.mine) == c.size {
		c.flush()
	}
}

func (c *locked) flush() {
	c.mu.Lock()
	c.in = append(c.in, c.mine...)
	c.mu.Unlock()
	c.mine = c.mine[:0]
	c.hasArrived.Store(true)
}

func (c *locked) drain() int {
	if !c.hasArrived.Load() {
		return 0
	}
	c.mu.Lock()
	c.in, c.out = c.out[:0], c.in
	c.hasArrived.Store(false)
	c.mu.Unlock()
	for _, p := range c.out {
		c.target.FreeAny(p)
	}
	return len(c.out)
}

var carriers = []struct {
	name string
	make func(testing.TB, *pool, int) carrier
}{
	{"offsets", func(b testing.TB, p *pool, n int) carrier { return newInboxCarrier(b, seen{p}, n) }},
	{"pointers", func(b testing.TB, p *pool, n int) carrier { return newInboxCarrier(b, unseen{p}, n) }},
	{"chain", func(_ testing.TB, p *pool, n int) carrier { return newChain(p, p.base, n) }},
	{"mutex", func(_ testing.TB, p *pool, n int) carrier { return &locked{target: p, size: n} }},
}

// BenchmarkRemote has a producer allocate and write 256-byte blocks in runs of 256, and a
// consumer read and free them. One operation is a run; ns/block is the figure.
func BenchmarkRemote(b *testing.B) {
	for _, c := range carriers {
		for _, batch := range []int{8, 32, 64} {
			b.Run(fmt.Sprintf("%s/batch=%d", c.name, batch), func(b *testing.B) {
				p := newPool(b)
				way := c.make(b, p, batch)
				produceConsume(b, func() unsafe.Pointer {
					q := p.alloc()
					for q == nil {
						way.drain()
						q = p.alloc()
					}
					return q
				}, func() { way.drain() }, way.free, way.flush)
			})
		}
	}
	b.Run("goheap", func(b *testing.B) {
		produceConsume(b, func() unsafe.Pointer {
			return unsafe.Pointer(new([blockBytes]byte))
		}, func() {}, func(unsafe.Pointer) {}, func() {})
	})
}

func produceConsume(b *testing.B, alloc func() unsafe.Pointer, drain func(), free func(unsafe.Pointer), flush func()) {
	full, used := make(chan *[runBlocks]unsafe.Pointer, 64), make(chan *[runBlocks]unsafe.Pointer, 64)
	for range cap(used) {
		used <- new([runBlocks]unsafe.Pointer)
	}
	var done sync.WaitGroup
	done.Go(func() {
		var sum uint64
		for run := range full {
			for i, p := range run {
				sum += *(*uint64)(p)
				run[i] = nil
				free(p)
			}
			flush()
			used <- run
		}
		runtime.KeepAlive(sum)
	})
	for b.Loop() {
		run := <-used
		drain()
		for i := range run {
			p := alloc()
			*(*uint64)(p) = uint64(i)
			run[i] = p
		}
		full <- run
	}
	close(full)
	done.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runBlocks, "ns/block")
}

// BenchmarkPair frees and drains on one goroutine, which leaves out the traffic between
// cores: what remains is the work. marking repeats it while the collector marks.
func BenchmarkPair(b *testing.B) {
	for _, marking := range []bool{false, true} {
		for _, c := range carriers {
			b.Run(fmt.Sprintf("%s/marking=%t", c.name, marking), func(b *testing.B) {
				p := newPool(b)
				way := c.make(b, p, 32)
				if marking {
					defer keepMarking()()
				}
				for b.Loop() {
					for range runBlocks {
						way.free(p.alloc())
					}
					way.drain()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runBlocks, "ns/block")
			})
		}
	}
}

// BenchmarkCold frees 16 MiB of blocks that left the caches, then drains them: what a level's
// end looks like. Only chain has to touch the blocks.
func BenchmarkCold(b *testing.B) {
	for _, c := range carriers {
		b.Run(c.name, func(b *testing.B) {
			p := newPool(b)
			way := c.make(b, p, 32)
			blocks := make([]unsafe.Pointer, poolBlocks)
			for b.Loop() {
				for i := range blocks {
					blocks[i] = p.alloc()
				}
				for _, q := range blocks {
					way.free(q)
				}
				way.flush()
				way.drain()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/poolBlocks, "ns/block")
		})
	}
}

// keepMarking keeps the collector at work on a heap of small objects until stopped.
func keepMarking() (stop func()) {
	type node struct{ next *node }
	var list *node
	for range 1 << 20 {
		list = &node{list}
	}
	var end atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		for !end.Load() {
			runtime.GC()
		}
	})
	return func() {
		end.Store(true)
		done.Wait()
		runtime.KeepAlive(list)
	}
}

func BenchmarkDrainEmpty(b *testing.B) {
	in := newInbox(b, newSlots(b, 1, 16), 0)
	for b.Loop() {
		in.Drain()
	}
}
