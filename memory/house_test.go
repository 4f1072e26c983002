package memory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

const module = "github.com/strata-go/strata"

// floor gives each package its storey. A package may import lower storeys only, and no package of its own
// storey.
var floor = map[string]int{
	"memory/internal/align": 0, "memory/internal/cputime": 0, "memory/internal/invariant": 0,
	"memory/memtest/testenv": 0,
	"memory":                 1,
	"memory/internal/tally":  2,
	"memory/page":            3,
	// allocators
	"memory/arena": 4, "memory/stack": 4, "memory/pool": 4, "memory/freelist": 4, "memory/buddy": 4,
	"memory/tlsf": 4, "memory/slab": 4, "memory/remote": 4, "memory/compact": 4, "memory/plan": 4,
	"memory/guard": 4, "memory/compose": 4, "memory/memtest": 4, "memory/container": 4,
	"memory/tiers": 5,
	"memory/meter": 6, "memory/resident": 6,
	"ecs":    6,
	"engine": 7, "particles": 7,
	"engine/cmdline": 0, // also for the commands below memory and ecs
	"assets":         7, "assets/gen": 9,
	"render":     8,
	"demo/level": 8, "demo/realm": 8, "demo/ground": 6, "demo/shell": 8,
	"demo/sound/cue": 8, "demo/sound": 9,
	"demo/notices": 8, "demo/tour": 9, "demo/goheap": 6,
	"demo/game": 10, "demo/dropin": 9, "demo/session": 11, "demo/view": 12,
	"demo": 13,
}

// goTool runs the go command in dir and returns what it printed and what it complained of.
// It builds for this machine whatever the test itself was built for, so that a run with
// -race, another GOARCH or a GOEXPERIMENT finds everything in the build cache.
func goTool(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := testenv.Command(t, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=", "GOEXPERIMENT=", "GOFLAGS=")
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

func TestHouse_ImportsPointDownwards(t *testing.T) {
	list, _ := goTool(t, root(t), "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module+"/")
		isMain := strings.HasPrefix(pkg, "demo") || strings.Contains(pkg, "/gen")
		for _, imp := range fields[1:] {
			ours, local := strings.CutPrefix(imp, module+"/")
			if local {
				checkStorey(t, pkg, ours)
				continue
			}
			foreign := strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
			switch {
			case !foreign:
			case strings.HasPrefix(pkg, "memory") && !(pkg == "memory/page" && strings.HasPrefix(imp, "golang.org/x/sys/")):
				t.Errorf("%s imports %s: memory/... stands on std, and memory/page on x/sys", pkg, imp)
			case strings.HasPrefix(imp, "github.com/hajimehoshi/ebiten") && !strings.HasPrefix(pkg, "render") && !isMain:
				t.Errorf("%s imports %s: only render may", pkg, imp)
			case isSound(imp) && pkg != "demo/sound" && pkg != "assets/gen":
				t.Errorf("%s imports %s: only demo/sound and assets/gen may", pkg, imp)
			case strings.Contains(imp, "ebiten/v2/audio"):
				t.Errorf("%s imports %s, which ends a game that has no sound device", pkg, imp)
			}
		}
	}
}

// isSound reports whether a package plays or packs sound.
func isSound(imp string) bool {
	return strings.HasPrefix(imp, "github.com/ebitengine/oto") || strings.HasPrefix(imp, "github.com/mewkiz/flac")
}

func checkStorey(t *testing.T, pkg, imp string) {
	t.Helper()
	from, to := storey(pkg), storey(imp)
	if from < 0 || to < 0 {
		t.Errorf("%s imports %s: give both a storey in house_test.go", pkg, imp)
		return
	}
	// Internal packages and generators below a package belong to it.
	if from < to || from == to && !strings.HasPrefix(imp, pkg) && !strings.HasPrefix(pkg, imp) {
		t.Errorf("%s (storey %d) imports %s (storey %d)", pkg, from, imp, to)
	}
}

func storey(pkg string) int {
	for p := pkg; p != "."; p = filepath.Dir(p) {
		if f, ok := floor[p]; ok {
			return f
		}
	}
	return -1
}

func TestHouse_RootHoldsNothingUnexpected(t *testing.T) {
	allowed := strings.Fields("memory ecs engine particles render demo assets go.mod go.sum README.md LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md")
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") && !slices.Contains(allowed, n) && n != "out.json" {
			t.Errorf("%s does not belong at the root", n)
		}
	}
}

// A program outside the repository may import memory/... and gets nothing but std and x/sys.
func TestHouse_OutsideProgramPullsOnlyStdAndXSys(t *testing.T) {
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
