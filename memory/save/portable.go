package save

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/strata-go/strata/memory/layout"
)

// A Portable is a State that can be in a file. Its SaveState must obey [Coder.Portable]. CanWrite returns an error if a
// value of the State, such as an address, has no meaning in another process. The error contains the path of the field,
// and should wrap [ErrPortable].
//
// If all values of a Portable are of one type, it should have a method RowType() reflect.Type that returns this type.
// Then [Set.Portable] checks the handles in these values: exactly one pool of the Set must own them. The Set also calls
// [Coder.Elements] with this type. A Portable with values of several known types should have RowTypes() []reflect.Type,
// as an ecs.World does.
//
// If every part of the Set has one of these methods, [Set.Read] and [Set.Verify] also check Migration.Convert. Each of
// its keys must then name a type that one of these methods returns, or that a part visits. If not, the error wraps
// layout.ErrMigration.
type Portable interface {
	State
	CanWrite() error
}

// A HandleOwner is a State to which handles belong, such as a pool. HandleKey returns the type of the handles, and a
// key. The generation in each handle is the generation in the pool XOR the key. A file contains the generations without
// the key.
type HandleOwner interface {
	HandleKey() (handle reflect.Type, key uint32)
}

// A RowChecker is a State that knows which values in files are impossible, such as an ecs.World for its entities.
// RowCheck returns a function that takes the address of a value of type t, and returns an error if the value is
// impossible. If every value of type t is possible, RowCheck returns nil. [Set.Read] and [Set.Verify] call the function
// for all values that States visit as type t.
type RowChecker interface {
	RowCheck(t reflect.Type) func(value unsafe.Pointer) error
}

// Portable returns nil if the Set can be written to a file. If the Set is not sealed, Portable returns [ErrUnsealed].
// Every other error wraps [ErrPortable] and the errors of CanWrite. It names each part that cannot be in a file, and
// the first field of the part that has no meaning in another process. Such a field is an address, or a handle whose
// type does not belong to exactly one pool of the Set. [Set.Write], [Set.Read] and [Set.Verify] return the same errors.
//
// An allocator cannot be in a file, because the types of its blocks are unknown: instead add a function that visits
// them with [Set.AddFunc]. Portable does not call such a function. If the function visits a value that cannot be in a
// file, Write, Read or Verify returns an error that wraps ErrPortable.
func (s *Set) Portable() error {
	if !s.sealed {
		return ErrUnsealed
	}
	var errs []error
	for i := range s.parts {
		p := &s.parts[i]
		w, ok := p.state.(Portable)
		if !ok {
			errs = append(errs, fmt.Errorf("save: %q: %T: %w", p.name, p.state, errBlocks))
			continue
		}
		err := w.CanWrite()
		if t := rowType(p.state); t != nil && err == nil {
			_, err = layout.OfHandles(t, s.handleKnown)
		}
		if err != nil {
			if !errors.Is(err, ErrPortable) {
				err = fmt.Errorf("%w: %w", ErrPortable, err)
			}
			errs = append(errs, fmt.Errorf("save: %q: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}

// rowType returns the type of the values of which a part consists, or nil if it has several, or unknown ones. A State may
// have a method RowType, as pool.Pool does.
func rowType(s State) reflect.Type {
	if typed, ok := s.(interface{ RowType() reflect.Type }); ok {
		return typed.RowType()
	}
	return nil
}

// rowTypes returns the types of the values of a part. known is false if it may have others.
func rowTypes(s State) (types []reflect.Type, known bool) {
	if t := rowType(s); t != nil {
		return []reflect.Type{t}, true
	}
	if typed, ok := s.(interface{ RowTypes() []reflect.Type }); ok {
		return typed.RowTypes(), true
	}
	return nil, false
}

// handleKey returns the key of the pool to which the handles of a type belong. ok is false unless exactly one pool of
// the Set has such handles.
func (s *Set) handleKey(t reflect.Type) (key uint32, ok bool) {
	for i := range s.parts {
		owner, is := s.parts[i].state.(HandleOwner)
		if !is {
			continue
		}
		of, k := owner.HandleKey()
		if of != t {
			continue
		}
		if ok {
			return 0, false
		}
		key, ok = k, true
	}
	return key, ok
}

func (s *Set) handleKnown(t reflect.Type) error {
	if _, ok := s.handleKey(t); !ok {
		return errNoPool
	}
	return nil
}
