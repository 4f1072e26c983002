package remote

import (
	"sync/atomic"
	"unsafe"
	"weak"
)

// lineBytes keeps words that different goroutines write on different cache lines.
const lineBytes = 64

const ptrBytes = unsafe.Sizeof(uintptr(0))

// A batch carries up to Config.Batch blocks from a Freer to the inbox and goes home empty.
// One side holds it at a time; it changes hands by the push and the Swap of a list's head,
// which order everything written before with everything read after.
//
// Blocks are named by their offset from the target's base, or, where the target has none,
// by pointer. Either offs or ptrs has Config.Batch slots and the other is nil.
type batch struct {
	next   *batch // in whichever list holds it; read before the batch is passed on
	home   *home
	n      int32  // blocks in the slots, set when the batch is pushed
	epoch  uint32 // of the inbox when its blocks were put in, set when the batch is pushed
	offs   []uintptr
	ptrs   []unsafe.Pointer // nil beyond n once emptied; its length is the last word of the first line
	stamps stamps           // by slot, in debug builds; else empty
	_      [(lineBytes - (8*ptrBytes+8)%lineBytes) % lineBytes]byte
}

func newBatch(h *home) *batch {
	if h.in.span != 0 {
		return &batch{home: h, offs: make([]uintptr, h.in.size), stamps: newStamps(h.in.size)}
	}
	return &batch{home: h, ptrs: make([]unsafe.Pointer, h.in.size), stamps: newStamps(h.in.size)}
}

// slots returns the number of slots.
func (b *batch) slots() int { return len(b.offs) + len(b.ptrs) }

// A home is the place to which the batches of one Freer return. When the Freer closes, the
// home and its batches wait for the next one, so that short-lived Freers cost no batches.
//
// The counters are written by the Freer that lives here, and read by anyone. pushed is
// raised before the push, so that nobody sees a block drained that was not pushed.
type home struct {
	empty atomic.Pointer[batch] // pushed by the owner, taken whole by the Freer
	_     [lineBytes - ptrBytes]byte

	pushed    atomic.Uint64 // blocks pushed or abandoned
	abandoned atomic.Uint64 // blocks that found the inbox closed
	made      atomic.Uint64 // batches that belong here

	spare *batch // empty batches in hand
	in    *Inbox
	user  weak.Pointer[Freer] // who lives here, under Inbox.mu: one that was dropped may be collected
	_     [lineBytes - 3*8 - 3*ptrBytes]byte
}

// take returns an empty batch: one in hand, one come home, or a new one.
func (h *home) take() *batch {
	if h.spare == nil {
		h.spare = h.empty.Swap(nil)
	}
	b := h.spare
	if b == nil {
		h.made.Store(h.made.Load() + 1)
		return newBatch(h)
	}
	h.spare = b.next
	return b
}

// put lays an empty batch aside.
func (h *home) put(b *batch) {
	b.next = h.spare
	h.spare = b
}

// push adds b to the list at head unless the list is sealed. Swap is the only way out of a
// list, so a head that was seen, taken and pushed again between Load and CompareAndSwap is
// still the right next.
func push(head *atomic.Pointer[batch], b *batch) bool {
	for {
		top := head.Load()
		if top == sealed {
			return false
		}
		b.next = top
		if head.CompareAndSwap(top, b) {
			return true
		}
	}
}

// sealed is the head of an inbox that takes no more.
var sealed = new(batch)
