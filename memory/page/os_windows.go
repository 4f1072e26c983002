package page

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/strata-go/strata/memory"
)

// probe returns an error if the system would not map and back size bytes now, as the Go heap maps them.
func probe(size uintptr) error {
	addr, err := windows.VirtualAlloc(0, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return err
	}
	return windows.VirtualFree(addr, 0, windows.MEM_RELEASE)
}

func (s *osSource) Reserve(size uintptr) (Memory, error) {
	size, err := roundReserve(size)
	if err != nil {
		return Memory{}, err
	}
	rawSize := size + BaseAlign + Granule // the last granule is the guard
	addr, err := windows.VirtualAlloc(0, rawSize, windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return Memory{}, &memory.Exhausted{Op: "page: system: reserve", Need: rawSize, Limit: rawSize, Cause: err}
	}
	note(fromSystem(addr), rawSize)
	return trimBase(fromSystem(addr), rawSize, size), nil
}

// fromSystem converts an address of the system to a pointer. The memory is not Go's, so neither the collector nor
// checkptr checks it.
func fromSystem(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func (s *osSource) Commit(m Memory, off, size uintptr) error {
	checkRange("Commit", m, off, size)
	if size == 0 {
		return nil
	}
	if _, err := windows.VirtualAlloc(uintptr(m.Base)+off, size, windows.MEM_COMMIT, windows.PAGE_READWRITE); err != nil {
		return &memory.Exhausted{Op: "page: system: commit", Need: size, Limit: m.Size, Cause: err}
	}
	s.advise(m, off, size)
	return nil
}

func (s *osSource) Decommit(m Memory, off, size uintptr) error {
	checkRange("Decommit", m, off, size)
	if size == 0 {
		return nil
	}
	return windows.VirtualFree(uintptr(m.Base)+off, size, windows.MEM_DECOMMIT)
}

func (s *osSource) Release(m Memory) error {
	if m.raw == nil {
		return nil
	}
	return unmap(m, func() error { return windows.VirtualFree(uintptr(m.raw), 0, windows.MEM_RELEASE) })
}
