package layout

import "errors"

// ErrMigration is wrapped by errors about a [Migration] that names something that does not exist, gives two things one
// name, or drops a relation. The text contains the name. The file itself is valid.
var ErrMigration = errors.New("the Migration does not fit the program")

// A Migration says how the types of a program have changed since a file was written. These changes need no Migration:
//   - a field was added, and is zero; a field was removed, or moved within its struct;
//   - an array has another length: elements beyond the old one are zero, elements beyond the new one are lost;
//   - an integer has another size or sign, and each value fits;
//   - a float32 became a float64, or a complex64 became a complex128;
//   - an integer became a float type that has all values of the integer's type.
//
// The zero Migration declares no change. Reading does not change a Migration.
type Migration struct {
	// Renamed maps names of the file to names of the program. For a component type it maps "game.Health" to
	// "game.Hull", for a field "game.Health.HP" to "Points", with the struct's name in the file. For a file of a
	// save.Set it also maps the names of parts. If the file has an old name, the program must have the new name, and no
	// other name of the file may become the new name. If not, the error wraps ErrMigration.
	//
	// The type T of a memory.Handle[T] may have been renamed. Then Renamed must map the name of T, or Convert must have
	// a function for the type of the value that contains the handle. If not, reading fails with an error that does not
	// wrap ErrMigration.
	//
	// A Migration applies to all files, old and new. If Renamed exchanges two names, do not use it for a file that was
	// written after the exchange.
	Renamed map[string]string
	// Dropped lists names in the file. If a component type is listed, its values are dropped, even if the program has
	// the type. If a part is listed, it is dropped only if the save.Set does not have the part. A relation of an
	// ecs.World cannot be dropped: reading then fails with an error that wraps ErrMigration.
	Dropped []string
	// Convert has functions by the program's name of a type, such as "game.Hull". The function is called for each value
	// of the type. Before the call, reading converts the fields that need no Migration, and the fields that Renamed
	// maps. All other fields are zero. If an integer does not fit its new type, or a bool is neither 0 nor 1, reading
	// fails before the call. The argument component is a pointer to the value, such as *Hull, and is valid during the
	// call. An error of the function ends the reading. If the program has no Go type of this name, the error wraps
	// ErrMigration. There is one exception: a save.Set with a function, or with a State that does not return its types
	// (see save.Portable). Such a Set does not know all types: it passes the name to Changed, and reads the file.
	//
	// The function is not called for values that are fields or elements of other types. For a value of a save.Set it may
	// be called several times: before loading, with a copy, and while the file is loaded. The function must therefore
	// depend on its arguments only.
	Convert map[string]func(old OldValue, component any) error
	// Changed, if not nil, is called for each change that was found, before values of the changed type are read.
	Changed func(change string)
}

// An OldValue is a value as a file has it. It is valid during the call that receives it.
type OldValue struct {
	typ   *Type
	value []byte
}

// NewOldValue returns the OldValue of type t with the bytes value. It does not copy value. t must pass [Type.Check],
// and value must have t.Size bytes.
func NewOldValue(t *Type, value []byte) OldValue { return OldValue{t, value} }

// Int returns the integer, bool or truncated float of a field by its path in the file, such as "Pos.X". If the value
// has no such number, Int returns false. If a float does not fit int64, the result is unspecified. A uint64 above
// math.MaxInt64 gives a negative number. A value that is not a struct has no fields: use [OldValue.Bytes].
func (o OldValue) Int(path string) (int64, bool) {
	n, _, ok := o.number(path)
	return n, ok
}

// Float is [OldValue.Int], but returns the number as a float64: a float is exact, and a large integer
// is rounded.
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

// Bytes returns the bytes of the value as the file has them. They are valid as long as the OldValue, and must
// not be changed.
func (o OldValue) Bytes() []byte { return o.value }
