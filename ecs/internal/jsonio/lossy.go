package jsonio

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// Lossy describes a field that encoding/json would silently omit from values of t, or whose tag Go releases treat
// differently. If there is none, Lossy returns "". It does not look into types that marshal themselves, unless they
// do so by an embedded field.
func Lossy(t reflect.Type) string { return lossy(t, nil) }

// lossy is Lossy within the types that contain t, which may be recursive.
func lossy(t reflect.Type, within []reflect.Type) string {
	for _, outer := range within {
		if outer == t {
			return ""
		}
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Map:
		if marshalsItself(t) {
			return ""
		}
		return lossy(t.Elem(), within)
	case reflect.Struct:
		return lossyFields(t, within)
	}
	return ""
}

// lossyFields is lossy for a struct.
func lossyFields(t reflect.Type, within []reflect.Type) string {
	if !marshalsItself(t) {
		l := fieldList{of: t, names: make(map[string]string)}
		return l.fields(t, "", within)
	}
	for f := range t.Fields() {
		if f.Anonymous && t.NumField() > 1 && marshalsItself(f.Type) && sameText(t, f.Type) {
			return fmt.Sprintf("it embeds %s, whose MarshalJSON or MarshalText replaces its other fields", f.Type)
		}
	}
	return ""
}

// A fieldList visits the fields of a struct in the way of encoding/json: the fields of an embedded
// struct without a tag count as fields of the outer one, even if it marshals itself.
type fieldList struct {
	of    reflect.Type
	names map[string]string // name in the text → path of the field
}

// fields visits the fields of t, which is embedded at path.
func (l *fieldList) fields(t reflect.Type, path string, within []reflect.Type) string {
	for f := range t.Fields() {
		if f.Name == "_" || f.Tag.Get("json") == "-" {
			continue
		}
		if why := l.field(t, f, path, within); why != "" {
			return why
		}
	}
	return ""
}

// field visits a field of t. If several fields have one name, encoding/json omits all or all but one.
func (l *fieldList) field(t reflect.Type, f reflect.StructField, path string, within []reflect.Type) string {
	name, tagged, odd := tagName(f)
	if odd {
		return fmt.Sprintf("the tag of field %s of %s is not a valid name; Go releases treat it differently", f.Name, t)
	}
	typ, pointer := f.Type, f.Type.Kind() == reflect.Pointer
	if pointer {
		typ = typ.Elem()
	}
	embedded := f.Anonymous && !tagged && typ.Kind() == reflect.Struct
	switch {
	case embedded && slices.Contains(within, typ), !f.IsExported() && (!f.Anonymous || pointer || typ.Kind() != reflect.Struct):
		return fmt.Sprintf("field %s of %s is omitted", f.Name, t)
	case embedded:
		return l.fields(typ, path+f.Name+".", append(within, typ))
	}
	if other, taken := l.names[name]; taken {
		return fmt.Sprintf("fields %s and %s of %s are both %q", min(other, path+f.Name), max(other, path+f.Name), l.of, name)
	}
	l.names[name] = path + f.Name
	return lossy(f.Type, within)
}

// tagName returns the name of a field in a text and whether a tag gives it. odd is set if
// encoding/json rejects the tag: up to Go 1.26 it then uses the field's name, from 1.27 on it omits the field.
func tagName(f reflect.StructField) (name string, tagged, odd bool) {
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name, false, false
	}
	odd = strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	})
	return name, true, odd
}

func marshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}

// sameText reports whether the zero values of both types have the same text.
func sameText(a, b reflect.Type) bool {
	x, err := json.Marshal(reflect.New(a).Interface())
	y, also := json.Marshal(reflect.New(b).Interface())
	return err == nil && also == nil && bytes.Equal(x, y)
}
