// Package resident finds the owner of each part of the process's resident memory. The parts add up to RSS.
//
// # The idea
//
// The manager records its committed memory, and the Go runtime its mapped memory. The system knows how much of this
// memory is resident, and which memory is mapped besides. Read combines these sources. Every mapping of the process
// gets one owner. If several owners share a mapping, every page of the mapping gets one owner. Memory without an
// owner is reported as unexplained.
//
// # Layout
//
//	class        contents                                  recognized by
//	Tiers        the resident part of each tier            Inspector.Span, and pagemap if a mapping
//	                                                       is not one tier's alone
//	Pages        other reservations of package page        page.AppendMapped
//	GoHeap       the Go heap, including page.Heap          its name, or its addresses (below)
//	GoRuntime    the Go runtime's metadata                 its names, or the balance (below)
//	Code         the program's file                        /proc/self/exe; zeroed data: its ELF header
//	Libraries    shared libraries, vdso                    their names; zeroed data: their ELF headers
//	Native       malloc of C libraries, code generated at  [heap]; glibc's own headers; other anonymous
//	             run time                                  memory that is executable or read-only,
//	                                                       if a C library is loaded
//	Stacks       [stack], and of C threads                 the guard below them
//	Driver       shared with a driver, a display or        /dev/dri, memfd, /dev/shm, System V
//	             another process
//	Files        other files                               their names
//	Unexplained  everything else                           -
//
// # What is proved, and what is not
//
// If the kernel names the mappings of Go 1.25 and later, Report.Named is true. In this case the names decide which
// memory is Go's: a mapping without a name is not. The names need CONFIG_ANON_VMA_NAME, and are missing with
// GODEBUG decoratemappings=0.
//
// If Report.Named is false, Go's memory is found by elimination. The heap is the run of anonymous mappings without a
// gap around any object on it, because the runtime extends it upwards from its base. The base is random since Go 1.26,
// so no address is assumed. The runtime's metadata is the remaining memory that is anonymous, private, readable and
// writable, and not mapped with MAP_NORESERVE. The runtime maps memory in no other way, so the remaining memory
// includes all of Go's metadata. It may also include foreign memory; the balance finds the amount.
//
// The balance: the runtime reports how many bytes it has mapped (/memory/classes/total:bytes). The reported number
// lacks one table of 32 MiB, which is hardly touched. The memory that was taken for Go's must have this size. The
// excess is foreign memory, and as many resident bytes of GoRuntime count as unexplained. Rounding to pages and the
// loader's own data cause a small excess. The excess is 25 KiB of 54 MiB in the demo without a window, and 49 to 53
// KiB of 73 MiB with a window and 60 C libraries. Therefore an excess of 128 KiB plus 1/8192 of the mapped bytes is
// tolerated, and counts as Go's.
//
// The memory of C libraries is recognized by the headers of glibc, if a library is loaded. Each chunk that is a
// mapping, and each heap of a thread, begins with its length. Mappings of another allocator, or of a library itself,
// are unexplained, except executable memory, read-only memory and guarded stacks.
//
// Package resident cannot know:
//
//   - Who called malloc: drivers cannot be distinguished from other libraries.
//   - The memory of the graphics card, and of other processes, such as the display server.
//   - The owner of pages that are shared with other processes: RSS counts them whole, Pss in parts.
//   - Swapped-out memory, and huge pages of hugetlbfs: neither the kernel's RSS nor Report.RSS has them.
//   - The owners of the single reservations in class Pages: only their sum is known.
//   - The other parts of a Go heap that is not one run, as on 32-bit systems: they count as GoRuntime, and the balance
//     holds.
//   - The shadow memory of the race detector: it is unexplained.
//
// # RSS
//
// RSS is the sum over smaps, for which the kernel walks the page tables. /proc/self/statm, which tiers.Snapshot
// reads, has counters that lag by some pages for each thread and processor. So smaps and statm differ by up to a few
// hundred KiB in either direction. Reading them does not stop the process. The kernel writes smaps a few mappings at
// a time, so memory that is touched meanwhile may or may not be counted. All classes are parts of the sum over smaps
// and always add up to this sum. Private and Dirty of a program's file that was just built include the pages that are
// not yet on the disk.
//
// # Use it when, and when not
//
// Use Read when a level has ended or a developer asks. Use tiers.Snapshot for an overlay in every frame, and for
// committed bytes.
//
// # Cost
//
// A Read walks the page tables of the process, twice for mappings of malloc or of several owners. It also reads the
// first page of some libraries' files:
//
//	process                                    mappings       a Read
//	a test of this package                           30       0.3 ms
//	the demo without a window, 27 MiB               120       0.9 ms
//	the demo in a window, 168 MiB                   460       6 ms
//	1 GiB that was touched in a tier, page by page   32       24 ms
//
// go test ./memory/resident -bench Read, and twenty Reads in the demo; Intel Xeon, Go 1.26.8. These are the lowest
// times on a machine that was busy with other work; some took ten times as long. A Report that is used again keeps
// 200 KiB of scratch memory on the Go heap. A Read makes about 60 allocations, most of them for the files that it
// opens.
//
// # Concurrency and the collector
//
// A Report belongs to one goroutine at a time. With a manager, Read must run on the game goroutine. A game that
// cannot wait calls Note on the game goroutine and Fill on another goroutine. Between calls no file is open and
// nothing is registered.
//
// # Source
//
// proc_pid_smaps(5) and proc_pid_pagemap(5). The layout of the Go heap is from runtime/malloc.go. The layout of
// glibc's chunks and heaps is from malloc/malloc.c and malloc/arena.c.
package resident
