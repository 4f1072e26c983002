package manifest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/realm"
)

// small is a manifest with everything in it, as short as it can be.
const small = `{"version": 1, "name": "x", "title": "Small", "next": "",
"palette": ["#000000", "#111111", "#222222", "#ABCDEF", "#ffffff"],
"ambient": {"rate": 3, "kind": "dust"},
"assets": [{"id": "bg", "file": "art/bg.png", "priority": 0}]}`

func TestParse_ReadsEveryField(t *testing.T) {
	l, err := Parse("levels/x.json", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "x" || l.Title != "Small" || l.Next != "" || l.Palette[3] != (realm.Color{R: 0xAB, G: 0xCD, B: 0xEF}) ||
		l.Ambient != (Ambient{3, "dust"}) ||
		l.Assets[0] != (Asset{"bg", "art/bg.png", 0}) {
		t.Errorf("%+v", l)
	}
	if l.AssetOf("bg.png") != "bg" || l.AssetOf("art/bg.png") != "bg" || l.AssetOf("x") != "" {
		t.Errorf("the ids of %+v", l.Assets)
	}
	if l.Palette[3].String() != "#abcdef" || l.Palette[4].Vec4()[0] != 1 || l.Palette[0].Vec4()[3] != 1 {
		t.Errorf("colour %v", l.Palette[3])
	}
}

func TestParse_EachMistakeIsNamed(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"version": 1`, `"version": 2`, `x.json: version: version 2; allowed: 1`},
		{`"version": 1, `, ``, `x.json: version: missing; it is required`},
		{`"version": 1`, `"version": "1"`, `x.json: version: a string; allowed: a number`},
		{`"name": "x"`, `"name": "Small Level"`, `x.json: name: "Small Level"; allowed: 1 to 32 of a-z, 0-9, _ and -`},
		{`"name": "x"`, `"name": ""`, `x.json: name: ""; allowed`},
		{`"name": "x"`, `"name": 7`, `x.json: name: a number; allowed: a string`},
		{`"next": ""`, `"next": "../up"`, `x.json: next: "../up"; allowed`},
		{`"title": "Small"`, `"title": "a\nb"`, `x.json: title: "a\nb"; allowed: 1 to 64 bytes on one line`},
		{`"kind": "dust"`, `"kind": ""`, `x.json: ambient.kind: ""; allowed`},
		{`"rate": 3`, `"rat": 3`, `x.json: ambient.rat: unknown field; allowed: rate, kind`},
		{`"next"`, `"colour": 1, "next"`, `x.json: colour: unknown field; allowed: version, name, title`},
		{`"next"`, `"name": "again", "next"`, `x.json: name: the field is there twice`},
		{`"#000000", `, ``, `x.json: palette: 4 colours; a palette has 5`},
		{`"#111111"`, `"red"`, `x.json: palette[1]: bad colour "red"; allowed: #rrggbb`},
		{`"#111111"`, `"#11111g"`, `x.json: palette[1]: bad colour "#11111g"`},
		{`"#111111"`, `"#1111111"`, `x.json: palette[1]: bad colour`},
		{`"#111111"`, `"#11111\u0010"`, `x.json: palette[1]: bad colour`},
		{`"#111111"`, `17`, `x.json: palette[1]: a number; allowed: a string`},
		{`"rate": 3`, `"rate": 1001`, `x.json: ambient.rate: 1001; allowed: 0 to 1000`},
		{`"rate": 3`, `"rate": -3`, `x.json: ambient.rate: -3; allowed: 0 to 1000`},
		{`"rate": 3`, `"rate": 1e6`, `x.json: ambient.rate: 1e+06; allowed: 0 to 1000`},
		{`"rate": 3`, `"rate": 1e99`, `x.json: ambient.rate: 1e99 is not a number of a sensible size`},
		{`{"rate": 3, "kind": "dust"}`, `[3, "dust"]`, `x.json: ambient: an array; allowed: an object`},
		{`"rate": 3`, `"rate": -1`, `x.json: ambient.rate: -1; allowed: 0 to 1000`},
		{`"kind": "dust"`, `"kind": null`, `x.json: ambient.kind: null; allowed: a string`},
		{`"next"`, `"waves": [], "next"`, `x.json: waves: unknown field; allowed: version, name, title`},
		{`"priority": 0`, `"priority": 2.5`, `x.json: assets[0].priority: 2.5 is not a whole number`},
		{`"priority": 0`, `"priority": 1e12`, `x.json: assets[0].priority: 1e12 is not a whole number`},
		{`"priority": 0`, `"priority": 101`, `x.json: assets[0].priority: 101; allowed: 0 (first) to 100`},
		{`"rate": 3`, `"rate": true`, `x.json: ambient.rate: true or false; allowed: a number`},
		{`[{"id"`, `[7, {"id"`, `x.json: assets[0]: a number; allowed: an object`},
		{`"file": "art/bg.png"`, `"file": "/art/bg.png"`, `x.json: assets[0].file: "/art/bg.png" is not a path inside the file system`},
		{`"file": "art/bg.png"`, `"file": "art\\..\\bg.png"`, `x.json: assets[0].file: "art\\..\\bg.png" is not a path`},
		{`"file": "art/bg.png"`, `"file": "art/bg.exe"`, `x.json: assets[0].file: "art/bg.exe" is no picture`},
		{`"priority": 0`, `"priority": -1`, `x.json: assets[0].priority: -1; allowed: 0 (first) to 100`},
		{`"assets": [`, `"assets": [{"id": "bg", "file": "art/c.png", "priority": 1}, `, `x.json: assets[1].id: "bg" is already assets[0]; ids are unique`},
		{`"assets": [`, `"assets": [[[[[[[[[[[[[[]]]]]]]]]]]]], `, `nested too deep; allowed: 12`},
		{`"assets": [`, `"assets": [` + strings.Repeat("0,", 1100), `x.json: assets: too many entries; allowed: 1024`},
		{`"assets": [`, `"assets": [` + strings.Repeat(`{"id": "x", "file": "x.png", "priority": 0},`, 256), `x.json: assets: 257 entries; allowed: 0 to 256`},
		{small, small[:100], `x.json: line 2, column 43: unexpected end of JSON input; a manifest is one JSON object`},
		{small, ``, `x.json: line 1, column 1: unexpected end of JSON input`},
		{small, `[]`, `x.json: an array; allowed: an object`},
		{small, small + `{}`, `after top-level value`},
		{small, small[:len(small)-1] + `,}`, `invalid character '}'`},
		{small, strings.Repeat(" ", maxBytes+1), `a manifest has at most 1048576`},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if text == small {
			t.Fatalf("%s is not in the manifest", c.old)
		}
		l, err := Parse("levels/x.json", []byte(text))
		if l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s -> %.60s: %v\nwant %s", c.old, c.new, err, c.want)
		}
	}
}

