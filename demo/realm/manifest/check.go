package manifest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The limits of a manifest: generous for an author, and small for a machine.
const (
	maxTitle       = 64 // bytes
	maxWord        = 32
	maxAmbientRate = 1000 // particles a second
	maxAssets      = 256
	maxPriority    = 100
)

// check verifies every value.
func (f *File) check(r *problems) {
	checkWord(r, "name", f.Name)
	checkTitle(r, "title", f.Title)
	if f.Next != "" {
		checkWord(r, "next", f.Next)
	}
	checkRange(r, "ambient.rate", f.Ambient.Rate, 0, maxAmbientRate)
	checkWord(r, "ambient.kind", f.Ambient.Kind)
	f.checkAssets(r)
}

// checkFile compares the name with the file's: the game finds the manifest and the realm by the same name.
func (f *File) checkFile(r *problems, file string) {
	base, ok := strings.CutSuffix(path.Base(file), ".json")
	if ok && base != f.Name {
		r.add(-1, "name", "%s; allowed: %s, the name of the file", short(f.Name), short(base))
	}
}

func (f *File) checkAssets(r *problems) {
	checkCount(r, "assets", len(f.Assets), 0, maxAssets)
	for i, a := range f.Assets[:min(len(f.Assets), maxAssets)] {
		at := fmt.Sprintf("assets[%d].", i)
		checkWord(r, at+"id", a.ID)
		if j := slices.IndexFunc(f.Assets[:i], func(b Asset) bool { return b.ID == a.ID }); j >= 0 {
			r.add(-1, at+"id", "%s is already assets[%d]; ids are unique", short(a.ID), j)
		}
		if checkPath(r, at+"file", a.File) && path.Ext(a.File) != ".png" {
			r.add(-1, at+"file", "%s is no picture; allowed: files that end in .png", short(a.File))
		}
		if a.Priority < 0 || a.Priority > maxPriority {
			r.add(-1, at+"priority", "%d; allowed: 0 (first) to %d", a.Priority, maxPriority)
		}
	}
}

func checkPath(r *problems, at, file string) bool {
	// Backslashes and colons would leave the folder on Windows, where the files may lie on disk.
	if fs.ValidPath(file) && file != "." && !strings.ContainsAny(file, `\:`) {
		return true
	}
	r.add(-1, at, "%s is not a path inside the file system; allowed: slash-separated, no leading slash, no . or .. element, no backslash or colon", short(file))
	return false
}

func checkWord(r *problems, at, s string) {
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if s == "" || len(s) > maxWord || strings.ContainsFunc(s, bad) {
		r.add(-1, at, "%s; allowed: 1 to %d of a-z, 0-9, _ and -", short(s), maxWord)
	}
}

func checkTitle(r *problems, at, s string) {
	control := func(c rune) bool { return c < ' ' || c == 0x7F }
	if s == "" || len(s) > maxTitle || strings.ContainsFunc(s, control) {
		r.add(-1, at, "%s; allowed: 1 to %d bytes on one line", short(s), maxTitle)
	}
}

// checkRange also refuses what is no number.
func checkRange(r *problems, at string, v, lo, hi float32) {
	if !(v >= lo && v <= hi) {
		r.add(-1, at, "%v; allowed: %v to %v", v, lo, hi)
	}
}

func checkCount(r *problems, at string, n, lo, hi int) {
	if n < lo || n > hi {
		r.add(-1, at, "%d entries; allowed: %d to %d", n, lo, hi)
	}
}
