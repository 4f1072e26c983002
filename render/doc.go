// Package render is Strata's window: one batch of quads, one atlas, streamed tiles, text, bloom, input and bindings.
// Package render/overlay draws the memory overlay with this package. Of Strata's packages only these two, and
// programs, import Ebitengine.
//
// # The idea
//
// A frame is a list of vertices in memory that the caller owns, normally the frame arena. Every picture lies on
// one atlas page, and additive light is premultiplied colour with alpha 0. So the whole world is one draw call,
// and HUD, text and panels are another. Pictures that do not fit the atlas lie on pages of [Tiles], with one draw
// call for each visible page.
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
// Coordinates are logical pixels; the logical screen has 640 × 360 unless configured. A [View] is the scale and
// offset from logical to physical pixels. [Viewport] makes the view of the HUD, and [Camera] the view of the world.
// In a window of another shape the area around the logical screen is black. With [Options.Bleed] the picture
// continues in this area. Without a GPU pixels are expensive, so by default the scene has logical resolution, see
// [Resolution].
//
// # Use it when, and when not
//
// Use package render if a scene is thousands of small pictures that change every frame. Do not use it for a few large
// pictures with their own shaders. Use [Tiles] for a streamed ground with more pixels than one page.
//
// # Cost
//
// Measured on an AMD EPYC with Go 1.26, median of three, no Go allocations:
//
//	Quads.Sprite      11 ns unrotated, 17 ns rotated; Turned 11 ns
//	Quads.Rect        10 ns
//	Quads.Text        8 ns a glyph
//	eight panel rows  31 µs: labels, figures, bars and curves of 240 values
//	one quad          192 bytes of vertices and 24 bytes of indices
//	Atlas.Upload      one copy of the pixels, made by Ebitengine
//	NewFont           about 15 ms and 1.5 MiB of Go heap that the font package keeps
//
// To measure again, run go test -bench . ./render. Inside Ebitengine a frame with one or two batches allocates about ten
// objects more than an empty frame. Bloom allocates about sixty objects more.
//
// # Goroutines and the collector
//
// All values of this package belong to the goroutine that calls Update and Draw, unless their comment states otherwise.
// Vertices, indices and pixels may lie off the Go heap. [Quads.Begin] keeps a reference to its slices until the next
// Begin, and [NewAtlas] keeps AtlasConfig.Texels. Other calls keep no slices.
//
// # Source
//
// Premultiplied colour and the operator over: Porter and Duff, Compositing Digital Images,
// 1984. Shelf packing: Jylänki, A Thousand Ways to Pack the Bin, 2010.
package render
