// Package shell is everything around the game: title, pause, settings, keys, gifts, endings and the
// table of best runs, as a machine of states without window or devices.
//
// # The idea
//
// Once a frame the caller passes what the player pressed to [Shell.Step], does the [Command] that
// comes back, ticks the game where [Shell.Running] says so, and draws [Shell.Items].
//
//	Title ── Playing ── Paused ── Settings ── Keys
//	  │        ├── Gift ── Playing
//	  │        └── Ending, Over ── Title, Playing
//	  ├── Settings
//	  └── Runs
//
// # What is kept, and errors
//
// Settings and runs are kept in a [Store]: files in the user's configuration folder, the browser's
// local storage, or a map in a test. What cannot be read is reported in one line and left alone
// until the next save; where nothing can be written that is said once, and the game plays on.
//
// # Cost and goroutines
//
// A Shell belongs to one goroutine. Step allocates where a screen changes; while the game runs it
// allocates nothing.
package shell
