package assets_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/strata-go/strata/assets"
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

// hanging is a file system whose first call for a survey does not return until pass is closed.
type hanging struct {
	fs.FS
	first *atomic.Bool
	pass  chan struct{}
}

func (h hanging) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".survey") && h.first.CompareAndSwap(false, true) {
		<-h.pass
	}
	return h.FS.Open(name)
}

// A call that hangs costs the goroutine that made it. The others wait for some seconds, and read the survey themselves.
func TestRecipes_ASurveyThatHangsStopsOneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hanging{realmFiles(t), new(atomic.Bool), make(chan struct{})}
		files := assets.Recipes(h)
		begun := make(chan error)
		read := func() {
			_, err := fs.ReadFile(files, someRecipe)
			begun <- err
		}
		go read()
		synctest.Wait()
		for range 2 {
			go read()
			select {
			case err := <-begun:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("no recipe after a minute")
			}
		}
		close(h.pass)
		if err := <-begun; err != nil {
			t.Error(err)
		}
	})
}
