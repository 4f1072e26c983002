package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/save"
)

// Fields returns an audit for [Sync.Audit]. The audit finds data that is missing in the Set, even if no hash covers the
// data and no rule has read it yet. Call the audit after a save. Call the function that the audit returns after the
// load: every field must then have its value of the save again. This function returns the first difference, and whether
// there is one.
//
// The roots are pointers to all that the game consists of. If a root is nil or not a pointer, Fields panics. The audit
// reads every field that can be reached from the roots through pointers, slices, maps and interfaces, also unexported
// fields. It also compares which references point to the same variable, and which point to an element of a slice. So it
// finds a pointer into an array that was replaced. It does not read the variables of closures, the contents of channels
// and of unsafe.Pointers, and elements beyond the length of a slice.
//
// If a value has the method SaveState, the audit reads the value by this method, without the contents of allocated
// blocks. So the audit does not find a field that SaveState forgets. To find such fields, pass your own States as
// roots: the audit reads every root field by field. All States that cannot be saved at the moment count as equal.
// Values stored directly in maps and interfaces are always read field by field. The audit reads no struct of package
// save, no container.Space, and of package ecs only World, Entity, and the queued events of an ecs.Events. The others
// only lead to data.
//
// Some fields are no state, such as scratch memory and times. The argument ignore lists them as "package.Type.field". An
// entry "package.Type" stands for all fields of the type, and "package." for all structs of the package.
//
// Fields is for tests. The audit allocates for each reference, and keeps 8 bytes for each value. No goroutine may change
// the data while the audit reads.
func Fields(ignore []string, roots ...any) func() func() (save.Difference, bool) {
	a := &audit{ignore: ignore, plans: map[reflect.Type][]int{}}
	for _, r := range roots {
		v := reflect.ValueOf(r)
		if v.Kind() != reflect.Pointer || v.IsNil() {
			panic(fmt.Sprintf("engine: Fields: a root is a %T, want a pointer", r))
		}
		a.roots = append(a.roots, v)
	}
	return func() func() (save.Difference, bool) {
		first := a.walk(nil)
		return func() (save.Difference, bool) {
			second := a.walk(first)
			return second.found, second.differs
		}
	}
}

// An audit has the roots of Fields, and the fields of each type.
type audit struct {
	roots  []reflect.Value
	ignore []string
	plans  map[reflect.Type][]int // the fields of a struct that are read
	types  []reflect.Type         // of values in interfaces
}

// A walker reads values in a fixed order. It records each as a number, or compares it with the number of an earlier walk.
type walker struct {
	*audit
	values  []uint64
	against []uint64 // nil in the first walk
	path    []step
	seen    map[reference]int // the number of the value at which a variable was reached
	arrays  []array
	refs    []array // pointers and slices, which may refer to elements of arrays
	roots   map[reference]bool
	differs bool
	found   save.Difference
}

// A step is a field, an element or a key.
type step struct {
	name string
	i    int // of an element, if name is empty
}

// A reference is a variable with its type: a struct and its first field have one address.
type reference struct {
	p unsafe.Pointer
	t reflect.Type
}

// An array is what a slice refers to, or the address of a pointer.
type array struct {
	from, to uintptr
	most     uintptr // the largest to of the arrays that begin no later
	value    int     // the number of the value of its slice or pointer
	path     string  // of a reference in the second walk
}

// walk reads all roots, and compares them with an earlier walk.
func (a *audit) walk(first *walker) *walker {
	w := &walker{audit: a, seen: map[reference]int{}, roots: map[reference]bool{}}
	if first != nil {
		w.against = first.values
	}
	for _, r := range a.roots {
		w.roots[reference{r.UnsafePointer(), r.Type()}] = true
	}
	for _, r := range a.roots {
		w.path = append(w.path[:0], step{name: r.Type().Elem().String()})
		w.pointer(r)
	}
	w.shared()
	return w
}

