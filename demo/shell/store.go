package shell

import (
	"errors"
	"fmt"
	"io/fs"
)

// A Store keeps a few small files by name. Its methods are called by the goroutine of the Shell.
type Store interface {
	// Load returns what was saved; the error is fs.ErrNotExist where nothing was. It reads no
	// more than most+1 bytes.
	Load(name string, most int) ([]byte, error)
	// Save keeps data whole or not at all. With aside what was there is kept as name.bad.
	Save(name string, data []byte, aside bool) error
	// Place says where a name is, for a line to the player.
	Place(name string) string
}

// A keeper loads and saves through a Store, and says once what is wrong with it.
type keeper struct {
	store Store
	log   func(string)
	bad   map[string]bool // could not be read, and is still there
	mute  bool            // a failure to save was reported
}

// load reads a file with a parser, and reports whether there was a good one.
func (k *keeper) load(name string, parse func([]byte) error) bool {
	if k.store == nil {
		return false
	}
	data, err := k.store.Load(name, fileMost)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = parse(data)
	}
	if err != nil {
		k.bad[name] = true
		k.log(fmt.Sprintf("%s: %v; it is left alone until the next save", k.store.Place(name), err))
	}
	return err == nil
}

// save writes a file. Only the first failure is reported: the game plays on without.
func (k *keeper) save(name string, data []byte, err error) {
	if k.store == nil {
		return
	}
	if err == nil {
		err = k.store.Save(name, data, k.bad[name])
	}
	if err == nil {
		delete(k.bad, name)
		return
	}
	if !k.mute {
		k.mute = true
		k.log(fmt.Sprintf("%s cannot be saved: %v; settings and runs last as long as the game", k.store.Place(name), err))
	}
}
