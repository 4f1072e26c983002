package tiers

import (
	"fmt"

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
	case m.phase&inLevel == 0:
		return nil, m.order("Declare", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return nil, m.order("Declare", "inside a frame", "EndFrame first")
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

// end closes the level's arena and keeps its books.
func (s *static) end() error {
	if s.arena == nil {
		return nil
	}
	if err := s.arena.Close(); err != nil {
		return err
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

func (s *static) check() error {
	if s.arena == nil {
		return nil
	}
	return s.arena.Check()
}
