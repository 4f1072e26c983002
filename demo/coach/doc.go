// Package coach selects the one line that a new player reads, from what the player has done.
//
// # The idea
//
// Once a tick the caller passes [Facts] to [Coach.Step], which returns a [Line]. A line has a reason, such as a lost
// point of hull, and a deed that ends it, such as a dash. Of the lines with a reason and without the deed the most
// urgent one is shown. A line stays long enough to be read. A line that the player does not follow gives way to the
// next, except the lines without which the game does not go on.
//
// The package knows neither the texts nor the game. The caller writes the text of a line for the device in use.
//
// # Cost and goroutines
//
// A Coach reads no clock: it counts calls of Step. It allocates nothing. It belongs to one goroutine.
package coach
