package engine

import (
	"errors"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory/save"
)

// Lockstep plays two games side by side for a.Ticks ticks. After each tick it compares their hashes. It stops at the
// first difference or error, and returns how many ticks were equal. Lockstep uses Set, Step, Hash and Rest of a and b.
// Both Sets must have the same parts.
//
// If the hashes differ, the error wraps a *[Desync]. The Desync has the first difference of the Sets, if there is one.
// Other errors wrap those of Step, Rest and the Sets.
//
// If b replays a recording of another process, Lockstep finds rules that differ between processes or architectures.
// [Synctest] cannot find them.
//
// A memory.Handle depends on the pool that made it, so two equal games have different handles. If Hash covers handles,
// the first tick differs. The Desync names the first difference in the order of the Set. If that is a handle, the
// Desync hides all later differences.
func Lockstep(a, b Sync) (ticks int, err error) {
	both := [2]syncer{{Sync: a}, {Sync: b}}
	for i := range max(a.Ticks, 0) {
		for k := range both {
			if err := both[k].step("lockstep", i+1); err != nil {
				return i, err
			}
		}
		if a.Hash() != b.Hash() {
			return i, apart(&both, i+1)
		}
	}
	return max(a.Ticks, 0), nil
}

// apart names the difference of two games after a tick.
func apart(both *[2]syncer, tick int) error {
	d := &Desync{Tick: tick, lockstep: true}
	for k := range both {
		if err := both[k].save(&both[k].second, true); err != nil {
			return errors.Join(d, err)
		}
	}
	var err error
	d.Difference, d.Differ, err = save.Diff(both[0].second, both[1].second)
	if err != nil {
		return errors.Join(d, err)
	}
	return d
}

// Unhashed returns the paths of the fields that cfg.Set saves and cfg.Hash does not depend on. It flips the lowest bit
// of one field at a time in a saved state, loads this state, and compares the hashes. If Hash panics because of the
// flipped bit, Hash depends on the field. Hash must then leave nothing open: close a query by defer. At the end, and
// after an error, Unhashed loads the original state. Unhashed uses only Set, Hash and Rest of cfg. The errors are those
// of Rest and the Set.
//
// Unhashed tests the first value of each variable, slice, pool and component, and the first element of each array. It
// does not test:
//   - lists that are empty at present
//   - values that a State saves without their type, for example by save.Num or save.Var
//   - metadata of allocators and worlds, such as entities
//   - lengths and offsets of containers that a value has
//   - variables and components whose type belongs to memory, ecs, particles or engine, such as Input; a field of such
//     a type is tested
//   - pools and components of types without a package, such as float32
func Unhashed(cfg Sync) (fields []string, err error) {
	s := syncer{Sync: cfg}
	if err := s.save(&s.start, false); err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a Hash may use what is flipped as an index
	before, state := cfg.Hash(), s.start.Bytes()
	tested := map[string]bool{}
	var pieces []save.Piece
	if err := cfg.Set.Scan(s.start, func(p save.Piece) bool {
		if where := unnumbered(p.Path); p.Rows > 0 && !tested[where] && ofGame(p) {
			tested[where] = true
			pieces = append(pieces, p)
		}
		return true
	}); err != nil {
		return nil, err
	}
	for _, p := range pieces {
		scalars(p.Type, "", p.Off, func(name string, at int) {
			if err != nil {
				return
			}
			state[at] ^= 1
			err = cfg.Set.Load(s.start)
			if err == nil && unchanged(cfg.Hash, before) {
				fields = append(fields, strings.TrimSuffix(unnumbered(p.Path)+" "+name, " "))
			}
			state[at] ^= 1
		})
	}
	return fields, errors.Join(err, cfg.Set.Load(s.start))
}

// unchanged reports whether the hash is that of before. It is not if hash panics.
func unchanged(hash func() uint64, before uint64) (same bool) {
	defer func() { _ = recover() }()
	return hash() == before
}

// ofGame reports whether a piece has values of a game. Values of the metadata of an allocator or a world have a type of
// its package, or a type without a package, such as []uint32. Only variables of a Set may have the latter.
func ofGame(p save.Piece) bool {
	if p.Type == nil || p.Type.PkgPath() == "" && p.Type.Kind() != reflect.Struct && strings.Contains(p.Path, "/") {
		return false
	}
	return !ofModule(p.Type, "memory", "ecs", "particles", "engine")
}

// ofModule reports whether a type belongs to one of these folders of this module.
func ofModule(t reflect.Type, folders ...string) bool {
	name, module := strings.CutPrefix(t.PkgPath(), "github.com/strata-go/strata/")
	return module && slices.ContainsFunc(folders, func(own string) bool {
		return name == own || strings.HasPrefix(name, own+"/")
	})
}

// unnumbered returns a path without the numbers of slots and tables.
func unnumbered(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i], _, _ = strings.Cut(p, "[")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}

// scalars calls f for each field of t that is no struct or array itself, with its path and place. Of an array it takes
// the first element, of a container nothing.
func scalars(t reflect.Type, name string, at int, f func(name string, at int)) {
	if ofModule(t, "memory/container") {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.Name != "_" {
				scalars(field.Type, name+"."+field.Name, at+int(field.Offset), f)
			}
		}
	case reflect.Array:
		if t.Len() > 0 {
			scalars(t.Elem(), name+"[0]", at, f)
		}
	default:
		f(name, at)
	}
}
