package slab

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
	"github.com/strata-go/strata/memory/memtest"
	"github.com/strata-go/strata/memory/page"
)

func newCentral(t testing.TB, cfg Config) *Central {
	t.Helper()
	h, err := New(nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return memtest.Opened(t, mustCentral(h), nil)
}

// single is a Cache that is the only one of its Central, so that it has books of its own; the
// central's count what goes to and fro in batches.
type single struct {
	*Cache
	allocs *uint64
}

func (s single) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	p, err := s.Cache.Alloc(size, align)
	if err == nil {
		*s.allocs++
	}
	return p, err
}

func (s single) Stats() memory.Stats {
	st := s.central.Stats()
	blocks, bytes := s.Cached()
	st.Live -= uint64(blocks)
	st.InUse -= uint64(bytes)
	st.Allocs, st.Frees = *s.allocs, *s.allocs-st.Live
	return st
}

func (s single) Check() error                    { return errors.Join(s.Cache.Check(), s.central.Check()) }
func (s single) Owns(p unsafe.Pointer) bool      { return s.central.Owns(p) }
func (s single) SizeOf(p unsafe.Pointer) uintptr { return s.central.SizeOf(p) }

func (s single) Close() error {
	if err := s.Cache.Close(); err != nil {
		return err
	}
	return s.central.Close()
}

var cacheSubject = memtest.Subject{Package: "slab", Hoards: true, Lenient: lenient, New: func(src page.Source) (memory.Allocator, error) {
	h, err := New(src, Config{Reserve: 6 << 20})
	if err != nil {
		return nil, err
	}
	return single{NewCache(mustCentral(h)), new(uint64)}, nil
}}

// lenient: memfast builds keep no live bits, and no notes of what caches hold.
var lenient = map[bool]memtest.Misuses{false: memtest.DoubleFree | memtest.Interior}[invariant.Exact]

// view is a goroutine's Cache; what it finds wrong when it ends is a panic.
func view(a memory.Allocator) (memory.Allocator, func()) {
	c := NewCache(a.(*Central))
	return c, func() {
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
}

var centralSubject = memtest.Subject{Package: "slab", Closed: memory.ErrClosed, Lenient: lenient, Shared: view, New: func(src page.Source) (memory.Allocator, error) {
	h, err := New(src, Config{Reserve: 2 << 20})
	if err != nil {
		return nil, err
	}
	return NewCentral(h)
}}

func TestCentral_Conformance(t *testing.T) { memtest.Run(t, centralSubject) }
func TestCentral_Faults(t *testing.T)      { memtest.Faults(t, centralSubject) }

func TestCache_Conformance(t *testing.T) { memtest.Run(t, cacheSubject) }
func TestCache_Faults(t *testing.T)      { memtest.Faults(t, cacheSubject) }
func FuzzCache(f *testing.F)             { memtest.Fuzz(f, cacheSubject) }

// Workers allocate, hand half of their blocks to their neighbour, free what they were handed,
// and end. Nothing is lost.
func TestCache_NothingIsLostWhenWorkersEnd(t *testing.T) {
	const workers, rounds, perRound = 4, 50, 200
	central := newCentral(t, Config{})
	pipes := make([]chan []*[2]uint64, workers)
	for i := range pipes {
		pipes[i] = make(chan []*[2]uint64, rounds)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			cache := NewCache(central)
			defer cache.Close()
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for range rounds {
				give := make([]*[2]uint64, 0, perRound)
				for i := range perRound {
					size := 16 + uintptr(rng.Uint32N(1000))
					p, err := cache.Alloc(size, 16)
					if err != nil {
						t.Error(err)
						return
					}
					b := (*[2]uint64)(p)
					*b = [2]uint64{uint64(size), ^uint64(size)}
					if i%2 == 0 {
						give = append(give, b)
						continue
					}
					if b[0] != ^b[1] {
						t.Errorf("block %p was written by somebody else", b)
					}
					cache.Free(p, size)
				}
				pipes[(w+1)%workers] <- give
				for _, b := range <-pipes[w] {
					if b[0] != ^b[1] {
						t.Errorf("block %p was written by somebody else", b)
					}
					cache.Free(unsafe.Pointer(b), uintptr(b[0]))
				}
			}
		})
	}
	wg.Wait()
	memtest.MustCheck(t, central)
	if st := central.Stats(); st.Live != 0 || st.InUse != 0 {
		t.Errorf("all workers have ended, yet %d blocks are live", st.Live)
	}
}

func TestCache_HoldsNoMoreThanItSays(t *testing.T) {
	central := newCentral(t, Config{MaxSize: 65536})
	cache := NewCache(central)
	defer cache.Close()
	for _, size := range []uintptr{16, 1024, 4096, 65536} {
		var blocks []unsafe.Pointer
		for range 300 {
			blocks = append(blocks, memtest.MustAlloc(t, cache, size, 16))
		}
		for _, p := range blocks {
			cache.Free(p, size)
		}
		n, bytes := cache.Cached()
		if n == 0 || n > stashBlocks || bytes > max(2*batchBytes, 2*size) {
			t.Errorf("of 300 blocks of %d bytes the cache holds %d, %d bytes", size, n, bytes)
		}
		cache.Flush()
		if n, _ := cache.Cached(); n != 0 || central.Stats().Live != 0 {
			t.Errorf("after Flush: %d cached, %d live", n, central.Stats().Live)
		}
	}
	memtest.MustCheck(t, central)
}

