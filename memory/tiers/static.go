package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/plan"
)

// static is the tier of buffers whose lifetimes are known before the level begins.
type static struct {
	carve *page.Carve
	arena *plan.Arena // of this level; nil where none was declared
	past  stats       // of the levels that have ended
}

// Declare places the level's static buffers as p says, and returns the arena that serves them
// until EndLevel. Once a level, inside it and outside a frame. Where the tier's budget does
// not allow it the error wraps memory.ErrOutOfMemory, nothing has changed, and a smaller plan
// may be declared.
func (m *Manager) Declare(p *plan.Plan) (*plan.Arena, error) {
	switch {
	case m.phase&inLevel == 0: // and after Close
		return nil, m.order("Declare", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return nil, m.order("Declare", "inside a frame", "EndFrame first")
	case m.border != "":
		return nil, m.order("Declare", "from a hook or a callback in "+m.border, "return from it first")
	case m.static.arena != nil:
		return nil, m.order("Declare", "a second time in a level", "EndLevel first")
	}
	m.static.carve.Reset()
	a, err := plan.New(m.limits[Static], p)
	if err != nil {
		m.static.past.Failures++
		return nil, fmt.Errorf("tiers: static: %w", err)
	}
	m.static.arena = a
	return a, nil
}

// Static returns the arena of the level's static buffers, or nil where none were declared.
func (m *Manager) Static() *plan.Arena { return m.static.arena }

// holds reports whether a declared buffer starts at p, and has the size where it is known.
func (s *static) holds(p unsafe.Pointer, size uintptr, known bool) bool {
	ok := false
	s.at(p, func(b plan.Buffer) bool { ok = !known || b.Size == size; return !ok })
	return ok
}

// sizeOf returns the size of the largest buffer that starts at p: several do where one follows
// another in time.
func (s *static) sizeOf(p unsafe.Pointer) (size uintptr, ok bool) {
	s.at(p, func(b plan.Buffer) bool { size, ok = max(size, b.Size), true; return true })
	return size, ok
}

// at yields the declared buffers that start at p. Cost: proportional to the plan.
func (s *static) at(p unsafe.Pointer, yield func(plan.Buffer) bool) {
	if s.arena == nil {
		return
	}
	at := uintptr(p) - uintptr(s.arena.Base())
	for b, off := range s.arena.Plan().All() {
		if off == at && !yield(b) {
			return
		}
	}
}

// end closes the level's arena and keeps its books.
func (s *static) end() error {
	if s.arena == nil {
		return nil
	}
	if err := s.arena.Close(); err != nil {
		return fmt.Errorf("tiers: static: %w", err)
	}
	was := s.arena.Stats()
	s.past.Peak = max(s.past.Peak, was.Peak)
	s.past.Allocs += was.Allocs
	s.past.Frees += was.Frees
	s.arena = nil
	return nil
}

func (s *static) stats() stats {
	now := s.past
	if s.arena == nil {
		return now
	}
	now = s.arena.Stats().Add(now)
	now.Peak = max(s.arena.Stats().Peak, s.past.Peak)
	return now
}

// Check verifies the arena's own invariants.
func (s *static) Check() error {
	if s.arena == nil {
		return nil
	}
	return s.arena.Check()
}
