package page

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// Heap returns a source whose reservations are pointer-free objects of the Go heap. Reserve allocates all of the
// memory, zeroed; Commit costs nothing; Decommit zeroes the bytes. Release does nothing: the object is collected when
// there is no pointer into it. With -race and checkptr every access is checked. The source is safe for concurrent
// use.
//
// Go ends the process if its heap cannot grow. From 1 MiB on Reserve therefore asks the system first, and returns a
// [*memory.Exhausted] if the system refuses. In the browser Reserve cannot ask. If Reserve is asked for more than 64
// TiB (1 GiB in the browser, almost 2 GiB on 32-bit systems), its error wraps memory.ErrTooLarge and memory.ErrConfig.
func Heap() Source { return heapSource{} }

type heapSource struct{}

// heapGuard is the bytes behind Base+Size, so that a pointer to the end stays in its object.
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
	if err := ProbeHeap(rawSize); err != nil {
		return Memory{}, err
	}
	raw := unsafe.Pointer(unsafe.SliceData(make([]byte, rawSize)))
	return trimBase(raw, rawSize, size), nil
}

// ProbeHeap returns nil if the Go heap can grow by size bytes now. Otherwise it returns a [*memory.Exhausted]. Go
// ends the process if its heap cannot grow: call ProbeHeap before an allocation whose size comes from a
// configuration. For a size below 1 MiB ProbeHeap returns nil without a probe. From 1 MiB on it asks the system for
// the sum of size, size/32 and 64 MiB (4 MiB on 32-bit systems). In the browser the system cannot be asked: there
// ProbeHeap refuses only sizes above 1 GiB plus about 64 KiB.
func ProbeHeap(size uintptr) error {
	if size < leastProbe {
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

// ProbeAddresses returns nil if the process can map size bytes more. Otherwise it returns the error with which [OS]
// refuses to reserve size bytes, mostly a [*memory.Exhausted]. If size is 0, the error wraps memory.ErrConfig.
//
// The Go heap, the stacks of threads and libraries map memory later. Under a limit on address space, such as ulimit
// -v, the process ends if the system refuses such a mapping. ProbeAddresses maps addresses without memory, and unmaps
// them. With -race and -asan, and on platforms without mappings, it returns nil for every size.
func ProbeAddresses(size uintptr) error {
	if heapOnly {
		return nil
	}
	m, err := OS().Reserve(size)
	if err != nil {
		return err
	}
	return OS().Release(m)
}

// leastProbe is the smallest size that ProbeHeap asks the system for.
const leastProbe = 1 << 20

var errBeyond = errors.New("beyond what the Go heap can address")

// maxMetadata is the most bytes that the metadata of one reservation may take of the Go heap. A larger unit needs less;
// 1 GiB describes 4 GiB of the smallest units, of 16 bytes.
const maxMetadata = 1 << 30

// probeMetadata returns why the Go heap cannot grow by so many bytes of metadata, or nil.
func probeMetadata(bytes uint64) error {
	if bytes > maxMetadata {
		return fmt.Errorf("metadata of %d bytes: want at most %d", bytes, maxMetadata)
	}
	return ProbeHeap(uintptr(bytes))
}

// heapTakes returns the bytes that Go asks the system for to allocate an object of size bytes. Those are whole arenas, of
// 4 MiB on 32 bits and 64 MiB on 64 bits, and their metadata.
func heapTakes(size uintptr) uintptr {
	const arena = 4 << 20 << (4 * (^uintptr(0) >> 63))
	return size + size/32 + arena
}

func (heapSource) Commit(m Memory, off, size uintptr) error {
	checkRange("Commit", m, off, size)
	return nil // zeroed by make, or by Decommit
}

func (heapSource) Decommit(m Memory, off, size uintptr) error {
	checkRange("Decommit", m, off, size)
	clear(unsafe.Slice((*byte)(unsafe.Add(m.Base, off)), size))
	return nil
}

func (heapSource) Release(Memory) error { return nil }
