package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strata-go/strata/engine/atomicfile"
)

// Files is a Store in the folder Dir. The first save makes Dir. If a process is killed during Save, or if a system
// call fails, the complete old version or the complete new one remains.
type Files struct {
	Dir    string
	system atomicfile.System // of a test; nil: the operating system
}

// Load removes temporary files of killed processes from the folder. Then it returns the content of a file. If the file
// is longer than the parameter most, Load returns the first most+1 bytes. If the file does not exist, the error wraps
// fs.ErrNotExist. If it is no plain file, Load fails.
func (f Files) Load(name string, most int) ([]byte, error) {
	atomicfile.Sweep(f.Dir)
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

// Save replaces a file as an atomic write and makes the folder if necessary. If aside is true, Save first makes a
// backup of the old version, whose name has .bad appended. The old version keeps its name until it is replaced, unless
// it is a folder or cannot be read.
func (f Files) Save(name string, data []byte, aside bool) error {
	if err := atomicfile.MakeFolder(f.system, f.Dir, 0o755); err != nil {
		return reason(err)
	}
	path := f.Place(name)
	w := atomicfile.Writer{System: f.system, Mode: 0o600}
	if aside {
		w.Backup = path + ".bad"
	}
	err := w.Write(path, func(to io.Writer) error { _, err := to.Write(data); return err })
	if err != nil {
		return reason(err)
	}
	return nil
}

// Remove deletes a file and its backup. If they do not exist, Remove returns nil.
func (f Files) Remove(name string) error {
	path := f.Place(name)
	for _, p := range [...]string{path + ".bad", path} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return reason(err)
		}
	}
	return nil
}

// Place returns the path of the file of a name.
func (f Files) Place(name string) string { return filepath.Join(f.Dir, name) }

// reason removes the path from an error and keeps the failed step: messages name the path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}
