// Package game contains the rules of the demo: a spark in a forge. The simulation is a function of a seed,
// the files of the realms, and the input of each tick. It draws nothing and reads no clock.
//
// # The idea
//
// A [Game] allocates its state from the tiers of a memory manager, and is played by a host: package session in
// the program. The comment of Game lists what each tier contains. [Lost] counts what full tiers have cost.
// [Game.Hash] folds the state into a number that is the same on every system for the same seed and input.
//
//	host:  BeginLevel, Begin --> (BeginFrame --> Tick --> draw --> EndFrame) ... --> End, EndLevel
//
// A tick is a schedule of systems in a fixed order: player, gifts, flow, enemies, weather, shots,
// collisions, arms, reap, embers, pickups, omens, wishes, director, effects, look.
//
// # What it reports to others
//
// Config.Sound receives the sounds of each tick. It never feeds back into the rules.
//
// # Cost and goroutines
//
// A Game belongs to one goroutine. A tick allocates nothing from the Go heap once its lists have grown. Enemies
// beyond the grid move every eighth tick, those out of sight every other tick. Those in sight search their path
// in one of four ticks. One worker searches the paths to the player and to both sides of it.
//
// # Errors
//
// A full tier costs the game what it would have allocated, and is no error. Errors of [Game.Tick] end the run.
package game
