// Package realm is the world that the game is played in, as its rules see it: where walls are, how far the nearest
// one is, and which path leads where. It draws nothing and reads no clock. The same files give the same realm on every
// processor.
//
// # The idea
//
// A realm is 24 sectors by 24, each of 64 cells by 64, each of 8 units by 8. All data for the rules is loaded before
// the first tick. Pictures are streamed later. One byte a cell has the distance to the nearest wall, so that moving
// along walls and looking past them costs a few loads a step. Above the cells is a coarse net, with a node for each
// square of 32 units. Nodes have links to their neighbours. A link exists only if a small disc can move along it
// without touching a wall.
//
// # Layout
//
//	clear  | 1536 x 1536 bytes |    thirds of a cell to the nearest wall, 0 in one
//	meet   |  384 x  384 bytes |    the cell, of a node's 16, in which its links meet
//	edges  |  384 x  384 bytes |    a bit for each of the 8 links
//	open   |  384 x  384 bytes |    the least clearance of a node's cells
//	cost   |  384 x  384 bytes |    what leaving a node costs beyond the link: narrow nodes cost more
//	guide  |  384 x  384 bytes |    five times: the direction to a seal, or to the heart
//
// The allocator of [Start] contains all of these. In play it is the manager's level, and the data ends with the level.
// A [Flow] searches the paths to the player, who moves, and to both sides of it, on a goroutine of its own. Paths avoid
// crowds.
//
// # Cost
//
//	Slide, Solid, Near, Guide    a few loads; no allocation
//	Sees                         a few loads for each step of the line, and small steps near walls; no allocation
//	Start and Wait               proportional to the cells; see BenchmarkBuild
//	Flow                         see BenchmarkField; for each field the game goroutine pays a call of Hunt.Count, the
//	                             allocation of two buffers, and two channel operations
//
// # Concurrency and errors
//
// After Wait a Realm is safe for concurrent use: it does not change. A Flow belongs to the game goroutine. The error
// about a damaged file is a [FileError] with file, place and what is allowed. If there is no memory for a search, the
// error wraps memory.ErrOutOfMemory, and the lane keeps its field.
package realm
