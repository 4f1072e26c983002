// Package realm is the ground that the game is played on, as its rules see it: where walls are,
// how far it is to the nearest, which way leads where. It draws nothing and reads no clock; the
// same files give the same ground on every processor.
//
// # The idea
//
// A realm is 24 sectors by 24, each of 64 cells by 64, each of 8 units by 8. All of it is there
// before the first tick: what is streamed later is only seen. One byte a cell says how far the
// nearest wall is, which makes moving along walls and looking past them a few loads a step. Above
// it lies a coarse net of 32 units, the ways between whose nodes have been walked by a disc.
//
// # Layout
//
//	clear  | 1536 x 1536 bytes |    thirds of a cell to the nearest wall, 0 in one
//	way    |  384 x  384 bytes |    the cell, of a node's 16, that its ways meet in
//	edges  |  384 x  384 bytes |    a bit for each of the 8 ways that can be walked
//	open   |  384 x  384 bytes |    the least clearance of a node's cells
//	cost   |  384 x  384 bytes |    what entering a node costs beyond the way: narrow is dear
//	guide  |  384 x  384 bytes |    five times: which way to go, to a seal or to the heart
//
// All of these lie in the allocator that [Build] is given, in play the level's, and end with it.
// A [Flow] computes the ways to the player, who moves, and to both sides of it, on a goroutine of its
// own; they go round where many stand already.
//
// # Cost
//
//	Slide, Solid, Sees, Guide    a few loads; no allocation
//	Build                        proportional to the cells; see BenchmarkBuild. Start and Wait do it beside the game
//	Flow                         see BenchmarkField; the game goroutine pays two channel operations
//
// # Concurrency and errors
//
// A Realm is read by any number of goroutines and written by none after Build. A Flow
// belongs to the game goroutine. What is wrong with a file is a [FileError] with file, place and what is
// allowed; a search for which there is no room wraps memory.ErrOutOfMemory, and the field stays as it was.
package realm
