package tiers

import (
	"math"
	"runtime"
	"unsafe"
)

// A sampler chooses allocations at random and records their call stacks, for [Inspector.EachSample]. Each byte that
// is requested is a sample point with probability 1/rate, as in the Go runtime's heap profile. A block is sampled if
// it contains a sample point. So a block of size bytes is sampled with probability p = 1-exp(-size/rate), and counts
// 1/p times: the expected sums are the true sums. A nil sampler records nothing.
//
// The game goroutine has a sampler for slab and large, and each worker has one, which the worker's lock protects. A
// free looks into a small filter first; only one in some hundred frees of blocks without a sample searches the map.
// The alternative, a bit per granule, would be exact, and would take 8 KiB for each MiB of the tier.
type sampler struct {
	rate  float64
	next  float64 // bytes to the next sample point
	rng   uint64
	base  uintptr
	live  map[uintptr]sampled   // by offset from base
	busy  [filterSize]uint16    // samples in live by hash of their offsets
	sites []site                // those without a stack collect what exceeds maxSites, by tier and tag
	index map[siteKey]uint32    // into sites
	pcs   [maxDepth + 8]uintptr // scratch
}

const (
	// maxDepth is the largest number of frames in a recorded call stack.
	maxDepth = 32
	// maxSites bounds the recorded call stacks to about 2 MiB. A program with more of them is reported in part. The rows
	// without a stack come on top, one for each tier and tag.
	maxSites = 4096
	// maxSampled bounds the table of live samples to about 4 MiB.
	maxSampled = 1 << 16
	filterBits = 12
	filterSize = 1 << filterBits
)

// A siteKey tells apart what has a row of its own.
type siteKey struct {
	tier  Tier
	tag   uint8
	depth uint8
	pcs   [maxDepth]uintptr
}

// A site has the estimates for one call stack.
type site struct {
	siteKey
	samples       int // live ones
	live, inUse   float64
	allocs, bytes float64
}

// A sampled is a live block that was sampled.
type sampled struct {
	site   uint32
	size   uintptr
	weight float64 // how many blocks it stands for
}

func newSampler(rate uintptr, base unsafe.Pointer, seed uint64) *sampler {
	if rate == 0 {
		return nil
	}
	s := &sampler{rate: float64(rate), base: uintptr(base), rng: seed, live: map[uintptr]sampled{}, index: map[siteKey]uint32{}}
	s.next = s.distance()
	return s
}

// distance draws the bytes to the next sample point from the exponential distribution. The random numbers are
// SplitMix64 (Steele, Lea, Flood, 2014) with a fixed seed. They do not influence the game.
func (s *sampler) distance() float64 {
	s.rng += 0x9e3779b97f4a7c15
	z := s.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return -math.Log(float64(z>>11+1)/(1<<53)) * s.rate
}

func filterSlot(off uintptr) uintptr {
	return uintptr(uint64(off>>placeShift) * 0x9e3779b97f4a7c15 >> (64 - filterBits))
}

// alloc counts a new block, and samples it if it contains the next sample point.
func (s *sampler) alloc(t Tier, tag uint8, p unsafe.Pointer, size uintptr) {
	if s == nil {
		return
	}
	s.freed(p) // a sample at this address is of a block that was freed past the manager
	if s.next -= float64(size); s.next < 0 {
		s.take(t, tag, p, size)
	}
}

// take records a sample. Its callers are alloc, the function of the manager that calls alloc, and what called that.
//
//go:noinline
func (s *sampler) take(t Tier, tag uint8, p unsafe.Pointer, size uintptr) {
	s.next = s.distance()
	key := siteKey{tier: t, tag: tag}
	key.depth = uint8(copy(key.pcs[:], s.pcs[:runtime.Callers(3, s.pcs[:])]))
	i, ok := s.index[key]
	if !ok && len(s.sites) >= maxSites {
		key = siteKey{tier: t, tag: tag}
		i, ok = s.index[key]
	}
	if !ok {
		i = uint32(len(s.sites))
		s.index[key] = i
		s.sites = append(s.sites, site{siteKey: key})
	}
	w := 1 / -math.Expm1(-float64(size)/s.rate)
	x := &s.sites[i]
	x.allocs += w
	x.bytes += w * float64(size)
	if len(s.live) == maxSampled {
		return
	}
	off := uintptr(p) - s.base
	s.live[off] = sampled{i, size, w}
	s.busy[filterSlot(off)]++
	x.samples++
	x.live += w
	x.inUse += w * float64(size)
}

