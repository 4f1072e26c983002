// Package atomicfile writes files atomically: a reader finds the old version or the new one, complete.
//
// A new version is written to a temporary file in the same folder, synced, and renamed over the target. Then the
// folder is synced. The target exists at every moment, so a process that is killed between any two system calls loses
// nothing. There is one exception: with a backup, a target that is a folder or cannot be read may be found under the
// backup's name instead.
//
//	create  write  chmod  sync  close                  the temporary file
//	link  rename  remove  sync the folder              the backup, if one is wanted
//	rename                                             the new version is in place
//	sync the folder                                    and survives a power cut
//
// A killed process (SIGKILL, a power cut) may leave a temporary file. Its name begins with a dot and contains
// the number of its process, so that Sweep can remove it. A temporary file never has the only copy of an old version.
//
// Only Unix systems sync the folder. On others a power cut directly after Write may restore the old version.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrUnsynced reports that the new version is in place, but its folder could not be synced. In this case the error of
// Write wraps ErrUnsynced, and a power cut may restore the old version. If Writer.Backup is set and there was an old
// version, the backup exists.
var ErrUnsynced = errors.New("the new version is in place, but may not survive a power cut")

const prefix = ".strata-"

// Pattern returns a pattern for os.CreateTemp. The file names that it produces end in ext and contain the number of
// this process. ext must not contain an asterisk. [Sweep] removes such a file after this process has ended. A Sweep
// of another process also removes it if it was last written more than a day ago. A Sweep on another computer or in
// another container may remove it at any time.
func Pattern(ext string) string { return fmt.Sprintf("%s%d-*%s", prefix, os.Getpid(), ext) }

// A Writer writes files atomically. The zero Writer uses the operating system and mode 0644. A Writer may be copied. If
// Backup is empty, it is safe for concurrent use with different paths.
type Writer struct {
	System System      // nil means the operating system
	Mode   fs.FileMode // the mode of the new version, regardless of the umask; 0 means 0644
	// Backup is the path at which Write keeps the old version; "" means no backup. The path must be in the folder of the
	// file. A backup replaces the file at Backup. If there is no old version, the file at Backup stays. A backup is a hard
	// link to the old version. If the system makes no such link, the backup is a copy, with Mode.
	Backup string
}

// Write writes a file atomically with mode 0644, as [Writer.Write] does.
func Write(path string, write func(io.Writer) error) error { return Writer{}.Write(path, write) }

// Write replaces or creates the file at path, in a folder that exists. If path is a symbolic link, the file replaces
// the link. The callback `write` must write the new contents to its argument, which is valid only during this call. If
// Write returns nil and the folder can be synced, the new version survives a power cut. Only Unix systems can sync
// folders. Even on Unix some file systems cannot, nor can a user who may not read the folder.
//
// If the error wraps ErrUnsynced, the new version is at path. After all other errors the file at path is unchanged,
// with one exception. If Backup is set, and the old version is a folder or not readable, it may have moved to Backup. A
// failed Write may also have made a backup. If Write fails, or the callback panics or calls runtime.Goexit, Write
// removes the temporary file if it can.
//
// The error is an *fs.PathError with the failed step, the path or Backup, and the system's reason, or it is the error
// of the callback. If the callback returns an error of its argument, Write returns an *fs.PathError with path. If the
// callback returns an error that wraps ErrUnsynced, for example of another file, Write returns an error with the same
// text that wraps nothing.
func (w Writer) Write(path string, write func(io.Writer) error) (err error) {
	w.System = cmp.Or(w.System, OS())
	w.Mode = cmp.Or(w.Mode, 0o644)
	temp, err := w.complete(path, write)
	placed := false
	if temp != "" {
		defer func() {
			if !placed {
				_ = w.System.Remove(temp) // the error at hand says more
			}
		}()
	}
	if err != nil {
		return err
	}
	if w.Backup != "" {
		if err := w.keep(path, temp+"-old"); err != nil {
			return err
		}
	}
	if err := w.System.Rename(temp, path); err != nil {
		return failed("rename", path, err)
	}
	placed = true
	if err := w.System.SyncFolder(filepath.Dir(path)); err != nil {
		return &fs.PathError{Op: "sync the folder", Path: path, Err: fmt.Errorf("%w: %w", ErrUnsynced, cause(err))}
	}
	return nil
}

// complete writes and syncs the temporary file. It returns its name if it exists, also with an error.
func (w Writer) complete(path string, write func(io.Writer) error) (temp string, err error) {
	f, err := w.System.Create(filepath.Dir(path), Pattern(filepath.Ext(path)))
	if err != nil {
		return "", failed("create", path, err)
	}
	open := true
	defer func() {
		if open {
			_ = f.Close() // write failed or did not return
		}
		if temp == "" { // write panicked or called runtime.Goexit
			_ = w.System.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		if p := (*fs.PathError)(nil); errors.As(err, &p) && p.Path == f.Name() {
			err = failed("write", path, err)
		}
		if errors.Is(err, ErrUnsynced) { // of another file: this one is not in place
			err = errors.New(err.Error())
		}
		return f.Name(), err
	}
	if err := f.Chmod(w.Mode); err != nil {
		return f.Name(), failed("set the mode", path, err)
	}
	if err := f.Sync(); err != nil {
		return f.Name(), failed("sync", path, err)
	}
	open = false
	if err := f.Close(); err != nil {
		return f.Name(), failed("close", path, err)
	}
	return f.Name(), nil
}

// keep makes the backup of path. A second hard link does so without a moment in which either name is
// missing, whatever the size. File systems without links get a copy. What can have neither is renamed: a
// folder, and a file that this user may not read, to which Linux refuses links as well.
func (w Writer) keep(path, link string) error {
	err := w.System.Link(path, link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is no old version
	}
	from := link
	if err != nil {
		if from, err = w.unlinked(path); err != nil || from == "" {
			return err
		}
	}
	if err := w.System.Rename(from, w.Backup); err != nil {
		if from != path {
			_ = w.System.Remove(from) // the error at hand says more
		}
		return failed("rename", w.Backup, err)
	}
	if from == link {
		_ = w.System.Remove(link) // if both names were links to one file already, POSIX renames nothing
	}
	// Without this a power cut could leave the new version and no backup.
	if err := w.System.SyncFolder(filepath.Dir(path)); err != nil {
		return failed("sync the folder", w.Backup, err)
	}
	return nil
}

// unlinked returns what is renamed to the backup if no link can be made: a complete temporary copy of the old
// version, or path itself. The name is empty if there is no old version.
func (w Writer) unlinked(path string) (from string, err error) {
	if w.System.IsFolder(path) {
		return path, nil
	}
	old, err := w.System.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case errors.Is(err, fs.ErrPermission):
		return path, nil
	case err != nil:
		return "", failed("open", path, err)
	}
	defer old.Close() // it was only read
	temp, err := w.complete(w.Backup, func(f io.Writer) error { _, err := io.Copy(f, old); return err })
	if err != nil && temp != "" {
		_ = w.System.Remove(temp) // the error at hand says more
	}
	return temp, err
}

// failed names the step and the file of a system's error.
func failed(step, path string, err error) error {
	return &fs.PathError{Op: step, Path: path, Err: cause(err)}
}

// cause takes the temporary file's name out of an error.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
