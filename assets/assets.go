// Package assets holds the pictures and levels of the game, compiled into the program.
//
//	art/NAME.png      sprites and backgrounds, drawn by gen (go run ./assets/gen)
//	realms/           the worlds of the three realms, written by gen: see realms.go there
//	levels/NAME.json  palette, waves, boss and the pictures that the level shows; written by hand
//
// Sprites are grey: the renderer multiplies them with a colour of the level's palette. They point to +X, are authored at
// four pixels per logical unit, and keep two transparent pixels on every side so that linear filtering never
// meets the edge of a texture. A NAME_core picture is the light inside NAME, in the same frame, to be added on top.
// Backgrounds (bg_LEVEL_0 opaque, bg_LEVEL_1 transparent) tile in both directions.
//
// Every picture decodes to *image.NRGBA. The files belong to the program image: they are read-only and always valid.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed art/*.png levels/*.json realms
var files embed.FS

// FS returns the file system with art/*.png, levels/*.json and realms. It is safe for use by any number of goroutines.
func FS() fs.FS { return files }
