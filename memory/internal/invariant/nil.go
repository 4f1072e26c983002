package invariant

import "reflect"

// Nil reports whether v is nil or contains a nil pointer, as a variable does after a failed call. Its methods
// cannot work, so a function that receives it should return an error.
func Nil(v any) bool {
	r := reflect.ValueOf(v)
	return v == nil || r.Kind() == reflect.Pointer && r.IsNil()
}
