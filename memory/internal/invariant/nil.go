package invariant

import "reflect"

// Nil reports whether v is nil or holds a nil pointer, as a variable does that an error has left
// unset: its methods cannot work, and the call that is given it should say so.
func Nil(v any) bool {
	r := reflect.ValueOf(v)
	return v == nil || r.Kind() == reflect.Pointer && r.IsNil()
}
