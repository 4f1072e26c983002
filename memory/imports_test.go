package memory_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/strata-go/strata"

// storeys gives each package its storey. A package may import lower storeys only. The packages below one in a
// folder belong to it, and have its storey unless they are listed.
var storeys = map[string]int{
	"memory/internal/align": 0, "memory/internal/cputime": 0, "memory/internal/findings": 0, "memory/internal/invariant": 0,
	"memory/internal/watch":  0,
	"memory/memtest/testenv": 1,
	"engine/cmdline":         0, // also for the commands below memory and ecs
	"memory":                 1,
	"memory/layout":          1,
	"memory/internal/tally":  2, "memory/histogram": 2, "memory/trace": 2, "memory/save": 2,
	"memory/internal/saved": 3, "memory/page": 3,
	// allocators
	"memory/arena": 4, "memory/stack": 4, "memory/pool": 4, "memory/freelist": 4, "memory/buddy": 4,
	"memory/tlsf": 4, "memory/slab": 4, "memory/remote": 4, "memory/compact": 4, "memory/plan": 4,
	"memory/guard": 4, "memory/compose": 4, "memory/memtest": 4, "memory/container": 4, "memory/gcpace": 4,
	"memory/heapsites": 4,
	"memory/tiers":     5,
	"memory/meter":     6, "memory/resident": 6, "ecs": 6, "demo/ground": 6, "demo/strictjson": 6,
	"demo/sound/loudness": 6, "demo/sound/wav": 6,
	"engine": 7, "particles": 7, "assets": 7,
	"render": 8, "demo/realm": 8, "demo/shell": 8, "demo/sound/cue": 8, "demo/notices": 8, "demo/coach": 8, "demo/replay": 8,
	"demo/dropin/profiles": 8,
	"demo/tour":            9, "demo/sound": 9, "demo/dropin": 9,
	"demo/game": 10, "demo/goheap": 10,
	"demo/session": 11,
	"demo/view":    12,
	"demo":         13,
}

// rules are the packages that contain rules of the game, with those below them.
var rules = []string{"demo/game", "demo/realm", "demo/tour", "demo/coach"}

// rulesMay lists what rules may import: nothing that reads a clock, the system or a random source, and nothing that
// draws, streams or plays sound.
var rulesMay = strings.Fields(`bytes cmp encoding/binary encoding/json errors fmt io io/fs iter math math/bits path regexp
	slices strconv strings unicode unicode/utf8 unsafe github.com/go-gl/mathgl/mgl32
	memory memory/arena memory/compact memory/container memory/guard memory/page memory/plan memory/pool memory/remote
	memory/save memory/slab memory/tiers memory/tlsf ecs engine particles demo/sound/cue
	demo/game demo/realm demo/realm/manifest demo/tour demo/strictjson`)

// A source is a Go file of the module: its path from the root, and its imports.
type source struct {
	path    string
	imports []string
}

func parseSource(name string, text any) (s source, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return s, err
	}
	s.path = name
	for _, spec := range f.Imports {
		s.imports = append(s.imports, importPath(spec))
	}
	return s, nil
}

// importPath returns a path without the module's.
func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
	return strings.TrimPrefix(p, module+"/")
}

