package pool

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// damage describes what was written to the free slot at p since it was poisoned; "" if nothing.
func damage(p unsafe.Pointer, size uintptr) string {
	off, ok := invariant.Intact(p, size)
	if ok {
		return ""
	}
	return fmt.Sprintf("use after free: byte %d of a free slot of %d bytes was written since it was freed, with %#x",
		off, size, *(*byte)(unsafe.Add(p, off)))
}

// verify panics if slot i was written to since it was freed. It poisons the slot again, so that the next call can
// allocate it.
func verify(i uint, g backing) {
	if at, what := g.damage(i); what != "" {
		g.soil(i, i+1)
		panic(&memory.Misuse{Package: "pool", Op: "New", Addr: uintptr(at), Reason: what})
	}
}

// verifyNext verifies the slot that take will pop.
func (s *metadata) verifyNext(g backing) {
	if s.n > 0 {
		verify(uint(s.free[s.n-1]), g)
	}
}
