package page

import "golang.org/x/sys/unix"

const mapNoReserve = unix.MAP_NORESERVE

// adviseHuge reports whether the kernel took the advice. A kernel without huge pages does not.
func adviseHuge(b []byte) bool { return unix.Madvise(b, unix.MADV_HUGEPAGE) == nil }

// discard returns the memory of whole pages, which stay accessible and are zero. Unlike mapNone it splits no mapping, so
// the number of holes is not bounded by vm.max_map_count. The kernel refuses it for locked pages (mlockall).
func discard(b []byte) bool { return unix.Madvise(b, unix.MADV_DONTNEED) == nil }

// populate reports whether the kernel faulted the pages in (Linux 5.14 and later).
func populate(b []byte) bool { return unix.Madvise(b, unix.MADV_POPULATE_WRITE) == nil }
