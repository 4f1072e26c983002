package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/strata-go/strata/engine/stream"
)

const (
	firstRealm    = "ember"
	manifestKind  = "manifest"
	fallbackUnder = "fallback/" // the folder of Config.Fallback in the streamer's file system
)

// Routed is a file system whose files lie in other file systems. For a name the function returns the file system that
// has the file, which is not nil, and the file's name there.
type Routed func(name string) (fs.FS, string)

// Open opens the file in the file system that has it.
func (r Routed) Open(name string) (fs.File, error) {
	files, name := r(name)
	return files.Open(name)
}

// Stat returns the description of the file from the file system that has it.
func (r Routed) Stat(name string) (fs.FileInfo, error) {
	files, name := r(name)
	return fs.Stat(files, name)
}

func (s *Session) files() fs.FS {
	if s.cfg.Fallback == nil {
		return s.cfg.FS
	}
	return Routed(func(name string) (fs.FS, string) {
		if rest, ok := strings.CutPrefix(name, fallbackUnder); ok {
			return s.cfg.Fallback, rest
		}
		return s.cfg.FS, name
	})
}

// path returns the name of a realm's manifest.
func (s *Session) path(name string) string {
	path := "levels/" + name + ".json"
	if s.fallback == name {
		path = fallbackUnder + path
	}
	s.fallback = "" // its own file may be readable the next time
	return path
}

// replace replaces a manifest that cannot be read by the fallback of its name, or by that of the first realm. It
// reports whether there is one. Log is called with both.
func (s *Session) replace() bool {
	var failed *stream.LoadError
	if s.cfg.Fallback == nil || !errors.As(s.Flow.Err(), &failed) || failed.Kind != manifestKind || strings.HasPrefix(failed.Name, fallbackUnder) {
		return false
	}
	of := s.Flow.Target()
	name := of
	if _, err := fs.Stat(s.cfg.Fallback, s.path(name)); err != nil {
		name = firstRealm
	}
	s.report()
	s.cfg.Log(fmt.Errorf("realm %q cannot be played: the game's own %q is, in its place", of, name))
	s.fallback = name
	s.Flow.Go(name)
	return true
}
