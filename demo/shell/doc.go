// Package shell contains the screens around the game: title, pause, settings, keys, gifts, endings and the table of
// best runs. It is a state machine without window or devices.
//
// # The idea
//
// Once a frame the caller passes the player's input to [Shell.Step] and executes the returned [Command]. If
// [Shell.Running] returns true, the caller ticks the game. Then it draws [Shell.Items].
//
//	Title ── Playing ── Paused ── Settings ── Keys
//	  │        ├── Gift ── Playing
//	  │        └── Ending, Over ── Title, Playing
//	  ├── Settings
//	  └── Runs, Legend, Saved
//
// # What is kept, and errors
//
// Settings and runs are kept in a [Store]: files in the user's configuration folder, the browser's local storage, or a
// map in a test. If a file cannot be read, the Shell passes one line to Config.Log and keeps the file. The next save of
// this file keeps the old version as name.bad. If files cannot be written, the Shell reports that once, and the game
// goes on.
//
// # Cost and goroutines
//
// A Shell belongs to one goroutine. During play Step allocates only when a screen or a setting changes.
package shell
