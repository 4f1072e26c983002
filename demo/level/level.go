// Package level reads the level files of the game: what a level is called and what follows it, in what
// colours, with which pictures. It knows their form, not the rules, and names the kinds of enemies.
// Walls and places are the realm's of the same name, in package realm.
//
// A file is a JSON object; [Parse] wants every field that there is and no other, and its error names all
// that is wrong, with what is allowed. Parse runs on any goroutine, a worker's in the game, and costs
// some Go objects for each field. A [Level] is read by any number of goroutines and changed by none.
package level

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// A Level is one level file. It lies in the Go heap: it is parsed at a level change and read
// by whoever shows it. Treat it as read-only.
type Level struct {
	Name    string // lower case letters, digits, - and _; the file is Name.json
	Title   string // what the player reads
	Next    string // name of the level that follows; empty at the end
	Palette [5]Color
	Ambient Ambient
	Assets  []Asset
}

// Ambient is what floats about: Rate particles a second of a kind that the game knows.
type Ambient struct {
	Rate float32
	Kind string
}

// An Asset is a picture that the level shows. Priority 0 is needed first.
type Asset struct {
	ID       string
	File     string // a path in the file system of the game
	Priority int
}

// AssetOf returns the id of the asset whose file is file, or has that base name. The id is empty where there is none.
func (l *Level) AssetOf(file string) string {
	for _, a := range l.Assets {
		if a.File == file || path.Base(a.File) == file {
			return a.ID
		}
	}
	return ""
}

// maxBytes is far above what a person writes, and bounds what a parse may cost.
const maxBytes = 1 << 20

// Load reads and parses the level file at name, as in "levels/ember.json", at once: it waits as
// long as the file system does, and only the file system can end that. A game that must not
// wait has package stream load the file, with [Parse] on a worker.
func Load(fsys fs.FS, name string) (*Level, error) {
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("level %q is not a path inside the file system; allowed: slash-separated, no leading slash, no . or .. element", name)
	}
	data, err := read(fsys, name)
	if err != nil {
		if p, ok := err.(*fs.PathError); ok && p.Err != nil {
			err = p.Err // name stands in front
		}
		return nil, fmt.Errorf("level %s: %w", name, err)
	}
	return Parse(name, data)
}

// read reads the file at name, or so much of it that it is seen to be too large. A file system
// that panics, or breaks the contract of Read, is an error.
func read(fsys fs.FS, name string) (data []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the file system panicked: %v", v)
		}
	}()
	if s, ok := fsys.(fs.StatFS); ok { // opening a named pipe waits for its writer
		if info, err := s.Stat(name); err != nil {
			return nil, err
		} else if err := regular(info); err != nil {
			return nil, err
		}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was read only: nothing can be lost
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, err
	}
	data = make([]byte, 0, 4096)
	for empty := 0; len(data) <= maxBytes; empty++ {
		data = slices.Grow(data, 512)
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n] // panics over a count that cannot be
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case n > 0:
			empty = 0
		case empty == 100: // what package io allows
			return nil, io.ErrNoProgress
		}
	}
	return data, nil
}

func regular(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file: %v", info.Mode().Type())
	}
	return nil
}
