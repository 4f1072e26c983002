// Package container holds what people write first on top of an allocator: a growing array, a
// queue, a hash table and a table of texts, by value and without a pointer.
//
// # The idea
//
// A container is a few numbers: a length, a capacity, and where its block begins, counted in
// bytes from the base of its allocator. So it may lie in a component, a block or another
// container; the collector never looks at it; and its bytes mean the same when the memory is
// copied to another address, written to a file, or read by another process. What knows the
// address is the [Space], which is passed to every call.
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
//	type      use it for                                  not for
//	--------  ------------------------------------------  ------------------------------------------
//	Vec       lists in components, levels, saved states   scratch of a frame whose size is known:
//	                                                      arena.MakeSlice
//	Ring      queues of events, paths, undo               hand-over between goroutines: a channel,
//	                                                      remote.Inbox
//	Map       look-up by id, handle, cell of a grid       a dense range of small ids: a Vec
//	Strings   names, paths, dialogue, keys of Maps        texts that are built once and thrown away
//
// Sorting, searching and the like are done with package slices on Vec.Slice. What holds Go
// pointers stays in Go's slices and maps: here it is an error.
//
// # Cost
//
//	operation                      cost                                   overhead
//	-----------------------------  -------------------------------------  ---------------------------
//	Vec.At, Set, Slice, TryAppend  inlined; Slice in a loop is a slice    16 bytes, and up to half of
//	                                                                      the capacity
//	Vec.Append                     a call; growth in place where the      the same
//	                               allocator can, else a copy
//	Vec.Insert, Delete             moves what is behind                   none
//	Ring, at both ends             a call, inlined for pops; growth as    24 bytes; the capacity is a
//	                               above                                  power of two
//	Map.Get                        a hash, one load of eight control      32 bytes; a byte a slot; a
//	                               bytes and, as a rule, one entry        quarter of the slots at least
//	Map.Set, Delete                the same, and a few entries moved      the same
//	Map, all entries               proportional to the slots              none
//	Strings.Intern, Lookup         a hash of the text, one comparison     12 bytes an id, 11 to 22 of
//	                                                                      index, and the table below
//	Strings.Text                   three loads                            none
//	a collection                   nothing: there is no pointer           none
//
// Get of a Map is level with Go's own map where a table of a million is hit or one of a thousand
// missed, and loses where a small table is hit or a large one missed: 20 to 40 per cent. Set and
// Delete take up to twice as long as there, the price of an order that does not depend on history.
// In ns for a Get (go test -bench MapGet; Intel Xeon, Go 1.26.8, two cores busy with other work as
// well: the lowest of six short rounds):
//
//	                          Map   Go's map
//	hit among 1,000           7.4        6.1
//	miss among 1,000          7.4        6.9
//	hit among 1,000,000      50.9       50.9
//	miss among 1,000,000     52.5       41.3
//	an entry of All, 100,000  7.8        7.3
//
// No operation allocates on the Go heap. The benchmarks of this package print the figures with
// Go's own slices and maps beside.
//
// # What texts waste
//
// The share of the memory in blocks that is not text, when each word and each sentence of the
// documents of this repository gets a block (`go test -v -run Waste ./memory/container` prints
// it, and holds this table to a per cent):
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
// Writers follow the goroutine rule of the allocator; any number of goroutines may read a
// container while nobody writes. Elements, keys and values hold no Go pointer: the call that
// first needs memory for a type proves it.
//
// # Misuse
//
// An index out of range panics as that of a slice does. A container whose block died, with the
// Reset or Close of its allocator or because a copy of its value has grown, cannot be told from
// a live one by its bytes: reading it reads what is there now. Free and growth pass the block to
// the allocator's Free, which refuses it with a *memory.Misuse as exactly as its own books allow,
// and then nothing has changed; Check asks the allocator, too, where it is a memory.Sizer. In
// debug builds every access after a Close panics. After a Reset, Forget makes a container empty
// again. Bytes from elsewhere are not to be trusted before Check was nil: it names what is broken,
// touches nothing that is not there, and ends.
//
// # Source
//
// Control bytes, eight at a time: Abseil's Swiss tables (Kulukundis, CppCon 2017), as Go's own
// maps since 1.24. The order within a cluster: Amble and Knuth, "Ordered hash tables", The
// Computer Journal 17(2), 1974, and Celis, "Robin Hood hashing", 1986; that it makes the table
// independent of history: Blelloch and Golovin, "Strongly history-independent hashing with
// applications", FOCS 2007. The hash: Wang Yi's wyhash, 2019, and Peters' foldhash, 2024. The
// ladder: Hirschberg, "A class of dynamic memory allocation algorithms", CACM 16(10), 1973.
package container
