package dropin_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// snippets returns the Go code of the repository's README, block by block.
func snippets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")[1:]
	for i, b := range blocks {
		code, _, closed := strings.Cut(b, "```")
		if !closed {
			t.Fatalf("code without an end:\n%s", b)
		}
		blocks[i] = code
	}
	return blocks
}

// goIn runs the go command in dir, for this machine.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := testenv.Command(t, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// paste makes a module of a program, outside of the repository, as a reader would.
func paste(t *testing.T, program string) (dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const strata = "github.com/strata-go/strata"
	dir = t.TempDir()
	for name, text := range map[string]string{
		"main.go": program,
		"go.mod":  "module example.com/pasted\n\ngo 1.26\n\nrequire " + strata + " v0.0.0\n\nreplace " + strata + " => " + root + "\n",
		"go.sum":  string(sum),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestREADME_ItsProgramRunsAsPasted(t *testing.T) {
	programs := 0
	for _, code := range snippets(t) {
		if !strings.HasPrefix(code, "package main\n") {
			continue
		}
		programs++
		dir := paste(t, code)
		out := goIn(t, dir, "run", ".")
		_, want, said := strings.Cut(code, "// It prints: ")
		want, _, _ = strings.Cut(want, "\n")
		if !said || strings.TrimSpace(out) != want {
			t.Errorf("the program printed %q and says that it prints %q", out, want)
		}
		if !testenv.Brief() { // vet examines everything that the program imports
			goIn(t, dir, "vet", ".")
		}
	}
	if programs != 1 {
		t.Errorf("%d programs, want 1", programs)
	}
}

// The README's program shows the essentials with few names of this module: functions, types, fields and methods.
func TestREADME_ItsProgramUsesFewNames(t *testing.T) {
	const most = 16
	for _, code := range snippets(t) {
		if !strings.HasPrefix(code, "package main\n") {
			continue
		}
		names := strataNames(t, code)
		if len(names) > most {
			t.Errorf("%d names, at most %d: %q", len(names), most, names)
		}
		for _, name := range []string{"BeginLevel", "NextFrame", "NewPool", "MakeSlice", "Close"} {
			if !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "."+name) }) {
				t.Errorf("the program does not show %s", name)
			}
		}
	}
}

// strataNames returns the names of this module in a program, sorted: those of its packages, the fields in their composite
// literals, and methods by the variable in front.
func strataNames(t *testing.T, code string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, own := map[string]bool{}, map[string]bool{} // packages that are not Strata's; fields that the program declares
	for _, spec := range file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); !strings.HasPrefix(p, "github.com/strata-go/strata/") {
			other[path.Base(p)] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			for _, name := range f.Names {
				own[name.Name] = true
			}
		}
		return true
	})
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); !own[n.Sel.Name] && !(ok && other[x.Name]) {
				names[types.ExprString(n)] = true
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && !own[key.Name] {
				names["Config."+key.Name] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(names))
}

func TestStrataNames_CountsEachNameOnce(t *testing.T) {
	got := strataNames(t, `package main
import ("fmt"; "github.com/strata-go/strata/memory/tiers")
type mine struct{ X int }
func main() {
	m, _ := tiers.New(tiers.Config{Tags: true})
	_ = mine{X: 1}.X
	fmt.Println(m.Frame().Alloc(1, 2), m.Frame(), mine{}.X)
	m.Close()
}`)
	want := []string{"Config.Tags", "m.Close", "m.Frame", "m.Frame().Alloc", "tiers.Config", "tiers.New"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is not a program by itself is the program's in demo/dropin, to the letter but for its
// comments: that one is compiled and run by its own test.
func TestREADME_ItsLinesAreThoseOfAProgramThatRuns(t *testing.T) {
	var all strings.Builder
	for _, name := range programs(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(all.String()) {
		lines[bare(line)] = true
	}
	pieces := 0
	for _, code := range snippets(t) {
		if strings.HasPrefix(code, "package main\n") {
			continue
		}
		pieces++
		for line := range strings.Lines(code) {
			if l := bare(line); l != "" && !lines[l] {
				t.Errorf("no program of demo/dropin has the line %q", l)
			}
		}
	}
	if pieces == 0 {
		t.Error("the README shows no lines of a program")
	}
}

// bare is a line without indentation and comment.
func bare(line string) string {
	line, _, _ = strings.Cut(line, "//")
	return strings.TrimSpace(line)
}
