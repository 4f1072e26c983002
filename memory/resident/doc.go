// Package resident tells whose the resident memory of the process is, so that the books add up.
//
// # The idea
//
// The manager knows what it has committed, the Go runtime what it has mapped, and the system what
// of either is resident, and much that neither knows of. Read lays them over one another: every
// mapping of the process, and every page of one that several share, has one owner, and what has none
// is shown as unexplained.
//
// # Layout
//
//	class        what                                      known by
//	Tiers        what of each tier is resident, whatever   Manager.Span, and pagemap where a
//	             it has committed                          mapping is not one tier's alone
//	Pages        other reservations of package page        page.AppendMapped
//	GoHeap       the Go heap; page.Heap, too               its name, or its addresses (below)
//	GoRuntime    the Go runtime's books                    its names, or the balance (below)
//	Code         the program's file                        /proc/self/exe; zeroed data: its ELF header
//	Libraries    shared libraries, vdso                    their names; zeroed data: their ELF headers
//	Native       malloc of C libraries, code made at run   [heap]; glibc's own headers; no other maker
//	             time                                      of anonymous memory that can be executed
//	Stacks       [stack], and of threads of C              the guard below
//	Driver       shared with a driver, a display or        /dev/dri, memfd, /dev/shm, System V
//	             another process
//	Files        other files                               their names
//	Unexplained  what remains                              nothing
//
// # What is proved, and what is not
//
// Where the kernel names the mappings of Go 1.25 and later (CONFIG_ANON_VMA_NAME, and not GODEBUG
// decoratemappings=0), Report.Named is true and the split is the kernel's word: an anonymous mapping
// without a name is nobody's.
//
// Elsewhere it is shown by what is left. The heap is the run of anonymous mappings without a gap
// around any object on it, as the runtime extends it from its base upwards; the base is random since
// Go 1.26, so no address is assumed. Its books are what is anonymous, private, readable and writable,
// not mapped with MAP_NORESERVE, and not claimed by anybody above: the runtime maps memory in no other
// way. So all that is Go's is among these, and the question is what else is. The runtime says how
// many bytes it has mapped (/memory/classes/total:bytes), and beside that it has one table of 32 MiB,
// hardly touched: the addresses that are taken for Go's must come to that sum. As much as they are
// more is foreign, and as much of what is resident there is unexplained. Measured they are more by 25
// KiB of 54 MiB in the demo alone and 49 to 53 KiB of 73 MiB with a window and 60 libraries of C, by
// rounding to pages and what the loader keeps: 128 KiB, and 1/8192 of what is mapped, are allowed for
// and pass for Go's.
//
// What is claimed for C libraries is claimed by what glibc writes into its memory, where a library
// is loaded at all: the length of each chunk that is a mapping, and of each heap of a thread, at the
// place where they begin. What another allocator maps, or a library by itself, is unexplained, but
// for memory that can be executed or only read, and guarded stacks.
//
// What it cannot know:
//
//   - Who called malloc: drivers are not told from other libraries.
//   - What is on the graphics card, or in another process, such as the display's.
//   - Of pages shared with other processes, whose they "are": RSS counts them whole, Pss in parts.
//   - What is swapped out, and huge pages of hugetlbfs: they are in no RSS, the kernel's or this one.
//   - Which allocator or world has which of the other reservations of package page: only their sum.
//   - Of a Go heap that is not one run, as on 32 bits, where its other parts are: they count as
//     GoRuntime, and the balance holds.
//   - Under the race detector what its shadow is: that is unexplained.
//
// # RSS
//
// RSS is the sum over smaps, for which the kernel walks the page tables. /proc/self/statm, which
// tiers.Snapshot reads, has counters instead, which lag by some pages for each thread and processor:
// both differ by up to a few hundred KiB, either way. Neither stops the process: smaps is written a
// few mappings at a time, and what is touched meanwhile is counted or not; but the classes are cut
// from that one sum and always add up to it. Private and Dirty of a program's file that was just
// built count the pages that are not yet on the disk.
//
// # Use it when, and when not
//
// Use it when a level has ended or a developer asks. For an overlay in every frame, and for
// committed bytes, tiers.Snapshot is made.
//
// # Cost
//
// A Read walks the page tables of the process (twice where malloc or several owners share a
// mapping) and reads the first page of some libraries' files:
//
//	process                                    mappings       a Read
//	a test of this package                           30       0.3 ms
//	the demo without a window, 27 MiB               120       0.9 ms
//	the demo in a window, 168 MiB                   460       6 ms
//	1 GiB that was touched in a tier, page by page   32       24 ms
//
// go test ./memory/resident -bench Read, and twenty times in the demo; Intel Xeon, Go 1.26.8, the
// lowest on a machine that was busy with other work, where some took ten times as long. A Report that
// is used again keeps 200 KiB of scratch on the Go heap and makes some 60 allocations, most of them
// for the files that are opened.
//
// # Concurrency and the collector
//
// A Report belongs to one goroutine at a time. With a manager Read is the game goroutine's, as
// Manager.Span is; a game that cannot wait calls Note there and Fill on another one. Nothing is kept open or
// registered in between.
//
// # Source
//
// proc_pid_smaps(5) and proc_pid_pagemap(5); the layout of the Go heap is that of runtime/malloc.go,
// and that of glibc's chunks and heaps of malloc/malloc.c and malloc/arena.c.
package resident
