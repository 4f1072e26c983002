// Package coach selects the one line that a new player reads, from the actions of the player so far.
//
// # The idea
//
// Once a tick the caller passes [Facts] to [Coach.Step], which returns a [Line]. A line has a reason, such as a lost
// point of hull, and a deed that ends it, such as a dash. The coach selects the most urgent line that has a reason and
// whose deed was not done. A line stays at least 80 ticks, to be read. It ends sooner if an urgent line replaces it,
// such as the line of an offered gift. An urgent line also ends with its reason. If the player does not follow a line
// for 300 ticks in all, the coach drops it, unless the game cannot go on without the deed. The line of the goal is
// dropped after 900 ticks: the arrow stays.
//
// The package knows neither the texts nor the game. The caller writes the text of a line for the device in use.
//
// # Cost and goroutines
//
// A Coach reads no clock: it counts calls of Step. It allocates nothing. It belongs to one goroutine.
package coach
