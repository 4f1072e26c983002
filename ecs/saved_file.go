package ecs

import (
	"errors"
	"io"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

// CanWrite returns an error if a registered component has a name that is not UTF-8, or a field that has no meaning in
// another process, such as a pointer. The error names the path of the first such field of each component. CanWrite also
// returns an error if a component of an archetype has the same name as another component type of w. A save.Set calls
// CanWrite.
func (w *World) CanWrite() error {
	var errs []error
	var used mask
	for _, t := range w.store.tables {
		used = used.with(t.mask)
	}
	for id, c := range w.store.comps {
		_, err := c.describe()
		if errs = append(errs, err); c.owner == nil && used.has(ID(id)) {
			errs = append(errs, w.onlyOne(ID(id)))
		}
	}
	return errors.Join(errs...)
}

// RowTypes returns the registered component types, for package save: see save.Portable. Types of [World.RegisterSize]
// are not included. For a closed world the result is nil.
func (w *World) RowTypes() (types []reflect.Type) {
	if w.guard.closed() {
		return nil
	}
	for _, c := range w.store.comps {
		if c.typ != nil {
			types = append(types, c.typ)
		}
	}
	return types
}

// RowCheck returns a function for values of type t. The function returns an error if the value contains an Entity that no
// world ever had: one with slot 0 or an even generation, or a placeholder of [Task.Commands]. The zero Entity is no
// error. If t contains no Entity, RowCheck returns nil. A save.Set calls RowCheck, see save.RowChecker.
func (w *World) RowCheck(t reflect.Type) func(value unsafe.Pointer) error {
	named := entitiesIn(nil, t, 0)
	if len(named) == 0 {
		return nil
	}
	return func(value unsafe.Pointer) error { return checkEntitiesAt(value, named) }
}

// saveFile visits the world in a file, in the form of WriteBinary. A world that was loaded goes on as the one that was
// written: its archetypes have the same order.
func (w *World) saveFile(c *save.Coder) {
	c.Stream(w.WriteBinary, func(in io.Reader) error {
		w.guard.mutable("ReadBinary") // stops loops
		if err := w.reset(); err != nil {
			return err
		}
		return w.readBinary("ReadBinary", in, c.Migration(), false)
	})
}
