package layout

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory"
)

type everything struct {
	A [3]struct {
		X, Y int8
		On   bool
	}
	F complex64
	_ uint16
	H memory.Handle[int]
}

func described(t testing.TB) Type {
	t.Helper()
	d, err := OfHandles(reflect.TypeFor[everything](), func(reflect.Type) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecoder_TypeReturnsWhatWasAppended(t *testing.T) {
	d := described(t)
	data := d.AppendTo([]byte("head"))[4:]
	dec := Decoder{Rest: append(bytes.Clone(data), 1, 2)}
	if back := dec.Type(); dec.Err != nil || !reflect.DeepEqual(back, d) || len(dec.Rest) != 2 {
		t.Errorf("%+v, %v, %d bytes are left; want %+v", back, dec.Err, len(dec.Rest), d)
	}
	for n := range data {
		dec := Decoder{Rest: data[:n]}
		if dec.Type(); dec.Err == nil {
			t.Fatalf("%d bytes of %d are accepted", n, len(data))
		}
	}
}

func TestDecoder_ImpossibleTypesAreErrors(t *testing.T) {
	deep := Type{Kind: "bool", Size: 1}
	for range deepest + 2 {
		elem := deep
		deep = Type{Kind: "array", Size: 1, Len: 1, Elem: &elem}
	}
	for want, x := range map[string]Type{
		"nested more than": deep,
		`type "what"`:      {Kind: "what", Size: 1},
		"of 4 bytes":       {Kind: "handle", Size: 4},
		"at byte 9":        {Kind: "struct", Size: 8, Fields: []Field{{"F", 9, Type{Kind: "bool", Size: 1}}}},
		"allowed are":      {Kind: "bool", Size: most + 1},
	} {
		dec := Decoder{Rest: x.AppendTo(nil)}
		if dec.Type(); dec.Err == nil || !strings.Contains(dec.Err.Error(), want) {
			t.Errorf("%v, want %s", dec.Err, want)
		}
	}
}

func TestOfHandles_AsksForEachHandle(t *testing.T) {
	broken := errors.New("no pool")
	_, err := OfHandles(reflect.TypeFor[everything](), func(h reflect.Type) error {
		if h != reflect.TypeFor[memory.Handle[int]]() {
			t.Errorf("%v", h)
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "layout.everything.H: memory.Handle[int]: no pool") {
		t.Errorf("%v", err)
	}
}

func TestAppendText_CutsLongTexts(t *testing.T) {
	dec := Decoder{Rest: AppendText(nil, strings.Repeat("x", 70_000))}
	if s := dec.Text(); len(s) != 65_535 || len(dec.Rest) > 0 || dec.Err != nil {
		t.Errorf("%d bytes, %v", len(s), dec.Err)
	}
}

func FuzzDecoder(f *testing.F) {
	d := described(f)
	f.Add(d.AppendTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		dec := Decoder{Rest: data}
		x := dec.Type()
		if dec.Err != nil {
			return
		}
		if again := append(x.AppendTo(nil), dec.Rest...); !bytes.Equal(again, data) {
			t.Errorf("%d bytes became %d", len(data), len(again))
		}
		p := Planner{Lenient: true}
		if convert, err := p.Plan("v", &x, &x); err == nil && convert != nil && x.Size < 1<<16 {
			_ = convert(make([]byte, x.Size), make([]byte, x.Size))
		}
	})
}
