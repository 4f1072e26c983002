package page

import (
	"unsafe"
)

// Heap returns the stand-in backing: each reservation is one pointer-free object of the Go
// heap. Reserving costs the memory at once; Commit zeroes; Release drops the reference.
// Under -race and checkptr every byte of it is watched. Safe for concurrent use.
func Heap() Source { return heapSource{} }

type heapSource struct{}

// heapGuard is what lies behind Base+Size so that an end pointer stays in its object.
const heapGuard = 64

func (heapSource) Reserve(size uintptr) (Memory, error) {
	size, err := roundReserve(size)
	if err != nil {
		return Memory{}, err
	}
	rawSize := size + BaseAlign + heapGuard
	raw := unsafe.Pointer(unsafe.SliceData(make([]byte, rawSize)))
	return trimBase(raw, rawSize, size), nil
}

func (heapSource) Commit(m Memory, off, size uintptr) error {
	checkRange("Commit", m, off, size)
	return nil // fresh from make, or cleared by Decommit
}

func (heapSource) Decommit(m Memory, off, size uintptr) error {
	checkRange("Decommit", m, off, size)
	clear(unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), size))
	return nil
}

func (heapSource) Release(Memory) error { return nil }
