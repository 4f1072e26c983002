package ecs

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

// lost says what encoding/json would leave out of a type though nobody told it to; "" where that is
// nothing. It does not look at types that write themselves, unless they embed who does.
func lost(t reflect.Type, within []reflect.Type) string {
	for _, outer := range within {
		if outer == t {
			return ""
		}
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Map:
		if writesItself(t) {
			return ""
		}
		return lost(t.Elem(), within)
	case reflect.Struct:
		return lostFields(t, within)
	}
	return ""
}

// lostFields is lost for a struct.
func lostFields(t reflect.Type, within []reflect.Type) string {
	if !writesItself(t) {
		l := fieldList{of: t, names: make(map[string]string)}
		return l.fields(t, "", within)
	}
	for f := range t.Fields() {
		if f.Anonymous && t.NumField() > 1 && writesItself(f.Type) && sameText(t, f.Type) {
			return fmt.Sprintf("it embeds %s, which stands for all of it", f.Type)
		}
	}
	return ""
}

// A fieldList goes through the fields of a struct as encoding/json does: those of a struct that is embedded
// without a name count as its own, whether that writes itself or not.
type fieldList struct {
	of    reflect.Type
	names map[string]string // which field has a name in the text
}

// fields looks at those of t, which is embedded along path.
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

// field looks at one of those of t. Of fields with one name, encoding/json leaves out all but one, and mostly
// all of them.
func (l *fieldList) field(t reflect.Type, f reflect.StructField, path string, within []reflect.Type) string {
	name, tagged, odd := tagName(f)
	if odd {
		return fmt.Sprintf("the tag of field %s of %s is no name, and what that means depends on the release of Go", f.Name, t)
	}
	typ, pointer := f.Type, f.Type.Kind() == reflect.Pointer
	if pointer {
		typ = typ.Elem()
	}
	embedded := f.Anonymous && !tagged && typ.Kind() == reflect.Struct
	switch {
	case embedded && slices.Contains(within, typ), !f.IsExported() && (!f.Anonymous || pointer || typ.Kind() != reflect.Struct):
		return fmt.Sprintf("field %s of %s is left out", f.Name, t)
	case embedded:
		return l.fields(typ, path+f.Name+".", append(within, typ))
	}
	if other, taken := l.names[name]; taken {
		return fmt.Sprintf("fields %s and %s of %s are both %q", min(other, path+f.Name), max(other, path+f.Name), l.of, name)
	}
	l.names[name] = path + f.Name
	return lost(f.Type, within)
}

// tagName returns the name of a field in a text, whether a tag gives it, and whether the tag is one that
// encoding/json does not take: up to Go 1.26 the field then has its own name, from 1.27 on it is left out.
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

func writesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}

// sameText reports whether zeros of both types are written alike.
func sameText(a, b reflect.Type) bool {
	x, err := json.Marshal(reflect.New(a).Interface())
	y, also := json.Marshal(reflect.New(b).Interface())
	return err == nil && also == nil && bytes.Equal(x, y)
}
