// Package save copies the state of a program into a slot of bytes and back. A running game can return to any moment
// that it has saved. For a state of 300 KiB or more, Save or Load took at most 1.3 times as long as one copy of as many
// bytes. For 170 KiB it was about 1.3 times, for 95 KiB 1.4 and for 34 KiB 2.8, because many small pieces are
// visited in two passes. BenchmarkSet measured this on one machine.
//
// # The idea
//
// The allocators of this module have their blocks and their metadata in a few arrays without Go pointers. A state is a
// copy of these arrays. Loading restores them in place: addresses of blocks and handles stay valid, and the next
// allocation returns the address that it returned the first time.
//
// # Layout
//
//	Set    | part "heap"  | part "world" | part "score" |      in the order of Add
//	         State          State          variable
//
//	Slot   | n | n bytes of the heap | n | n bytes of the world | n | score |  unused  |
//	         8                                                                         Cap
//
// A [State] is anything whose bytes can be visited through a [Coder]: most allocators, tiers.Manager, ecs.World,
// ecs.Events, particles.System, and variables without pointers ([Value], [Slice]). One method visits the data for all
// passes: counting, saving, the check before loading, and loading.
//
// # Use it when, and when not
//
//	rewind, replays that seek        a [History]; engine.Rewind adds the inputs
//	rollback                         one load and a few saves in a frame
//	finding what a save forgets      engine.Synctest
//	files, and other processes       Write and Read; see below
//	not: memory with Go pointers     Value and Slice refuse it
//	not: the bytes of a slot         they are those of one process
//
// # Files
//
// [Set.Write] and [Set.Read] are for files and other processes. Such a Set may have variables, slices, pools, worlds
// and particle systems whose types have no pointers and no addresses. It must have no allocators, because the types of
// their blocks are not known. Instead, a function of [Set.AddFunc] can visit the values in such blocks. While it loads,
// it must allocate the blocks again. Entities and handles inside of the saved state stay valid. Parts and fields are
// found by name, so that a file survives an update of the program: see layout.Migration.
//
// # Cost
//
//	Save      a pass that counts, then one that copies: live blocks and metadata, not committed memory
//	Load      a pass that compares the layout, then one that copies; more passes if it commits memory
//	          the first Save allocates, and one with more contents than ever;
//	          a Load only after a Trim, or if the saved metadata is longer
//	SaveHash  Save, and a hash of the bytes: a third to two thirds longer
//
// BenchmarkSet compares Save and Load with copy of the same bytes.
//
// # Concurrency and the collector
//
// A Set and all its parts belong to one goroutine at a time. Workers must be at rest, with nothing in flight. A slot
// contains no Go pointers, and the collector does not scan it.
//
// # Source
//
// GGPO demands that a state is saved, loaded and freed as one buffer, and tests it by saving, stepping, loading and
// stepping again (pond3r/ggpo, DeveloperGuide.md). In Handmade Hero the platform records all blocks of memory of a game.
// The product and the constants of [Hash] are those of wyhash (Wang Yi, wangyi-fudan/wyhash, final version 4).
package save
