package engine

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/strata-go/strata/memory/save"
)

// A walker reads values in a fixed order. The first walk records each as a number. A later walk compares each with the
// number at the same place. A difference ends only its part: the place after each part is known from the first walk.
type walker struct {
	*audit
	first  *walker           // nil in the first walk
	values []uint64          // of the first walk, and so are ends and inside
	ends   []place           // of each part, in the order in which they begin
	inside map[uint32]uint64 // by place of a reference: what it is a part of, see element

	at     place
	path   []step
	here   reference            // the present variable, if it has an address
	seen   map[reference]uint32 // the place in the first walk at which a variable was reached
	arrays []array
	outer  []array // the arrays that lie in no other one, in the order of their beginnings and ends
	refs   []array // pointers and slices, which may refer to elements of arrays
	roots  map[reference]bool
	late   []lateMap
	order  map[uint32]order // of the late maps of the first walk, by place

	exact    bool               // a variable of the first walk is itself again, and no other one
	met      map[uint32]bool    // the places whose variables were reached again
	confused map[confusion]bool // references to another variable
	off      bool               // the present part differs: the rest of it is not compared
	told     map[reference]bool // the variables of found
	fields   fieldGroup         // the root of all
	found    []save.Difference
}

// A fieldGroup is a field of a field, and so on, of a root. If a path comes to a type again, as from node to node of a
// list, it is back in the group in which it came to the type first.
type fieldGroup struct {
	up    *fieldGroup
	typ   reflect.Type // of the struct whose fields are below
	below map[any]*fieldGroup
	found int // 1 more than the index of its difference; 0 for none
}

// field returns the group of a field, or of a root.
func (g *fieldGroup) field(name any) *fieldGroup {
	x := g.below[name]
	if x == nil {
		if x = (&fieldGroup{up: g}); g.below == nil {
			g.below = map[any]*fieldGroup{}
		}
		g.below[name] = x
	}
	return x
}

// structure returns the group of the fields of a struct.
func (g *fieldGroup) structure(t reflect.Type) *fieldGroup {
	for a := g; a != nil; a = a.up {
		if a.typ == t {
			return a
		}
	}
	x := g.field(t)
	x.typ = t
	return x
}

// mostFound is the largest number of differences.
const mostFound = 64

// A place is a number of values and of parts that were read before.
type place struct{ value, part uint32 }

// A reference is a variable with its type: a struct and its first field have one address. n is the length of a slice.
type reference struct {
	p unsafe.Pointer
	t reflect.Type
	n int
}

// A confusion is a reference to one variable, which referred to that of a place.
type confusion struct {
	reference
	was uint32
}

// An array is what a slice or a pointer refers to.
type array struct {
	from, to uintptr
	value    uint32 // the place of the reference
	path     *trail // of the reference, not in the first walk
}

// A trail is the path of a reference. References share its beginning, or a long list would need a path for each element.
type trail struct {
	step
	up    *trail
	group *fieldGroup
}

// trail returns the present path.
func (w *walker) trail() *trail {
	k := len(w.path)
	for k > 0 && w.path[k-1].kept == nil {
		k--
	}
	for ; k < len(w.path); k++ {
		t := &trail{step: w.path[k]}
		if k > 0 {
			t.up = w.path[k-1].kept
		}
		w.path[k].kept = t
	}
	return w.path[k-1].kept
}

// groupOf returns the group of a trail, in a time that does not depend on the length of those that were asked for before.
func (w *walker) groupOf(t *trail) *fieldGroup {
	var todo []*trail
	for ; t != nil && t.group == nil; t = t.up {
		todo = append(todo, t)
	}
	g := &w.fields
	if t != nil {
		g = t.group
	}
	for _, t := range slices.Backward(todo) {
		switch {
		case t.up == nil:
			g = g.field(t.i)
		case t.up.typ != nil:
			g = g.structure(t.up.typ)
		}
		if t.up != nil && t.name != "" && t.name[0] != '[' {
			g = g.field(t.name)
		}
		t.group = g
	}
	return g
}

func (t *trail) steps() (path []step) {
	for ; t != nil; t = t.up {
		path = append(path, t.step)
	}
	slices.Reverse(path)
	return path
}

