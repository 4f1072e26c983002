// Package ground draws the floor and the walls of a realm, a sector at a time, and plans which sectors should be there.
// Nothing in it is a rule of the game: what it does is only seen.
//
// # The idea
//
// A whole realm as a picture would be 576 MiB; as recipes it is some 200 KiB. A worker parses a sector's [Recipe],
// composes it with the realm's [Stamps] into a picture of 512 by 512 pixels in a block of its own, and hands it over. A
// [Plan] says, every tick, what will be seen how soon, and what may go.
//
// # How a sector is composed
//
// Sixteen rows at a time, and cancelled between them, if need be:
//
//	floor     noise, plates, ripples or moss, which belong to the world and know no sectors
//	stamps    that lie on the floor
//	shadow    from the distance to the walls, a cubic B-spline over the recipe's cells, and pools of light
//	walls     a lit edge towards the top left, slopes, steps or rings behind it
//	stamps    on walls, then above all
//
// A recipe knows eight cells of its neighbours, further than a wall is felt: so sectors meet without a seam.
//
// # A recipe's file
//
// Little, whole bytes, no alignment, the lengths of the lists first:
//
//	SREC, version 1, base, column, row
//	four of warmth, four of tone: the corners; loop of sound; how many stamps, lights, props
//	6 a stamp    picture | layer << 6, x, y, turn, scale, colour << 4 | amount
//	5 a light    x, y, radius/2 - 1, colour, power
//	3 a prop     kind, x/2, y/2
//	80 rows      127 + n: as the row above, n times; else the number of places that follow, at each of which
//	             the difference to the row above begins or ends
//
// x and y of stamps and lights are (units + 256) / 4.
//
// # Cost
//
//	Parse      some microseconds; no allocation but an error
//	Compose    see BenchmarkCompose; one block of scratch, none of the Go heap
//	Tick       see BenchmarkPlan; no allocation
//
// # Concurrency and errors
//
// [Compose] and [Recipe.Parse] run on any number of goroutines at a time, each with an allocator and a recipe of its
// own; [Stamps] are read by all and written by none. A [Plan] belongs to one goroutine. What is wrong with a file is a
// [FileError] with file, place and what is allowed; the rest is the allocator's, or says that it was cancelled.
package ground
