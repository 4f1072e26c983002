// Package render is Strata's window: one batch of quads, one atlas, tiles that come and go, text, bloom,
// input, bindings and the blocks of which package render/overlay, the memory instrument, is made. The two are the only
// importers of Ebitengine but programs.
//
// # Idea
//
// A frame is a list of vertices in memory that the caller owns, normally the frame arena.
// Every picture lies on one atlas page, and additive light is premultiplied colour with
// alpha 0, so the whole world is one DrawTriangles32 call, and HUD, text and panels are another. What a world has
// more of than an atlas holds lies on pages of [Tiles], a call for each that is in sight.
//
// # Layout
//
//	game ── Quads ──> []Vertex, []uint32 ──┐
//	                  (frame arena)        ├─> Frame.Draw ── one call ──> screen
//	staging block ──> Atlas.Upload ── page ┘        │
//	                                                └─> Frame.Bloom (optional)
//
//	rows ── Tiles.Write ── pages ── Tiles.Submit ──> screen, under the world
//	devices ── Controls, Bindings ──> Input, Nav     screen ── Film ──> GIF
//
//	BeginScene ── world, Bloom ── EndScene ── HUD, overlay
//	window's pixels, or logical ones enlarged  window's pixels
//
//	atlas page    | white soft line checker glyphs | kept | level pictures | free |
//	                                                      ^ Keep           ^ shelves
//
// Coordinates are logical pixels, 640 × 360 unless configured. A [View] is the scale and
// offset from there to physical pixels; [Viewport] makes the one for the HUD and
// [Camera] the one for the world. In a window of another shape what lies around the logical screen is black, or
// with [Options.Bleed] the picture goes on there. Without a GPU it is pixels that cost: the scene then has
// logical resolution, see [Resolution].
//
// # Use it when
//
// A scene is thousands of small pictures that change every frame. Not for a few large
// pictures that need their own shaders; for more pixels than one page holds, a streamed ground, there are
// [Tiles].
//
// # Cost
//
// Measured on an AMD EPYC with Go 1.26, median of three, no Go allocations:
//
//	Quads.Sprite      11 ns unrotated, 17 ns by angle; Turned 11 ns
//	Quads.Rect        10 ns
//	Quads.Text        8 ns a glyph
//	eight panel rows  31 µs: labels, figures, bars and curves of 240 values
//	one quad          192 bytes of vertices and 24 bytes of indices
//	Atlas.Upload      one copy of the pixels, made by Ebitengine
//	NewFont           about 15 ms and 1.5 MiB of Go heap that the font package keeps
//
// Print them with go test -bench . ./render. A frame that draws makes about ten objects
// inside Ebitengine more than one that does not, whether it submits once or twice; bloom
// makes about sixty more.
//
// # Goroutines and the collector
//
// Everything here belongs to the goroutine that calls Update and Draw. Vertices, indices
// and pixels may lie off the Go heap: nothing here keeps a reference to them after the
// call that took them has returned ([Quads] until the next Begin).
//
// # Source
//
// Premultiplied colour and the operator over: Porter and Duff, Compositing Digital Images,
// 1984. Shelf packing: Jylänki, A Thousand Ways to Pack the Bin, 2010.
package render
