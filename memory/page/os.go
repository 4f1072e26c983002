//go:build unix || windows

package page

import (
	"os"
	"strconv"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// maxHeap is the largest object of the Go heap: addresses have 47 bits at most, of which the runtime keeps some.
const maxHeap uint64 = 1 << 46

// OS returns a source of memory of the operating system. The Go collector does not scan this memory, so Go pointers in
// it keep nothing alive. The memory does not count for the collector's pacing. The source is safe for concurrent use.
// On platforms that cannot map memory, such as js, OS returns [Heap].
func OS() Source { return OSWith(Options{}) }

// OSWith is [OS] with [Options], such as huge pages. If OS returns [Heap], the options have no effect.
func OSWith(o Options) Source {
	return &osSource{opt: o, page: max(Granule, uintptr(os.Getpagesize()), pretended()), huge: adviseHuge, populate: populate}
}

// pretend makes the pages of the system look larger, for tests of kernels with such pages:
// go test -ldflags "-X github.com/strata-go/strata/memory/page.pretend=65536".
var pretend string

func pretended() uintptr {
	n, _ := strconv.ParseUint(pretend, 10, 32)
	return uintptr(n)
}

// PageSize returns the system's page size in bytes, or Granule if the pages are smaller.
func (s *osSource) PageSize() uintptr { return s.page }

type osSource struct {
	opt      Options
	page     uintptr // bytes, at least Granule; calls of the system use whole pages
	huge     func([]byte) bool
	populate func([]byte) bool
	got      granted
}

// mapsMemory distinguishes the source from those that only pass calls on, for NewTable.
func (s *osSource) mapsMemory() {}

// Granted returns the numbers of bytes on which the options had an effect since the source was made.
func (s *osSource) Granted() Granted {
	return Granted{Huge: s.got.huge.Load(), Populated: s.got.populated.Load(), Touched: s.got.touched.Load()}
}

// AheadTo returns 2 MiB if Options.HugePages is set, because a page that is only partly committed is no huge page.
// Otherwise it returns 0.
func (s *osSource) AheadTo() uintptr {
	if s.opt.HugePages {
		return hugePage
	}
	return 0
}

// pages returns the whole pages that contain bytes of [off, off+size) of m. On kernels with pages of 64 KiB they may
// contain other granules, whose bytes must not change.
func (s *osSource) pages(m Memory, off, size uintptr) []byte {
	first := align.Down(off, s.page)
	return bytesOf(m, first, align.Up(off+size, s.page)-first)
}

func bytesOf(m Memory, off, size uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), size)
}

// advise applies the options to memory that was just committed. If the system does not take the advice, the memory
// works all the same.
func (s *osSource) advise(m Memory, off, size uintptr) {
	if s.opt.HugePages && s.huge(s.pages(m, off, size)) {
		s.got.huge.Add(uint64(size))
	}
	switch {
	case !s.opt.Prefault:
	case s.populate(s.pages(m, off, size)):
		s.got.populated.Add(uint64(size))
	default:
		b := bytesOf(m, off, size)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 0
		}
		s.got.touched.Add(uint64(size))
	}
}
