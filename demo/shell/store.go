package shell

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/strata-go/strata/engine/atomicfile"
)

// A Store keeps a few small files by name. Its methods are called by the goroutine of the Shell.
type Store interface {
	// Load returns the saved data of a name. If there is none, the error wraps fs.ErrNotExist. The parameter most is a
	// limit in bytes. If the data is longer, Load must either return the first most+1 bytes or fail.
	Load(name string, most int) ([]byte, error)
	// Save replaces the data of a name atomically. If aside is true, Save keeps the old version under the name with
	// .bad appended. If the error wraps atomicfile.ErrUnsynced, the new version is in place, but a power cut might
	// restore the old one. After any other error the old version remains, under its name or with .bad appended.
	Save(name string, data []byte, aside bool) error
	// Place returns the path of the data of a name, for messages.
	Place(name string) string
}

// A keeper loads and saves through a Store, and logs the first failure to save, and the first to sync.
type keeper struct {
	store Store
	log   func(string)
	bad   map[string]bool // could not be read and still exist
	told  map[string]bool // texts of failures that were reported
}

// load reads a file with a parser, if there is one. A file that could not be read is not read again before it is saved.
func (k *keeper) load(name string, parse func([]byte) error) {
	if k.store == nil || k.bad[name] {
		return
	}
	data, err := k.store.Load(name, fileMost)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = parse(data)
	}
	if err != nil {
		k.bad[name] = true
		k.log(fmt.Sprintf("%s: %v; it is left alone until the next save", k.store.Place(name), err))
	}
}

// save writes a file and reports whether it is saved. Only the first failure of a kind is logged: the game goes on
// without.
func (k *keeper) save(name string, data []byte, err error) bool {
	if k.store == nil {
		return true
	}
	if err == nil {
		err = k.store.Save(name, data, k.bad[name])
	}
	text := "%s cannot be saved: %v; settings and runs last as long as the game"
	if errors.Is(err, atomicfile.ErrUnsynced) {
		text = "%s is saved: %v"
	}
	ok := err == nil || errors.Is(err, atomicfile.ErrUnsynced)
	if ok {
		delete(k.bad, name) // the file is valid now: the next save must not make a backup of it
	}
	if err != nil && !k.told[text] {
		k.told[text] = true
		k.log(fmt.Sprintf(text, k.store.Place(name), err))
	}
	return ok
}
