package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/memory"
)

func of[T any](t *testing.T) *Type {
	t.Helper()
	d, err := Of(reflect.TypeFor[T]())
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func raw[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

func convert[A, B any](t *testing.T, p *Planner, v A) (to B, err error) {
	t.Helper()
	f, err := p.Plan("v", of[A](t), of[B](t))
	if err != nil {
		return to, err
	}
	if f == nil {
		copy(raw(&to), raw(&v))
		return to, nil
	}
	return to, f(raw(&to), raw(&v))
}

func TestOf_RefusesByPath(t *testing.T) {
	type deep struct{ A [3]struct{ P uintptr } }
	type held struct {
		N int
		H memory.Handle[int]
	}
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[deep]():               "layout.deep.A[].P: uintptr: an address is not valid in another process",
		reflect.TypeFor[held]():               "layout.held.H: memory.Handle[int]: a handle of a pool is not valid in another process",
		reflect.TypeFor[struct{ s string }](): "struct { s string }.s: string: an address",
		reflect.TypeFor[unsafe.Pointer]():     "unsafe.Pointer: an address",
	} {
		if _, err := Of(typ); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", typ, err, want)
		}
	}
}

func TestOf_IsTheSameAfterJSON(t *testing.T) {
	type all struct {
		A bool
		B [2][3]int16
		C struct{ X, Y float32 }
		D complex64
		E uint
		_ int
	}
	d := of[all](t)
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again Type
	if err := json.Unmarshal(text, &again); err != nil || !d.Equal(&again) || again.Check() != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestPlan_EveryIntegerToEveryInteger(t *testing.T) {
	values := []int64{0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, -32768, -32769, 65535, 65536, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<32 - 1, 1 << 32, math.MaxInt64, math.MinInt64}
	types := []*Type{of[int8](t), of[int16](t), of[int32](t), of[int64](t), of[uint8](t), of[uint16](t), of[uint32](t), of[uint64](t)}
	low := []int64{-128, -32768, -1 << 31, math.MinInt64, 0, 0, 0, 0}
	high := []uint64{127, 32767, 1<<31 - 1, math.MaxInt64, 255, 65535, 1<<32 - 1, math.MaxUint64}
	for i, a := range types {
		for k, b := range types {
			f, err := (&Planner{}).Plan("v", a, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				src, dst := make([]byte, 8), make([]byte, b.Size)
				copy(src, raw(&v))
				n, negative := integer(src, scalars[a.Kind]) // v, as far as it fits a
				if f == nil {
					continue
				}
				fits := !negative && n <= high[k] || negative && int64(n) >= low[k]
				err := f(dst, src[:a.Size])
				if (err == nil) != fits {
					t.Errorf("%d from %s to %s: %v, fits %v", int64(n), types[i].Kind, b.Kind, err, fits)
				}
				text := fmt.Sprint(n)
				if negative {
					text = fmt.Sprint(int64(n))
				}
				if err != nil && !strings.Contains(err.Error(), ": "+text+" does not fit") {
					t.Errorf("%s from %s: %v", text, types[i].Kind, err)
				}
				if got, _ := integer(append(dst, make([]byte, 8)...), scalars[b.Kind]); err == nil && got != n {
					t.Errorf("%d from %s to %s became %d", int64(n), types[i].Kind, b.Kind, int64(got))
				}
			}
		}
	}
}

func TestPlan_FloatsAreWidenedExactly(t *testing.T) {
	p := &Planner{}
	if v, err := convert[float32, float64](t, p, 1.25e-30); err != nil || v != float64(float32(1.25e-30)) {
		t.Error(v, err)
	}
	if v, err := convert[int32, float64](t, p, -1<<31); err != nil || v != -1<<31 {
		t.Error(v, err)
	}
	if v, err := convert[uint16, float32](t, p, 65535); err != nil || v != 65535 {
		t.Error(v, err)
	}
	if v, err := convert[complex64, complex128](t, p, complex(1.5, -2)); err != nil || v != complex(1.5, -2) {
		t.Error(v, err)
	}
	_, errs := [5]any{}, [5]error{}
	_, errs[0] = convert[float64, float32](t, p, 1)
	_, errs[1] = convert[int64, float64](t, p, 1)
	_, errs[2] = convert[float32, int32](t, p, 1)
	_, errs[3] = convert[bool, uint8](t, p, true)
	_, errs[4] = convert[[2]int8, int16](t, p, [2]int8{})
	for i, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "values would be lost") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// With Lenient, a struct that became an array, or a handle of another type, was lost without a note.
func TestPlan_LenientNotesEveryKindThatChanges(t *testing.T) {
	handle := Type{Name: "memory.Handle[game.Beast]", Kind: "handle", Size: 8}
	other := Type{Name: "memory.Handle[game.Tree]", Kind: "handle", Size: 8}
	few, many := Bytes("", 4), Bytes("", 8)
	kinds := []*Type{of[bool](t), of[int8](t), of[int64](t), of[uint8](t), of[uint64](t), of[float32](t), of[float64](t), of[complex64](t), of[complex128](t),
		of[[2]int32](t), of[[1]struct{ A int8 }](t), of[struct{ A [2]int32 }](t), of[struct{ A struct{ B int8 } }](t), &handle, &other, &few, &many}
	for i, from := range kinds {
		for k, to := range kinds {
			if i == k {
				continue
			}
			old, now := Type{Kind: "struct", Size: 16, Fields: []Field{{"F", 0, *from}}}, Type{Kind: "struct", Size: 16, Fields: []Field{{"F", 0, *to}}}
			var notes []string
			_, strict := (&Planner{}).Plan("v", &old, &now)
			f, err := (&Planner{Lenient: true, Note: func(s string) { notes = append(notes, s) }}).Plan("v", &old, &now)
			if err != nil {
				t.Fatal(err)
			}
			lost := slices.ContainsFunc(notes, func(s string) bool {
				return strings.Contains(s, " became ") && strings.HasSuffix(s, ", and is zero before Migration.Convert")
			})
			if len(notes) == 0 || lost != (strict != nil) {
				t.Errorf("%s to %s: notes %q; without Lenient %v", from.describe(), to.describe(), notes, strict)
			}
			if dst := make([]byte, 16); lost && (f(dst, bytes.Repeat([]byte{1}, 16)) != nil || !bytes.Equal(dst, make([]byte, 16))) {
				t.Errorf("%s to %s: %v", from.describe(), to.describe(), dst)
			}
		}
	}
}

type oldHull struct {
	HP     int16
	Gone   [3]float32
	Shield struct{ Now, Most uint8 }
	Tags   [2]uint16
}

type newHull struct {
	Tags   [4]uint32
	Points int32
	Shield struct {
		Most, Now uint16
		Color     uint32
	}
}

func TestPlan_FieldsAreAddedRemovedRenamedAndWidened(t *testing.T) {
	var notes []string
	p := &Planner{Renamed: map[string]string{"layout.oldHull.HP": "Points"}, Note: func(s string) { notes = append(notes, s) }}
	old := oldHull{HP: -300, Tags: [2]uint16{7, 9}}
	old.Shield.Now, old.Shield.Most = 3, 200
	v, err := convert[oldHull, newHull](t, p, old)
	want := newHull{Tags: [4]uint32{7, 9, 0, 0}, Points: -300}
	want.Shield.Most, want.Shield.Now = 200, 3
	if err != nil || v != want {
		t.Errorf("%+v, %v", v, err)
	}
	for _, n := range []string{"v.HP was renamed to Points", "v.Points: int16 became int32", "v.Gone was removed", "v.Shield.Color was added", "v.Shield.Now: uint8 became uint16", "v.Tags: 2 elements became 4"} {
		if !slices.Contains(notes, n) {
			t.Errorf("no note %q in %q", n, notes)
		}
	}
	p.Renamed["layout.oldHull.Gone"] = "Points"
	if _, err := convert[oldHull, newHull](t, p, old); err == nil || !strings.Contains(err.Error(), "two fields became Points") {
		t.Error(err)
	}
}

func TestPlan_BoolsAreValidated(t *testing.T) {
	type flags struct {
		N int32
		B [2]bool
	}
	f, err := (&Planner{}).Plan("v", of[flags](t), of[flags](t))
	if err != nil || f == nil {
		t.Fatal(err)
	}
	v, to := flags{5, [2]bool{true, false}}, flags{}
	if err := f(raw(&to), raw(&v)); err != nil || to != v {
		t.Error(to, err)
	}
	bad := bytes.Clone(raw(&v))
	bad[5] = 2
	if err := f(raw(&to), bad); err == nil || !strings.Contains(err.Error(), "the bool is 2") {
		t.Error(err)
	}
}

func TestCheck_RefusesImpossibleTypes(t *testing.T) {
	nested := Type{Kind: "int8", Size: 1}
	for range deepest + 1 {
		elem := nested
		nested = Type{Kind: "array", Len: 1, Size: 1, Elem: &elem}
	}
	for i, d := range []Type{
		{}, {Kind: "int33", Size: 4}, {Kind: "int32", Size: 8}, {Kind: "array", Size: 4}, {Kind: "array", Len: 3, Size: 4, Elem: &Type{Kind: "int8", Size: 1}},
		{Kind: "struct", Size: 4, Fields: []Field{{"A", 1, Type{Kind: "int32", Size: 4}}}}, {Kind: "struct", Size: 4, Fields: []Field{{"A", -1, Type{Kind: "int8", Size: 1}}}},
		{Kind: "struct", Size: 4, Fields: []Field{{"A", 0, Type{Kind: "int8", Size: 2}}}}, {Kind: "bytes", Size: -1}, {Kind: "bytes", Size: most + 1}, nested,
		{Kind: "array", Len: most + 1, Size: 0, Elem: &Type{Kind: "struct"}},
		{Kind: "array", Len: 1 << 16, Size: 0, Elem: &Type{Kind: "bytes", Size: 1 << 16}}, // 0 on 32-bit systems
		{Kind: "int8", Size: 1, Elem: &Type{Kind: "int8", Size: 1}}, {Kind: "bytes", Size: 1, Len: 1}, {Kind: "struct", Elem: &Type{Kind: "struct"}},
		{Kind: "int8", Size: 1, Fields: []Field{{"A", 0, Type{Kind: "int8", Size: 1}}}},
	} {
		if d.Check() == nil {
			t.Errorf("%d: %+v is accepted", i, d)
		}
	}
}

func TestNumber_ReadsEveryKind(t *testing.T) {
	a, b, c := int16(-7), float32(2.5), uint8(200)
	for _, x := range []struct {
		t   *Type
		src []byte
		n   int64
		f   float64
	}{{of[int16](t), raw(&a), -7, -7}, {of[float32](t), raw(&b), 2, 2.5}, {of[uint8](t), raw(&c), 200, 200}} {
		if n, f, ok := Number(x.t, x.src); !ok || n != x.n || f != x.f {
			t.Error(fmt.Sprint(n, f, ok), x)
		}
	}
	if _, _, ok := Number(of[oldHull](t), nil); ok {
		t.Error("a struct is a number")
	}
}
