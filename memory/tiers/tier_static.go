package tiers

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/plan"
)

var staticRow = row{
	Info: Info{
		Name: "static", Text: "buffers with declared lifetimes; freed at EndLevel",
		Color: 0x7aa2ff, Reserve: 16 << 20, Freed: LevelEnd, Hooks: LevelEnd, Planned: true,
	},
	state:   func(m *Manager) state { return &m.static },
	hooksIn: inLevel,
}

// staticTier has the buffers of the level that are placed by a plan.
type staticTier struct {
	basic
	hookList
	arena    *plan.Arena // of this level; nil if none was declared
	declared uint64      // plans so far
	past     stats       // of the levels that have ended

	recorder *recorder // of the manager, or nil
}

// Declare places the level's static buffers according to the plan p. Declare returns the arena of these buffers,
// valid until EndLevel or Close. Call Declare inside a level and outside a frame, and not again after a success in
// this level. If it is called at another time or from a callback, the error wraps [ErrOrder]. If p is nil, the error
// wraps memory.ErrConfig. If the tier's budget is too small or the system refuses the memory, the error wraps
// memory.ErrOutOfMemory. Any other error of the page source is wrapped, too. After an error nothing is declared, and
// another plan may be declared.
func (m *Manager) Declare(p *plan.Plan) (*plan.Arena, error) {
	switch {
	case m.phase&inLevel == 0: // also after Close
		return nil, m.order("Declare", "outside a level", "BeginLevel first")
	case m.phase&inFrame != 0:
		return nil, m.order("Declare", "inside a frame", "EndFrame first")
	case m.static.arena != nil:
		return nil, m.order("Declare", "a second time in a level", "EndLevel first")
	}
	if err := m.midway("Declare"); err != nil {
		return nil, err
	}
	m.parts[Static].Reset()
	a, err := plan.New(m.limits[Static], p)
	if err != nil {
		if refused(err) {
			m.static.past.Failures++
		}
		return nil, fmt.Errorf("tiers: static: %w", err)
	}
	m.static.arena = a
	m.static.declared++
	m.recorder.declared(a)
	return a, nil
}

// Static returns the arena of the level's static buffers. Outside a level, and if the level has declared no buffers,
// Static returns nil.
func (m *Manager) Static() *plan.Arena { return m.static.arena }

// build does nothing: Declare makes an arena for each level.
func (s *staticTier) build(m *Manager) error { s.recorder = m.recorder; return nil }

// free frees nothing: a buffer is valid until EndLevel.
func (s *staticTier) free(m *Manager, op string, p unsafe.Pointer, size uintptr, known bool) bool {
	if known && !s.holds(p, size, true) && s.holds(p, 0, false) {
		has, _ := s.sizeOf(m, p)
		panic(m.misuse(op, p, size, fmt.Sprintf("wrong size: the static buffer has %d bytes, not %d", has, size)))
	}
	return s.holds(p, size, known)
}

func (s *staticTier) resize(m *Manager, p unsafe.Pointer, oldSize, newSize uintptr) (ok, live bool) {
	return newSize == oldSize, s.free(m, "Resize", p, oldSize, true)
}

// sizeOf returns the size of the largest buffer that starts at p: several do if one follows another in
// time.
func (s *staticTier) sizeOf(m *Manager, p unsafe.Pointer) (size uintptr, kept bool) {
	found := false
	s.at(p, func(b plan.Buffer) bool { size, found = max(size, b.Size), true; return true })
	if !found {
		panic(m.misuse("SizeOf", p, 0, "no static buffer starts there"))
	}
	return size, true
}

// holds reports whether a declared buffer starts at p and, if the size is known, has that size.
func (s *staticTier) holds(p unsafe.Pointer, size uintptr, known bool) bool {
	ok := false
	s.at(p, func(b plan.Buffer) bool { ok = !known || b.Size == size; return !ok })
	return ok
}

// at yields the declared buffers that start at p. Cost: proportional to the plan.
func (s *staticTier) at(p unsafe.Pointer, yield func(plan.Buffer) bool) {
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

func (s *staticTier) stats(*Manager) stats {
	now := s.past
	if s.arena == nil {
		return now
	}
	now = s.arena.Stats().Add(now)
	now.Peak = max(s.arena.Stats().Peak, s.past.Peak)
	return now
}

func (s *staticTier) check(c *checker) {
	if s.arena == nil {
		return
	}
	c.Join(s.arena.Check())
	if c.m.phase&inLevel == 0 {
		c.Add("there is no level, but static buffers are declared")
	}
}

func (s *staticTier) end(*Manager) error { return s.closeArena() }

// closeArena closes the level's arena and keeps its statistics.
func (s *staticTier) closeArena() error {
	if s.arena == nil {
		return nil
	}
	base := s.arena.Base()
	if err := s.arena.Close(); err != nil {
		return fmt.Errorf("tiers: static: %w", err)
	}
	s.recorder.freed(Static, base)
	s.forget()
	return nil
}

// forget keeps the statistics of the arena, which is closed. If the source has ended in Close, there is none.
func (s *staticTier) forget() {
	if s.arena == nil {
		return
	}
	was := s.arena.Stats()
	s.past.Peak = max(s.past.Peak, was.Peak)
	s.past.Allocs += was.Allocs
	s.past.Frees += was.Frees
	s.arena = nil
}

func (s *staticTier) close(e *ending, stage stage) {
	if stage == closeArenas {
		e.add("the static buffers", s.closeArena)
	}
}

func (s *staticTier) lose(m *Manager) {
	s.hooks = nil
	m.parts[Static].Close() // closes the arena
	s.forget()
}
