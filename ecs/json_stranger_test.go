package ecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/strata-go/strata/ecs/internal/jsonio"
)

type (
	inner    struct{ X, Y int }
	outerTwo struct{ inner }
	shadows  struct {
		inner
		X int
	}
	rivals struct {
		inner
		outerTwo
	}
	tagOfOther struct {
		A int `json:"B"`
		B int
	}
	twoClocks struct {
		Clock
		Watch
	}
	named struct {
		inner `json:"inner"`
		X     int
		Y     int `json:"Z"`
	}
	onlyOnce struct {
		inner
		Z int `json:"-"`
		W int `json:",omitempty"`
	}
	pointsIn struct {
		*inner
		Z int
	}
	recursive struct {
		*Recursive
		Z int
	}
	Recursive struct {
		*Recursive
		A int
	}
	Clock struct{ secret int }
	Watch struct{ Clock }
)

// tagged is a struct of two numbers with these tags: some that go vet would not let stand.
func tagged(a, b reflect.StructTag) reflect.Value {
	number := reflect.TypeFor[int]()
	v := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "A", Type: number, Tag: a}, {Name: "B", Type: number, Tag: b}}))
	v.Elem().Field(0).SetInt(1)
	v.Elem().Field(1).SetInt(2)
	return v
}

var (
	sameTags = tagged(`json:"v"`, `json:"v,omitempty"`)
	badTags  = tagged(`json:"a\"b"`, `json:"a\\b"`) // no names that encoding/json takes
)

func (c Clock) MarshalJSON() ([]byte, error) { return fmt.Append(nil, c.secret), nil }
func (Watch) MarshalJSON() ([]byte, error)   { return []byte("0"), nil } // of two at one depth neither counts

// TestWriteJSON_RefusesFieldsThatHideEachOther: encoding/json leaves out what has the name of another
// field, and says nothing.
func TestWriteJSON_RefusesFieldsThatHideEachOther(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{shadows{}, `fields X and inner.X of ecs.shadows are both "X"`},
		{rivals{}, `fields inner.X and outerTwo.inner.X of ecs.rivals are both "X"`},
		{sameTags.Elem().Interface(), `are both "v"`},
		{tagOfOther{}, `fields A and B of ecs.tagOfOther are both "B"`},
		{[]shadows{}, `fields X and inner.X`},
		{map[string]*shadows{}, `fields X and inner.X`},
		{twoClocks{}, "field secret of ecs.Clock is omitted"},
		{pointsIn{}, "field inner of ecs.pointsIn is omitted"},
		{named{}, ""},
		{badTags.Elem().Interface(), "the tag of field A"},
		{onlyOnce{}, ""},
		{recursive{}, "field Recursive of ecs.Recursive is omitted"},
		{outerTwo{}, ""},
	} {
		typ := reflect.TypeOf(c.of)
		if got := jsonio.Lossy(typ); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", typ, got, c.want)
		}
	}
}

// TestWriteJSON_WhatIsNotRefusedComesBack holds lost to what encoding/json does: of types that it
// passes, each number that was written is read.
func TestWriteJSON_WhatIsNotRefusedComesBack(t *testing.T) {
	for _, v := range []any{
		&named{inner{1, 2}, 3, 4}, &onlyOnce{inner{1, 2}, 0, 3}, &outerTwo{inner{1, 2}},
		&shadows{inner{1, 2}, 3}, sameTags.Interface(), &tagOfOther{1, 2}, &rivals{inner{1, 2}, outerTwo{inner{3, 4}}},
	} {
		text, err := json.Marshal(v)
		back := reflect.New(reflect.TypeOf(v).Elem())
		if err == nil {
			err = json.Unmarshal(text, back.Interface())
		}
		whole := err == nil && reflect.DeepEqual(v, back.Interface())
		if refused := jsonio.Lossy(reflect.TypeOf(v).Elem()) != ""; refused == whole {
			t.Errorf("%+v is %s and comes back as %+v: refused %v, %v", v, text, back, refused, err)
		}
	}
}

// TestWriteJSON_RefusesANameThatIsNotUTF8, as the text would have another one.
func TestWriteJSON_RefusesANameThatIsNotUTF8(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	id := must[ID](t)(w.RegisterSize("heat\xff", 1, 1))
	e := must[Entity](t)(w.NewEntity())
	if _, err := w.AddID(e, id); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteJSON(io.Discard); err == nil || err.Error() != `ecs: WriteJSON: the name of component "heat\xff" is not UTF-8` {
		t.Error(err)
	}
}

// blanks is a reader of n spaces behind a text, so many at once.
type blanks struct {
	text string
	n    int
	each int
}

