// Package manifest reads the manifests of realms: title, successor, colours and pictures of each, in the files
// levels/NAME.json. It checks their form and does not depend on the game's rules. Walls and places of a realm are in
// package realm.
//
// A manifest is a JSON object. [Parse] requires every field and accepts no other. Its error lists what is wrong, with
// what is allowed. Parse may run on any goroutine, and costs some objects of the Go heap for each field. A [File] is
// safe for concurrent reads.
package manifest

import (
	"path"

	"github.com/strata-go/strata/demo/realm"
)

// A File is the content of one manifest. It lies in the Go heap. Treat it as read-only.
type File struct {
	Name    string         // lower case letters, digits, - and _; the file is Name.json
	Title   string         // shown to the player
	Next    string         // name of the next realm; "" for the last one, after which the first realm of the run follows
	Palette [5]realm.Color // dark to light
	Ambient Ambient
	Assets  []Asset
}

// Ambient describes the particles in the air. Rate is the number of new particles a second. Kind is a name for their
// kind, which the game does not use yet.
type Ambient struct {
	Rate float32
	Kind string
}

// An Asset is a picture of the realm. Pictures with the lowest Priority are loaded first.
type Asset struct {
	ID       string // unique in its File
	File     string // a path in the file system of the game
	Priority int
}

// AssetOf returns the id of the first asset whose path or base name is file. If there is none, it returns "".
func (f *File) AssetOf(file string) string {
	for _, a := range f.Assets {
		if a.File == file || path.Base(a.File) == file {
			return a.ID
		}
	}
	return ""
}