// shared reads which pointers and slices refer to elements of the array of another slice.
func (w *walker) shared() {
	slices.SortFunc(w.arrays, func(a, b array) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.value, b.value)) })
	for i, most := 0, uintptr(0); i < len(w.arrays); i++ {
		most = max(most, w.arrays[i].to)
		w.arrays[i].most = most
	}
	for _, r := range w.refs {
		at, _ := slices.BinarySearchFunc(w.arrays, r.from+1, func(a array, p uintptr) int { return cmp.Compare(a.from, p) })
		n := uint64(0)
		for at--; at >= 0 && n == 0 && r.from < w.arrays[at].most; at-- {
			if a := w.arrays[at]; a.value != r.value && r.from < a.to {
				n = uint64(a.value)<<32 | uint64(r.from-a.from) + 1
			}
		}
		w.path = append(w.path[:0], step{name: r.path})
		if !w.add(n, "an element of a slice, 0 for none:") {
			return
		}
	}
}

// refer notes a pointer or a slice, for shared. size is 0 for a pointer.
func (w *walker) refer(p unsafe.Pointer, size uintptr) {
	a := array{from: uintptr(p), to: uintptr(p) + size, value: len(w.values)}
	if size > 0 {
		w.arrays = append(w.arrays, a)
	}
	if w.against != nil {
		a.path = w.where()
	}
	w.refs = append(w.refs, a)
}

// add records a value, whose text is that of the present variable. It returns false once a difference was found.
func (w *walker) add(n uint64, what string) bool {
	i := len(w.values)
	w.values = append(w.values, n)
	if w.against != nil && !w.differs && (i >= len(w.against) || w.against[i] != n) {
		w.differs = true
		w.found = save.Difference{Path: w.where(), A: "nothing", B: w.describe(what, n)}
		if i < len(w.against) {
			w.found.A = w.describe(what, w.against[i])
		}
	}
	return !w.differs
}

// describe formats a value of a kind: "float", "int", or a name for all others.
func (a *audit) describe(what string, n uint64) string {
	switch what {
	case "a value of type":
		if n == 0 || n > uint64(len(a.types)) {
			return "nil"
		}
		return fmt.Sprintf("a value of type %v", a.types[n-1])
	case "int":
		return fmt.Sprint(int64(n))
	case "float":
		return fmt.Sprint(math.Float64frombits(n))
	}
	return fmt.Sprintf("%s %d", what, n)
}

// where returns the path of the present variable.
func (w *walker) where() string {
	var s strings.Builder
	for k, p := range w.path {
		switch {
		case p.name == "":
			fmt.Fprintf(&s, "[%d]", p.i)
		case k == 0 || p.name[0] == '[':
			s.WriteString(p.name)
		default:
			s.WriteString("." + p.name)
		}
	}
	return s.String()
}

// into reads v as a part of the present variable.
func (w *walker) into(name string, i int, v reflect.Value) {
	if w.differs {
		return
	}
	w.path = append(w.path, step{name, i})
	w.value(v)
	w.path = w.path[:len(w.path)-1]
}

func (w *walker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.add(uint64(boolInt(v.Bool())), "int")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.add(uint64(v.Int()), "int")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.add(v.Uint(), "int")
	case reflect.Float32, reflect.Float64:
		w.add(math.Float64bits(v.Float()), "float")
	case reflect.Complex64, reflect.Complex128:
		w.add(math.Float64bits(real(v.Complex())), "float")
		w.add(math.Float64bits(imag(v.Complex())), "float")
	case reflect.String:
		w.add(uint64(v.Len()), "a text of length")
		w.add(save.Hash([]byte(v.String())), "a text with hash")
	case reflect.UnsafePointer, reflect.Func:
		w.add(uint64(boolInt(!v.IsNil())), "an address, 0 for nil:")
	case reflect.Chan:
		w.add(uint64(v.Len()), "values in a channel:")
	case reflect.Interface:
		if w.add(w.typeNumber(v), "a value of type") && !v.IsNil() {
			w.value(v.Elem())
		}
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Slice:
		w.slice(v)
	case reflect.Map:
		w.mapping(v)
	case reflect.Array:
		for i := range v.Len() {
			w.into("", i, v.Index(i))
		}
	case reflect.Struct:
		w.structure(v)
	}
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
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

