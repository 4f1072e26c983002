package memory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

// goTool runs the go command in dir and returns what it printed and what it complained of.
// It builds for this machine whatever the test itself was built for, so that a run with
// -race, another GOARCH or a GOEXPERIMENT finds everything in the build cache.
func goTool(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := testenv.Command(t, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=")
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	return out.String(), complaints.String()
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A reader types the pages' commands at the root, and then the tests: what these write, such as run.csv, may lie there.
func TestHouse_RootHoldsNothingUnexpected(t *testing.T) {
	allowed := strings.Fields("memory ecs engine particles render demo assets go.mod go.sum README.md LICENSE CHANGELOG.md CONTRIBUTING.md")
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		n := e.Name()
		source := e.IsDir() || slices.Contains([]string{"", ".go", ".mod", ".sum", ".md", ".sh", ".yml"}, filepath.Ext(n))
		if source && !strings.HasPrefix(n, ".") && !slices.Contains(allowed, n) {
			t.Errorf("%s does not belong at the root", n)
		}
	}
}

// A program outside the repository may import memory/... and gets nothing but std and x/sys.
func TestHouse_OutsideProgramPullsOnlyStdAndXSys(t *testing.T) {
	testenv.Long(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	families, _ := goTool(t, root(t), "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./memory/...")
	var src strings.Builder
	src.WriteString("package main\n\nimport (\n")
	for f := range strings.FieldsSeq(families) {
		if !strings.Contains(f, "internal") && !strings.Contains(f, "memtest") {
			src.WriteString("\t_ \"" + f + "\"\n")
		}
	}
	src.WriteString(")\n\nfunc main() {}\n")
	write("main.go", src.String())
	write("go.mod", "module example.com/outside\n\ngo 1.26\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+root(t)+"\n")
	sum, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sum))
	// -mod=mod lets the go command write the requirement of x/sys into the go.mod above.
	goTool(t, dir, "build", "-mod=mod", "-o", os.DevNull, ".")
	deps, _ := goTool(t, dir, "list", "-mod=mod", "-deps", ".")
	for dep := range strings.FieldsSeq(deps) {
		first, _, _ := strings.Cut(dep, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(dep, module+"/memory") &&
			!strings.HasPrefix(dep, "golang.org/x/sys/") && dep != "example.com/outside" {
			t.Errorf("an outside program that imports memory/... pulls in %s", dep)
		}
	}
}
