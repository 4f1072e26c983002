package pool

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// damage says what was written to the free slot at p since it was poisoned; "" if nothing.
func damage(p unsafe.Pointer, size uintptr) string {
	off, ok := invariant.Intact(p, size)
	if ok {
		return ""
	}
	return fmt.Sprintf("use after free: byte %d of a free slot of %d bytes was written since it was freed, with %#x",
		off, size, *(*byte)(unsafe.Add(p, off)))
}

// verify panics where slot i, which is about to be handed out, was written to, and heals it,
// so that it can be had next.
func verify(i uint, g ground) {
	if at, what := g.damage(i); what != "" {
		g.soil(i, i+1)
		panic(&memory.Misuse{Package: "pool", Op: "New", Addr: uintptr(at), Reason: what})
	}
}

// verifyNext verifies the slot that take will pop.
func (s *slots) verifyNext(g ground) {
	if s.n > 0 {
		verify(uint(s.free[s.n-1]), g)
	}
}
