package plan

import (
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory/internal/invariant"
)

// In debug builds, once Begin was called, every byte of the block in which no buffer lives is
// invariant.FreedByte: Begin fills it all, and a buffer that dies is filled.

// verifyBirths panics if the memory of a buffer that is born after from and lives at to was written while no buffer
// lived there. It changes nothing but those bytes.
func (a *Arena) verifyBirths(from, to int) {
	for i, b := range a.plan.buffers {
		if b.Birth > from && b.Birth <= to && to < b.Death {
			for at, end := a.plan.offsets[i], a.plan.offsets[i]+b.Size; at < end; {
				next := a.deadFrom(&at, end, from)
				a.verifyDead(i, at, next)
				at = next
			}
		}
	}
}

// deadFrom moves at behind the buffers that live there at a moment, and returns how far behind it,
// up to end, none does.
func (a *Arena) deadFrom(at *uintptr, end uintptr, moment int) (next uintptr) {
	next = end
	for i := 0; i < len(a.plan.offsets) && *at < end; i++ {
		b := &a.plan.buffers[i]
		if moment < b.Birth || moment >= b.Death || a.plan.offsets[i]+b.Size <= *at {
			continue
		}
		if a.plan.offsets[i] > *at {
			next = min(next, a.plan.offsets[i])
			continue
		}
		*at = min(a.plan.offsets[i]+b.Size, end)
		next, i = end, -1 // those seen before may lie here
	}
	return next
}

// verifyDead panics where the bytes from at to end, which the buffer at index i is about to have, are not
// what the dead left.
func (a *Arena) verifyDead(i int, at, end uintptr) {
	p := unsafe.Add(a.base, at)
	x, ok := invariant.Intact(p, end-at)
	if ok {
		return
	}
	b := *(*byte)(unsafe.Add(p, x))
	invariant.Freed(p, end-at)
	m := a.misuse("Advance", fmt.Sprintf("use after death: byte %d of buffer %d, which is not born yet, was written, with %#x", at+x-a.plan.offsets[i], a.plan.buffers[i].ID, b))
	m.Addr = uintptr(p) + x
	panic(m)
}
