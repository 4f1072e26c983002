package level

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The limits of a level. They are generous for a person and small for a machine: a file
// within them loads.
const (
	maxTitle       = 64 // bytes
	maxWord        = 32
	maxAmbientRate = 1000 // particles a second
	maxAssets      = 256
	maxPriority    = 100
)

// Validate checks every value of a level that was not parsed from a file; what Parse
// returns is valid. The error is Parse's, with the level's name for the file.
func (l *Level) Validate() error {
	r := &problems{file: "level " + l.Name, first: -1}
	l.check(r)
	return r.err()
}

func (l *Level) check(r *problems) {
	checkWord(r, "name", l.Name)
	checkTitle(r, "title", l.Title)
	if l.Next != "" {
		checkWord(r, "next", l.Next)
	}
	checkRange(r, "ambient.rate", l.Ambient.Rate, 0, maxAmbientRate)
	checkWord(r, "ambient.kind", l.Ambient.Kind)
	l.checkAssets(r)
}

// checkFile compares the level's name with its file's: the game finds the level and its realm by one and the same name.
func (l *Level) checkFile(r *problems, file string) {
	base, ok := strings.CutSuffix(path.Base(file), ".json")
	if ok && base != l.Name {
		r.add(-1, "name", "%s; allowed: %s, the name of the file", short(l.Name), short(base))
	}
}

func (l *Level) checkAssets(r *problems) {
	checkCount(r, "assets", len(l.Assets), 0, maxAssets)
	for i, a := range l.Assets[:min(len(l.Assets), maxAssets)] {
		at := fmt.Sprintf("assets[%d].", i)
		checkWord(r, at+"id", a.ID)
		if j := slices.IndexFunc(l.Assets[:i], func(b Asset) bool { return b.ID == a.ID }); j >= 0 {
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
