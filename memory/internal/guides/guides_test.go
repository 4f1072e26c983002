// Package guides has the code of the guides in memory/doc as examples, and tests of their snippets and names.
package guides

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// code are the files that snippets are taken from.
var code = []string{
	"memory/internal/guides/*_test.go", "memory/internal/guides/*/*_test.go", "memory/*/example_test.go",
	"render/overlay/*_test.go", "ecs/internal/readme/*_test.go", "demo/dropin/*/*.go",
}

// guides returns the guides by name.
func guides(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range glob(t, "memory/doc/*.md") {
		if base := filepath.Base(name); base != "performance.md" && base != "hour.md" {
			all[base] = read(t, name)
		}
	}
	if len(all) < 3 {
		t.Fatalf("only %d guides", len(all))
	}
	return all
}

func glob(t *testing.T, patterns ...string) (names []string) {
	t.Helper()
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(root, p))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", p, len(found), err)
		}
		names = append(names, found...)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// blocks returns the code blocks of a language.
func blocks(text, language string) (all []string) {
	for _, b := range strings.Split(text, "\n```"+language+"\n")[1:] {
		b, _, _ = strings.Cut(b, "\n```")
		all = append(all, b+"\n")
	}
	return all
}

// within reports whether lines follow each other in a source, at any common indentation.
func within(source, lines string) bool {
	for range 4 {
		if strings.Contains("\n"+source, "\n"+lines) {
			return true
		}
		var deeper strings.Builder
		for l := range strings.Lines(lines) {
			if l != "\n" {
				deeper.WriteByte('\t')
			}
			deeper.WriteString(l)
		}
		lines = deeper.String()
	}
	return false
}

func TestGuides_SnippetsAreCode(t *testing.T) {
	var sources []string
	for _, name := range glob(t, code...) {
		sources = append(sources, read(t, name))
	}
	snippets := 0
	for name, text := range guides(t) {
		for _, snippet := range blocks(text, "go") {
			snippets++
			if !slices.ContainsFunc(sources, func(s string) bool { return within(s, snippet) }) {
				t.Errorf("%s: no file has\n%s", name, snippet)
			}
		}
	}
	if snippets < 5 {
		t.Errorf("%d snippets", snippets)
	}
}

// The lines before a change are in one game, the lines after it in the other, and both games print the same.
func TestGuides_DiffsAreOfTheTwoGames(t *testing.T) {
	before, after := read(t, "before/game_test.go"), read(t, "after/game_test.go")
	diffs := blocks(read(t, root+"/memory/doc/porting.md"), "diff")
	for _, d := range diffs {
		var was, is strings.Builder
		for l := range strings.Lines(d) {
			mark, l := l[0], l[1:]
			if mark != '+' {
				was.WriteString(l)
			}
			if mark != '-' {
				is.WriteString(l)
			}
		}
		if !strings.Contains(before, was.String()) {
			t.Errorf("before/game_test.go does not have\n%s", was.String())
		}
		if !strings.Contains(after, is.String()) {
			t.Errorf("after/game_test.go does not have\n%s", is.String())
		}
	}
	output := func(s string) string {
		_, s, _ = strings.Cut(s, "// Output:")
		s, _, _ = strings.Cut(s, "\n")
		return s
	}
	if len(diffs) < 3 || output(before) == "" || output(before) != output(after) {
		t.Errorf("%d diffs; the games print %q and %q", len(diffs), output(before), output(after))
	}
}

// order is the order of the guides on every page.
var order = strings.Fields("enough choosing porting frames servers caches debugging saving replays glossary")

