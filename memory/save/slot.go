package save

// A Slot has the bytes of one state, or none yet. Its memory is allocated once, by [Set.NewSlot].
type Slot struct {
	set       *Set
	buf       []byte
	full      bool // buf is a state
	canonical bool
}

// NewSlot returns an empty slot for states of up to bytes bytes of s. [Set.Size] returns what the present state takes.
func (s *Set) NewSlot(bytes int) *Slot { return s.NewSlotIn(make([]byte, bytes)) }

// NewSlotIn is [Set.NewSlot] in memory of the caller, which must outlive the slot. The memory must not belong to a part of
// the Set: loading would overwrite the slot.
func (s *Set) NewSlotIn(memory []byte) *Slot { return &Slot{set: s, buf: memory[:0]} }

// NewCanonical is [Set.NewSlot] for states whose bytes are equal if the states are. The bytes contain no addresses, and
// nothing that was left in free blocks. Saving takes longer. [Set.Diff] compares such slots. Builds with memfast have no
// live bits: there the state of a slab.Heap has its free blocks, too. So have all states of debug builds.
func (s *Set) NewCanonical(bytes int) *Slot {
	slot := s.NewSlot(bytes)
	slot.canonical = true
	return slot
}

// Bytes returns the state. The bytes belong to the slot, and are valid until the next Save. An empty slot returns nil.
func (s *Slot) Bytes() []byte {
	if !s.full {
		return nil
	}
	return s.buf
}

// Cap returns the bytes that a state may have.
func (s *Slot) Cap() int { return cap(s.buf) }

// Full reports whether the slot has a state.
func (s *Slot) Full() bool { return s.full }

// Clear makes the slot empty.
func (s *Slot) Clear() { s.buf, s.full = s.buf[:0], false }
