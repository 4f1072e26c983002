package game

import (
	"errors"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/guard"
	"github.com/strata-go/strata/memory/tiers"
)

// A general is the manager's general heap and no more of it: a guard around the manager itself
// would close the manager.
type general struct{ m *tiers.Manager }

func (g general) Alloc(size, align uintptr) (unsafe.Pointer, error) { return g.m.Alloc(size, align) }
func (g general) Free(p unsafe.Pointer, size uintptr)               { g.m.Free(p, size) }

// A large is the manager's tier for large blocks, also where they are hardly above the slab's.
type large struct{ m *tiers.Manager }

func (l large) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	return l.m.Large().Alloc(size, align)
}
func (l large) Free(p unsafe.Pointer, size uintptr) { l.m.Free(p, size) }

// quarantine is how many bytes of freed blocks a guarded game keeps from reuse.
const quarantine = 64 << 10

// newHeap returns the heap for blocks of many lengths, with a guard around it if wanted.
func newHeap(m *tiers.Manager, guarded bool) (memory.Allocator, *guard.Allocator, error) {
	if !guarded {
		return general{m}, nil, nil
	}
	w, err := guard.New(general{m}, guard.Config{QuarantineBytes: quarantine})
	return w, w, err
}

// Leaks returns what a guarded game has allocated in this realm and not freed, with call sites,
// or nothing.
func (g *Game) Leaks() []guard.Leak {
	if g.guard == nil {
		return nil
	}
	return g.guard.LeaksSince(g.moment)
}

// Close ends the game's own use of the tiers; the pools close with the manager. The error
// names what a guard has found.
func (g *Game) Close() error {
	err := g.End()
	if g.flow != nil {
		err = errors.Join(err, g.flow.Close())
	}
	if g.guard == nil {
		return err
	}
	return errors.Join(err, g.guard.Close())
}
