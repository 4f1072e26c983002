//go:build unix || windows

package page

import (
	"os"
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
	return &osSource{opt: o, page: max(Granule, uintptr(os.Getpagesize())), huge: adviseHuge, populate: populate}
}

type osSource struct {
	opt      Options
	page     uintptr // bytes, at least Granule: what the system is asked for is whole pages
	huge     func([]byte)
	populate func([]byte) bool
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
	if s.opt.HugePages {
		s.huge(s.pages(m, off, size))
	}
	if s.opt.Prefault && !s.populate(s.pages(m, off, size)) {
		b := bytesOf(m, off, size)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 0
		}
	}
}
