//go:build unix || windows

package page

import "unsafe"

// maxHeap is what the Go heap can hold in one object: 47 bits of addresses at most, of which
// the runtime keeps some for itself.
const maxHeap uint64 = 1 << 46

// OS returns the operating system's own memory: what it backs is invisible to the Go
// collector and leaves no trace in its pacing. Safe for concurrent use.
func OS() Source { return &osSource{} }

// OSWith is OS with options for the first touch.
func OSWith(o Options) Source { return &osSource{opt: o} }

type osSource struct{ opt Options }

// advise applies the options to memory that has just been committed. Advice that the
// system does not take is no error: the memory works either way.
func (s *osSource) advise(b []byte) {
	if s.opt.HugePages {
		adviseHuge(b)
	}
	if s.opt.Prefault && !populate(b) {
		for i := 0; i < len(b); i += 4096 {
			*(*byte)(unsafe.Pointer(&b[i])) = 0
		}
	}
}
