package memory_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A child process that a test starts ends with the test binary and has a limit. Package testenv does
// both, so no other test calls exec.Command.
func TestHouse_TestsStartChildrenThroughTestenv(t *testing.T) {
	through := 0
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if d.Name() == ".git" || d.Name() == "testdata" || nested == nil && name != root(t) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch text(fset, call.Fun) {
			case "testenv.Command":
				through++
			case "exec.Command", "exec.CommandContext":
				t.Errorf("%s: use testenv.Command: the child outlives a killed test binary", fset.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || through < 15 {
		t.Errorf("%d children, %v: the test looks at the wrong thing", through, err)
	}
}