// sourceFiles returns the Go files below a folder, by their paths from it, without tests and nested modules. The files of
// every build are among them.
func sourceFiles(dir string) (names []string, err error) {
	files := os.DirFS(dir)
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != ".":
			if _, err := fs.Stat(files, path.Join(name, "go.mod")); err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// badImports returns a complaint for each import that breaks a rule of CONTRIBUTING.
func badImports(sources []source) (bad []string) {
	graph := map[string][]string{}
	for _, s := range sources {
		pkg := path.Dir(s.path)
		for _, imp := range s.imports {
			if why := badImport(pkg, imp); why != "" {
				bad = append(bad, fmt.Sprintf("%s imports %s: %s", s.path, imp, why))
			}
			if !slices.Contains(graph[pkg], imp) {
				graph[pkg] = append(graph[pkg], imp)
			}
		}
	}
	if c := cycle(graph); c != nil {
		bad = append(bad, "a cycle, in builds taken together: "+strings.Join(c, " -> "))
	}
	return bad
}

// badImport says what is wrong with an import, or nothing.
func badImport(pkg, imp string) string {
	first, _, _ := strings.Cut(imp, "/")
	switch foreign := strings.Contains(first, "."); {
	case within(pkg, rules...) && !slices.Contains(rulesMay, imp) && !within(imp, pkg):
		return "rules are a function of seed and input; rulesMay lists what they may import"
	case within(imp, "golang.org/x/sys") && pkg != "memory/page":
		return "only memory/page may"
	case within(pkg, "memory") && foreign && !within(imp, "golang.org/x/sys"):
		return "memory/... is based on the standard library"
	case within(imp, "github.com/hajimehoshi/ebiten/v2/audio"):
		return "it ends a game that has no sound device"
	case within(imp, "github.com/hajimehoshi/ebiten") && !slices.Contains([]string{"render", "render/overlay", "demo/dropin/ebitengine", "demo/dropin/rewind"}, pkg):
		return "only render, render/overlay and two programs of demo/dropin may"
	case (within(imp, "github.com/ebitengine/oto") || within(imp, "github.com/jfreymuth/oggvorbis")) && pkg != "demo/sound":
		return "only demo/sound may"
	case foreign || isStd(imp):
		return ""
	}
	from, to := storey(pkg), storey(imp)
	switch {
	case from < 0 || to < 0:
		return "give both a storey in imports_test.go"
	case from < to, from == to && !within(imp, pkg) && !within(pkg, imp):
		return fmt.Sprintf("storey %d may not import storey %d", from, to)
	}
	return ""
}

// isStd reports whether an import without a dot is the standard library's: the module's folders have other names.
func isStd(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !slices.Contains([]string{"memory", "ecs", "engine", "particles", "render", "demo", "assets"}, first)
}

// within reports whether a package is one of folders or below it.
func within(pkg string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return pkg == f || strings.HasPrefix(pkg, f+"/") })
}

// storey returns that of a package or of the one that it is below, and -1 if there is none. A package below memory itself
// needs one of its own.
func storey(pkg string) int {
	for p := pkg; p != "."; p = path.Dir(p) {
		if s, ok := storeys[p]; ok && (p == pkg || p != "memory") {
			return s
		}
	}
	return -1
}

// cycle returns the packages of a cycle, the first one again at its end, or nil.
func cycle(graph map[string][]string) []string {
	const open, closed = 1, 2
	state := map[string]int{}
	var trail []string
	var visit func(pkg string) []string
	visit = func(pkg string) []string {
		switch state[pkg] {
		case closed:
			return nil
		case open:
			return append(trail[slices.Index(trail, pkg):], pkg)
		}
		state[pkg] = open
		trail = append(trail, pkg)
		for _, imp := range graph[pkg] {
			if c := visit(imp); c != nil {
				return c
			}
		}
		trail = trail[:len(trail)-1]
		state[pkg] = closed
		return nil
	}
	for pkg := range graph {
		if c := visit(pkg); c != nil {
			return c
		}
	}
	return nil
}

