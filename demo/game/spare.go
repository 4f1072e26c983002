package game

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/strata-go/strata/engine/stream"
)

const (
	firstLevel = "ember"
	levelKind  = "level"
	spareUnder = "spare/" // where the files of SessionConfig.Spare lie for the streamer
)

// withSpare is a file system with another one in a folder of its own.
type withSpare struct {
	fs.FS
	spare fs.FS
}

func (w withSpare) of(name string) (fs.FS, string) {
	if rest, ok := strings.CutPrefix(name, spareUnder); ok {
		return w.spare, rest
	}
	return w.FS, name
}

// Open opens a file of the one or the other.
func (w withSpare) Open(name string) (fs.File, error) {
	files, name := w.of(name)
	return files.Open(name)
}

// Stat asks the one or the other.
func (w withSpare) Stat(name string) (fs.FileInfo, error) {
	files, name := w.of(name)
	return fs.Stat(files, name)
}

func (s *Session) files() fs.FS {
	if s.cfg.Spare == nil {
		return s.cfg.FS
	}
	return withSpare{s.cfg.FS, s.cfg.Spare}
}

// path names the file of a level.
func (s *Session) path(name string) string {
	path := "levels/" + name + ".json"
	if s.spare == name {
		path = spareUnder + path
	}
	s.spare = "" // the next time it may be whole
	return path
}

// replace has a level that cannot be read replaced by the spare one of its name, or by the first. It reports whether
// there is one. Log is told of both.
func (s *Session) replace() bool {
	var failed *stream.LoadError
	if s.cfg.Spare == nil || !errors.As(s.Flow.Err(), &failed) || failed.Kind != levelKind || strings.HasPrefix(failed.Name, spareUnder) {
		return false
	}
	of := s.Flow.Target()
	name := of
	if _, err := fs.Stat(s.cfg.Spare, s.path(name)); err != nil {
		name = firstLevel
	}
	s.report()
	if s.cfg.Log != nil {
		s.cfg.Log(fmt.Errorf("level %q cannot be played: the game's own %q is, in its place", of, name))
	}
	s.spare = name
	s.Flow.Go(name)
	return true
}
