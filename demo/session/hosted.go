package session

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Hosted returns an allocator in the manager's tiers for the caller's own blocks, such as sounds. The blocks count
// under the tag, and are valid until Free or Close. Each allocation and each Free makes the [Past] drop its states: a
// state can only be loaded while the same blocks are live. Loading a state restores the contents of blocks up to
// game.SlabMax bytes. Larger blocks keep their contents. The error is that of [tiers.Manager.Tag].
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