func TestParse_TellsAllThatIsWrongUpToABound(t *testing.T) {
	text := strings.NewReplacer(`"rate": 3`, `"rate": -1`, `"priority": 0`, `"priority": -1`).Replace(small)
	_, err := Parse("levels/x.json", []byte(text))
	var e *Error
	if !errors.As(err, &e) || e.File != "levels/x.json" || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v: want two lines", err)
	}
	text = strings.Replace(small, `"assets": [`, `"assets": [`+strings.Repeat("0,", 100), 1)
	_, err = Parse("levels/x.json", []byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != maxProblems || !strings.HasSuffix(err.Error(), "levels/x.json: and 80 more") {
		t.Errorf("%v", err)
	}
}

func TestParse_ReadsTheManifestsOfTheGame(t *testing.T) {
	for _, name := range realm.Names {
		file := "levels/" + name + ".json"
		data, err := fs.ReadFile(assets.FS(), file)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Parse(file, data); err != nil || f.Name != name {
			t.Errorf("%s: %+v, %v", file, f, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"version": 1, "assets": [{"id": {}}], "palette": ["#"]}`))
	f.Add([]byte(small[:200]))
	for _, name := range realm.Names {
		if data, err := os.ReadFile("../../../assets/levels/" + name + ".json"); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("f", data)
		if (l == nil) != (err != nil) {
			t.Fatalf("%v, %v", l, err)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.File != "f" || e.Line < 1 || e.Column < 1 || e.Line > 1+strings.Count(string(data), "\n") || e.Column > len(data)+1 {
				t.Fatalf("%v, %+v", err, e)
			}
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f: ") {
					t.Fatalf("%q does not begin with the file", line)
				}
			}
			return
		}
		if !json.Valid(data) {
			t.Fatal("accepted and no JSON")
		}
		for _, a := range l.Assets {
			if !fs.ValidPath(a.File) {
				t.Fatalf("path %q", a.File)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("../../../assets/levels/spore.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("levels/spore.json", data); err != nil {
			b.Fatal(err)
		}
	}
}
