package memtest

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Shadow knows every live block and what it must contain. Its methods end the test when
// the allocator under test breaks a promise.
type Shadow struct {
	tb     testing.TB
	blocks []Block // oldest first
	stamp  byte
}

// A Block is one live allocation as the shadow knows it.
type Block struct {
	Ptr   unsafe.Pointer
	Size  uintptr
	Align uintptr
	stamp byte
}

// NewShadow returns an empty shadow that reports to tb.
func NewShadow(tb testing.TB) *Shadow { return &Shadow{tb: tb} }

// Live returns the live blocks, oldest first; the slice is the shadow's.
func (s *Shadow) Live() []Block { return s.blocks }

// Add records a block that the allocator has just handed out and fills it.
func (s *Shadow) Add(p unsafe.Pointer, size, align uintptr) {
	s.tb.Helper()
	if p == nil {
		s.tb.Fatalf("Alloc(%d, %d) returned nil without an error", size, align)
	}
	if uintptr(p)%align != 0 {
		s.tb.Fatalf("Alloc(%d, %d) returned %p, which is not aligned", size, align, p)
	}
	b := s.stamped(p, size)
	b.Align = align
	for i := range s.blocks {
		if o := &s.blocks[i]; overlap(b, *o) {
			s.tb.Fatalf("Alloc(%d, %d) returned %p, which overlaps the live block %p of %d bytes", size, align, p, o.Ptr, o.Size)
		}
	}
	s.blocks = append(s.blocks, b)
	b.fill()
}

// stamped returns a block with the next stamp.
func (s *Shadow) stamped(p unsafe.Pointer, size uintptr) Block {
	b := Block{Ptr: p, Size: size, stamp: s.stamp}
	s.stamp += 37 // any odd step visits every byte value
	return b
}

func (b Block) fill() {
	bytes := b.bytes()
	for i := range bytes {
		bytes[i] = b.stamp
	}
}

// intact reports whether every byte of b is as it was filled.
func (b Block) intact() bool {
	for _, c := range b.bytes() {
		if c != b.stamp {
			return false
		}
	}
	return true
}

func overlap(a, b Block) bool {
	return a.Size > 0 && b.Size > 0 && uintptr(a.Ptr) < uintptr(b.Ptr)+b.Size && uintptr(b.Ptr) < uintptr(a.Ptr)+a.Size
}

func (b Block) bytes() []byte {
	if b.Size == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(b.Ptr), b.Size)
}

// Verify ends the test if a byte of b has changed since Add.
func (s *Shadow) Verify(b Block) {
	s.tb.Helper()
	for i, c := range b.bytes() {
		if c != b.stamp {
			s.tb.Fatalf("byte %d of the live block %p of %d bytes is %#x, was %#x", i, b.Ptr, b.Size, c, b.stamp)
		}
	}
}

// VerifyAll verifies every live block.
func (s *Shadow) VerifyAll() {
	s.tb.Helper()
	for _, b := range s.blocks {
		s.Verify(b)
	}
}

// Take verifies the i-th oldest block, forgets it and returns it, to be freed.
func (s *Shadow) Take(i int) Block {
	s.tb.Helper()
	b := s.blocks[i]
	s.Verify(b)
	s.Forget(i)
	return b
}

// Forget drops the i-th oldest block, which was freed.
func (s *Shadow) Forget(i int) { s.blocks = slices.Delete(s.blocks, i, i+1) }

// Resize records that the i-th oldest block was resized in place. The bytes within both sizes must be intact, and the block is filled
// again.
func (s *Shadow) Resize(i int, size uintptr) {
	s.tb.Helper()
	s.Move(i, s.blocks[i].Ptr, size)
}

// Move is Resize for a block that lies at p now.
func (s *Shadow) Move(i int, p unsafe.Pointer, size uintptr) {
	s.tb.Helper()
	b := s.blocks[i]
	kept := b
	kept.Ptr, kept.Size = p, min(b.Size, size)
	s.Verify(kept)
	s.blocks = slices.Delete(s.blocks, i, i+1)
	s.Add(p, size, b.Align)
	s.blocks = slices.Insert(s.blocks[:len(s.blocks)-1], i, s.blocks[len(s.blocks)-1])
}

// Clear forgets every block, after a Reset.
func (s *Shadow) Clear() { s.blocks = s.blocks[:0] }

// FreeAll verifies and frees every block, newest first, which every allocator accepts.
func (s *Shadow) FreeAll(a memory.Allocator) {
	s.tb.Helper()
	for len(s.blocks) > 0 {
		b := s.Take(len(s.blocks) - 1)
		a.Free(b.Ptr, b.Size)
	}
}
