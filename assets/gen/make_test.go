package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made runs gen into folders of its own and returns what it wrote, what it printed and its exit status.
func made(t *testing.T, args ...string) (files []string, out string, status int) {
	t.Helper()
	dir := t.TempDir()
	for _, kind := range []string{"out", "realms", "levels", "sound"} {
		args = append(args, "-"+kind, filepath.Join(dir, kind))
	}
	var printed, fault bytes.Buffer
	status = command(args, &printed, &fault)
	if err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files, printed.String() + fault.String(), status
}

// asEncoder is an environment variable. With it this binary is a program that encodes sounds: it copies its input.
const asEncoder = "STRATA_GEN_ENCODES"

func TestMain(m *testing.M) {
	if os.Getenv(asEncoder) == "" {
		os.Exit(m.Run())
	}
	if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
		os.Exit(1)
	}
}

// encodeBy has sounds encoded by a program until the test ends. Only who makes sounds needs oggenc.
func encodeBy(t *testing.T, program string) {
	t.Helper()
	was := encoder
	encoder = program
	t.Cleanup(func() { encoder = was })
}

func TestOnly_WithoutTheEncoderItNamesThePackage(t *testing.T) {
	encodeBy(t, "no-such-encoder")
	if files, out, status := made(t, "-only", "move"); status != 1 || !strings.Contains(out, "vorbis-tools") {
		t.Errorf("status %d, %v: %s", status, files, out)
	}
}

func TestOnly_MakesTheNamedAndTheLevels(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	encodeBy(t, self)
	t.Setenv(asEncoder, "1")
	levels := []string{}
	for i := range realms {
		levels = append(levels, "levels/"+realms[i].Name+".json")
	}
	for name, want := range map[string][]string{
		"drifter":      {"out/drifter.png", "out/drifter_core.png"},
		"swarm_core":   {"out/swarm_core.png"},
		"move,bullet":  {"out/bullet.png", "sound/move_0.ogg"},
		"burst_small":  {"sound/burst_small_0.ogg", "sound/burst_small_1.ogg"},
		"tide_drums":   {"sound/tide_drums.ogg"},
		"player,shot_": nil,
		"drift":        nil,
		"":             nil,
	} {
		if name == "" {
			continue // an empty value is malformed, as for every flag
		}
		files, out, status := made(t, "-only", name)
		if want == nil {
			if status != 1 || len(files) > 0 || !strings.Contains(out, "allowed: ") || !strings.Contains(out, "drifter, ") {
				t.Errorf("-only %s: status %d, %v, %s", name, status, files, out)
			}
			continue
		}
		want = append(want, levels...)
		slices.Sort(want)
		if slices.Sort(files); status != 0 || !slices.Equal(files, want) {
			t.Errorf("-only %s: status %d, %v, want %v: %s", name, status, files, want, out)
		}
	}
}

func TestMark_IsCurrentUntilSourcesOrFilesChange(t *testing.T) {
	dir := t.TempDir()
	o := &options{realms: filepath.Join(dir, "realms"), cache: filepath.Join(dir, "cache")}
	r := &realms[0]
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(o.realms, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(r.Name+".json", "a")
	write(r.Name+".walls", "b")
	write(r.Name+"/far.png", "c")
	m := o.realmMark(r)
	if m.current() {
		t.Error("a realm without a mark is current")
	}
	if err := m.keep(); err != nil || !m.current() {
		t.Errorf("a realm whose mark was kept is not current: %v", err)
	}
	for _, name := range []string{r.Name + ".json", r.Name + ".walls", r.Name + "/far.png"} {
		write(name, "x")
		if m.current() {
			t.Errorf("a realm is current after a change of %s", name)
		}
		if m.keep(); !m.current() {
			t.Errorf("a realm is not current after its mark was kept, with a changed %s", name)
		}
	}
	if err := os.Remove(filepath.Join(o.realms, r.Name+".walls")); err != nil {
		t.Fatal(err)
	}
	if m.current() {
		t.Error("a realm without walls is current")
	}
	write(r.Name+".walls", "x")
	if m.sum += "changed"; m.current() {
		t.Error("a realm is current after a change of its sources")
	}
	if (mark{}).current() {
		t.Error("without a cache a realm is current")
	}
}

// TestMark_RealmsUseNoOtherSources holds otherKinds to what it says: a source that a realm is made from names nothing
// that those files declare.
func TestMark_RealmsUseNoOtherSources(t *testing.T) {
	others, uses := map[string]string{}, map[string][]*ast.Ident{}
	files, err := fs.Glob(sources, "*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d sources, %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, _ := sources.ReadFile(name)
		f, err := parser.ParseFile(token.NewFileSet(), name, data, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "realm_") || ofRealm(&realm{}, name) {
			uses[name] = f.Unresolved
			continue
		}
		for declared := range f.Scope.Objects {
			others[declared] = name
		}
	}
	if others["effects"] != "sound_effects.go" || others["drifter"] != "enemies.go" || len(uses) < 8 {
		t.Fatalf("%d sources of realms and %d declarations beside them were found", len(uses), len(others))
	}
	for name, ids := range uses {
		if name == "realms.go" || strings.HasPrefix(name, "realm_") {
			continue // level files list the pictures, and a realm has its music: neither is ground
		}
		for _, id := range ids {
			if file := others[id.Name]; file != "" {
				t.Errorf("%s uses %s of %s, which otherKinds leaves out of a realm's sources", name, id.Name, file)
			}
		}
	}
}
