package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sources are this program's own, and tell whether a realm has to be composed again: that takes 15 seconds of a
// processor, pictures and sounds less than one.
//
//go:embed *.go
var sources embed.FS

// otherKinds are the sources of pictures and sounds, on which no realm depends. A test holds them to that.
var otherKinds = []string{"effects.go", "enemies.go", "main.go", "make.go", "mark.go", "pictures.go", "player.go", "shots.go", "sound", "warden.go"}

// ofRealm reports whether the ground of a realm depends on a source file.
func ofRealm(r *realm, file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	for _, other := range otherKinds {
		if strings.HasPrefix(file, other) {
			return false
		}
	}
	return !strings.HasPrefix(file, "realm_") || file == "realm_"+r.Name+".go"
}

// A mark remembers for a folder of a realm from which sources it was made. It is a file in the user's cache, so
// that a checkout has no file that changes with every comment. A missing cache only costs time.
type mark struct {
	file string // "" if there is no cache
	sum  string
}

// realmMark returns the mark of a realm: a digest of the sources, of the package that composes the ground and of what
// lies in the folder.
func (o *options) realmMark(r *realm) mark {
	if o.cache == "" {
		return mark{}
	}
	dir, err := filepath.Abs(filepath.Join(o.realms, r.Name))
	if err != nil {
		return mark{}
	}
	name := sha256.Sum256([]byte(dir))
	return mark{file: filepath.Join(o.cache, "gen-"+hex.EncodeToString(name[:8])), sum: dir + "\x00" + sourcesOf(r)}
}

// sourcesOf returns a digest of what a realm is made from.
func sourcesOf(r *realm) string {
	h := sha256.New()
	files, _ := fs.Glob(sources, "*.go")
	for _, file := range files {
		if ofRealm(r, file) {
			data, _ := sources.ReadFile(file)
			h.Write(data)
		}
	}
	composer, _ := filepath.Glob(filepath.Join("demo", "ground", "*.go")) // from the root, where gen is run
	for _, file := range composer {
		if data, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, "_test.go") {
			h.Write(data)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// written returns a digest of the files of a realm's folder, and of the two beside it.
func (m mark) written() string {
	dir, _, _ := strings.Cut(m.sum, "\x00")
	h := sha256.New()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range append(files, dir+".json", dir+".walls") {
		data, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		h.Write([]byte(filepath.Base(file)))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// current reports whether the folder is as it was when the mark was kept, and was made from the same sources.
func (m mark) current() bool {
	if m.file == "" {
		return false
	}
	kept, err := os.ReadFile(m.file)
	return err == nil && string(kept) == m.sum+"\x00"+m.written()
}

// keep writes the mark. An error is none of the caller's: the realm has been written.
func (m mark) keep() error {
	if m.file != "" {
		_ = os.MkdirAll(filepath.Dir(m.file), 0o755)
		_ = os.WriteFile(m.file, []byte(m.sum+"\x00"+m.written()), 0o644)
	}
	return nil
}
