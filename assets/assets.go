// Package assets contains the pictures, realms, sounds and levels of the game. They are compiled into the program. In a
// browser the program contains only the files that a game begins with and downloads the rest: see Fetched.
//
//	art/NAME.png      sprites, drawn by gen (go run -C assets/gen .)
//	sound/NAME.ogg   effects (KIND_N) and music (REALM_LAYER), made by gen: Ogg Vorbis, mono
//	realms/NAME.json             title, palette and places of a realm; all of realms is made by gen
//	realms/NAME.walls            a bit for each cell of the whole realm
//	realms/NAME/stamps.png       coloured pictures of 128 by 128 pixels, for the ground
//	realms/NAME/far.png          the whole realm, with 16 by 16 pixels a sector
//	realms/NAME/sectors.survey   the ground of all sectors; see demo/ground
//	realms/NAME/XX_YY.rec        recipe of a sector's ground, column and row, made from the survey when it is opened
//	levels/NAME.json  title, palette, floating particles, and the pictures of the level; made by gen
//
// Sprites are grey: the renderer multiplies them with a colour. They point to +X and have about three pixels for each
// logical unit. Two transparent pixels on every side keep linear filtering away from the edge of a texture; only the
// vignette fills its frame. A NAME_core picture is the light inside NAME, in the same frame, and is added on top.
//
// Effects have 32 kHz and music 22.05 kHz. All layers of a realm's music loop without a seam, and their lengths
// divide the longest. No sample exceeds -1 dBFS.
//
// Sprites and stamps decode to *image.NRGBA. Far pictures are opaque and decode to other types. Files are read-only and
// always valid.
package assets

import (
	"io/fs"
	"path"
	"strings"
)

// FS returns the file system with art, levels, realms and sound. It is safe for concurrent use. In a browser, Open
// downloads the files for which Fetched returns true. To open a recipe it downloads the realm's survey, unless this is
// one of the two surveys used last. Folders do not list downloaded files and recipes. Open fails if a download takes
// more than about 15 s. Do not call Open from a JavaScript callback.
func FS() fs.FS { return files }

// Fetched reports whether Open downloads the file of this name if the game runs in a browser. It looks only at the
// name: the file need not exist. These files are the sounds, the tiles of backgrounds, and the surveys, stamps and far
// pictures of realms. Open downloads them from the folder assets next to the game's page.
func Fetched(name string) bool {
	dir, file := path.Split(name)
	switch {
	case dir == "sound/":
		return true
	case dir == "art/":
		return strings.HasPrefix(file, "bg_")
	}
	return strings.HasPrefix(dir, "realms/") && dir != "realms/" && path.Ext(file) != ".rec"
}
