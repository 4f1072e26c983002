package page

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Heap returns the stand-in backing: each reservation is one pointer-free object of the Go
// heap. Reserving costs the memory at once; Commit zeroes; Release drops the reference.
// Under -race and checkptr every byte of it is watched. Safe for concurrent use.
//
// Go ends the process when its heap cannot grow, so the system is asked first: what it would
// refuse is refused here, as an error. Where it cannot be asked, in the browser, the most that
// one reservation may have is 1 GiB.
func Heap() Source { return heapSource{} }

type heapSource struct{}

// heapGuard is what lies behind Base+Size so that an end pointer stays in its object.
const heapGuard = 64

func (heapSource) Reserve(size uintptr) (Memory, error) {
	size, err := roundReserve(size)
	if err != nil {
		return Memory{}, err
	}
	if uint64(size) > maxHeap {
		return Memory{}, fmt.Errorf("page: reserve %d bytes of the Go heap: want 1 to %d: %w: %w", size, maxHeap, memory.ErrConfig, memory.ErrTooLarge)
	}
	rawSize := size + BaseAlign + heapGuard
	if err := HeapRoom(rawSize); err != nil {
		return Memory{}, err
	}
	raw := unsafe.Pointer(unsafe.SliceData(make([]byte, rawSize)))
	return trimBase(raw, rawSize, size), nil
}

// HeapRoom reports whether the Go heap could grow by size bytes now; otherwise the error is a
// [*memory.Exhausted]. Who has a number out of a configuration size its books asks first, as Go
// ends the process when it is refused. Small sizes are not asked for: Go would end the process
// for any other object of that size, too.
func HeapRoom(size uintptr) error {
	if size < askedFor {
		return nil
	}
	err := errBeyond
	if need := heapTakes(size); need > size && uint64(size) <= maxHeap+BaseAlign+heapGuard {
		err = probe(need)
	}
	if err != nil {
		return &memory.Exhausted{Op: "page: Go heap", Need: size, Limit: size, Cause: err}
	}
	return nil
}

// AddressRoom reports whether the process could map size bytes more, as the Go heap, the stacks of
// threads and libraries do later: a limit on address space, such as ulimit -v, ends the process when
// one of them is refused. Otherwise the error is a [*memory.Exhausted]. It asks for addresses only,
// so that the system's memory does not matter. Where there is nothing to map it returns nil.
func AddressRoom(size uintptr) error {
	if heapOnly {
		return nil
	}
	m, err := OS().Reserve(size)
	if err != nil {
		return err
	}
	return OS().Release(m)
}

// askedFor is the smallest size that HeapRoom asks the system for.
const askedFor = 1 << 20

var errBeyond = errors.New("beyond what the Go heap can address")

// maxBooks is the most that the books of one reservation may take of the Go heap: a larger
// unit is the remedy, and 1 GiB describes 4 GiB of the smallest units of 16 bytes.
const maxBooks = 1 << 30

// roomFor says why the Go heap cannot grow by so many bytes for books, or nil.
func roomFor(books uint64) error {
	if books > maxBooks {
		return fmt.Errorf("books of %d bytes; at most %d are possible", books, maxBooks)
	}
	return HeapRoom(uintptr(books))
}

// heapTakes returns what Go asks the system for where an object of size bytes is to find room:
// whole arenas, of 4 MiB on 32 bits and 64 MiB on 64, and their books.
func heapTakes(size uintptr) uintptr {
	const arena = 4 << 20 << (4 * (^uintptr(0) >> 63))
	return size + size/32 + arena
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
