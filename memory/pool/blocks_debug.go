package pool

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/invariant"
)

// Debug builds poison free slots and record the size of each Alloc.

// slot returns the number of the slot that starts at p.
func (b *Blocks) slot(p unsafe.Pointer) uintptr { return (uintptr(p) - uintptr(b.base)) / b.size }

func (b *Blocks) debugGet(p unsafe.Pointer) {
	b.owner.Touch()
	b.verify(p)
	b.asked[b.slot(p)] = 0
	b.lives.Begin((uintptr(p)-uintptr(b.base))>>granuleShift, b.size)
	invariant.Fresh(p, b.size)
}

func (b *Blocks) debugPut(p unsafe.Pointer) {
	b.owner.Touch()
	invariant.Freed(p, b.size)
}

// debugOpen verifies the slots up to end that were opened before, and poisons the others.
func (b *Blocks) debugOpen(end uintptr) {
	known := max(b.opened, min(end, b.soiled))
	for i := b.opened; i < known; i++ {
		b.verify(unsafe.Add(b.base, i*b.size))
	}
	invariant.Freed(unsafe.Add(b.base, known*b.size), (end-known)*b.size)
}

// verify panics if the free slot at p was written to. It poisons the slot again, so that the next call can allocate it.
func (b *Blocks) verify(p unsafe.Pointer) {
	if what := damage(p, b.size); what != "" {
		invariant.Freed(p, b.size)
		panic(&memory.Misuse{Package: "pool", Op: "Get", Addr: uintptr(p), Reason: what})
	}
}

// wasAsked reports whether the live block at p may have been requested with size.
func (b *Blocks) wasAsked(p unsafe.Pointer, size uintptr) bool {
	asked := b.asked[b.slot(p)]
	return asked == 0 || asked-1 == size
}
