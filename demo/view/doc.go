// Package view draws the game: it reads a session and writes quads into the pass buffers of
// the frame. Nothing in it reaches the simulation.
//
// # The idea
//
// The ground lies on pages of tiles and takes a draw call for each that is in sight; a sector that has not come
// is drawn from the realm's far picture, which lies on the atlas like everything else. The world, the
// particles over it and the HUD share the atlas and take a draw call each, one after the other, so that each has its vertices
// where those of the one before were. A [Menu] is drawn over them from what the shell says
// there is.
//
// # Cost and goroutines
//
// A [View] belongs to the game goroutine. Its vertices and indices are the static tier's, or the frame
// arena's where there is no plan; quads for which there is no room are dropped and counted in
// View.Dropped. Pages of the ground are on the GPU; their books lie in the session's pools.
//
// # Errors
//
// A picture that does not fit the atlas shows as the placeholder, a sector without a tile stays soft; what makes
// New, Show or Attach fail is said by name.
package view
