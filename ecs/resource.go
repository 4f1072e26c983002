package ecs

import "reflect"

// SetResource gives w the one value of type T that systems share: a clock, the input, a
// random source. A nil v takes it away. The value lives in the Go heap and may hold
// pointers; Reset leaves it alone.
func SetResource[T any](w *World, v *T) {
	w.guard.notInParallel("SetResource")
	typ := reflect.TypeFor[T]()
	if v == nil {
		delete(w.resources, typ)
		return
	}
	if w.resources == nil {
		w.resources = make(map[reflect.Type]any)
	}
	w.resources[typ] = v
}

// Resource returns the value that SetResource gave to w, or nil. It costs a map look-up:
// systems keep the pointer.
func Resource[T any](w *World) *T {
	v, _ := w.resources[reflect.TypeFor[T]()].(*T)
	return v
}
