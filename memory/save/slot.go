package save

// A Slot has the bytes of one state, or none yet. Its memory never grows. Only [Set.NewSlot], [Set.NewSlotIn] and
// [Set.NewCanonical] make a Slot that can be used. It belongs to the goroutine of its Set.
type Slot struct {
	set       *Set
	buf       []byte
	full      bool // buf is a state
	canonical bool
}

// NewSlot returns an empty slot for states of up to bytes bytes of s. [Set.Size] returns what the present state takes. The
// Set need not be sealed. NewSlot panics if bytes is negative.
func (s *Set) NewSlot(bytes int) *Slot { return s.NewSlotIn(make([]byte, bytes)) }

// NewSlotIn is [Set.NewSlot] in memory of the caller, which must outlive the slot. No alignment is needed, and it need not
// be zero. The memory must not belong to a part of the Set: loading would overwrite the slot.
func (s *Set) NewSlotIn(memory []byte) *Slot { return &Slot{set: s, buf: memory[:0:len(memory)]} }

// NewCanonical is [Set.NewSlot] for states that have equal bytes if they are equal. The bytes contain no addresses and no
// old bytes of free blocks. Saving takes longer. [Set.Diff] compares such slots.
//
// There are two exceptions. With memfast the state of a slab.Heap includes its free blocks, because it has no live bits. In
// debug builds all allocators include their free blocks.
func (s *Set) NewCanonical(bytes int) *Slot {
	slot := s.NewSlot(bytes)
	slot.canonical = true
	return slot
}

// Bytes returns the state. The bytes belong to the slot and must not be changed. They are valid until the next Save or
// Clear. An empty slot returns nil.
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
