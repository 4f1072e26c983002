// Package game is the simulation of the demo: a spark in a forge, as a function of a seed, the
// files of levels and realms, and the input of each tick. It draws nothing, reads no clock and needs
// no window.
//
// # The idea
//
// A [Game] holds the rules and its state, in the tiers of a memory manager; a [Session] gives
// it memory, streams its levels and their ground, and runs it frame by frame. What each tier holds is
// said above Game; what a full tier costs is counted in [Lost]. [Game.Hash] folds the state into a
// number that is the same on every system for the same seed and input.
//
//	Session.Frame:  EndFrame of the last --> what is loaded --> BeginFrame --> Game.Tick, while one plays
//
// A tick is a schedule of systems in a fixed order: player, gifts, flow, enemies, weather, shots,
// collisions, arms, reap, embers, pickups, omens, wishes, director, effects, look.
//
// # What it tells others
//
// A [GroundView] is given the ground's rows as they come, a cue.Sink what is to be heard. Neither
// answers, and both may be missing: the hash does not notice.
//
// # Cost and goroutines
//
// A Game and a Session belong to one goroutine. A tick takes nothing from the Go heap but what grows
// once; enemies that are out of reach move every eighth tick, those out of sight every other one, and
// those in sight look for their way in one of four. Workers decode pictures, compose ground and, one of
// them, search the ways to the player and to both its sides, each in a heap of its own.
//
// # Errors
//
// What the game can do without costs it that: a full tier, a picture, a sector, a realm whose file
// cannot be read (the ground is bare then). SessionConfig.Log is told. An error that
// Frame returns ends the run.
package game
