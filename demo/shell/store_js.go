package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall/js"
)

// DefaultStore returns the browser's local storage, or nil if the page may not use it.
func DefaultStore() (s Store) {
	defer func() {
		if recover() != nil { // a browser that forbids it throws on access
			s = nil
		}
	}()
	if l := js.Global().Get("localStorage"); l.Truthy() {
		return local{l}
	}
	return nil
}

// local is a Store in the browser's local storage, whose setItem is atomic.
type local struct{ storage js.Value }

func (l local) Place(name string) string { return "strata/" + name }

func (l local) Load(name string, most int) (data []byte, err error) {
	defer caught(&err)
	v := l.storage.Call("getItem", l.Place(name))
	if v.Type() != js.TypeString {
		return nil, fs.ErrNotExist
	}
	data = []byte(v.String())
	if len(data) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return data, nil
}

func (l local) Save(name string, data []byte, aside bool) (err error) {
	defer caught(&err)
	if v := l.storage.Call("getItem", l.Place(name)); aside && v.Type() == js.TypeString {
		l.storage.Call("setItem", l.Place(name)+".bad", v)
	}
	l.storage.Call("setItem", l.Place(name), string(data))
	return nil
}

// Remove deletes a file and its backup.
func (l local) Remove(name string) (err error) {
	defer caught(&err)
	l.storage.Call("removeItem", l.Place(name)+".bad")
	l.storage.Call("removeItem", l.Place(name))
	return nil
}

// errFull is for the player: a browser gives a page some 5 million characters.
var errFull = errors.New("the browser keeps no more for this page: delete a saved run")

// caught converts an exception of the browser to an error: storage full, or forbidden.
func caught(err *error) {
	if v := recover(); v != nil {
		var thrown js.Error
		if e, ok := v.(error); ok && errors.As(e, &thrown) {
			if thrown.Type() == js.TypeObject && thrown.Get("name").String() == "QuotaExceededError" {
				*err = errFull
				return
			}
			*err = fmt.Errorf("local storage: %w", thrown)
			return
		}
		panic(v)
	}
}
