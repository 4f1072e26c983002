package memory

// Stats is a snapshot of an allocator's books: bytes and counts, no pointers.
//
// These equations hold for every allocator and are part of the conformance suite:
//
//	InUse <= Committed <= Reserved
//	InUse <= Peak
//	Live  == Allocs - Frees
type Stats struct {
	Reserved  uint64 // bytes of address space
	Committed uint64 // bytes backed by memory, or that the OS has promised to back
	InUse     uint64 // bytes in live blocks, with the padding and rounding that they cost
	Peak      uint64 // highest InUse; where derived (see the family) an upper bound of it
	Live      uint64 // blocks
	Allocs    uint64 // successful allocations since New
	Frees     uint64 // blocks freed since New, one by one or by a reset
	Failures  uint64 // requests refused for want of memory since New; bad alignments are not counted

	// Requested is the bytes that callers asked for, and Measured the bytes in use by those
	// same blocks: Measured - Requested is internal fragmentation. A family that keeps
	// requests has Measured == InUse, one that does not has 0 in both; in a sum over families
	// Measured is the part of InUse that Requested speaks of.
	Requested, Measured uint64
	// LargestFree is the largest request, in bytes, that would succeed without more
	// committed memory, and Free the free committed bytes among which it is the largest:
	// together they give external fragmentation. 0 in Free means that nothing is free or that
	// the family cannot fragment; 0 in LargestFree beside it, that no free byte can be had.
	LargestFree, Free uint64
}

// Sub returns what happened since an earlier snapshot: counters as differences, levels
// (Reserved, Committed, InUse, Peak, Live, Requested, Measured, LargestFree, Free) as they are now.
func (s Stats) Sub(earlier Stats) Stats {
	s.Allocs -= earlier.Allocs
	s.Frees -= earlier.Frees
	s.Failures -= earlier.Failures
	return s
}

// Add returns the books of two allocators taken together. LargestFree is the larger one.
func (s Stats) Add(t Stats) Stats {
	return Stats{
		Reserved: s.Reserved + t.Reserved, Committed: s.Committed + t.Committed,
		InUse: s.InUse + t.InUse, Peak: s.Peak + t.Peak, Live: s.Live + t.Live,
		Allocs: s.Allocs + t.Allocs, Frees: s.Frees + t.Frees, Failures: s.Failures + t.Failures,
		Requested: s.Requested + t.Requested, Measured: s.Measured + t.Measured,
		LargestFree: max(s.LargestFree, t.LargestFree), Free: s.Free + t.Free,
	}
}

// Internal returns internal fragmentation, the share of Measured that nobody asked for,
// from 0 to 1; 0 where requests are not kept.
func (s Stats) Internal() float64 { return share(s.Requested, s.Measured) }

// External returns external fragmentation, the share of Free that lies outside the largest
// free block, from 0 to 1; 0 where nothing is free or the family cannot fragment.
func (s Stats) External() float64 { return share(s.LargestFree, s.Free) }

// share returns how much of whole is not in part.
func share(part, whole uint64) float64 {
	if part >= whole {
		return 0
	}
	return 1 - float64(part)/float64(whole)
}
