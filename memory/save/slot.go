package save

// A Slot has the bytes of one state, or is empty. Its memory never grows. Only [Set.NewSlot], [Set.NewSlotIn] and
// [Set.NewCanonical] make a Slot that can be used. Only the goroutine of its Set may use it.
type Slot struct {
	set       *Set
	buf       []byte
	full      bool // buf is a state
	canonical bool
}

// NewSlot returns an empty slot with the given number of bytes for states of the Set. [Set.Size] returns how many the
// present state takes. The Set need not be sealed. NewSlot panics if bytes is negative.
func (s *Set) NewSlot(bytes int) *Slot { return s.NewSlotIn(make([]byte, bytes)) }

// NewSlotIn is [Set.NewSlot] in memory of the caller: the slot has len(memory) bytes. The memory must stay valid while
// the slot is used; it needs no alignment and need not be zero. It must not belong to a part of the Set, because
// loading would overwrite the slot.
func (s *Set) NewSlotIn(memory []byte) *Slot { return &Slot{set: s, buf: memory[:0:len(memory)]} }

// NewCanonical is [Set.NewSlot] for a slot in which equal states have equal bytes. The bytes contain no addresses and
// no old contents of free blocks. Saving takes longer than into other slots.
//
// There are exceptions. Padding bytes of values, the bytes of a block after its requested size, and gaps between
// blocks are saved as they are. Arenas save all bytes in use, with freed blocks among them. In memfast builds,
// slab.Heap and pool.Blocks save their free blocks, too. In debug builds most allocators do. compose.Counted over an
// allocator without Base includes addresses, and guard.Allocator includes numbers of call sites.
func (s *Set) NewCanonical(bytes int) *Slot {
	slot := s.NewSlot(bytes)
	slot.canonical = true
	return slot
}

// Bytes returns the bytes of the state, or nil if the slot is empty. They belong to the slot and must not be changed.
// They are valid until the next Save into the slot or Clear.
func (s *Slot) Bytes() []byte {
	if !s.full {
		return nil
	}
	return s.buf
}

// Cap returns how many bytes a state can have.
func (s *Slot) Cap() int { return cap(s.buf) }

// Full reports whether the slot has a state.
func (s *Slot) Full() bool { return s.full }

// Clear makes the slot empty. It keeps its memory.
func (s *Slot) Clear() { s.buf, s.full = s.buf[:0], false }