// Each guide ends with what to read next. In order that is the next guide; both lists of guides have the same order.
func TestGuides_LeadFromOneToTheNext(t *testing.T) {
	all := guides(t)
	for name, text := range all {
		last := text[strings.LastIndex(text, "\n\n")+2:]
		next := ""
		if i := slices.Index(order, strings.TrimSuffix(name, ".md")); i >= 0 && i+1 < len(order) {
			next = order[i+1] + ".md"
		}
		if !strings.HasPrefix(last, "Next: ") || !strings.Contains(last, next) {
			t.Errorf("%s ends with %q: want Next, and a link to %s", name, last, next)
		}
	}
	for page, begin := range map[string]string{"README.md": "Guides, in order:", "memory/README.md": "Guides, each on one page:"} {
		_, list, _ := strings.Cut(read(t, root+"/"+page), begin)
		list, _, _ = strings.Cut(list, "\n\n")
		var got []string
		for _, m := range regexp.MustCompile(`doc/(\w+)\.md`).FindAllStringSubmatch(list, -1) {
			if slices.Contains(order, m[1]) {
				got = append(got, m[1])
			}
		}
		if !slices.Equal(got, order) {
			t.Errorf("%s lists %q, want %q", page, got, order)
		}
	}
}

func TestGuides_AreShort(t *testing.T) {
	for name, text := range guides(t) {
		if n := strings.Count(text, "\n"); n > 150 {
			t.Errorf("%s has %d lines, at most 150 are allowed", name, n)
		}
	}
}

var name = regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*)(?:\\.([A-Z]\\w*))?")

// `tiers.Manager.Frame` in a guide is a name that exists.
func TestGuides_NamesExist(t *testing.T) {
	folders := map[string]string{"ecs": "ecs", "engine": "engine", "memory": "memory", "overlay": "render/overlay", "render": "render", "stream": "engine/stream"}
	for _, d := range glob(t, "memory/*") {
		if base := filepath.Base(d); base != "doc" && base != "internal" && base != "bench" {
			folders[base] = "memory/" + base
		}
	}
	known, names := map[string]map[string]bool{}, 0
	for guide, text := range guides(t) {
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			folder := folders[m[1]]
			if folder == "" {
				continue // a package of Go's or of another module
			}
			if known[folder] == nil {
				known[folder] = declared(t, folder)
			}
			names++
			if !known[folder][m[2]] || m[3] != "" && !known[folder][m[2]+"."+m[3]] {
				t.Errorf("%s: %s.%s does not exist", guide, m[1], strings.TrimSuffix(m[2]+"."+m[3], "."))
			}
		}
	}
	if names < 20 {
		t.Errorf("%d names", names)
	}
}

// declared returns the names of a package: functions, types, variables, and methods and fields as Type.Name.
func declared(t *testing.T, folder string) map[string]bool {
	t.Helper()
	names, fset := map[string]bool{}, token.NewFileSet()
	for _, file := range glob(t, folder+"/*.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					specified(names, s)
				}
			}
		}
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch x := of.(type) {
	case *ast.IndexExpr:
		of = x.X
	case *ast.IndexListExpr:
		of = x.X
	}
	return of.(*ast.Ident).Name + "."
}

func specified(names map[string]bool, s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		if fields, ok := s.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				for _, n := range field.Names {
					names[s.Name.Name+"."+n.Name] = true
				}
			}
		}
	}
}

// The guide to choosing leads to each allocator that package memory lists.
func TestGuides_ChoosingHasEveryAllocator(t *testing.T) {
	doc, guide := read(t, root+"/memory/doc.go"), guides(t)["choosing.md"]
	_, table, _ := strings.Cut(doc, "# Choosing")
	table, _, _ = strings.Cut(table, "[Grow]")
	all := regexp.MustCompile(`\b[a-z]+\.[A-Z]\w+`).FindAllString(table, -1)
	reached := map[string]string{ // by a method of the manager
		"arena.Frames": "Manager.Frame", "arena.Linear": "Mark and Rewind", "arena.Growing": "Manager.Level", "pool.Pool": "tiers.NewPool",
	}
	for _, a := range all {
		if !strings.Contains(guide, "`"+a) && (reached[a] == "" || !strings.Contains(guide, reached[a])) && !strings.Contains(guide, a) {
			t.Errorf("choosing.md does not lead to %s", a)
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d allocators are listed", len(all))
	}
}
