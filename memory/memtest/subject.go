package memtest

import (
	"cmp"
	"io"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/page"
)

// A Subject describes an allocator under test and the promises of the allocator.
type Subject struct {
	// New must make an empty allocator that takes all its memory from src. If src is nil, New must use page.Default().
	// The allocator must be a memory.StatsReporter. New must succeed with a source of 24 MiB. Fewer than 200,000 blocks
	// of MaxSize must exhaust the allocator.
	New func(src page.Source) (memory.Allocator, error)
	// MaxSize is the largest size in bytes that the tests pass to Alloc, except Stats.LargestFree and sizes that must
	// be refused. 0 means 4096.
	MaxSize uintptr
	// FixedSize, when not 0, is the only size that the allocator serves. With FixedSize, MaxSize is
	// ignored.
	FixedSize uintptr
	// MaxAlign is the largest valid alignment that the tests request, at least 16. 0 means memory.MaxAlign.
	MaxAlign uintptr
	// Allocs is the largest number of blocks that the test ManyAllocationsStayApart allocates if testenv.Short returns
	// true. If Short returns false, Allocs is ignored. Set Allocs for an allocator whose Alloc makes a system call or a
	// stack trace. 0 means 2^18+2^10, which is also the maximum; in debug builds the maximum is lower.
	Allocs int
	// LIFO declares that only the newest block may be freed. Free of another block panics with a *memory.Misuse.
	LIFO bool
	// KeepsFreed declares that freed memory may stay in use until Reset. Live and InUse of such an allocator need
	// not return to zero by frees alone. Free of the newest block must nevertheless make its bytes available
	// again.
	KeepsFreed bool
	// Hoards declares that freed memory may be unavailable for a time, for example in a quarantine or a cache. It is
	// available again after Reset, and for a request that finds no other memory. Such a request, even if it fails, may
	// change Free, Committed and Reserved.
	Hoards bool
	// Package is the prefix of the allocator's errors, and the Package of its *memory.Misuse. "" means any package.
	Package string
	// ExactSizes declares that SizeOf returns the requested size, and that Free and Resize detect every other size.
	ExactSizes bool
	// Shrinks declares that Resize to the same size or to less always succeeds.
	Shrinks bool
	// Mixed declares that the allocator consists of several allocators, and that only some of them keep requested
	// sizes. Then Stats.Measured may be less than Stats.InUse.
	Mixed bool
	// Lenient is the set of kinds of misuse that the allocator, as documented, does not detect in this build. These
	// kinds are not tested.
	Lenient Misuses
	// Hook registers f to run once, at the next Reset or Close, newest first. If Hook is nil, the
	// allocator has no hooks.
	Hook func(a memory.Allocator, f func())
	// Far makes an allocator that can allocate more than 4.25 GiB in blocks of FarSize bytes. src is nil: Far must use
	// page.Default(). The test writes to few of these blocks. It does not run on 32-bit systems, in a browser and in debug
	// builds. If Far returns memory.ErrOutOfMemory, the test is skipped, or fails if CI=true. Far should be nil only if
	// the allocator cannot have so many bytes.
	Far func(src page.Source) (memory.Allocator, error)
	// FarSize is the size in bytes of the blocks of Far. 0 means MaxSize.
	FarSize uintptr
	// Shared returns a view of a for one goroutine, and a function that ends the view. Several goroutines call Shared at
	// once. A view must also free blocks of other views. If Shared is nil, the allocator serves one goroutine.
	Shared func(a memory.Allocator) (view memory.Allocator, end func())
	// Closed is the unwrapped error of every Alloc after Close. If Closed is set, the *memory.Misuse of other calls
	// after Close must contain "closed", and Stats must report no memory. If Closed is nil, every error of Alloc and
	// every text of a *memory.Misuse is accepted. In this case the suite does not verify that a failed Close leaves the
	// allocator open.
	Closed error
	// ClosesAnyway declares that a Close that cannot release the memory closes the allocator nevertheless. If
	// ClosesAnyway is false, such a Close must leave the allocator open, without blocks.
	ClosesAnyway bool
}

// Misuses is a set of kinds of misuse, for [Subject].
type Misuses uint8

const (
	DoubleFree Misuses = 1 << iota // Free, SizeOf or Resize of a block that was freed
	Interior                       // a pointer into a block, also with the number of bytes from there to the end of the block
	WrongSize                      // a size that differs from the requested size and from all sizes of the block's size class
	OldBlocks                      // one of the kinds above with a block that is not the newest block
)

// Each runs test, such as [Run] or [Faults], for every subject, as a subtest with the key as its name.
func Each(t *testing.T, subjects map[string]Subject, test func(*testing.T, Subject)) {
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

func (s Subject) withDefaults() Subject {
	s.MaxSize = cmp.Or(s.MaxSize, 4096)
	s.MaxAlign = cmp.Or(s.MaxAlign, memory.MaxAlign)
	if s.FixedSize != 0 {
		s.MaxSize = s.FixedSize
	}
	return s
}

// size folds an arbitrary number into a size that the subject serves; small ones are as
// likely as large ones.
func (s Subject) size(n uint32) uintptr {
	if s.FixedSize != 0 {
		return s.FixedSize
	}
	limit := s.MaxSize
	if n&1 == 0 {
		limit = min(limit, 128)
	}
	return uintptr(n>>1) % (limit + 1)
}

// align folds an arbitrary number into a valid alignment; 1 to 16 most of the time.
func (s Subject) align(n uint32) uintptr {
	a := uintptr(1) << (n % 5)
	if n%7 == 0 {
		a = 1 << (n / 7 % 13)
	}
	return min(a, s.MaxAlign)
}

// make builds the allocator on src and has it closed at the end of the test.
func (s Subject) make(tb testing.TB, src page.Source) memory.Allocator {
	tb.Helper()
	a, err := s.New(src)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	tb.Cleanup(func() { closeIt(tb, a) })
	return a
}

func closeIt(tb testing.TB, a memory.Allocator) {
	tb.Helper()
	if c, ok := a.(io.Closer); ok {
		if err := c.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	}
}

// check runs the allocator's own Check.
func check(tb testing.TB, a memory.Allocator) {
	if c, ok := a.(memory.Checker); ok {
		if err := c.Check(); err != nil {
			tb.Helper()
			tb.Fatalf("Check: %v", err)
		}
	}
}

// stats returns the allocator's books and verifies the equations of memory.Stats.
func stats(tb testing.TB, a memory.Allocator) memory.Stats {
	r, ok := a.(memory.StatsReporter)
	if !ok {
		tb.Helper()
		tb.Fatalf("%T does not report Stats", a)
	}
	s := r.Stats()
	if s.InUse <= s.Committed && s.Committed <= s.Reserved && s.InUse <= s.Peak && s.Live == s.Allocs-s.Frees {
		return s
	}
	tb.Helper() // not before: it costs more than an Alloc
	if s.InUse > s.Committed || s.Committed > s.Reserved {
		tb.Fatalf("Stats: in use %d, committed %d, reserved %d are not in order", s.InUse, s.Committed, s.Reserved)
	}
	if s.InUse > s.Peak {
		tb.Fatalf("Stats: in use %d is above the peak %d", s.InUse, s.Peak)
	}
	tb.Fatalf("Stats: live %d is not allocs %d - frees %d", s.Live, s.Allocs, s.Frees)
	return s
}