func TestCache_TakesTheLockOncePerBatch(t *testing.T) {
	central := newCentral(t, Config{Reserve: largest})
	cache := NewCache(central)
	defer cache.Close()
	var first [8]unsafe.Pointer
	for i := range first {
		first[i] = memtest.MustAlloc(t, cache, 64, 16)
	}
	central.mu.Lock() // a call that took it now would hang
	for range batchBlocks {
		for _, r := range [][2]uintptr{{64, 16}, {48, 64}, {33, 32}, {64, 64}} { // all of the class of 64
			q, err := cache.Alloc(r[0], r[1])
			if err != nil || q == nil {
				t.Error(err)
			}
			cache.Free(q, r[0])
			q, _ = cache.Alloc(r[0], r[1])
			cache.FreeAny(q)
		}
	}
	central.mu.Unlock()
	for _, p := range first {
		cache.Free(p, 64)
	}
}

func TestCache_UseAfterClose(t *testing.T) {
	central := newCentral(t, Config{})
	cache := NewCache(central)
	p := memtest.MustAlloc(t, cache, 10, 8)
	if err := central.Close(); err == nil || !strings.Contains(err.Error(), "1 caches are still open") {
		t.Errorf("Close with an open cache: %v", err)
	}
	for range 2 {
		if err := cache.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cache.Alloc(10, 8); err != memory.ErrClosed {
		t.Errorf("Alloc: %v, want ErrClosed", err)
	}
	memtest.Misuse(t, func() { cache.Free(p, 10) }, "slab.Free", "the cache is closed")
	memtest.Misuse(t, func() { cache.FreeAny(p) }, "the cache is closed")
	memtest.Misuse(t, cache.Flush, "the cache is closed")
	cache.Free(nil, 0)
	central.Free(p, 10) // blocks outlive the cache that they came from
	if live := central.Stats().Live; live != 0 {
		t.Errorf("%d blocks live", live)
	}
	if err := central.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewCache(central).Alloc(10, 8); err != memory.ErrClosed {
		t.Errorf("a cache of a closed Central: %v", err)
	}
}

func TestCache_LargeRequestsPassThrough(t *testing.T) {
	large := new(fakeLarge)
	central := newCentral(t, Config{Large: large})
	cache := NewCache(central)
	defer cache.Close()
	p := memtest.MustAlloc(t, cache, 5000, 16)
	cache.Free(p, 5000)
	cache.FreeAny(p)
	if large.used != 5000 || large.freed != 5001 {
		t.Errorf("Large handed out %d and got %d", large.used, large.freed)
	}
}

// A reservation that the system has halved may end within the 64 KiB of which notes are kept.
func TestCentral_AReservationOfOddSizeIsUsedToItsEnd(t *testing.T) {
	h, err := New(halving{page.Default(), 100 << 10}, Config{Reserve: 192 << 10})
	if err != nil {
		t.Fatal(err)
	}
	c, n := mustCentral(h), 0
	cache := NewCache(c)
	for ; err == nil; n++ {
		if _, err = c.Alloc(1000, 16); err == nil {
			_, err = cache.Alloc(1000, 16)
		}
	}
	if !errors.Is(err, memory.ErrOutOfMemory) || n < 40 || h.Stats().Reserved != 96<<10 {
		t.Errorf("%v after %d pairs of blocks in %d bytes", err, n, h.Stats().Reserved)
	}
	if err := errors.Join(c.Check(), cache.Check(), cache.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// halving refuses what is larger than most, as a system under a limit on address space does.
type halving struct {
	page.Source
	most uintptr
}

func (h halving) Reserve(size uintptr) (page.Memory, error) {
	if size > h.most {
		return page.Memory{}, &memory.Exhausted{Op: "halving: reserve", Need: size, Limit: h.most, Cause: errors.New("no room")}
	}
	return h.Source.Reserve(size)
}

// mustCentral is NewCentral where the books fit.
func mustCentral(h *Heap) *Central {
	c, err := NewCentral(h)
	if err != nil {
		panic(err)
	}
	return c
}

// What a Central looks through at each squeeze, Trim and Reset are the notes of what is in use.
func TestCentral_ToFindEmptyNotesCostsNoMoreInALargeReservation(t *testing.T) {
	took := func(reserve uintptr) time.Duration {
		h := newCentral(t, Config{Reserve: reserve}).heap
		best := time.Hour
		for range 100 {
			at := time.Now()
			h.lower()
			h.forget()
			best = min(best, time.Since(at))
		}
		return best
	}
	small, large := took(1<<20), took(1<<30)
	if large > 4*small+time.Microsecond {
		t.Errorf("%v with 1 GiB reserved, %v with 1 MiB", large, small)
	}
}
