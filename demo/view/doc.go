// Package view draws the game: it reads a session and writes quads into the buffers of the frame's passes, see
// [game.Pass]. It changes the simulation in one case: if the player selects a tick in the overlay, it calls
// session.Session.Seek.
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
// A [View] belongs to the game goroutine. Its vertices and indices are in the static tier. While a realm loads, or if
// the static tier has no space, they are in the frame arena. Quads that do not fit are dropped and counted in
// View.Dropped. The pages of the ground are on the GPU; their metadata is in the session's pools.
//
// # Errors
//
// Instead of a picture that does not fit the atlas, the placeholder, a soft dot or nothing is drawn. A sector without a
// tile stays soft.
package view
