// Demo is the game that proves Strata: a spark in a forge, on every tier of the manager.
//
//	go run ./demo                         play; it plays itself until a key is pressed
//	go run ./demo -headless -autopilot    play without a window, and print where memory went
//
// Without a display it says so and plays headless. The same seed gives the same state hash
// everywhere.
package main
