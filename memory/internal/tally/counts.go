// Package tally holds the counters that the heaps of variable blocks keep alike, and the
// equations between them.
package tally

import (
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// Counts are the books of a heap whose blocks are whole grains and know how many bytes were
// asked for. Every method but Stats and Check inlines.
//
// Invariants, verified by Check against the sums over the live blocks:
//
//	(1) used and requested are those sums, and used <= peak
//	(2) allocs - frees is the number of live blocks
type Counts struct {
	allocs    uint64 // blocks handed out since New
	frees     uint64 // blocks that came back
	used      uint64 // grains in live blocks
	peak      uint64 // highest used
	requested uint64 // bytes that were asked for, in live blocks
	failures  uint64
}

// Out counts a block of n grains, handed out for a request of size bytes.
func (c *Counts) Out(n uint32, size uintptr) {
	c.allocs++
	c.requested += uint64(size)
	c.used += uint64(n)
	if c.used > c.peak {
		c.peak = c.used
	}
}

// In counts a block of n grains, requested with size bytes, that came back.
func (c *Counts) In(n uint32, size uintptr) {
	c.frees++
	c.requested -= uint64(size)
	c.used -= uint64(n)
}

// Resized counts a live block that went from before to n grains, and from oldSize to size
// bytes requested.
func (c *Counts) Resized(before, n uint32, oldSize, size uintptr) {
	c.requested += uint64(size) - uint64(oldSize)
	c.used += uint64(n) - uint64(before)
	c.peak = max(c.peak, c.used)
}

// Failed counts a request that was refused for want of memory.
func (c *Counts) Failed() { c.failures++ }

// Reset counts every live block as freed.
func (c *Counts) Reset() {
	c.frees = c.allocs
	c.used, c.requested = 0, 0
}

// Used returns the grains in live blocks.
func (c *Counts) Used() uint64 { return c.used }

// Stats returns the books in bytes for grains of size g. What depends on the memory below
// the blocks, Reserved, Committed, LargestFree and Free, is left to the heap.
func (c *Counts) Stats(g align.Grain) memory.Stats {
	return memory.Stats{
		InUse: c.used << g, Peak: c.peak << g,
		Live: c.allocs - c.frees, Allocs: c.allocs, Frees: c.frees, Failures: c.failures,
		Requested: c.requested, Measured: c.used << g,
	}
}

// Sums are what a walk over the live blocks found.
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

// Check verifies the equations above the type and passes each that is broken to fail, in the
// manner of fmt.Errorf. grain is the heap's word for a grain, as in "granule".
func (c *Counts) Check(s Sums, grain string, fail func(format string, args ...any)) {
	if c.used != s.Used || c.requested != s.Requested || c.used > c.peak {
		fail("%d %ss used for %d bytes at a peak of %d; the blocks sum to %d and %d", c.used, grain, c.requested, c.peak, s.Used, s.Requested)
	}
	if c.allocs-c.frees != s.Live {
		fail("%d allocations less %d frees, but %d blocks are live", c.allocs, c.frees, s.Live)
	}
}
