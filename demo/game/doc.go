// Package game contains the rules of the demo: a spark in a forge. The simulation is a function of its [Config], the
// files of the realms, and the input of each tick. It draws nothing and reads no clock.
//
// # The idea
//
// A [Game] allocates its state from the tiers of a memory manager. A host plays it: package session in the program. The
// comment of Game lists what each tier contains. [Lost] counts what full tiers have cost. [Game.Hash] folds the state
// into a number. The same Config, realms and input give the same number on every system. This requires a worker, and
// tiers that are not almost full.
//
//	host:  BeginLevel, Begin --> (BeginFrame --> Tick --> draw --> EndFrame) ... --> End, EndLevel
//
// A tick is a schedule of systems in a fixed order: player, gifts, flow, enemies, weather, shots, collisions, arms,
// reap, embers, pickups, omens, wishes, director, effects, look. In a hit-stop, the few ticks after a large hit, no
// system runs.
//
// # Sound
//
// Config.Sound receives the sounds of each tick. It never feeds back into the rules.
//
// # Cost and goroutines
//
// A Game belongs to one goroutine. Without Config.Heap a tick allocates nothing on the Go heap, once its lists have
// grown and while no tier is full. Enemies beyond the collision grid move every eighth tick, except guards, which wait.
// Other enemies out of sight move every other tick. Drifters and swarms choose their direction in one of four ticks,
// and close to the player in one of two. Lancers that stalk, and wardens, choose it each time that they move. One
// worker searches the paths to the player and to both sides of the player.
//
// # Errors
//
// If a tier is full, the game leaves out what it would have allocated, and that is no error. Errors of [Game.Tick] end
// the run.
package game
