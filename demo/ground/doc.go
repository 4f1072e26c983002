// Package ground draws the floor and the walls of a realm by sectors, and plans which sectors should be loaded. It
// does not affect the rules of the game.
//
// # The idea
//
// A picture of a whole realm would have 576 MiB; its recipes have about 200 KiB, and its [Survey] less than 90. A
// worker parses the [Recipe] of a sector and composes it with the realm's [Stamps] into a picture of 512 by 512 pixels,
// in a block of its own. Every tick a [Plan] lists the sectors that will be seen soon, and those that may be freed.
//
// # How a sector is composed
//
// Sixteen rows at a time; composing can be cancelled between them:
//
//	floor     noise, plates, ripples or moss, in coordinates of the world and not of the sector
//	stamps    on the floor
//	shadow    from the distance to the walls, a cubic B-spline over the recipe's cells, and pools of light
//	walls     a lit edge towards the top left, then slopes, steps or rings
//	stamps    on walls, then above everything
//
// A recipe includes eight cells of its neighbours on each side, further than a wall has any effect. So sectors meet
// without a seam.
//
// # A survey's file
//
// A survey has the stamps, lights and props of all sectors once, and [Survey.Recipe] picks those of one sector. Package
// assets makes the recipe's file that way when it is opened:
//
//	SGND, CRC-32 of the rest, base, numbers of stamps, lights, props with two bytes each
//	warmth and tone of 25 by 25 corners, 576 loops of sound
//	of the stamps    x, y, picture | layer << 6, turn, scale, colour << 4 | amount
//	of the lights    x, y, radius/2 - 1, colour, power
//	of the props     x, y, kind
//
// A list is stored by columns: the first field of all entries, then their second field, and so on. Positions count in
// steps of four units, those of props in steps of two. A coordinate is stored as its difference from that of the entry
// before. The lower bytes of all x come first, then the higher bytes, then the bytes of y.
//
// # A recipe's file
//
// Whole bytes without alignment, the lengths of the lists first:
//
//	SREC, version 1, base, column, row
//	four of warmth, four of tone: the corners; loop of sound; numbers of stamps, lights, props
//	6 a stamp    picture | layer << 6, x, y, turn, scale, colour << 4 | amount
//	5 a light    x, y, radius/2 - 1, colour, power
//	3 a prop     kind, x/2, y/2
//	80 rows      127 + n: n rows equal to the row above; else the number of columns that follow, at each of which
//	             a difference from the row above begins or ends
//
// x and y of stamps and lights are (units + 256) / 4.
//
// # Cost
//
//	Parse      some microseconds; no allocation except an error
//	Compose    see BenchmarkCompose; one block of scratch, none of the Go heap
//	Tick       see BenchmarkPlan; no allocation
//
// # Concurrency and errors
//
// [Compose] and [Recipe.Parse] may run on any number of goroutines, each with its own allocator and recipe. All may
// share [Stamps], which are not written. A [Plan] belongs to one goroutine. Malformed files are reported as a
// [FileError] with the file, the offset and what is allowed. Other errors come from the allocator or from cancelling.
package ground
