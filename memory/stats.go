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

	// Requested is the bytes that callers of live blocks asked for: InUse - Requested is
	// internal fragmentation. 0 where the family does not keep it.
	Requested uint64
	// LargestFree is the largest request, in bytes, that would succeed without more
	// committed memory: with Committed - InUse it gives external fragmentation. 0 where
	// the family cannot fragment.
	LargestFree uint64
}

// Sub returns what happened since an earlier snapshot: counters as differences, levels
// (Reserved, Committed, InUse, Peak, Live, Requested, LargestFree) as they are now.
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
		Requested: s.Requested + t.Requested, LargestFree: max(s.LargestFree, t.LargestFree),
	}
}

// Internal returns internal fragmentation, the share of InUse that nobody asked for,
// from 0 to 1; 0 where Requested is not kept.
func (s Stats) Internal() float64 {
	if s.InUse == 0 || s.Requested == 0 {
		return 0
	}
	return 1 - float64(s.Requested)/float64(s.InUse)
}

// External returns external fragmentation, the share of free committed bytes that lie
// outside the largest free block, from 0 to 1; 0 where LargestFree is not kept.
func (s Stats) External() float64 {
	free := s.Committed - s.InUse
	if free == 0 || s.LargestFree == 0 || s.LargestFree >= free {
		return 0
	}
	return 1 - float64(s.LargestFree)/float64(free)
}
