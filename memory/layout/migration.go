package layout

import "errors"

// ErrMigration is wrapped by errors about a [Migration] that asks for what is not there, or gives two things one name. The
// text names what it asks for, and what is allowed. The file itself is valid.
var ErrMigration = errors.New("the Migration does not fit the program")

// A Migration says how the types of a program have changed since a file was written. These changes need no Migration:
//   - a field was added, and is zero; a field was removed, or moved within its struct;
//   - an array has another length: elements beyond the old one are zero, elements beyond the new one are lost;
//   - an integer has another size or sign, and each value fits;
//   - a float32 became a float64, a complex64 a complex128, or an integer a float that has all its values.
//
// The zero Migration declares no change. Reading does not change a Migration.
type Migration struct {
	// Renamed maps the names of the file to today's: "game.Health" to "game.Hull" for a component type, and
	// "game.Health.HP" to "Points" for a field. The name of a field begins with the name that its struct has in the file.
	// In a file of a save.Set it also maps the names of parts. If the file has the old name, the program must have the new
	// one, and nothing else may get it: otherwise the error wraps ErrMigration. A handle of another type is an error, unless its type is
	// renamed. A Migration does not know the age of a file: if two names are exchanged, files of today's program must be
	// read without it.
	Renamed map[string]string
	// Dropped has component types whose values are dropped, or parts of a Set, by their names in the file. A relation cannot be
	// dropped: the error wraps ErrMigration.
	Dropped []string
	// Convert has functions by today's name of a type, such as "game.Hull". Such a function is called for each value of the
	// type, after the fields that need no Migration are converted. Fields that cannot be converted are zero then. component
	// is a pointer to the value, such as *Hull, and is valid during the call. An error ends the reading. If the program has
	// no type of such a name, or a type has no Go type, the error wraps ErrMigration. A save.Set may be unable to list its
	// types, because it has worlds or functions. It then reports the name to Changed.
	//
	// A function is not called for values of the type that are fields or elements of other types. For a value of a Set it
	// may be called several times: before loading, with a copy, and while the file is loaded. So it must depend on its
	// arguments only.
	Convert map[string]func(old OldValue, component any) error
	// Changed, if not nil, is called for each change that was found, before values of the changed type are read.
	Changed func(change string)
}

// An OldValue is a value as a file has it. It is valid during the call that receives it.
type OldValue struct {
	typ   *Type
	value []byte
}

// NewOldValue returns the value of a type with these bytes. t must pass [Type.Check], and value must have t.Size bytes.
func NewOldValue(t *Type, value []byte) OldValue { return OldValue{t, value} }

// Int returns the integer, bool or truncated float of a field by its path in the file, such as "Pos.X". It returns false if
// there is no such number. A float that does not fit int64 gives an unspecified number, and a uint64 above math.MaxInt64 a
// negative one.
func (o OldValue) Int(path string) (int64, bool) {
	n, _, ok := o.number(path)
	return n, ok
}

// Float is [OldValue.Int] for a float64. A large integer is rounded.
func (o OldValue) Float(path string) (float64, bool) {
	_, f, ok := o.number(path)
	return f, ok
}

func (o OldValue) number(path string) (int64, float64, bool) {
	off, t, ok := o.typ.Find(path)
	if !ok {
		return 0, 0, false
	}
	return Number(t, o.value[off:off+t.Size])
}

// Bytes returns the bytes of the value as the file has them. They must not be changed, or kept after the call.
func (o OldValue) Bytes() []byte { return o.value }
