// Package assets holds the pictures, realms, sounds and levels of the game, compiled into the program.
//
//	art/NAME.png      sprites, drawn by gen (go run ./assets/gen)
//	sound/NAME.flac   effects (KIND_N) and music (REALM_LAYER), made by gen, mono, 16 bits
//	realms/NAME.json             title, palette and places of a realm; all of realms is made by gen
//	realms/NAME.walls            a bit a cell of the whole realm
//	realms/NAME/stamps.png       coloured pictures of 128 by 128 of what lies about there
//	realms/NAME/far.png          all of it, a sector being 16 by 16 pixels
//	realms/NAME/XX_YY.rec        recipe of a sector's ground, column and row; see demo/ground
//	levels/NAME.json  title, palette, what floats about, and the pictures that the level shows; written by hand
//
// Sprites are grey: the renderer multiplies them with a colour of the level's palette. They point to +X, are authored at
// four pixels per logical unit, and keep two transparent pixels on every side so that linear filtering never
// meets the edge of a texture. A NAME_core picture is the light inside NAME, in the same frame, to be added on top.
//
// Effects are at 32 kHz; of a realm's music, at 22.05 kHz, all layers loop without a seam, and their lengths divide
// the longest. No sample exceeds -1 dBFS.
//
// Stamps and far pictures have straight alpha. Every picture decodes to *image.NRGBA. The files belong to the program image: they are read-only and always valid.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed art/*.png levels/*.json sound/*.flac realms
var files embed.FS

// FS returns the file system with art, levels, realms and sound. It is safe for use by any number of goroutines.
func FS() fs.FS { return files }