// walk reads all roots, and compares them with the first walk unless it is nil.
func (a *audit) walk(first *walker, exact bool) *walker {
	w := &walker{audit: a, first: first, exact: exact, seen: map[reference]uint32{}, roots: map[reference]bool{}}
	w.inside, w.met, w.order = map[uint32]uint64{}, map[uint32]bool{}, map[uint32]order{}
	w.confused, w.told = map[confusion]bool{}, map[reference]bool{}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer w.unreadable()
	for _, r := range a.roots {
		ref := reference{p: r.UnsafePointer(), t: r.Type()}
		if w.roots[ref] = true; first != nil {
			w.met[first.seen[ref]] = true
		}
	}
	for i, r := range a.roots {
		name := r.Type().Elem().String()
		if slices.ContainsFunc(a.roots, func(o reflect.Value) bool { return o != r && o.Type() == r.Type() }) {
			name = fmt.Sprintf("%s (root %d)", name, i)
		}
		w.into(name, i, r)
	}
	w.readLate()
	w.shared()
	return w
}

// unreadable names the field that leads to memory that is not mapped, such as a buffer of an old frame in debug builds.
func (w *walker) unreadable() {
	switch e := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		panic(fmt.Sprintf("engine: Fields: %s is in memory that cannot be read: ignore its field, or set it to nil before the audit", where(w.path)))
	default:
		panic(e)
	}
}

// into reads v as a part of the present variable.
func (w *walker) into(name string, i int, v reflect.Value) {
	part := w.enter(name, i)
	w.value(v)
	w.leave(part)
}

// enter begins a part, and returns its number.
func (w *walker) enter(name string, i int) uint32 {
	part := w.at.part
	w.at.part++
	w.path = append(w.path, step{name: name, i: i})
	if w.first == nil {
		w.ends = append(w.ends, place{})
	}
	return part
}

// leave ends a part. If the part differs, or has led to an earlier place, the walk returns to the place after the part.
func (w *walker) leave(part uint32) {
	w.path = w.path[:len(w.path)-1]
	w.off = false
	if w.first == nil {
		w.ends[part] = w.at
	} else {
		w.at = w.first.ends[part]
	}
}

// add records or compares a value of the present variable. It returns false if the rest of the part is not read.
func (w *walker) add(n uint64, what string) bool {
	if w.first == nil {
		w.values = append(w.values, n)
	} else if was := w.first.values[w.at.value]; was != n && !w.off {
		w.differ(what, was, n)
	}
	w.at.value++
	return !w.off
}

// differ reports a difference of the present variable, and ends the part. Each variable is counted once.
func (w *walker) differ(what string, was, n uint64) {
	if w.off = true; w.told[w.here] {
		return
	}
	if w.here.p != nil {
		w.told[w.here] = true
	}
	w.report(w.trail(), what, was, n)
}

// report reports a difference. All differences of a group have one report.
func (w *walker) report(at *trail, what string, was, n uint64) {
	switch g := w.groupOf(at); {
	case g.found > 0:
		w.found[g.found-1].More++
	case len(w.found) < mostFound:
		w.found = append(w.found, save.Difference{Path: where(at.steps()), A: w.describe(what, was), B: w.describe(what, n)})
		g.found = len(w.found)
	}
}

func (w *walker) value(v reflect.Value) {
	w.here = reference{}
	if v.CanAddr() {
		w.here = reference{p: v.Addr().UnsafePointer(), t: v.Type()}
	}
	switch v.Kind() {
	case reflect.Bool:
		w.add(uint64(boolInt(v.Bool())), "int")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.add(uint64(v.Int()), "int")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.add(v.Uint(), "uint")
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
		if w.add(uint64(boolInt(!v.IsNil())), "a pointer, 0 for nil:") && !v.IsNil() && w.refer(v, 0, v.Type().Elem().Size()) {
			w.value(v.Elem())
		}
	case reflect.Slice:
		n := v.Len()
		if w.add(uint64(n), "a slice of length") && n > 0 && w.refer(v, n, uintptr(n)*v.Type().Elem().Size()) {
			w.elements(v)
		}
	case reflect.Map:
		w.mapping(v)
	case reflect.Array:
		w.elements(v)
	case reflect.Struct:
		w.structure(v)
	}
}

