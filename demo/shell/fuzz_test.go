package shell_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/strata-go/strata/demo/shell"
)

func FuzzReadRuns(f *testing.F) {
	good, err := shell.WriteRuns([]shell.Run{{Score: 700, Realm: "TIDE", Ticks: 60, Kills: 3, Seed: 1 << 63, Won: true}, {Score: 5}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	for _, s := range []string{"", "{}", `{"kind":"strata runs","version":1}`, `{"kind":"strata runs","version":1,"runs":null}`, `{"kind":"strata runs","version":1,"runs":[{"score":1e3}]}`,
		`{"kind":"strata runs","version":1,"runs":[{"score":2},{"Score":3,"realm":"\u0000"}]}`,
		`{"kind":"strata runs","version":1,"runs":[{"score":` + strings.Repeat("9", 600) + `}]}`, `{"kind":"strata runs","version":1,"` + strings.Repeat("x", 600) + `":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := shell.ReadRuns(data)
		if err != nil {
			if runs != nil || len(err.Error()) > 200 {
				t.Fatalf("%v, %d bytes of error", runs, len(err.Error()))
			}
			return
		}
		for i, r := range runs {
			if len(runs) > shell.BestRuns || r.Score < 0 || i > 0 && runs[i-1].Score < r.Score {
				t.Fatalf("accepted: %+v", runs)
			}
		}
		out, err := shell.WriteRuns(runs)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := shell.ReadRuns(out); err != nil || len(back) != len(runs) || len(runs) > 0 && !reflect.DeepEqual(back, runs) {
			t.Fatalf("%+v came back as %+v, %v", runs, back, err)
		}
	})
}

// A store returns what was saved, whatever the bytes.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("one"), []byte("two"), true)
	f.Add([]byte{}, []byte{0, 0xff}, false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, one, two []byte, aside bool) {
		dir, err := os.MkdirTemp(dir, "*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s := shell.Files{Dir: filepath.Join(dir, "new")}
		if _, err := s.Load("a.json", 10); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := errors.Join(s.Save("a.json", one, false), s.Save("a.json", two, aside)); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Load("a.json", 1<<20); err != nil || string(data) != string(two) {
			t.Fatalf("%q came back as %q, %v", two, data, err)
		}
		if data, err := s.Load("a.json.bad", 1<<20); aside != (err == nil) || aside && string(data) != string(one) {
			t.Fatalf("the backup of %q is %q, %v", one, data, err)
		}
	})
}