// freed counts a sampled block as freed. Of other blocks it does nothing.
func (s *sampler) freed(p unsafe.Pointer) {
	if s == nil {
		return
	}
	if off := uintptr(p) - s.base; s.busy[filterSlot(off)] != 0 {
		s.drop(off)
	}
}

//go:noinline
func (s *sampler) drop(off uintptr) {
	b, ok := s.live[off]
	if !ok {
		return
	}
	delete(s.live, off)
	s.busy[filterSlot(off)]--
	x := &s.sites[b.site]
	x.live -= b.weight
	x.inUse -= b.weight * float64(b.size)
	if x.samples--; x.samples == 0 {
		x.live, x.inUse = 0, 0 // without rounding errors
	}
}

// resized counts the new size of a sampled block, with the weight that it has.
func (s *sampler) resized(p unsafe.Pointer, size uintptr) {
	if s == nil {
		return
	}
	off := uintptr(p) - s.base
	if b, ok := s.live[off]; ok {
		s.sites[b.site].inUse += b.weight * (float64(size) - float64(b.size))
		b.size = size
		s.live[off] = b
	}
}

// close forgets the live samples: the heap has closed.
func (s *sampler) close() {
	if s == nil {
		return
	}
	s.live, s.busy = map[uintptr]sampled{}, [filterSize]uint16{}
	for i := range s.sites {
		x := &s.sites[i]
		x.samples, x.live, x.inUse = 0, 0, 0
	}
}

// each calls f with the estimates of every call stack.
func (s *sampler) each(m *Manager, f func(Sample)) {
	if s == nil {
		return
	}
	for i := range s.sites {
		x := &s.sites[i]
		if x.allocs == 0 {
			continue
		}
		row := Sample{Tier: x.tier, Stack: x.pcs[:x.depth], Live: x.live, InUse: max(x.inUse, 0), Allocs: x.allocs, Bytes: x.bytes}
		if x.tag > 0 {
			row.Tag = m.tags[x.tag-1].name
		}
		f(row)
	}
}

// A Sample has estimates for the blocks that one call stack has allocated in one tier under one tag.
type Sample struct {
	Tier Tier
	Tag  string // empty without a tag
	// Stack has at most 32 program counters for [runtime.CallersFrames], innermost first, beginning inside this
	// package. The slice may be kept, but must not be changed.
	//
	// The manager records 4,096 call stacks for the game goroutine, and as many for each worker. All further call
	// stacks of a tier and tag share one Sample with an empty Stack.
	Stack []uintptr
	// Live is the number of live blocks, and InUse their bytes. Allocs and Bytes are the number and the bytes of all blocks
	// since New. All bytes are requested bytes, without rounding. Bytes does not count a resize. If 65,536 samples are
	// live, further blocks count in Allocs and Bytes only.
	Live, InUse, Allocs, Bytes float64
}

// EachSample calls f with the estimates for each call stack that was sampled, see [Config.SampleBytes]: first those of
// slab and large, then those of each worker. Without SampleBytes f is not called. If a worker is inside a call,
// EachSample waits until the call returns. f must not use the manager. EachSample belongs to the game goroutine. Cost:
// proportional to the call stacks.
func (i Inspector) EachSample(f func(Sample)) {
	i.m.sampler.each(i.m, f)
	for _, w := range i.m.inbox.workers {
		w.eachSample(f)
	}
}

func (w *Worker) eachSample(f func(Sample)) {
	w.mu.Lock()
	defer w.mu.Unlock() // also if f panics
	w.sampler.each(w.m, f)
}
