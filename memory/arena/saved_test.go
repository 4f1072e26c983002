package arena

import (
	"reflect"
	"testing"
)

// A canonical state contains the padding of the entries of its lists. An append leaves old bytes of the Go heap in it.
func TestLinear_SavedListsHaveNoPadding(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[place](), reflect.TypeFor[cut](), reflect.TypeFor[entry](), reflect.TypeFor[step]()} {
		n := uintptr(0)
		for f := range typ.Fields() {
			n += f.Type.Size()
		}
		if n != typ.Size() {
			t.Errorf("%v has %d bytes, and its fields have %d", typ, typ.Size(), n)
		}
	}
}