func (b *blanks) Read(p []byte) (int, error) {
	if b.text != "" {
		n := copy(p, b.text)
		b.text = b.text[n:]
		return n, nil
	}
	n := min(len(p), b.n, b.each)
	for i := range p[:n] {
		p[i] = " \t\r\n"[i&3]
	}
	if b.n -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestReadJSON_ALongBlankIsRefusedEarly: encoding/json keeps all of it, and looks at it from its beginning
// each time that more comes.
func TestReadJSON_ALongBlankIsRefusedEarly(t *testing.T) {
	for _, text := range []string{"", `{`, `{"strata/ecs"`, `{"strata/ecs":`, `{"strata/ecs":1,"archetypes":[`} {
		w, _ := newTestWorld(t, Config{})
		in := &blanks{text, 100 << 20, 512}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := w.ReadJSON(in)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 65536 consecutive blanks") {
			t.Errorf("behind %q: %v", text, err)
		}
		if read, took := 100<<20-in.n, after.TotalAlloc-before.TotalAlloc; read > 1<<20 || took > 4<<20 {
			t.Errorf("behind %q: %d bytes are read, %d allocated", text, read, took)
		}
	}
}

// TestReadJSON_BlanksInATextAreNoBlanks: those in a string count for nothing, whatever is escaped there.
func TestReadJSON_BlanksInATextAreNoBlanks(t *testing.T) {
	v, _ := newTestWorld(t, Config{})
	name := `"\` + strings.Repeat(" ", 2*jsonio.MaxBlanks) + `\"` + strings.Repeat("\n", jsonio.MaxBlanks+1)
	e := must[Entity](t)(NewMap1[brain](v).NewEntity(brain{Name: name}))
	text := written(t, v)
	w, _ := newTestWorld(t, Config{})
	c := mustRegisterTest[brain](t, w)
	if err := w.ReadJSON(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if b, ok := c.Get(e); !ok || b.Name != name {
		t.Error("the name is another")
	}
	w.Reset()
	if err := w.ReadJSON(strings.NewReader(strings.Replace(text, "[", "["+strings.Repeat(" ", jsonio.MaxBlanks-1), 1))); err != nil {
		t.Errorf("%d blanks: %v", jsonio.MaxBlanks, err)
	}
}

// lazy is a reader that returns nothing, and no error.
type lazy struct{ calls int }

func (l *lazy) Read([]byte) (int, error) {
	l.calls++
	if l.calls > 1e6 {
		return 0, errors.New("it is asked for ever")
	}
	return 0, nil
}

func TestReadJSON_AReaderWithoutProgressIsGivenUp(t *testing.T) {
	w, _ := newTestWorld(t, Config{})
	if err := w.ReadJSON(new(lazy)); !errors.Is(err, io.ErrNoProgress) || w.Locked() || w.Check() != nil {
		t.Errorf("%v, %v", err, w.Check())
	}
}

// TestReadJSON_BooksAreNumbers: null and texts pass for numbers elsewhere in encoding/json.
func TestReadJSON_BooksAreNumbers(t *testing.T) {
	for _, c := range []struct{ old, as, want string }{
		{`"strata/ecs":1`, `"strata/ecs":"1"`, "string"},
		{`"strata/ecs":1`, `"strata/ecs":null`, "null instead of a number"},
		{`"strata/ecs":1`, `"strata/ecs":1e0`, "1e0"},
		{`"sweep":7`, `"sweep":null`, "null instead of a number"},
		{`"idle":0`, `"idle":null`, "null instead of a number"},
		{`"since":4`, `"since":null`, "null instead of a number"},
		{`"next":6`, `"next":null`, "null instead of a number"},
	} {
		bent := strings.Replace(sound, c.old, c.as, 1)
		if err := newCast(t).refuse(t, strings.NewReader(bent)); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.as, err)
		}
	}
}

// TestReadJSON_AnObserverThatPanicsFindsAWholeWorld, which is what was written, and is not locked.
func TestReadJSON_AnObserverThatPanicsFindsAWholeWorld(t *testing.T) {
	v := lived(t)
	text := v.text(t)
	c := newCast(t)
	told := 0
	c.w.OnCreate(func(Entity) {
		if told++; told == 2 {
			panic("enough")
		}
	})
	if r := caught(func() { _ = c.w.ReadJSON(bytes.NewReader(text)) }); r != "enough" {
		t.Fatal(r)
	}
	if c.w.Locked() || c.w.Check() != nil || c.w.Hash(1) != v.w.Hash(1) || !bytes.Equal(c.text(t), text) {
		t.Errorf("locked %v, %v", c.w.Locked(), c.w.Check())
	}
}
