//go:build unix

package page

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/internal/align"
)

// mapNone maps size inaccessible bytes. If addr is not nil, it replaces the mapping there, which returns the memory and
// its promise on every Unix, but may split a mapping in three. MADV_FREE would keep the old bytes visible for a while,
// and MADV_DONTNEED is only advice outside Linux.
func mapNone(addr unsafe.Pointer, size uintptr) (unsafe.Pointer, error) {
	flags := unix.MAP_PRIVATE | unix.MAP_ANON | mapNoReserve
	if addr != nil {
		flags |= unix.MAP_FIXED
	}
	return unix.MmapPtr(-1, 0, addr, size, unix.PROT_NONE, flags)
}

// probe returns an error if the system would not map and back size bytes now, as the Go heap maps them.
func probe(size uintptr) error {
	p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return unix.MunmapPtr(p, size)
}

func (s *osSource) Reserve(size uintptr) (Memory, error) {
	size, err := roundReserve(size)
	if err != nil {
		return Memory{}, err
	}
	rawSize := size + BaseAlign + s.page // the last page is the guard
	raw, err := mapNone(nil, rawSize)
	if err != nil {
		return Memory{}, &memory.Exhausted{Op: "page: system: reserve", Need: rawSize, Limit: rawSize, Cause: err}
	}
	note(raw, rawSize)
	return trimBase(raw, rawSize, size), nil
}

func (s *osSource) Commit(m Memory, off, size uintptr) error {
	checkRange("Commit", m, off, size)
	if size == 0 {
		return nil
	}
	if err := unix.Mprotect(s.pages(m, off, size), unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return &memory.Exhausted{Op: "page: system: commit", Need: size, Limit: m.Size, Cause: err}
	}
	s.advise(m, off, size)
	return nil
}

// Decommit returns the memory of whole pages to the system. It zeroes granules that share a page with others. If m
// permits accessible holes and the system can discard pages, the pages stay accessible. If not, they become
// inaccessible. Commit works after both. After a discard it is a call of 0.4 µs that changes nothing.
func (s *osSource) Decommit(m Memory, off, size uintptr) error {
	checkRange("Decommit", m, off, size)
	end := max(off+size, m.open-min(m.open, uintptr(m.Base)))
	first, last := align.Up(off, s.page), align.Down(end, s.page)
	if first >= last {
		return s.wipe(m, off, end-off)
	}
	if !m.inside || !discard(bytesOf(m, first, last-first)) {
		if _, err := mapNone(unsafe.Add(m.Base, first), last-first); err != nil {
			return err
		}
	}
	return errors.Join(s.wipe(m, off, first-off), s.wipe(m, last, end-last))
}

// wipe zeroes granules that share their page with others. The page keeps its memory.
func (s *osSource) wipe(m Memory, off, size uintptr) error {
	if size == 0 {
		return nil
	}
	if err := unix.Mprotect(s.pages(m, off, size), unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	clear(bytesOf(m, off, size))
	return nil
}

func (s *osSource) Release(m Memory) error {
	if m.raw == nil {
		return nil
	}
	return unmap(m, func() error { return unix.MunmapPtr(m.raw, m.rawSize) })
}
