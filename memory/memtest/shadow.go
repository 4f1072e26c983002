package memtest

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Shadow is a model of an allocator: it records every live block and its contents. If the allocator breaks a promise,
// a method of the Shadow fails the test by tb.Fatal. A method that gets the index of a block panics if there is no such
// block. A Shadow belongs to one goroutine at a time.
type Shadow struct {
	tb     testing.TB
	blocks []Block // oldest first
	stamp  byte
}

// A Block has the address, the size in bytes and the alignment of one live block of a [Shadow].
type Block struct {
	Ptr   unsafe.Pointer
	Size  uintptr
	Align uintptr
	stamp byte
}

// NewShadow returns an empty shadow that reports to tb.
func NewShadow(tb testing.TB) *Shadow { return &Shadow{tb: tb} }

// Live returns the live blocks, oldest first. The slice belongs to the Shadow and is valid until the next change of
// the Shadow.
func (s *Shadow) Live() []Block { return s.blocks }

// Add records a block that the allocator has just returned, and fills it with a byte value that the previous block does
// not have. The test fails if p is nil or not aligned, or if the block overlaps a live block.
func (s *Shadow) Add(p unsafe.Pointer, size, align uintptr) {
	if p == nil {
		s.tb.Helper() // not before: it costs more than an Alloc
		s.tb.Fatalf("Alloc(%d, %d) returned nil without an error", size, align)
	}
	if uintptr(p)%align != 0 {
		s.tb.Helper()
		s.tb.Fatalf("Alloc(%d, %d) returned %p, which is not aligned", size, align, p)
	}
	b := s.stamped(p, size)
	b.Align = align
	for i := range s.blocks {
		if o := &s.blocks[i]; overlap(b, *o) {
			s.tb.Helper()
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

// Verify fails the test if a byte of b was changed since the shadow filled it.
func (s *Shadow) Verify(b Block) {
	for i, c := range b.bytes() {
		if c != b.stamp {
			s.tb.Helper()
			s.tb.Fatalf("byte %d of the live block %p of %d bytes is %#x, was %#x", i, b.Ptr, b.Size, c, b.stamp)
		}
	}
}

// VerifyAll is Verify for every live block.
func (s *Shadow) VerifyAll() {
	s.tb.Helper()
	for _, b := range s.blocks {
		s.Verify(b)
	}
}

// Take verifies the i-th oldest block, from 0, removes it from the shadow and returns it. The caller frees it.
func (s *Shadow) Take(i int) Block {
	b := s.blocks[i]
	if !b.intact() {
		s.tb.Helper()
		s.Verify(b)
	}
	s.Forget(i)
	return b
}

// Forget removes the i-th oldest block, from 0, from the Shadow without verifying it. Call Forget after you have freed
// the block.
func (s *Shadow) Forget(i int) { s.blocks = slices.Delete(s.blocks, i, i+1) }

// Resize records that the i-th oldest block, from 0, was resized in place to size bytes. The test fails if a byte of
// the first min(old size, size) bytes was changed, or if the block now overlaps a live block. Resize fills the block
// again. The block keeps its place in the order.
func (s *Shadow) Resize(i int, size uintptr) {
	s.tb.Helper()
	s.Move(i, s.blocks[i].Ptr, size)
}

// Move is [Shadow.Resize] for a block that was moved to p. The allocator must have copied the first min(old size, size)
// bytes of the block to p, and p must be aligned as the block was.
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

// Clear removes every block without verification, as after a Reset of the allocator.
func (s *Shadow) Clear() { s.blocks = s.blocks[:0] }

// FreeAll verifies every block and frees it with a.Free, newest first. Every allocator accepts this order.
func (s *Shadow) FreeAll(a memory.Allocator) {
	s.tb.Helper()
	for len(s.blocks) > 0 {
		b := s.Take(len(s.blocks) - 1)
		a.Free(b.Ptr, b.Size)
	}
}
