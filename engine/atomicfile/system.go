package atomicfile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A System is the part of a file system that Writer and MakeFolder use. Tests implement System to stop or fail between
// two calls. Its errors must be like those of package os: if one means fs.ErrNotExist, fs.ErrExist or fs.ErrPermission,
// it must wrap that error.
type System interface {
	// Create makes a new file with mode 0600 and opens it; see os.CreateTemp.
	Create(dir, pattern string) (File, error)
	// Open opens a file for reading.
	Open(name string) (io.ReadCloser, error)
	// Link makes a second name for a file. If the second name exists, Link fails.
	Link(name, second string) error
	// Rename gives a file a new name. If the new name exists, Rename replaces its file in one step.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// IsFolder reports whether name is a folder. For a link to a folder, and if name cannot be read, IsFolder returns
	// false.
	IsFolder(name string) bool
	// SyncFolder makes the names in a folder survive a power cut. If the file system cannot do this, SyncFolder returns
	// nil.
	SyncFolder(dir string) error
	// MakeFolder makes one folder. If the name exists, the error wraps fs.ErrExist. If the parent folder does not
	// exist, the error wraps fs.ErrNotExist.
	MakeFolder(dir string, mode fs.FileMode) error
}

// A File is open for writing. Name returns its path. Chmod sets its mode. Sync makes its contents survive a
// power cut.
type File interface {
	io.WriteCloser
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
}

// OS returns the System that calls the operating system.
func OS() System { return operating{} }

type operating struct{}

func (operating) Create(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err // and not a nil *os.File in a File
	}
	return f, nil
}

func (operating) Open(name string) (io.ReadCloser, error) { return os.Open(name) }
func (operating) Link(name, second string) error          { return os.Link(name, second) }
func (operating) Rename(from, to string) error            { return os.Rename(from, to) }
func (operating) Remove(name string) error                { return os.Remove(name) }
func (operating) SyncFolder(dir string) error             { return syncFolder(dir) }

func (operating) MakeFolder(dir string, mode fs.FileMode) error { return os.Mkdir(dir, mode) }

func (operating) IsFolder(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// MakeFolder makes a folder and its parents, like os.MkdirAll, and syncs the folder that contains each new folder. If
// the name exists already, even as a file, MakeFolder returns nil. Every error is an *fs.PathError with the failed
// step. After a failed sync the new folder exists, and a second call does not repeat this sync. A nil System is the
// operating system.
func MakeFolder(sys System, dir string, mode fs.FileMode) error {
	sys = cmp.Or(sys, OS())
	if sys.IsFolder(dir) {
		return nil
	}
	err := sys.MakeFolder(dir, mode)
	parent := filepath.Dir(strings.TrimRightFunc(dir, func(r rune) bool { return r == '/' || r == filepath.Separator })) // Dir of "a/b/" would be "a/b"
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := MakeFolder(sys, parent, mode); err != nil {
			return err
		}
		err = sys.MakeFolder(dir, mode)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was faster, or it is a link to a folder; if it is a file, Create fails
	}
	if err != nil {
		return failed("make the folder", dir, err)
	}
	if err := sys.SyncFolder(parent); err != nil {
		return failed("sync the folder", parent, err)
	}
	return nil
}
