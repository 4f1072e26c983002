package session

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Hosted returns an allocator for the caller's own blocks, such as sounds, in the manager's tiers. The blocks count
// under the tag. When the allocator allocates or frees, the [Past] drops its states: a state can only be loaded while
// the same blocks are live. Loading a state restores the contents of blocks up to game.SlabMax bytes, and not those of
// larger ones. Hosted fails as [tiers.Manager.Tag] does.
func (s *Session) Hosted(tag string) (memory.Allocator, error) {
	a, err := s.Mem.Tag(tag)
	if err != nil {
		return nil, err
	}
	return &hosted{a, s}, nil
}

type hosted struct {
	a memory.Allocator
	s *Session
}

// Alloc allocates a block.
func (h *hosted) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	p, err := h.a.Alloc(size, align)
	if err == nil {
		if h.s.hosted == nil {
			h.s.hosted = map[unsafe.Pointer]bool{}
		}
		h.s.hosted[p] = true
		h.s.Past.forget()
	}
	return p, err
}

// Free frees a block.
func (h *hosted) Free(p unsafe.Pointer, size uintptr) {
	h.a.Free(p, size)
	delete(h.s.hosted, p)
	h.s.Past.forget()
}

// isHosted reports whether a block belongs to the host.
func (s *Session) isHosted(p unsafe.Pointer) bool { return s.hosted[p] }
