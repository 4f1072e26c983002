package memory_test

import (
	"bufio"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/strata-go/strata"

// floor gives each package its storey: a package may import lower storeys only, and of its
// own storey nothing.
var floor = map[string]int{
	"memory/internal/align": 0, "memory/internal/invariant": 0,
	"memory":                1,
	"memory/internal/tally": 2,
	"memory/page":           3,
	// families
	"memory/arena": 4, "memory/stack": 4, "memory/pool": 4, "memory/freelist": 4, "memory/buddy": 4,
	"memory/tlsf": 4, "memory/slab": 4, "memory/remote": 4, "memory/compact": 4, "memory/plan": 4,
	"memory/guard": 4, "memory/memtest": 4,
	"memory/tiers": 5,
	"ecs":          6,
	"engine":       7, "particles": 7,
	"assets":    7,
	"render":    8,
	"demo/game": 9, "demo/view": 10,
	"demo": 11,
}

func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
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
	list := goTool(t, root(t), "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
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
			}
		}
	}
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
	allowed := strings.Fields("memory ecs engine particles render demo assets go.mod go.sum README.md LICENSE CHANGELOG.md CONTRIBUTING.md")
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
	families := strings.Fields(goTool(t, root(t), "list", "./memory/..."))
	var src strings.Builder
	src.WriteString("package main\n\nimport (\n")
	for _, f := range families {
		if !strings.Contains(f, "internal") && !strings.Contains(f, "memtest") && !isCommand(t, f) {
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
	goTool(t, dir, "build", "-o", os.DevNull, ".")
	for dep := range strings.FieldsSeq(goTool(t, dir, "list", "-deps", ".")) {
		first, _, _ := strings.Cut(dep, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(dep, module+"/memory") &&
			!strings.HasPrefix(dep, "golang.org/x/sys/") && dep != "example.com/outside" {
			t.Errorf("an outside program that imports memory/... pulls in %s", dep)
		}
	}
}

func isCommand(t *testing.T, pkg string) bool {
	return strings.TrimSpace(goTool(t, root(t), "list", "-f", "{{.Name}}", pkg)) == "main"
}

var canInline = regexp.MustCompile(`: can inline (\S+)`)

// TestInlining holds the compiler to testdata/inline.txt.
func TestInlining(t *testing.T) {
	f, err := os.Open("testdata/inline.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string][]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if pkg, fn, ok := strings.Cut(sc.Text(), "\t"); ok && !strings.HasPrefix(pkg, "#") {
			want[pkg] = append(want[pkg], strings.TrimSpace(fn))
		}
	}
	if len(want) == 0 {
		t.Fatal("testdata/inline.txt lists nothing")
	}
	inlined := inlinedIn(t, slices.Sorted(maps.Keys(want)))
	for pkg, fns := range want {
		for _, fn := range fns {
			if !inlined[pkg+"\t"+fn] {
				t.Errorf("%s.%s no longer inlines", pkg, fn)
			}
		}
	}
}

// inlinedIn returns what the compiler says it can inline, as "package\tfunction". Generic
// functions are compiled where they are used, so the packages' tests are compiled too; that
// list asks for their export data, and not for binaries, saves linking them.
func inlinedIn(t *testing.T, pkgs []string) map[string]bool {
	t.Helper()
	cmd := exec.Command("go", "list", "-test", "-export", "-gcflags=-m")
	for _, pkg := range pkgs {
		cmd.Args = append(cmd.Args, module+"/"+pkg)
	}
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	inlined, pkg := map[string]bool{}, ""
	for line := range strings.Lines(said.String()) {
		if name, ok := strings.CutPrefix(line, "# "+module+"/"); ok { // "# pool_test [pool.test]"
			pkg = strings.TrimSuffix(strings.Fields(name)[0], "_test")
		} else if m := canInline.FindStringSubmatch(line); m != nil {
			inlined[pkg+"\t"+withoutTypes(m[1])] = true
		}
	}
	return inlined
}

// withoutTypes cuts the type arguments: "New[go.shape.struct" and "(*Pool[go.shape.int]).Get".
func withoutTypes(name string) string {
	open := strings.IndexByte(name, '[')
	if open < 0 {
		return name
	}
	end := strings.LastIndexByte(name, ']')
	if end < open {
		return name[:open]
	}
	return name[:open] + name[end+1:]
}
