package engine

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// Fields returns an audit for [Sync.Audit]. The audit finds data that the Set lacks, even if no hash covers the data
// and no rule has read it yet. Call the audit after a save, and the function that it returns after the load. Every
// field must then have its value of the save again. The function returns the differences, and nil if there is none.
//
// The roots are pointers to all that the game consists of. If a root is nil or not a pointer, Fields panics. From the
// roots the audit follows pointers, slices, maps and interfaces, and reads every field, also unexported ones. It also
// compares which references point to the same variable, and which point to a part of another variable, such as an
// element of an array. So it finds a pointer into an array that was replaced. If a field leads to memory that cannot be
// read, the audit panics and names the field.
//
// The audit reads only this of some values:
//   - of a function or an unsafe.Pointer, whether it is nil
//   - of a channel, the number of its values
//   - of a slice, the elements within its length
//   - of a map entry with a NaN key, the key
//   - of package ecs, World, Entity and the queued events of an ecs.Events
//
// The audit does not read data that is no state:
//   - fields that the argument ignore lists as "package.Type.field", such as scratch memory and times
//   - all fields of a type that ignore lists as "package.Type", and all structs of a package that it lists as
//     "package."
//   - structs of packages save, meter and overlay, container.Space, Rewind and Timeline
//   - Image, Shader, and structs of subpackages of Ebitengine
//
// If one of your fields has the Memory of a Rewind, list this field in ignore.
//
// The audit reads a struct with a method SaveState by this method, without the contents of allocated blocks. So it does
// not find a field that SaveState forgets. Pass your own States as roots: the audit reads a root field by field. These
// are the exceptions:
//   - A root is read by SaveState if its type belongs to memory, ecs, particles, engine or their subpackages.
//   - A struct is read field by field if it is stored directly in a map or an interface, or if its SaveState is that
//     of an embedded field.
//   - States that cannot be saved at the moment, or panic, count as equal.
//
// Each field is named once, by its first difference, and Difference.More counts its further variables. Paths that
// differ only in indexes and keys are one field. So are paths to the same field of all nodes of a list or a tree. If a
// slice or a map has another length, the length is the difference, and the elements are not compared. If a value in an
// interface has another type, the type is the difference, and the value is not compared. A variable with two paths is
// named by the first. There are at most 64 differences.
//
// Fields is for tests. The audit allocates for each reference, and keeps about 16 bytes for each value. So ignore large
// tables that never change. No goroutine may change the data while the audit reads.
func Fields(ignore []string, roots ...any) func() func() []save.Difference {
	a := &audit{ignore: ignore, plans: map[reflect.Type][]int{}, embeds: map[reflect.Type]bool{}}
	for _, r := range roots {
		v := reflect.ValueOf(r)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			panic(fmt.Sprintf("engine: Fields: a root is a %T, want a pointer", r))
		}
		a.roots = append(a.roots, v)
	}
	return func() func() []save.Difference {
		first := a.walk(nil, false)
		return func() []save.Difference {
			second := a.walk(first, false)
			if len(second.confused) == 0 {
				return second.found
			}
			if third := a.walk(first, true); len(third.found) <= len(second.found) {
				return third.found
			}
			return second.found
		}
	}
}

// An audit has the roots of Fields, and the fields of each type.
type audit struct {
	roots  []reflect.Value
	ignore []string
	plans  map[reflect.Type][]int // the fields of a struct that are read
	embeds map[reflect.Type]bool  // whether a State only embeds one
	types  []reflect.Type         // of values in interfaces
}

// typeNumber returns the number of the dynamic type; 0 for nil.
func (a *audit) typeNumber(v reflect.Value) uint64 {
	if v.IsNil() {
		return 0
	}
	i := slices.Index(a.types, v.Elem().Type())
	if i < 0 {
		i = len(a.types)
		a.types = append(a.types, v.Elem().Type())
	}
	return uint64(i + 1)
}

// A step is a root, a field, an element or a key.
type step struct {
	name string       // a key is in brackets
	i    int          // of a root, and of an element, whose name is empty
	typ  reflect.Type // of the struct whose fields are the next steps
	kept *trail       // the path up to here, if a reference keeps it
}

// where formats a path.
func where(path []step) string {
	var s strings.Builder
	for k, p := range path {
		switch {
		case k == 0:
			s.WriteString(p.name)
		case p.name != "" && p.name[0] != '[':
			s.WriteString("." + p.name)
		case p.name == "":
			fmt.Fprintf(&s, "[%d]", p.i)
		default:
			s.WriteString(p.name)
		}
	}
	return s.String()
}

