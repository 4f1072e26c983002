// Package container has the containers that programs need first: a growing array, a queue, a hash table and a table
// of strings. Containers are values without pointers, and their blocks lie in any allocator with a base.
//
// # The idea
//
// A container is a few numbers: a length, a capacity, and the offset of its block from the base of its allocator. A
// container may therefore lie in a component, a block or another container, and the collector does not scan it. Its
// bytes stay valid if the memory is copied to another address, written to a file, or read by another process. The
// [Space], which is passed to calls that use the block, has the address of the base.
//
// # Layout
//
//	Go heap          Space: allocator, base ---+
//	                                           |
//	allocator        base                      v
//	                  | ... component { path Vec } ... | x0 | x1 | x2 | ··· | ...
//	                                     off, n, cap     ^ base + off
//
// # Use it when, and when not
//
//	type      use it for                                  do not use it for
//	--------  ------------------------------------------  ------------------------------------------
//	Vec       lists in components, levels, saved states   scratch of a frame whose size is known:
//	                                                      arena.MakeSlice
//	Ring      queues of events, paths, undo               passing values between goroutines: a
//	                                                      channel, remote.Inbox
//	Map       look-up by id, handle, cell of a grid       a dense range of small ids: a Vec
//	Strings   names, paths, dialogue, keys of Maps        strings that are built and dropped at once
//
// Sort and search with package slices on Vec.Slice. Types with Go pointers stay in Go's slices and maps: a container
// of such a type returns an error.
//
// # Cost
//
//	operation                      cost                                   overhead
//	-----------------------------  -------------------------------------  ---------------------------
//	Vec.At, Set, Slice, TryAppend  inlined; in a loop use Slice           16 bytes, and up to half of
//	                                                                      the capacity
//	Vec.Append                     a call; growth in place if the         the same
//	                               allocator can, else a copy
//	Vec.Insert, Delete             moves the elements behind              none
//	Ring, at both ends             a call, inlined for pops; growth as    24 bytes; the capacity is a
//	                               above                                  power of two
//	Map.Get                        a hash, one load of eight control      32 bytes; a byte a slot; a
//	                               bytes and mostly one entry             quarter of the slots at least
//	Map.Set, Delete                the same, and a few entries moved      the same
//	Map, all entries               proportional to the slots              none
//	Strings.Intern, Lookup         a hash of the text, one comparison     696 bytes; 12 to 24 an id,
//	                                                                      11 to 22 of index; see below
//	Strings.Text                   three loads                            none
//	a Go collection                nothing: there is no pointer           none
//
// Get of a Map is as fast as Go's own map for hits among a million entries and for misses among a thousand. Get is 20
// to 40 per cent slower for hits among a thousand entries and for misses among a million. Set and Delete take up to
// twice as long as in Go's map, because the order does not depend on history. The table has ns for a Get, the lowest
// of six short rounds of go test -bench MapGet. They ran on an Intel Xeon with Go 1.26.8 and two cores that other
// processes use as well.
//
//	                          Map   Go's map
//	hit among 1,000           7.4        6.1
//	miss among 1,000          7.4        6.9
//	hit among 1,000,000      50.9       50.9
//	miss among 1,000,000     52.5       41.3
//	an entry of All, 100,000  7.8        7.3
//
// Operations allocate on the Go heap only for an error, for a panic, once for each type, and in the Check of a
// Strings. The benchmarks of this package compare the containers with Go's slices and maps.
//
// # What strings waste
//
// The table shows for each allocator which share of its blocks is not text. Each word, or each sentence, of the
// documents of this repository has one block. `go test -v -run Waste ./memory/container` prints these shares, and
// checks the table to a per cent.
//
//	                          words   sentences
//	Strings                  13.0 %       5.4 %
//	Fibonacci from 1 byte    13.7 %      21.3 %
//	slab, geometric          70.5 %       8.9 %
//	slab, 16-byte steps      70.5 %       8.5 %
//	slab, powers of two      70.5 %      30.5 %
//	binary buddy             70.5 %      30.5 %
//	glibc malloc             85.1 %      17.7 %
//
// # Concurrency and the collector
//
// Writers follow the goroutine rule of the allocator. Any number of goroutines may read a container while none
// writes. Elements, keys and values must contain no Go pointer: each call that needs memory checks the type.
//
// # Saved states
//
// A container is a value without pointers. Add it to a save.Set by save.Value, after its allocator, which saves the
// blocks. If the Set has no allocator before it, Load fails, and so does Save to a slot of Set.NewSlot. If the Set has
// only another allocator, both succeed, and the load corrupts the container. engine.Synctest finds this if Sync.Check
// calls Check of the container. The Space is not saved, and stays valid. After a load, addresses, slices and strings
// are valid if they were valid when the state was saved.
//
// # Misuse
//
// An index out of range panics as an index of a slice does. The bytes of a container do not show whether its block is
// still live. The block may have been freed by the Reset or Close of its allocator, or by the growth of a copy of the
// container. Reading the container then reads the present contents of this memory, or crashes if the memory was
// released.
//
// Free and growth pass the block to the allocator's Free. The allocator panics with a *memory.Misuse as far as its own
// metadata shows the misuse; a Vec, Ring or Map has not changed in this case. If the allocator is a memory.Sizer, Check
// compares the block with the allocator's metadata, too. In debug builds access to a block after a successful Close
// panics. After a Reset, Forget makes a container empty again.
//
// Bytes from a file or another process must not be used before Check returned nil. Check names the errors, reads only
// memory of the Space, and ends even if the bytes are wrong.
//
// # Source
//
// Control bytes, eight at a time: Abseil's Swiss tables (Kulukundis, CppCon 2017), as in Go's own maps since 1.24.
// The order within a cluster: Amble and Knuth, "Ordered hash tables", The Computer Journal 17(2), 1974, and Celis,
// "Robin Hood hashing", 1986. An order that is independent of history: Blelloch and Golovin, "Strongly
// history-independent hashing with applications", FOCS 2007. The hash: Wang Yi's wyhash, 2019, and Peters' foldhash,
// 2024. The ladder: Hirschberg, "A class of dynamic memory allocation algorithms", CACM 16(10), 1973.
package container
