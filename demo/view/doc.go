// Package view draws the game: it reads a session and writes quads into the pass buffers of
// the frame. Nothing in it reaches the simulation.
//
// # The idea
//
// The ground lies on pages of tiles and takes a draw call for each page in sight. A sector that is not loaded is drawn
// from the realm's far picture, which lies on the atlas like all other pictures. The world, the particles over it and
// the HUD share the atlas and take a draw call each. These three are drawn one after the other and reuse the same
// buffers. A [Menu] shows the state of the shell over them.
//
// # Cost and goroutines
//
// A [View] belongs to the game goroutine. Its vertices and indices are in the static tier, or in the frame arena if the
// static tier has no space. Quads that do not fit are dropped and counted in View.Dropped. The pages of the ground are
// on the GPU; their metadata is in the session's pools.
//
// # Errors
//
// A picture that does not fit the atlas is shown as the placeholder, and a sector without a tile stays soft.
package view