// reached records that a variable is referred to. It returns whether that is the first time.
func (w *walker) reached(p unsafe.Pointer, t reflect.Type) bool {
	r := reference{p, t}
	at, twice := w.seen[r]
	if !twice {
		w.seen[r] = len(w.values)
	}
	w.add(uint64(at), "the variable of value")
	return !twice && !w.differs
}

func (w *walker) pointer(v reflect.Value) {
	if w.add(uint64(boolInt(!v.IsNil())), "a pointer, 0 for nil:"); v.IsNil() {
		return
	}
	w.refer(v.UnsafePointer(), 0)
	if w.reached(v.UnsafePointer(), v.Type()) {
		w.value(v.Elem())
	}
}

func (w *walker) slice(v reflect.Value) {
	if w.add(uint64(v.Len()), "a slice of length"); v.Len() == 0 {
		return
	}
	w.refer(v.UnsafePointer(), uintptr(v.Len())*v.Type().Elem().Size())
	if !w.reached(v.UnsafePointer(), v.Type()) {
		return
	}
	for i := range v.Len() {
		w.into("", i, v.Index(i))
	}
}

// mapping reads a map in the order of the texts of its keys.
func (w *walker) mapping(v reflect.Value) {
	if w.add(uint64(v.Len()), "a map of length"); v.Len() == 0 || !w.reached(v.UnsafePointer(), v.Type()) {
		return
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	var all []entry
	for r := v.MapRange(); r.Next(); {
		all = append(all, entry{fmt.Sprint(r.Key()), r.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for _, e := range all {
		w.path = append(w.path, step{name: "[" + e.key + "]"})
		if w.add(save.Hash([]byte(e.key)), "a key with hash") {
			w.value(e.value)
		}
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *walker) structure(v reflect.Value) {
	t := v.Type()
	pkg, _, _ := strings.Cut(t.String(), ".")
	if slices.Contains(w.ignore, pkg+".") || slices.Contains(w.ignore, t.String()) {
		return
	}
	if p, ok := stateOf(v); ok && !w.roots[reference{v.Addr().UnsafePointer(), reflect.PointerTo(t)}] {
		w.add(stateNumber(p), "a State with hash")
		return
	}
	if plumbing(t) {
		if strings.HasPrefix(t.Name(), "Events[") {
			w.events(v)
		}
		return
	}
	for _, i := range w.fieldsOf(t) {
		w.into(t.Field(i).Name, 0, v.Field(i))
	}
}

// events reads the events that can be read, and those sent since: not the buffers behind them, nor which buffer is which.
func (w *walker) events(v reflect.Value) {
	buf, n, write := v.FieldByName("buf"), v.FieldByName("n"), int(v.FieldByName("write").Int())
	for k := range buf.Len() {
		i := (write + k + 1) & 1
		w.into("buf", k, buf.Index(i).Slice(0, int(n.Index(i).Int())))
	}
}

// plumbing reports whether a struct of this module is no state: it leads to data, or remembers where the data was last.
func plumbing(t reflect.Type) bool {
	name, module := strings.CutPrefix(t.PkgPath(), strings.TrimSuffix(reflect.TypeFor[Clock]().PkgPath(), "engine"))
	if !module {
		return false
	}
	switch name {
	case "memory/save": // a Set and its slots
		return true
	case "memory/internal/invariant": // counts of calls in debug builds
		return true
	case "memory/container":
		return t.Name() == "Space"
	case "ecs": // filters, mappers and queries; of Events see events
		return t.Name() != "Entity" && t.Name() != "World"
	}
	return false
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

// stateOf returns v as a State, if its pointer is one.
func stateOf(v reflect.Value) (save.State, bool) {
	if !v.CanAddr() || !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[save.State]()) {
		return nil, false
	}
	s, ok := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(save.State)
	return s, ok
}

// stateNumber returns a hash of what a State saves, without contents of blocks: they belong to the callers
// that allocated them, and may be scratch. A State that cannot be saved now has the number 0.
func stateNumber(s save.State) uint64 {
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
