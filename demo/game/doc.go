// Package game is the simulation of the demo: a spark in a forge, as a function of a seed, the
// level files and the input of each tick. It draws nothing, reads no clock and needs no window.
//
// A [Game] holds the rules and its state, in the tiers of a memory manager; a [Session] gives
// it memory, streams its levels, and runs it frame by frame. What each tier holds is said above
// Game; what a full tier costs is counted in [Lost]. [Game.Hash] folds the state into a number
// that is the same on every system for the same seed and input.
package game
