// Package view draws the game: it reads a session and writes quads into the pass buffers of
// the frame. They share one atlas, and take a draw call for the world and one for the HUD.
// Nothing in it reaches the simulation.
package view
