package assets

import "embed"

// What a game begins with. All other files are Fetched: a test compares the two.
//
//go:embed levels/*.json realms/*.json realms/*.walls art/[^b]*.png art/b[^g]*.png
var begin embed.FS

var files = Recipes(far{near: begin})
