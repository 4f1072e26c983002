package memory_test

import (
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// uses instantiates the generic functions: the compiler decides at the point of use whether it can inline
// them.
const uses = "memory/testdata/inline"

var canInline = regexp.MustCompile(`: can inline (.+)`)

// TestInlining compares the compiler's decisions with testdata/inline.txt. One build covers all packages and
// compiles no test. The build cache repeats the compiler's output for unchanged packages.
func TestInlining(t *testing.T) {
	list, err := os.ReadFile("testdata/inline.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for line := range strings.Lines(string(list)) {
		if pkg, fn, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(pkg, "#") {
			want[pkg] = append(want[pkg], strings.TrimSpace(fn))
		}
	}
	if len(want) == 0 {
		t.Fatal("testdata/inline.txt lists nothing")
	}
	inlined := inlinedIn(t, slices.Sorted(maps.Keys(want)))
	for pkg, fns := range want {
		for _, fn := range fns {
			if !inlined[pkg+"\t"+fn] && !inlined[uses+"\t"+path.Base(pkg)+"."+fn] {
				t.Errorf("%s.%s does not inline, or is generic and not used in %s", pkg, fn, uses)
			}
		}
	}
}

// inlinedIn returns what the compiler can inline, as "package\tfunction".
func inlinedIn(t *testing.T, pkgs []string) map[string]bool {
	t.Helper()
	args := []string{"build", "-gcflags=-m", "-o", os.DevNull}
	for _, pkg := range append(pkgs, uses) {
		args = append(args, module+"/"+pkg)
	}
	_, said := goTool(t, root(t), args...)
	inlined, pkg := map[string]bool{}, ""
	for line := range strings.Lines(said) {
		if name, ok := strings.CutPrefix(line, "# "+module+"/"); ok {
			pkg = strings.TrimSpace(name)
		} else if m := canInline.FindStringSubmatch(line); m != nil {
			inlined[pkg+"\t"+withoutTypes(m[1])] = true
		}
	}
	return inlined
}

// withoutTypes cuts the type arguments: "New[go.shape.struct { X int }]" is New, and
// "(*Pool[go.shape.int]).Get" is (*Pool).Get.
func withoutTypes(name string) string {
	open, end := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if open < 0 || end < open {
		return name
	}
	return name[:open] + name[end+1:]
}
