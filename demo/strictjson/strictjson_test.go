package strictjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type file struct {
	Size int `json:"size"`
	head
	Keys map[string]string `json:"keys"`
	Rows *[]struct {
		Row [2]bool `json:"row"`
	} `json:"rows"`
	Places map[string]struct{ X int }
	Kept   int         `json:"-"`
	Quoted int         `json:"quoted,string"`
	Exact  json.Number `json:"exact"`
}

type head struct {
	Name string `json:"name,omitempty"`
}

func TestDecode_ErrorsAreShortAndSayWhere(t *testing.T) {
	digits, long := strings.Repeat("9", 5000), strings.Repeat("x", 5000)
	for _, c := range []struct{ text, want string }{
		{``, "EOF"},
		{`{"size":1}{`, "something behind the object"},
		{`{"size":1} x`, "something behind the object"},
		{`{"size":"1"}`, "cannot unmarshal string into Go struct field file.size of type int"},
		{`{"size":` + digits + `}`, "cannot unmarshal number " + digits[:quoted] + "... into Go struct field file.size of type int"},
		{`{"size":1e999}`, "cannot unmarshal number 1e999 into"},
		{`{"colour":1}`, `unknown field "colour"; allowed are size, name, keys, rows {row}, Places {X}, quoted, exact`},
		{`{"` + long[:quoted] + `":1}`, `unknown field "` + long[:quoted] + `"`},
		{`{"` + long[:quoted+1] + `":1}`, `unknown field "` + long[:quoted] + `..."`},
		{`{"` + long + `":1}`, `unknown field "` + long[:quoted] + `..."`},
		{`{"` + strings.Repeat("é", 5000) + `":1}`, `unknown field "` + strings.Repeat("é", quoted/2) + `..."`},
		{`{"` + strings.Repeat(`\u001b`, 5000) + `":1}`, `unknown field "\x1b\x1b`},
		{`{"size":` + long, "invalid character 'x'"},
		{`{"keys":{"` + long + `":3}}`, "cannot unmarshal number into"},
		{`[]`, "cannot unmarshal array into"},
		{`{"quoted":"` + long + `"}`, `trying to unmarshal "` + long[:quoted] + `..." into int`},
		{`{"quoted":"` + digits + `"}`, "cannot unmarshal number " + digits[:quoted] + "... into"},
		{`{"quoted":"` + strings.Repeat("é", 5000) + `"}`, `unmarshal "` + strings.Repeat("é", quoted/2) + `..." into int`},
		{`{"exact":"` + long + `"}`, "unmarshal \"\\\"" + long[:quoted-2] + `..." into Number`},
	} {
		_, err := Decode([]byte(c.text), &file{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 150 || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%.60q: %.200v; want %q", c.text, err, c.want)
		}
	}
	at, err := Decode([]byte(` {"size":7,"keys":{"a":"b"}} `), &file{})
	if err != nil || at != 28 {
		t.Errorf("a good file: %v at %d", err, at)
	}
}

func TestDecode_OffsetIsThatOfTheMistake(t *testing.T) {
	for text, want := range map[string]int64{
		`  {"size": 1, x}`: 14, `{"size":[1}`: 10, `{"size":1`: 9, `nil`: 1, ``: 0,
		`{"size":"1", "name":"a"}`: 11, `{"name":"a", "rows":7}`: 21, `{"size":[1], "name":"a"}`: 9,
		`{"colour":1} `: 12, `{"size":1} x`: 11,
	} {
		if at, err := Decode([]byte(text), &file{}); err == nil || at != want {
			t.Errorf("%s: %v at %d, want %d", text, err, at, want)
		}
	}
}

// Methods of a type quote, too, and may do so twice.
func TestShort_CutsEveryQuote(t *testing.T) {
	for text, want := range map[string]string{
		"json: a \"b\" c":                           "a \"b\" c",
		`a "` + strings.Repeat("b", quoted) + `"`:   `a "` + strings.Repeat("b", quoted) + `"`,
		`a "` + strings.Repeat("b", quoted+1) + `"`: `a "` + strings.Repeat("b", quoted) + `..."`,
		`"` + strings.Repeat(`\n`, quoted) + `" as "` + strings.Repeat("c", quoted+9) + `": no`: `"` + strings.Repeat(`\n`, quoted/2) +
			`..." as "` + strings.Repeat("c", quoted) + `...": no`,
		`x "` + strings.Repeat(`\u001b`, quoted) + `" y`: `x "` + strings.Repeat(`\u001b`, quoted/6) + `..." y`,
		`half a "quote`: `half a "quote`,
		"":              "",
	} {
		if got := Short(errors.New(text)).Error(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"size":1}`, `{"size":99999999999999999999999999999999999999999999999999999999999999}`, `{"a\u0000":1}`, `{}{}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		at, err := Decode(data, &file{})
		if err == nil && !json.Valid(data) || at < 0 || at > int64(len(data)) {
			t.Fatalf("%q: %v at %d", data, err, at)
		}
		if err != nil && (len(err.Error()) > 150 || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Fatalf("%q: %q", data, err)
		}
	})
}
