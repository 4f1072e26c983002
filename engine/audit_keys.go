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

// mapping reads a map in the order of its keys.
func (w *walker) mapping(v reflect.Value) {
	if !w.add(uint64(v.Len()), "a map of length") || v.Len() == 0 || !w.reached(v, 0) {
		return
	}
	var all []entry
	for r := v.MapRange(); r.Next(); {
		e := entry{key: r.Key(), value: r.Value()}
		w.appendKey(&e, e.key)
		all = append(all, e)
	}
	slices.SortFunc(all, compareKeys)
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
	refs       []uint64 // of each pointer in the key: its place if it was reached before, and its address
}

func compareKeys(a, b entry) int {
	return cmp.Or(bytes.Compare(a.content, b.content), slices.Compare(a.refs, b.refs))
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
		e.refs = append(e.refs, uint64(at), uint64(uintptr(r.p)))
	}
}
