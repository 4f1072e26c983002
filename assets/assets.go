// Package assets holds the pictures, realms, sounds and levels of the game: compiled into the program,
// but in a browser, whose program has only what a game begins with and fetches the rest: see Fetched.
//
//	art/NAME.png      sprites, drawn by gen (go run ./assets/gen)
//	sound/NAME.flac   effects (KIND_N) and music (REALM_LAYER), made by gen, mono, 16 bits
//	realms/NAME.json             title, palette and places of a realm; all of realms is made by gen
//	realms/NAME.walls            a bit a cell of the whole realm
//	realms/NAME/stamps.png       coloured pictures of 128 by 128 of what lies about there
//	realms/NAME/far.png          all of it, a sector being 16 by 16 pixels
//	realms/NAME/XX_YY.rec        recipe of a sector's ground, column and row; see demo/ground
//	levels/NAME.json  title, palette, what floats about, and the pictures that the level shows; made by gen
//
// Sprites are grey: the renderer multiplies them with a colour of the level's palette. They point to +X, are authored at
// four pixels per logical unit, and keep two transparent pixels on every side so that linear filtering never
// meets the edge of a texture. A NAME_core picture is the light inside NAME, in the same frame, to be added on top.
//
// Effects are at 32 kHz; of a realm's music, at 22.05 kHz, all layers loop without a seam, and their lengths divide
// the longest. No sample exceeds -1 dBFS.
//
// Stamps and far pictures have straight alpha. Every picture decodes to *image.NRGBA. The files
// belong to the program image, or to the browser: they are read-only and always valid.
package assets

import (
	"io/fs"
	"path"
	"strings"
)

// FS returns the file system with art, levels, realms and sound. It is safe for use by any number of
// goroutines. In a browser Open of what is Fetched waits for the network, some 15 s at most, and is not to
// be called from a JavaScript callback.
func FS() fs.FS { return files }

// Fetched reports whether the game in a browser fetches a file when it is needed, from the folder
// assets beside its page, instead of having it from its beginning. These are the sounds, the sectors,
// stamps and far pictures of realms, and the tiles behind everything.
func Fetched(name string) bool {
	dir, file := path.Split(name)
	switch {
	case dir == "sound/":
		return true
	case dir == "art/":
		return strings.HasPrefix(file, "bg_")
	}
	return strings.HasPrefix(dir, "realms/") && dir != "realms/"
}
