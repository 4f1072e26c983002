package assets_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/ground"
)

// counting counts how often a file is opened.
type counting struct {
	fs.FS
	opened map[string]int
}

func (c counting) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.FS.Open(name)
}

func realmFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	for _, name := range []string{"realms/ember.walls", "realms/ember/sectors.survey"} {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: data}
	}
	return m
}

const someRecipe = "realms/ember/04_05.rec"

func TestRecipes_ReadASurveyOnce(t *testing.T) {
	c := counting{realmFiles(t), map[string]int{}}
	files := assets.Recipes(c)
	for _, name := range []string{someRecipe, "realms/ember/23_23.rec", someRecipe} {
		got, err := fs.ReadFile(files, name)
		want, _ := fs.ReadFile(assets.FS(), name)
		if err != nil || len(want) == 0 || !bytes.Equal(got, want) {
			t.Fatalf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if n := c.opened["realms/ember/sectors.survey"]; n != 1 {
		t.Errorf("the survey was opened %d times", n)
	}
}

// Each sector that comes into reach opens a recipe, on a worker during play.
func TestRecipes_OpenAllocatesNothing(t *testing.T) {
	files, buf := assets.FS(), make([]byte, ground.MaxRecipe)
	open := func() {
		for _, name := range []string{someRecipe, "realms/ember/23_23.rec"} {
			f, err := files.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil || info.Name() != path.Base(name) {
				t.Fatalf("%v, %v", info, err)
			}
			if n, err := f.Read(buf); err != nil || int64(n) != info.Size() {
				t.Fatalf("%d bytes of %d: %v", n, info.Size(), err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(100, open); n != 0 {
		t.Errorf("%v objects", n)
	}
}

// Two open files share nothing, and what Stat has returned outlives its file.
func TestRecipes_AClosedFileIsUsedAgain(t *testing.T) {
	files := assets.FS()
	names := []string{someRecipe, "realms/ember/23_23.rec", "realms/ember/00_00.rec"}
	var want [][]byte
	for _, name := range names {
		data, err := fs.ReadFile(assets.Recipes(realmFiles(t)), name)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, data)
	}
	first, err := fs.Stat(files, names[0])
	if err != nil {
		t.Fatal(err)
	}
	a, _ := files.Open(names[1])
	b, _ := files.Open(names[2])
	for i, f := range []fs.File{a, b} {
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want[i+1]) {
			t.Errorf("%s: %d bytes, %v", names[i+1], len(got), err)
		}
	}
	if a.Close() != nil || !errors.Is(a.Close(), fs.ErrClosed) || b.Close() != nil {
		t.Error("a file cannot be closed, or twice")
	}
	// A closed file does not reach the file that uses its memory.
	c, _ := files.Open(names[0])
	d, _ := files.Open(names[1])
	for _, f := range []fs.File{a, b} {
		n, err := f.Read(make([]byte, 1))
		if _, failed := f.Stat(); n != 0 || !errors.Is(err, fs.ErrClosed) || !errors.Is(failed, fs.ErrClosed) || !errors.Is(f.Close(), fs.ErrClosed) {
			t.Errorf("a closed file has %d bytes, %v, %v", n, err, failed)
		}
	}
	e, _ := files.Open(names[2])
	for i, f := range []fs.File{c, d, e} {
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("%s: %d bytes, %v, after another file was closed twice", names[i], len(got), err)
		}
	}
	if first.Name() != "04_05.rec" || first.Size() != int64(len(want[0])) {
		t.Errorf("%v of %d bytes", first.Name(), first.Size())
	}
}

func TestRecipes_AFileOfItsOwnIsUsedInstead(t *testing.T) {
	m := realmFiles(t)
	m[someRecipe] = &fstest.MapFile{Data: []byte("mine")}
	if data, err := fs.ReadFile(assets.Recipes(m), someRecipe); string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestRecipes_AChangedSurveyIsReadAgain(t *testing.T) {
	m := realmFiles(t)
	survey := m["realms/ember/sectors.survey"]
	survey.ModTime = time.Unix(1, 0)
	files := assets.Recipes(m)
	before, err := fs.ReadFile(files, someRecipe)
	if err != nil {
		t.Fatal(err)
	}
	other, err := fs.ReadFile(assets.FS(), "realms/tide/sectors.survey")
	if err != nil {
		t.Fatal(err)
	}
	m["realms/ember/sectors.survey"] = &fstest.MapFile{Data: other, ModTime: time.Unix(2, 0)}
	after, err := fs.ReadFile(files, someRecipe)
	if err != nil || bytes.Equal(before, after) {
		t.Errorf("the recipe is the same: %v", err)
	}
	info, err := fs.Stat(files, someRecipe)
	if err != nil || !info.ModTime().Equal(time.Unix(2, 0)) || info.Size() != int64(len(after)) || info.Name() != "04_05.rec" {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRecipes_ErrorsNameRecipeAndSurvey(t *testing.T) {
	for name, spoil := range map[string]func(m fstest.MapFS){
		someRecipe + ": realms/ember/sectors.survey: byte 4: the checksum": func(m fstest.MapFS) { m["realms/ember/sectors.survey"].Data[50]++ },
		someRecipe + ": realms/ember/sectors.survey: byte 0: no survey":    func(m fstest.MapFS) { m["realms/ember/sectors.survey"].Data = nil },
		someRecipe + ": open realms/ember.walls":                           func(m fstest.MapFS) { delete(m, "realms/ember.walls") },
		"open " + someRecipe + ": file does not exist":                     func(m fstest.MapFS) { delete(m, "realms/ember/sectors.survey") },
	} {
		m := realmFiles(t)
		for file, f := range m {
			m[file] = &fstest.MapFile{Data: bytes.Clone(f.Data)}
		}
		spoil(m)
		if _, err := assets.Recipes(m).Open(someRecipe); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v; want %q", err, name)
		}
	}
	for _, name := range []string{"realms/ember/24_00.rec", "realms/ember/0_0.rec", "realms/ember/00_000.rec", "realms/ember/-1_00.rec", "realms/none/00_00.rec", "a.rec"} {
		if _, err := assets.FS().Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v; want fs.ErrNotExist", name, err)
		}
	}
}

// late is a file system whose n-th call for a survey takes so long as takes says. Calls after these take no time.
type late struct {
	fs.FS
	calls *atomic.Int32
	takes []time.Duration
	fails error // of each of these calls
}

func (l late) Open(name string) (fs.File, error) {
	if !strings.HasSuffix(name, ".survey") {
		return l.FS.Open(name)
	}
	if n := int(l.calls.Add(1)); n <= len(l.takes) {
		if time.Sleep(l.takes[n-1]); l.fails != nil {
			return nil, l.fails
		}
	}
	return l.FS.Open(name)
}

// Some goroutines need a recipe at once. Each is served by the read that ends first.
func TestRecipes_TheFirstReadThatEndsServesAll(t *testing.T) {
	const s = time.Second
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		takes []time.Duration
		fails error
		all   time.Duration // until each has its recipe, or its error
		calls int32
	}{
		"a slow server":         {[]time.Duration{7 * s, 7 * s}, nil, 7 * s, 2},
		"a call that hangs":     {[]time.Duration{time.Hour, 4 * s}, nil, 9 * s, 2},
		"two calls that hang":   {[]time.Duration{time.Hour, time.Hour}, nil, 10 * s, 3},
		"a second that is late": {[]time.Duration{6 * s, time.Hour}, nil, 6 * s, 2},
		"a fast server":         {[]time.Duration{s}, nil, s, 1},
		"a server that fails":   {[]time.Duration{s}, refused, s, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := late{realmFiles(t), new(atomic.Int32), c.takes, c.fails}
				files, began, ended := assets.Recipes(l), time.Now(), make(chan error)
				for range 4 {
					go func() {
						_, err := fs.ReadFile(files, someRecipe)
						ended <- err
					}()
				}
				for range 4 {
					if err := <-ended; !errors.Is(err, c.fails) {
						t.Errorf("%v; want %v", err, c.fails)
					}
				}
				if took := time.Since(began); took != c.all || l.calls.Load() != c.calls {
					t.Errorf("it took %v and %d calls; want %v and %d", took, l.calls.Load(), c.all, c.calls)
				}
				time.Sleep(2 * time.Hour) // the reads that hang end
			})
		})
	}
}

// A file system that panics breaks the recipe, and not the program.
func TestRecipes_APanicIsAnError(t *testing.T) {
	m := realmFiles(t)
	if _, err := assets.Recipes(panicking{m}).Open(someRecipe); err == nil || !strings.Contains(err.Error(), someRecipe+": the file system panicked: no disk") {
		t.Error(err)
	}
}

type panicking struct{ fs.FS }

func (p panicking) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".survey") {
		panic("no disk")
	}
	return p.FS.Open(name)
}
