//go:build unix || windows

package page

import (
	"os"
	"strconv"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/align"
)

// maxHeap is what the Go heap can hold in one object: 47 bits of addresses at most, of which
// the runtime keeps some for itself.
const maxHeap uint64 = 1 << 46

// OS returns the operating system's own memory: what it backs is invisible to the Go
// collector and leaves no trace in its pacing. Safe for concurrent use.
func OS() Source { return OSWith(Options{}) }

// OSWith is OS with options for the first touch.
func OSWith(o Options) Source {
	return &osSource{opt: o, page: max(Granule, uintptr(os.Getpagesize()), pretended()), huge: adviseHuge, populate: populate}
}

// pretend makes the pages of the system look larger, for tests of what a kernel with such pages
// would see, and its wipes: go test -ldflags "-X github.com/strata-go/strata/memory/page.pretend=65536".
var pretend string

func pretended() uintptr {
	n, _ := strconv.ParseUint(pretend, 10, 32)
	return uintptr(n)
}

// PageSize returns the system's page size, or a Granule where that is less.
func (s *osSource) PageSize() uintptr { return s.page }

type osSource struct {
	opt      Options
	page     uintptr // bytes, at least Granule: what the system is asked for is whole pages
	huge     func([]byte) bool
	populate func([]byte) bool
	got      granted
}

// Granted returns what the options have brought.
func (s *osSource) Granted() Granted {
	return Granted{Huge: s.got.huge.Load(), Populated: s.got.populated.Load(), Touched: s.got.touched.Load()}
}

// AheadTo returns 2 MiB where huge pages are asked for: a page of which a part is not committed is
// none.
func (s *osSource) AheadTo() uintptr {
	if s.opt.HugePages {
		return hugePage
	}
	return 0
}

// pages returns the whole pages that [off, off+size) of m touches. Some kernels have pages of
// 64 KiB, so that a granule may share its page with others, whose bytes are not to be changed.
func (s *osSource) pages(m Memory, off, size uintptr) []byte {
	first := align.Down(off, s.page)
	return bytesOf(m, first, align.Up(off+size, s.page)-first)
}

func bytesOf(m Memory, off, size uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), size)
}

// advise applies the options to memory that has just been committed. Advice that the
// system does not take is no error: the memory works either way.
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
