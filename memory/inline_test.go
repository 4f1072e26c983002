package memory_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

var updateInline = flag.Bool("update", false, "write the costs of testdata/inline.txt again")

const (
	inlineList = "testdata/inline.txt"
	budget     = 80 // the compiler inlines a function that costs no more
)

// uses are the programs that use generic functions, and wrap fast paths: the compiler decides at the point of use
// whether it can inline a generic function.
var uses = []string{"memory/testdata/inline", "ecs/testdata/inline"}

// TestInlining compares the compiler's decisions, and the costs behind them, with testdata/inline.txt. One build covers
// all packages and compiles no test. The build cache repeats the compiler's output for unchanged packages.
func TestInlining(t *testing.T) {
	if !*updateInline {
		testenv.Long(t)
	}
	text, err := os.ReadFile(inlineList)
	if err != nil {
		t.Fatal(err)
	}
	list := parseInlineList(t, string(text))
	found := decisionsOn(t, list.packages())
	t.Run("decisions", func(t *testing.T) {
		for _, bad := range list.compareDecisions(found) {
			t.Error(bad)
		}
	})
	t.Run("costs", func(t *testing.T) {
		toolchain := toolchainHere(t)
		if *updateInline {
			if err := os.WriteFile(inlineList, []byte(list.updated(toolchain, found)), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if otherCompiler := toolchain != list.toolchain; otherCompiler {
			t.Skipf("the costs are those of %s, and this is %s", list.toolchain, toolchain)
		}
		for _, bad := range list.compareCosts(found) {
			t.Error(bad)
		}
	})
}

// An inlineRow is a line of testdata/inline.txt: what the compiler decides about a function.
type inlineRow struct {
	pkg, fn string
	cost    int
	inlines bool
	note    string // why it does not inline
}

type inlineTable struct {
	toolchain string   // whose costs these are
	lines     []string // of the file; that of rows[i] is at[i]
	at        []int
	rows      []inlineRow
}

// A decision is what the compiler reports on a function.
type decision struct {
	cost    int
	inlines bool
}

func parseInlineList(t testing.TB, text string) (l inlineTable) {
	t.Helper()
	l.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range l.lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if f[0] == "toolchain" && len(f) == 2 {
			l.toolchain = f[1]
			continue
		}
		if len(f) != 4 && len(f) != 5 || f[3] != "inline" && f[3] != "call" {
			t.Fatalf("%s:%d: %q: want package, function, cost, inline or call, and perhaps a note", inlineList, i+1, line)
		}
		row := inlineRow{pkg: f[0], fn: f[1], inlines: f[3] == "inline"}
		row.cost, _ = strconv.Atoi(f[2]) // 0 in a new line, until -update
		if len(f) == 5 {
			row.note = f[4]
		}
		l.rows, l.at = append(l.rows, row), append(l.at, i)
	}
	if l.toolchain == "" || len(l.rows) == 0 {
		t.Fatalf("%s names the toolchain %q and %d functions", inlineList, l.toolchain, len(l.rows))
	}
	return l
}

func (l *inlineTable) packages() []string {
	pkgs := map[string]bool{}
	for _, pkg := range uses {
		pkgs[pkg] = true
	}
	for _, row := range l.rows {
		pkgs[row.pkg] = true
	}
	return slices.Sorted(maps.Keys(pkgs))
}

// compareDecisions returns what is wrong with any toolchain: a function that must inline does not.
func (l *inlineTable) compareDecisions(found map[string]decision) (bad []string) {
	for _, row := range l.rows {
		switch d, ok := row.in(found); {
		case !ok:
			bad = append(bad, fmt.Sprintf("%s.%s: the compiler does not report a cost: the function is gone, cannot inline at any cost, or is generic and not used in %v", row.pkg, row.fn, uses))
		case row.inlines && !d.inlines:
			bad = append(bad, fmt.Sprintf("%s.%s does not inline: it costs %d, above the budget of %d; %s has %d", row.pkg, row.fn, d.cost, budget, inlineList, row.cost))
		}
	}
	return bad
}

// compareCosts returns what is wrong with the toolchain that the list names.
func (l *inlineTable) compareCosts(found map[string]decision) (bad []string) {
	for _, row := range l.rows {
		switch d, ok := row.in(found); {
		case !ok: // compareDecisions reports it
		case d.inlines && !row.inlines:
			bad = append(bad, fmt.Sprintf("%s.%s inlines now: it costs %d of the budget of %d; write inline into %s", row.pkg, row.fn, d.cost, budget, inlineList))
		case d.cost != row.cost:
			bad = append(bad, fmt.Sprintf("%s.%s costs %d of the budget of %d, and %d in %s; go test -run Inlining ./memory -update writes it", row.pkg, row.fn, d.cost, budget, row.cost, inlineList))
		}
	}
	return bad
}

// in returns the decision about the row's function. That about a generic function stands in a program of uses.
func (r *inlineRow) in(found map[string]decision) (d decision, ok bool) {
	if d, ok = found[r.pkg+"\t"+r.fn]; ok {
		return d, true
	}
	for _, pkg := range uses {
		if d, ok = found[pkg+"\t"+path.Base(r.pkg)+"."+r.fn]; ok {
			return d, true
		}
	}
	return d, false
}

// updated returns the list with the costs of found. Whether a function inlines is decided by hand.
func (l *inlineTable) updated(toolchain string, found map[string]decision) string {
	lines := slices.Clone(l.lines)
	for i, line := range lines {
		if strings.HasPrefix(line, "toolchain\t") {
			lines[i] = "toolchain\t" + toolchain
		}
	}
	for i, row := range l.rows {
		if d, ok := row.in(found); ok {
			f := strings.Split(lines[l.at[i]], "\t")
			f[2] = strconv.Itoa(d.cost)
			lines[l.at[i]] = strings.Join(f, "\t")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// toolchainHere returns the Go version, without the number of the patch, and the processor.
func toolchainHere(t *testing.T) string {
	t.Helper()
	out, _ := goTool(t, root(t), "env", "GOVERSION", "GOARCH")
	version, arch, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		version = parts[0] + "." + parts[1]
	}
	return version + " " + arch
}

// decisionsOn returns what the compiler decides about the functions of the packages, by "package\tfunction".
func decisionsOn(t *testing.T, pkgs []string) map[string]decision {
	t.Helper()
	args := []string{"build", "-gcflags=-m=2", "-o", os.DevNull}
	for _, pkg := range pkgs {
		args = append(args, module+"/"+pkg)
	}
	_, said := goTool(t, root(t), args...)
	return parseDecisions(said)
}

var (
	canInline    = regexp.MustCompile(`: can inline (.+?) with cost (\d+) as: `)
	cannotInline = regexp.MustCompile(`: cannot inline (.+): function too complex: cost (\d+) exceeds budget `)
)

// parseDecisions reads the output of the compiler with -m=2. Of the instances of a generic function the dearest counts.
func parseDecisions(said string) map[string]decision {
	found, pkg := map[string]decision{}, ""
	for line := range strings.Lines(said) {
		if name, ok := strings.CutPrefix(line, "# "+module+"/"); ok {
			pkg = strings.TrimSpace(name)
			continue
		}
		m, inlines := canInline.FindStringSubmatch(line), true
		if m == nil {
			m, inlines = cannotInline.FindStringSubmatch(line), false
		}
		// Without a shape it is the method that the compiler makes for interfaces: it calls the instance of the shape.
		if m == nil || strings.Contains(m[1], "[") && !strings.Contains(m[1], "go.shape.") {
			continue
		}
		cost, _ := strconv.Atoi(m[2])
		key := pkg + "\t" + withoutTypes(m[1])
		if d, ok := found[key]; !ok || cost > d.cost {
			found[key] = decision{cost, inlines}
		}
	}
	return found
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

const inlineSample = `# comment
toolchain	go1.26 amd64
memory/arena	(*Linear).Alloc	77	inline
memory/pool	(*Pool).Get	60	inline
memory/slab	(*Heap).Alloc	260	call	three calls
`

const inlineReport = `# github.com/strata-go/strata/memory/arena
memory/arena/linear.go:112:6: can inline (*Linear).Alloc with cost 77 as: method(*Linear) func(uintptr, uintptr) (unsafe.Pointer, error) { mask := align }
# github.com/strata-go/strata/memory/slab
memory/slab/heap.go:190:6: cannot inline (*Heap).Alloc: function too complex: cost 260 exceeds budget 80
# github.com/strata-go/strata/memory/testdata/inline
memory/pool/pool.go:90:6: can inline pool.(*Pool[go.shape.struct { X float32; Y float32 }]).Get with cost 58 as: method
memory/pool/pool.go:90:6: can inline pool.(*Pool[go.shape.int]).Get with cost 60 as: method
memory/pool/pool.go:90:6: cannot inline pool.(*Pool[main.hot]).Get: function too complex: cost 95 exceeds budget 80
`

// Each change of the compiler's report is found, and named with both costs and the budget.
func TestInlining_EachChangeIsReported(t *testing.T) {
	const same = "inlines"
	for _, c := range []struct{ name, from, to, everywhere, named string }{
		{"nothing", same, same, "", ""},
		{"cost", "with cost 77", "with cost 79", "", "memory/arena.(*Linear).Alloc costs 79 of the budget of 80, and 77 in"},
		{"cost of a generic function", "with cost 60", "with cost 61", "", "memory/pool.(*Pool).Get costs 61 of the budget of 80, and 60 in"},
		{"cost of a call", "cost 260", "cost 250", "", "memory/slab.(*Heap).Alloc costs 250 of the budget of 80, and 260 in"},
		{"a call", "can inline (*Linear).Alloc with cost 77 as: ", "cannot inline (*Linear).Alloc: function too complex: cost 88 exceeds budget 80",
			"memory/arena.(*Linear).Alloc does not inline: it costs 88, above the budget of 80; testdata/inline.txt has 77", "costs 88 of the budget"},
		{"no call", "cannot inline (*Heap).Alloc: function too complex: cost 260 exceeds budget 80", "can inline (*Heap).Alloc with cost 50 as: ",
			"", "memory/slab.(*Heap).Alloc inlines now: it costs 50 of the budget of 80"},
		{"renamed", "(*Linear).Alloc", "(*Linear).Get", "memory/arena.(*Linear).Alloc: the compiler does not report", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := parseInlineList(t, inlineSample)
			found := parseDecisions(strings.ReplaceAll(inlineReport, c.from, c.to))
			everywhere, named := list.compareDecisions(found), list.compareCosts(found)
			for _, r := range []struct {
				got  []string
				want string
			}{{everywhere, c.everywhere}, {named, c.named}} {
				if all := strings.Join(r.got, "\n"); r.want == "" && all != "" || !strings.Contains(all, r.want) {
					t.Errorf("reported %q, want %q", all, r.want)
				}
			}
		})
	}
}

func TestInlining_UpdateWritesCostsAlone(t *testing.T) {
	list := parseInlineList(t, inlineSample)
	found := parseDecisions(strings.NewReplacer("cost 77", "cost 70", "cost 260", "cost 9").Replace(inlineReport))
	want := strings.NewReplacer("77", "70", "260", "9", "1.26", "1.27").Replace(inlineSample)
	if got := list.updated("go1.27 amd64", found); got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}