// describe formats a value of a kind: "float", "int", "uint", or a name for all others.
func (a *audit) describe(what string, n uint64) string {
	switch what {
	case "a value of type":
		if n == 0 {
			return "nil"
		}
		return fmt.Sprintf("a value of type %v", a.types[n-1])
	case "int":
		return fmt.Sprint(int64(n))
	case "uint":
		return fmt.Sprint(n)
	case "float":
		return fmt.Sprint(math.Float64frombits(n))
	}
	return fmt.Sprintf("%s %d", what, n)
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

func (w *walker) structure(v reflect.Value) {
	t := v.Type()
	here := &w.path[len(w.path)-1]
	if here.typ = t; here.kept != nil {
		here.kept.typ = t
	}
	if w.ignores(t) {
		return
	}
	if ofModule(t, "ecs") && strings.HasPrefix(t.Name(), "Events[") {
		w.events(v) // so that a difference names the event
		return
	}
	if p, ok := w.stateOf(v); ok {
		root := w.roots[reference{p: v.Addr().UnsafePointer(), t: reflect.PointerTo(t)}] && !ofModule(t, "memory", "ecs", "particles", "engine")
		if !w.add(uint64(boolInt(root)), "a State, 1 for a root:") {
			return
		}
		if !root {
			w.add(stateNumber(p), "a State with hash")
			return
		}
	}
	if plumbing(t) {
		return
	}
	for _, i := range w.fieldsOf(t) {
		w.into(t.Field(i).Name, 0, v.Field(i))
	}
}

// ignores reports whether the argument ignore names a type or its package.
func (a *audit) ignores(t reflect.Type) bool {
	pkg, _, _ := strings.Cut(t.String(), ".")
	return slices.Contains(a.ignore, pkg+".") || slices.Contains(a.ignore, t.String())
}

// events reads the events that can be read, and those sent since: not the buffers behind them, nor which buffer is which.
func (w *walker) events(v reflect.Value) {
	buf, n, write := v.FieldByName("buf"), v.FieldByName("n"), int(v.FieldByName("write").Int())
	exact := w.exact
	w.exact = false // the buffers alternate
	for k := range buf.Len() {
		i := (write + k + 1) & 1
		w.into("buf", k, buf.Index(i).Slice(0, int(n.Index(i).Int())))
	}
	w.exact = exact
}

// plumbing reports whether a struct of this module or of Ebitengine is no state: it leads to data, remembers where the
// data was last, or is for eyes and ears.
func plumbing(t reflect.Type) bool {
	switch {
	case ofModule(t, "memory/save", "memory/meter", "render/overlay"): // a Set and its slots, the overlay
		return true
	case ofModule(t, "memory/internal/invariant"): // counts of calls in debug builds
		return true
	case ofModule(t, "memory/container"):
		return t.Name() == "Space"
	case ofModule(t, "ecs"): // filters, mappers and queries; of Events see events
		return t.Name() != "Entity" && t.Name() != "World"
	case ofModule(t, "engine"): // its states and inputs are those of other ticks
		return strings.HasPrefix(t.Name(), "Rewind[") || strings.HasPrefix(t.Name(), "Timeline[")
	}
	name, ebiten := strings.CutPrefix(t.PkgPath(), "github.com/hajimehoshi/ebiten/v2")
	return ebiten && (name != "" || t.Name() == "Image" || t.Name() == "Shader")
}

// fieldsOf returns the fields of a struct that are read.
func (a *audit) fieldsOf(t reflect.Type) []int {
	plan, ok := a.plans[t]
	if !ok {
		for i := range t.NumField() {
			if name := t.Field(i).Name; name != "_" && !slices.Contains(a.ignore, t.String()+"."+name) {
				plan = append(plan, i)
			}
		}
		a.plans[t] = plan
	}
	return plan
}

// stateOf returns v as a State, if its pointer is one. A struct of a program that only embeds a State is none.
func (a *audit) stateOf(v reflect.Value) (save.State, bool) {
	if !v.CanAddr() || !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[save.State]()) {
		return nil, false
	}
	embeds, ok := a.embeds[v.Type()]
	if !ok {
		embeds = !ofModule(v.Type(), "memory", "ecs", "particles", "engine") && promoted(v.Type()) && promoted(reflect.PointerTo(v.Type()))
		a.embeds[v.Type()] = embeds
	}
	if embeds {
		return nil, false
	}
	s, ok := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(save.State)
	return s, ok
}

// promoted reports whether a type has no SaveState, or that of an embedded field, for which the compiler makes a method.
func promoted(t reflect.Type) bool {
	m, ok := t.MethodByName("SaveState")
	if !ok || t.Kind() == reflect.Interface {
		return true
	}
	file, _ := runtime.FuncForPC(m.Func.Pointer()).FileLine(m.Func.Pointer())
	return file == "<autogenerated>"
}

// stateNumber returns a hash of what a State saves, without contents of blocks: they belong to the callers
// that allocated them, and may be scratch. A State that cannot be saved now, or panics, has the number 0.
func stateNumber(s save.State) (n uint64) {
	defer func() { // SaveState may be the method of an embedded pointer that is nil
		if recover() != nil {
			n = 0
		}
	}()
	set := new(save.Set)
	if set.Add("state", s) != nil || set.Seal() != nil {
		return 0
	}
	slot := set.NewCanonical(0)
	err := set.Save(slot)
	if short := (*memory.Exhausted)(nil); errors.As(err, &short) {
		slot = set.NewCanonical(int(short.Need))
		err = set.Save(slot)
	}
	if err != nil {
		return 0
	}
	var h Hasher
	if set.Scan(slot, func(p save.Piece) bool {
		if !p.Contents {
			h.Bytes(slot.Bytes()[p.Off : p.Off+p.Size])
		}
		return true
	}) != nil {
		return 0
	}
	return h.Sum()
}
