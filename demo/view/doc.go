// Package view draws the game: it reads a session and writes quads into the frame arena,
// all of them with one atlas and one draw call. Nothing in it reaches the simulation.
package view
