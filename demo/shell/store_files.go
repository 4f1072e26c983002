package shell

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strata-go/strata/engine/whole"
)

// Files is a Store in a folder, which the first save makes.
type Files struct{ Dir string }

// Load reads a file. Anything but a plain file is refused. What a program that was killed has left unfinished
// in the folder is removed.
func (f Files) Load(name string, most int) ([]byte, error) {
	whole.Sweep(f.Dir)
	path := f.Place(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a plain file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(most)+1))
}

// Save writes beside the name and renames.
func (f Files) Save(name string, data []byte, aside bool) (err error) {
	if err := os.MkdirAll(f.Dir, 0o755); err != nil {
		return reason(err)
	}
	t, err := os.CreateTemp(f.Dir, whole.Pattern(""))
	if err != nil {
		return reason(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(t.Name()) // the error at hand says more
		}
	}()
	_, err = t.Write(data)
	if err = errors.Join(err, t.Sync(), t.Close()); err != nil {
		return err
	}
	path := f.Place(name)
	if aside {
		if err := os.Rename(path, path+".bad"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return reason(err)
		}
	}
	if err = os.Rename(t.Name(), path); err != nil {
		err = reason(err)
	}
	return err
}

// Place returns the path.
func (f Files) Place(name string) string { return filepath.Join(f.Dir, name) }

// reason takes the path out of an error: the line to the player names it already.
func reason(err error) error {
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