func moduleSources(t *testing.T) (sources []source) {
	t.Helper()
	names, err := sourceFiles(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSource(name, text)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	return sources
}

func TestHouse_ImportsFollowTheRules(t *testing.T) {
	sources := moduleSources(t)
	for _, complaint := range badImports(sources) {
		t.Error(complaint)
	}
	for _, pkg := range rulesMay {
		if strings.HasPrefix(pkg, "demo/") && storey(pkg) < 0 {
			t.Errorf("rules may import %s, which is unknown", pkg)
		}
	}
	for _, dir := range rules {
		if !slices.ContainsFunc(sources, func(s source) bool { return within(path.Dir(s.path), dir) }) {
			t.Errorf("%s is a package of rules, and has no files", dir)
		}
	}
	for pkg := range storeys {
		if !slices.ContainsFunc(sources, func(s source) bool { return within(path.Dir(s.path), pkg) }) {
			t.Errorf("%s has a storey, and no files", pkg)
		}
	}
}

// Each plant is a file that breaks one rule. It is found among all files of the module.
func TestHouse_PlantedImportsAreFound(t *testing.T) {
	sources := moduleSources(t)
	for _, c := range []struct{ file, head, imports, want string }{
		{"demo/game/arms.go", "", `"time"`, "rules are"},
		{"demo/game/plant.go", "", `clock "time"`, "rules are"},
		{"demo/game/plant.go", "", `"os"`, "rules are"},
		{"demo/realm/plant.go", "", `"runtime"`, "rules are"},
		{"demo/realm/plant.go", "", `"runtime/debug"`, "rules are"},
		{"demo/game/plant.go", "", `_ "sync"`, "rules are"},
		{"demo/game/plant.go", "", `"sync/atomic"`, "rules are"},
		{"demo/tour/plant.go", "", `"math/rand/v2"`, "rules are"},
		{"demo/game/plant.go", "", `"math/rand"`, "rules are"},
		{"demo/game/plant.go", "", `"crypto/rand"`, "rules are"},
		{"demo/game/plant.go", "", `"maps"`, "rules are"},
		{"demo/game/plant.go", "", `"C"`, "rules are"},
		{"demo/game/plant.go", "", `"github.com/hajimehoshi/ebiten/v2"`, "rules are"},
		{"demo/game/plant_js.go", "//go:build js && wasm\n", `"github.com/hajimehoshi/ebiten/v2"`, "rules are"},
		{"demo/realm/pace_windows.go", "//go:build windows && never\n", `"time"`, "rules are"},
		{"demo/game/plant.go", "//go:build ignore\n", `. "os"`, "rules are"},
		{"demo/game/plant.go", "", `"github.com/strata-go/strata/render"`, "rules are"},
		{"demo/game/plant.go", "", `"github.com/strata-go/strata/engine/stream"`, "rules are"},
		{"demo/game/plant.go", "", `"github.com/strata-go/strata/demo/goheap"`, "rules are"},
		{"demo/game/plant.go", "", `"github.com/strata-go/strata/memory/meter"`, "rules are"},
		{"demo/plant.go", "", `"golang.org/x/sys/unix"`, "only memory/page may"},
		{"memory/tiers/plant_linux.go", "", `"golang.org/x/sys/unix"`, "only memory/page may"},
		{"memory/slab/plant.go", "", `"github.com/go-gl/mathgl/mgl32"`, "standard library"},
		{"demo/view/plant.go", "", `"github.com/hajimehoshi/ebiten/v2/inpututil"`, "only render"},
		{"render/plant.go", "", `"github.com/hajimehoshi/ebiten/v2/audio"`, "no sound device"},
		{"demo/view/plant.go", "", `"github.com/ebitengine/oto/v3"`, "only demo/sound may"},
		{"demo/web/plant.go", "", `"github.com/jfreymuth/oggvorbis"`, "only demo/sound may"},
		{"memory/arena/plant.go", "", `"github.com/strata-go/strata/memory/tiers"`, "storey 4 may not import storey 5"},
		{"memory/arena/plant.go", "", `"github.com/strata-go/strata/memory/slab"`, "storey 4 may not import storey 4"},
		{"engine/plant_js.go", "//go:build js\n", `"github.com/strata-go/strata/demo"`, "storey 7 may not import storey 13"},
		{"attic/plant.go", "", `"github.com/strata-go/strata/memory"`, "a storey"},
		{"memory/attic/plant.go", "", `"github.com/strata-go/strata/memory/page"`, "a storey"},
		{"render/plant_js.go", "", `"github.com/strata-go/strata/render/overlay"`, "cycle"},
	} {
		plant, err := parseSource(c.file, c.head+"package plant\nimport "+c.imports)
		if err != nil {
			t.Fatal(err)
		}
		bad := badImports(append(slices.Clip(sources), plant))
		if len(bad) == 2 && strings.HasPrefix(c.want, "storey") { // an import upwards may close a cycle as well
			bad = bad[:1]
		}
		if len(bad) != 1 || !strings.Contains(bad[0], c.want) {
			t.Errorf("%s imports %s: %q, want one complaint with %q", c.file, c.imports, bad, c.want)
		}
	}
}

func TestHouse_SourceFilesAreThoseOfEveryBuild(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a/a.go", "a/a_windows.go", "a/tagged.go", "a/b/b_js.go", // these four are wanted
		"a/a_test.go", "a/testdata/t.go", ".hidden/h.go", "nested/go.mod", "nested/n.go", "a/a.txt",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("//go:build never\n\npackage a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := sourceFiles(dir)
	want := []string{"a/a.go", "a/a_windows.go", "a/b/b_js.go", "a/tagged.go"}
	if slices.Sort(names); err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v; want %q", names, err, want)
	}
}
