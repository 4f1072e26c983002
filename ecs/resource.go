package ecs

import "reflect"

// SetResource stores v as the world's only resource of type T, such as a clock, the input or a random
// source. v replaces an earlier resource of type T. If v is nil, SetResource removes the resource. The
// world keeps the pointer, so the value may contain pointers. Reset keeps resources. In a parallel run
// SetResource panics with a [*memory.Misuse].
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

// Resource returns the pointer that SetResource stored in w for type T, or nil. Resource costs a map
// look-up, so systems should keep the pointer.
func Resource[T any](w *World) *T {
	v, _ := w.resources[reflect.TypeFor[T]()].(*T)
	return v
}
