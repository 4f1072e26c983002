package memory

// Stats is a snapshot of an allocator's statistics. A Stats has no pointers. Amounts are in bytes unless the comment
// of the field says otherwise.
//
// These relations hold for every allocator, unless its comment says otherwise, and are checked by memtest.Run:
//
//	InUse <= Committed <= Reserved
//	InUse <= Peak
//	Live  == Allocs - Frees
type Stats struct {
	Reserved  uint64 // bytes of reserved address space
	Committed uint64 // bytes of Reserved that may be used; for what the system promises see package page, "Overcommit"
	InUse     uint64 // bytes in live blocks, including padding, rounding and bytes that Free could not reclaim
	Peak      uint64 // high-water mark of InUse; some allocators document it as an upper bound
	Live      uint64 // live blocks
	Allocs    uint64 // blocks allocated since New
	Frees     uint64 // blocks freed since New, one by one, by a reset or by Close
	Failures  uint64 // calls of Alloc since New that failed with ErrOutOfMemory or ErrTooLarge; a type documents its exceptions

	// Requested is the sum of the requested sizes of live blocks. Measured is the number of bytes that these blocks use,
	// so Measured - Requested is internal fragmentation. If the allocator keeps the requested sizes, Measured is InUse. If
	// not, Requested and Measured are 0. In a sum over several allocators, Measured counts only the allocators that keep
	// the requested sizes.
	Requested, Measured uint64
	// LargestFree is the largest request that would succeed without committing more memory, or 0 if there is none. Free
	// is the number of free committed bytes. LargestFree and Free together describe external fragmentation. An
	// allocator that cannot fragment, or does not report fragmentation, has 0 in both.
	LargestFree, Free uint64
}

// Sub returns the change from the snapshot earlier to s. Allocs, Frees and Failures are differences; all other fields
// have the values of s. If a state was loaded in between, the counters may be lower than before, and the differences
// wrap around.
func (s Stats) Sub(earlier Stats) Stats {
	s.Allocs -= earlier.Allocs
	s.Frees -= earlier.Frees
	s.Failures -= earlier.Failures
	return s
}

// Add returns the sums of two allocators' statistics, except LargestFree: the larger of the two values. Peak is the
// sum of two high-water marks. They may be reached at different times, so the sum is an upper bound.
func (s Stats) Add(t Stats) Stats {
	return Stats{
		Reserved: s.Reserved + t.Reserved, Committed: s.Committed + t.Committed,
		InUse: s.InUse + t.InUse, Peak: s.Peak + t.Peak, Live: s.Live + t.Live,
		Allocs: s.Allocs + t.Allocs, Frees: s.Frees + t.Frees, Failures: s.Failures + t.Failures,
		Requested: s.Requested + t.Requested, Measured: s.Measured + t.Measured,
		LargestFree: max(s.LargestFree, t.LargestFree), Free: s.Free + t.Free,
	}
}

// Internal returns internal fragmentation, from 0 to 1: the share of Measured that was not requested. If Measured is 0,
// the share is 0. Allocators that do not keep the requested sizes have 0 in Measured.
func (s Stats) Internal() float64 { return share(s.Requested, s.Measured) }

// External returns external fragmentation, from 0 to 1: the share of Free that is not part of LargestFree. The share is
// 0 if Free is 0. An allocator that limits the size of a request, such as a slab.Heap, has a high share also without
// fragmentation. A sum over several allocators has a high share, too.
func (s Stats) External() float64 { return share(s.LargestFree, s.Free) }

// share returns how much of whole is not in part.
func share(part, whole uint64) float64 {
	if part >= whole {
		return 0
	}
	return 1 - float64(part)/float64(whole)
}
