// Package tally has the counters that heaps of variable blocks share, the relations between them, and the errors of
// stacks.
package tally

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Counts are the statistics of a heap whose blocks are whole grains and keep their requested sizes. All
// methods but Stats and Check inline. It belongs to one goroutine, as its heap does.
type Counts struct {
	// Invariants, verified by Check against the sums over the live blocks:
	//
	//	(1) used and requested are those sums, and used <= peak
	//	(2) allocs - frees is the number of live blocks

	allocs    uint64 // blocks allocated since New
	frees     uint64 // blocks freed since New
	used      uint64 // grains in live blocks
	peak      uint64 // high-water mark of used since the last TakePeak
	past      uint64 // the highest of the marks that TakePeak has returned
	requested uint64 // requested bytes of live blocks
	failures  uint64 // requests that failed because of their size
}

// Out counts the allocation of a block of n grains for a request of size bytes.
func (c *Counts) Out(n uint32, size uintptr) {
	c.allocs++
	c.requested += uint64(size)
	c.used += uint64(n)
	if c.used > c.peak {
		c.peak = c.used
	}
}

// In counts the free of a block of n grains that was requested with size bytes.
func (c *Counts) In(n uint32, size uintptr) {
	c.frees++
	c.requested -= uint64(size)
	c.used -= uint64(n)
}

// Resized counts a live block that changed from before to n grains, and from oldSize to size requested
// bytes.
func (c *Counts) Resized(before, n uint32, oldSize, size uintptr) {
	c.requested += uint64(size) - uint64(oldSize)
	c.used += uint64(n) - uint64(before)
	c.peak = max(c.peak, c.used)
}

// Failed counts a request that failed because of its size.
func (c *Counts) Failed() { c.failures++ }

// Reset counts every live block as freed.
func (c *Counts) Reset() {
	c.frees = c.allocs
	c.used, c.requested = 0, 0
}

// TakePeak returns the high-water mark of used since the last TakePeak, and starts a new one.
func (c *Counts) TakePeak() uint64 {
	top := c.peak
	c.past = max(c.past, top)
	c.peak = c.used
	return top
}

// Used returns the grains in live blocks.
func (c *Counts) Used() uint64 { return c.used }

// Stats returns the statistics in bytes, for grains of size g. The heap sets Reserved, Committed,
// LargestFree and Free, which depend on its memory.
func (c *Counts) Stats(g align.Grain) memory.Stats {
	return memory.Stats{
		InUse: c.used << g, Peak: max(c.peak, c.past) << g,
		Live: c.allocs - c.frees, Allocs: c.allocs, Frees: c.frees, Failures: c.failures,
		Requested: c.requested, Measured: c.used << g,
	}
}

// Sums are the sums over the live blocks of a heap.
type Sums struct {
	Live      uint64 // blocks
	Used      uint64 // grains
	Requested uint64 // bytes
}

// Add adds a live block of n grains that was requested with size bytes.
func (s *Sums) Add(n uint32, size uintptr) {
	s.Live++
	s.Used += uint64(n)
	s.Requested += uint64(size)
}

// Check compares c with the sums over the live blocks. It calls fail, which formats as fmt.Errorf does, for
// each relation that does not hold. grain is the heap's name for a grain, as "granule".
func (c *Counts) Check(s Sums, grain string, fail func(format string, args ...any)) {
	if c.used != s.Used || c.requested != s.Requested || c.used > c.peak {
		fail("%d %ss used for %d bytes at a peak of %d; the blocks sum to %d and %d", c.used, grain, c.requested, c.peak, s.Used, s.Requested)
	}
	if c.allocs-c.frees != s.Live {
		fail("%d allocations less %d frees, but %d blocks are live", c.allocs, c.frees, s.Live)
	}
}
