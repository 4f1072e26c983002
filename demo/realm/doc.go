// Package realm is the world that the game is played in, as its rules see it: where walls are, how far the nearest
// one is, and which path leads where. It draws nothing and reads no clock. The same files give the same realm on every
// processor.
//
// # The idea
//
// A realm is 24 sectors by 24, each of 64 cells by 64, each of 8 units by 8. All of it is complete before the first
// tick; the rest is only seen, and streamed later. One byte a cell is the distance to the nearest wall, so that moving
// along walls and looking past them costs a few loads a step. Above the cells is a coarse net of 32 units. A small disc
// has been moved along every link between its nodes.
//
// # Layout
//
//	clear  | 1536 x 1536 bytes |    thirds of a cell to the nearest wall, 0 in one
//	meet   |  384 x  384 bytes |    the cell, of a node's 16, in which its links meet
//	edges  |  384 x  384 bytes |    a bit for each of the 8 links
//	open   |  384 x  384 bytes |    the least clearance of a node's cells
//	cost   |  384 x  384 bytes |    what entering a node costs beyond the link: narrow nodes cost more
//	guide  |  384 x  384 bytes |    five times: the direction to a seal, or to the heart
//
// All of these lie in the allocator of [Build], which is the manager's level in play, and end with it. A [Flow] searches
// the paths to the player, who moves, and to both sides of it, on a goroutine of its own. Paths avoid crowds.
//
// # Cost
//
//	Slide, Solid, Sees, Guide    a few loads; no allocation
//	Build                        proportional to the cells; see BenchmarkBuild. Start and Wait do it during play
//	Flow                         see BenchmarkField; the game goroutine pays two channel operations
//
// # Concurrency and errors
//
// After Build a Realm is safe for concurrent use: it does not change. A Flow belongs to the game goroutine. A damaged
// file is a [FileError] with file, place and what is allowed. A search without space wraps memory.ErrOutOfMemory, and the
// field is unchanged.
package realm