func (w *walker) elements(v reflect.Value) {
	for i := range v.Len() {
		w.into("", i, v.Index(i))
	}
}

// refer reads a pointer or a slice of n elements, with its size in bytes. It returns whether to read its variables.
func (w *walker) refer(v reflect.Value, n int, size uintptr) bool {
	from := uintptr(v.UnsafePointer())
	a := array{from: from, to: from + size, value: w.at.value}
	read := w.reached(v, n)
	if w.off {
		return false
	}
	if w.first != nil {
		a.path = w.trail()
	}
	if w.refs = append(w.refs, a); size > 0 && (n > 0 || read) {
		w.arrays = append(w.arrays, a)
	}
	return read
}

// reached reads to which variable v refers. It returns whether to read the variable: in the first walk when it is
// reached for the first time. A later walk then goes on at the place of the variable. This place is an earlier one if
// the part that led to the variable was not compared.
func (w *walker) reached(v reflect.Value, n int) bool {
	r := reference{v.UnsafePointer(), v.Type(), n}
	id, known := w.seen[r]
	here := w.at.value
	if w.first == nil {
		if w.add(uint64(id), ""); known {
			return false
		}
		w.seen[r] = here
		return w.add(uint64(w.at.part), "")
	}
	was := cmp.Or(uint32(w.first.values[here]), here)
	before := w.first.seen[r]
	another := w.met[was] || w.exact && before > 0 && before != was
	if w.roots[r] { // the same variable in each walk
		another = before != was
	}
	switch {
	case known && id == was:
		return false
	case known || another:
		c := confusion{r, was}
		if w.off = true; !w.confused[c] {
			w.differ("the variable of value", uint64(was), uint64(id))
		}
		w.confused[c] = true
		return false
	}
	w.seen[r], w.met[was] = was, true
	w.at = place{was + 2, uint32(w.first.values[was+1])}
	return true
}

// shared reads which pointers and slices refer to a part of what another one refers to.
func (w *walker) shared() {
	slices.SortFunc(w.arrays, func(a, b array) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.value, b.value))
	})
	for _, a := range w.arrays {
		if n := len(w.outer); n == 0 || a.to > w.outer[n-1].to {
			w.outer = append(w.outer, a)
		}
	}
	if w.first == nil {
		for _, r := range w.refs {
			w.inside[r.value] = w.element(r)
		}
		return
	}
	told, byPlace := map[uint32]bool{}, map[uint32]array{}
	for _, a := range w.arrays {
		byPlace[a.value] = a
	}
	for _, narrow := range []bool{false, true} {
		for _, r := range w.refs {
			was, n := w.first.inside[r.value], w.element(r)
			other := uint32(cmp.Or(was, n) >> 32)
			a, compared := byPlace[other]
			if was == n || !compared || told[other] || narrow != (a.to-a.from < r.to-r.from) {
				continue // of two that refer to each other, the wider one is the array
			}
			if was == 0 || a.from+uintptr(uint32(was)-1) != r.from {
				told[r.value] = true
				w.report(r.path, "a part of another variable, 0 for none:", was, n)
			}
		}
	}
}

// element returns of which other reference a reference refers to a part: the place of the widest one and the offset; or
// 0.
func (w *walker) element(r array) uint64 {
	start := func(a array, p uintptr) int { return cmp.Compare(a.from, p) }
	at, _ := slices.BinarySearchFunc(w.outer, r.from+1, start)
	var in array
	for at--; at >= 0 && r.from < w.outer[at].to; at-- {
		a := w.outer[at]
		if a.value == r.value { // those in r begin with it, and come next
			i, _ := slices.BinarySearchFunc(w.arrays, r.from, start)
			if a = (array{}); i+1 < len(w.arrays) && w.arrays[i+1].from == r.from {
				a = w.arrays[i+1]
			}
		}
		if cmp.Or(cmp.Compare(a.to-a.from, in.to-in.from), cmp.Compare(in.value, a.value)) > 0 {
			in = a
		}
	}
	if in.value == 0 {
		return 0
	}
	return uint64(in.value)<<32 | uint64(r.from-in.from) + 1
}
