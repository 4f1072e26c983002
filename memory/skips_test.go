package memory_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// allowed are the conditions under which a test may be skipped: another system, another build or compiler, -short,
// and the default selection. The gate runs all tests once without -short and with STRATA_TEST=full. Tests that ask for
// -whole or for STRATA_TEST=night are run by .ci/nightly.
var allowed = regexp.MustCompile(`runtime\.GOOS|testing\.Short\(\)|\bFull\(\)|\bNight\(\)|\bBrief\(\)|invariant\.|RestingFrames|raceDetector|otherCompiler|\bbrief\(\)|\*whole\b|uint64\(uintptr\(`)

var testers = map[string]bool{"t": true, "tb": true, "b": true, "f": true}

// A skipped test looks like a passed one. If CI=true, the gate has installed everything, so a test that
// misses something must fail. Each skip therefore depends on its build or system, or on a function that
// checks CI first.
func TestHouse_SkipsDependOnTheBuildOrFailInCI(t *testing.T) {
	testenv.Long(t)
	found := 0
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // testdata has deliberate mistakes
		}
		for _, decl := range f.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				found += skips(t, fset, f)
			}
		}
		return nil
	})
	if err != nil || found < 20 {
		t.Errorf("%d skips, %v: the test looks at the wrong thing", found, err)
	}
}

// skips counts the skips in a function, and complains of those that say nothing of their build.
func skips(t *testing.T, fset *token.FileSet, f *ast.FuncDecl) (n int) {
	asksCI := strings.Contains(text(fset, f.Body), `os.Getenv("CI") == "true"`)
	var conditions []string
	var look func(ast.Node) bool
	look = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt:
			conditions = append(conditions, text(fset, node.Cond))
			ast.Inspect(node.Body, look)
			conditions = conditions[:len(conditions)-1]
			if node.Else != nil {
				ast.Inspect(node.Else, look)
			}
			return false
		case *ast.CallExpr:
			call, ok := node.Fun.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "Skip" && call.Sel.Name != "Skipf" && call.Sel.Name != "SkipNow" || !testers[text(fset, call.X)] {
				return true
			}
			if n++; !asksCI && !allowed.MatchString(strings.Join(conditions, " && ")) {
				t.Errorf("%s skips if %q: fail where CI=true, or ask for the system, the build or -short", fset.Position(node.Pos()), conditions)
			}
		}
		return true
	}
	ast.Inspect(f.Body, look)
	return n
}

func text(fset *token.FileSet, node ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, node); err != nil {
		return err.Error()
	}
	return b.String()
}
