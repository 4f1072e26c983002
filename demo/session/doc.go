// Package session runs a game of package game frame by frame. It gives the game its memory, loads its
// realms, streams the ground, and measures.
//
// # The idea
//
// The rules are a function of seed and input. A [Session] is their host: it owns the clock, the files, the workers and
// the collector, and none of them reaches the rules. While a realm loads, frames continue and the game does not tick.
//
//	Frame:  EndFrame of the last --> finish loaded files --> BeginFrame --> one tick of the game, while it plays
//
// # Callbacks
//
// A [GroundView] receives the rows of the ground as they become ready. Config.Sink receives pictures, and Config.Log
// receives errors. Each of them may be nil, and the game is the same without them.
//
// # Cost and goroutines
//
// A Session belongs to one goroutine. Workers decode pictures and compose ground, each in a heap of its own. In a tick,
// requests for ground allocate nothing on the Go heap.
//
// # Errors
//
// If a picture, a sector or a realm cannot be loaded, Config.Log is called; for a sector once in a realm. The game
// continues without it, with bare or blurred ground. A manifest that cannot be read is replaced by one of
// Config.Fallback. Without Fallback it ends the run. An error that [Session.Frame] returns ends the run.
package session
