// Demo is the game that proves Strata: a spark in a forge, on every tier of the manager.
//
//	go run ./demo                         play; behind the title it plays itself
//	go run ./demo -headless -autopilot    play without a window, and print where memory went
//
// SIGINT, SIGTERM and closing the window end the run in order: what -stats and -hash ask for is
// written. Settings and best runs are kept in the folder strata of the user's configuration, or in
// the browser's local storage; pictures are taken of a new player's game.
//
// Without a display it says so and plays headless. The same seed gives the same state hash
// everywhere.
package main
