package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/strata-go/strata/memory/save"
)

// mapping reads a map. If a key has a pointer to a variable that was not reached, the map is read at the end of the walk.
// What is reached until then tells its keys apart.
func (w *walker) mapping(v reflect.Value) {
	if !w.add(uint64(v.Len()), "a map of length") || v.Len() == 0 || !w.reached(v, 0) {
		return
	}
	at, all := w.seen[reference{v.UnsafePointer(), v.Type(), 0}], w.entries(v)
	late := w.first == nil && slices.ContainsFunc(all, entry.unreached)
	if w.first != nil {
		_, late = w.first.order[at]
	}
	if late {
		w.late = append(w.late, lateMap{v, at, w.trail()})
		return
	}
	slices.SortFunc(all, compareKeys)
	w.pairs(all)
}

// A lateMap is a map that is read at the end of a walk.
type lateMap struct {
	v    reflect.Value
	at   uint32 // its place in the first walk
	path *trail
}

// An order is that of the keys of a late map in the first walk, by their texts, and the place of the first key.
type order struct {
	begin place
	keys  map[string]int
}

// readLate reads the late maps. If each key of a map is one of the first walk, they have the order of that walk. If not,
// they were made again, and only their contents order them.
func (w *walker) readLate() {
	for k := 0; k < len(w.late); k++ { // reading may find more of them
		l := w.late[k]
		w.path, w.off = l.path.steps(), false
		if w.first != nil {
			w.at = w.first.order[l.at].begin
		}
		all := w.entries(l.v)
		for i := range all {
			seen := map[reference]int{}
			w.appendShape(&all[i], all[i].key, seen)
			w.appendShape(&all[i], all[i].value, seen)
		}
		slices.SortFunc(all, compareKeys)
		if w.first == nil {
			o := order{w.at, map[string]int{}}
			for i, e := range all {
				o.keys[e.text()] = i
			}
			w.order[l.at] = o
		} else if was := w.first.order[l.at].keys; !slices.ContainsFunc(all, func(e entry) bool { _, ok := was[e.text()]; return !ok }) {
			slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(was[a.text()], was[b.text()]) })
		}
		w.pairs(all)
	}
}

// entries returns the entries of a map, in a random order.
func (w *walker) entries(v reflect.Value) (all []entry) {
	for r := v.MapRange(); r.Next(); {
		e := entry{key: r.Key(), value: r.Value()}
		w.appendKey(&e, e.key)
		all = append(all, e)
	}
	return all
}

// pairs reads keys and values.
func (w *walker) pairs(all []entry) {
	for i, e := range all {
		name := fmt.Sprint(e.key)
		if len(e.refs) > 0 {
			name = fmt.Sprint("key ", i)
		}
		nan := i > 0 && compareKeys(all[i-1], e) == 0 || i+1 < len(all) && compareKeys(e, all[i+1]) == 0
		if nan { // equal keys have no order
			e.content = append(e.content, "NaN"...)
		}
		part := w.enter("["+name+"]", 0)
		w.here = reference{}
		same := w.add(save.Hash(e.content), "a key with hash")
		if same && len(e.refs) > 0 {
			w.into("key", 0, e.key)
			w.here = reference{}
		}
		if same && !nan {
			w.value(e.value)
		}
		w.leave(part)
	}
}

// An entry is one of a map.
type entry struct {
	key, value reflect.Value
	content    []byte   // of the key, without pointers
	refs       []uint32 // of each pointer in the key: its place if it was reached before
	shape      []byte   // of key and value in a late map, with what pointers lead to
	addresses  []uint64 // of each pointer in the key
}

func compareKeys(a, b entry) int {
	return cmp.Or(bytes.Compare(a.content, b.content), slices.Compare(a.refs, b.refs), bytes.Compare(a.shape, b.shape),
		slices.Compare(a.addresses, b.addresses))
}

// unreached reports whether a variable to which the key refers was not reached.
func (e entry) unreached() bool {
	for i, at := range e.refs {
		if at == 0 && e.addresses[i] != 0 {
			return true
		}
	}
	return false
}

// text identifies the key as long as its variables do not move.
func (e entry) text() string { return fmt.Sprint(e.content, e.addresses) }

// mostShape is the length from which on a shape does not grow.
const mostShape = 1 << 10

// appendShape appends what tells variables apart that were made again at other addresses.
func (w *walker) appendShape(e *entry, v reflect.Value, seen map[reference]int) {
	word := func(n uint64) { e.shape = binary.BigEndian.AppendUint64(e.shape, n) }
	if len(e.shape) >= mostShape {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice:
		r := reference{p: v.UnsafePointer(), t: v.Type()}
		if v.Kind() == reflect.Slice {
			r.n = v.Len()
		}
		known := seen[r]
		word(uint64(boolInt(r.p != nil)))
		word(uint64(r.n))
		word(uint64(w.seen[r]))
		if word(uint64(known)); r.p == nil || known > 0 || w.seen[r] > 0 {
			return
		}
		if seen[r] = len(seen) + 1; v.Kind() == reflect.Pointer {
			w.appendShape(e, v.Elem(), seen)
			return
		}
		for i := range r.n {
			w.appendShape(e, v.Index(i), seen)
		}
	case reflect.Array:
		for i := range v.Len() {
			w.appendShape(e, v.Index(i), seen)
		}
	case reflect.Interface:
		if word(w.typeNumber(v)); !v.IsNil() {
			w.appendShape(e, v.Elem(), seen)
		}
	case reflect.Map:
		word(uint64(v.Len()))
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		word(uint64(boolInt(!v.IsNil())))
	case reflect.Struct:
		if _, state := w.stateOf(v); state || plumbing(v.Type()) || w.ignores(v.Type()) {
			return
		}
		for _, i := range w.fieldsOf(v.Type()) {
			w.appendShape(e, v.Field(i), seen)
		}
	default:
		k := entry{content: e.shape}
		w.appendKey(&k, v)
		e.shape = k.content
	}
}

// appendKey appends a part of the key of e. The text of a key would not do: two keys may have the same one.
func (w *walker) appendKey(e *entry, v reflect.Value) {
	word := func(n uint64) { e.content = binary.BigEndian.AppendUint64(e.content, n) }
	switch v.Kind() {
	case reflect.Bool:
		word(uint64(boolInt(v.Bool())))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		word(v.Uint())
	case reflect.Float32, reflect.Float64:
		word(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		word(math.Float64bits(real(v.Complex())))
		word(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		word(uint64(v.Len()))
		e.content = append(e.content, v.String()...)
	case reflect.Interface:
		if word(w.typeNumber(v)); !v.IsNil() {
			w.appendKey(e, v.Elem())
		}
	case reflect.Array:
		for i := range v.Len() {
			w.appendKey(e, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				w.appendKey(e, v.Field(i))
			}
		}
	default: // a pointer or a channel
		r := reference{p: v.UnsafePointer(), t: v.Type()}
		at := w.seen[r]
		if at == 0 && w.first != nil && w.first.seen[r] < w.at.value {
			at = w.first.seen[r] // what leads to the variable differs
		}
		e.refs, e.addresses = append(e.refs, at), append(e.addresses, uint64(uintptr(r.p)))
	}
}
