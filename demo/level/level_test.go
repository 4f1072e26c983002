package level

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// small is a level with everything in it, as short as it can be.
const small = `{"version": 1, "name": "x", "title": "Small", "next": "",
"palette": ["#000000", "#111111", "#222222", "#ABCDEF", "#ffffff"],
"ambient": {"rate": 3, "kind": "dust"},
"assets": [{"id": "bg", "file": "art/bg.png", "priority": 0}]}`

func TestParse_ReadsEveryField(t *testing.T) {
	l, err := Parse("levels/x.json", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "x" || l.Title != "Small" || l.Next != "" || l.Palette[3] != (Color{0xAB, 0xCD, 0xEF}) ||
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
	if Warden.String() != "warden" || Enemy(99).String() != "Enemy(99)" {
		t.Errorf("enemies are %v and %v", Warden, Enemy(99))
	}
	if err := l.Validate(); err != nil {
		t.Error(err)
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
		{small, small[:100], `x.json: line 2, column 43: unexpected end of JSON input; a level is one JSON object`},
		{small, ``, `x.json: line 1, column 1: unexpected end of JSON input`},
		{small, `[]`, `x.json: an array; allowed: an object`},
		{small, small + `{}`, `after top-level value`},
		{small, small[:len(small)-1] + `,}`, `invalid character '}'`},
		{small, strings.Repeat(" ", maxBytes+1), `a level file has at most 1048576`},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if text == small {
			t.Fatalf("%s is not in the level", c.old)
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
	var levelError *Error
	if !errors.As(err, &levelError) || levelError.File != "levels/x.json" || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v: want two lines", err)
	}
	text = strings.Replace(small, `"assets": [`, `"assets": [`+strings.Repeat("0,", 100), 1)
	_, err = Parse("levels/x.json", []byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != maxProblems || !strings.HasSuffix(err.Error(), "levels/x.json: and 80 more") {
		t.Errorf("%v", err)
	}
}

func TestValidate_LevelMadeByAProgram(t *testing.T) {
	l, _ := Parse("x", []byte(small))
	l.Assets[0].Priority = 101
	l.Ambient.Rate = float32(0) / float32(len(l.Next)) // no number
	err := l.Validate()
	for _, want := range []string{"level x: ambient.rate: NaN; allowed", "assets[0].priority: 101; allowed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestLoad_ReadsTheLevelsOfTheGame(t *testing.T) {
	files, err := fs.Glob(os.DirFS("../../assets"), "levels/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		l, err := Load(os.DirFS("../../assets"), file)
		if err != nil {
			t.Error(err)
		} else if file != "levels/"+l.Name+".json" {
			t.Errorf("%s is named %q", file, l.Name)
		}
	}
}

func TestLoad_Errors(t *testing.T) {
	fsys := fstest.MapFS{"big.json": {Data: make([]byte, maxBytes+2)}}
	for name, want := range map[string]string{
		"../x.json": "not a path inside the file system", "none.json": "none.json: file does not exist",
		"big.json": "a level file has at most",
	} {
		if _, err := Load(fsys, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// An odd file is a file of a file system that breaks its contract.
type odd struct {
	fs.File
	mode fs.FileMode
	read func([]byte) (int, error)
}

func (o odd) Stat() (fs.FileInfo, error) {
	info, err := o.File.Stat()
	return oddInfo{info, o.mode}, err
}
func (o odd) Read(p []byte) (int, error)        { return o.read(p) }
func (o odd) Open(name string) (fs.File, error) { return o, nil }

type oddInfo struct {
	fs.FileInfo
	mode fs.FileMode
}

func (o oddInfo) Mode() fs.FileMode { return o.mode }

func TestLoad_HostileFilesAreErrors(t *testing.T) {
	file, err := fstest.MapFS{"x": {Data: []byte(small)}}.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]odd{
		"multiple Read calls return no data": {read: func([]byte) (int, error) { return 0, nil }},
		"the file system panicked: runtime":  {read: func([]byte) (int, error) { return -1, nil }},
		"the file system panicked: read":     {read: func([]byte) (int, error) { panic("read") }},
		"it is no regular file: p---------":  {mode: fs.ModeNamedPipe},
		"a level file has at most":           {read: func(p []byte) (int, error) { return len(p), nil }},
		"permission denied":                  {read: func([]byte) (int, error) { return 0, fs.ErrPermission }},
	} {
		o.File = file
		if _, err := Load(o, "levels/x.json"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "levels/x.json") {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"version": 1, "assets": [{"id": {}}], "palette": ["#"]}`))
	f.Add([]byte(small[:200]))
	for _, name := range Realms {
		if data, err := os.ReadFile("../../assets/levels/" + name + ".json"); err == nil {
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
		if err := l.Validate(); err != nil {
			t.Fatalf("accepted and not valid: %v", err)
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
	data, err := os.ReadFile("../../assets/levels/spore.json")
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
