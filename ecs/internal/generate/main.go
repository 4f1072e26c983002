// Command generate writes the arities of mappers, filters and queries into the directory
// named by its argument: Go has no variadic type parameters.
//
//	go run ./internal/generate .
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed map.tmpl
var mapTemplate string

//go:embed query.tmpl
var queryTemplate string

//go:embed parallel.tmpl
var parallelTemplate string

// A file is one generated file: a template run for every arity from 1 to max.
type file struct {
	name     string
	template string
	max      int
}

var files = []file{
	{"map_gen.go", mapTemplate, 12},
	{"query_gen.go", queryTemplate, 8},
	{"parallel_gen.go", parallelTemplate, 8},
}

// An arity is what a template sees: N and the names of N type parameters.
type arity struct{ Names []string }

func (a arity) N() int { return len(a.Names) }

// List is Join with commas.
func (a arity) List(format string) string { return a.Join(", ", format) }

// Join formats every name with format, in which % stands for the name, ^ for it in lower
// case and # for its number, and joins the results with sep.
func (a arity) Join(sep, format string) string {
	parts := make([]string, len(a.Names))
	for i, name := range a.Names {
		parts[i] = strings.NewReplacer("%", name, "^", strings.ToLower(name), "#", fmt.Sprint(i)).Replace(format)
	}
	return strings.Join(parts, sep)
}

// One is what a loop yields beside the entity: of one component that itself, as single, of
// several the struct of the given kind.
func (a arity) One(single, kind string) string {
	if a.N() == 1 {
		return single
	}
	return fmt.Sprintf("%s%d[%s]", kind, a.N(), a.List("%"))
}

// Few reports whether a loop can keep an offset for each component in a register, beside the addresses of
// their columns: a step is an addition for all of one size then, and it ends by the first of them.
func (a arity) Few() bool { return a.N() <= 3 }

// Four reports whether it has a counter beside the offsets. With four components that costs nothing, as the accesses to
// memory take longer, and without it a walk over a million took a fifth longer in every order of the functions, for a
// reason that is not known. With more it would keep some offsets in memory, and has one index for all.
func (a arity) Four() bool { return a.N() == 4 }

// Low returns a name in lower case.
func (a arity) Low(name string) string { return strings.ToLower(name) }

// generate returns the formatted source of f.
func generate(f file) ([]byte, error) {
	t, err := template.New(f.name).Parse(f.template)
	if err != nil {
		return nil, err
	}
	var arities []arity
	for n := 1; n <= f.max; n++ { // templates use no variable of one letter from a to l where these are parameters
		arities = append(arities, arity{Names: strings.Split("ABCDEFGHIJKL"[:n], "")})
	}
	var b bytes.Buffer
	if err := t.Execute(&b, arities); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate directory")
		os.Exit(2)
	}
	for _, f := range files {
		src, err := generate(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], f.name), src, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "generate:", err)
			os.Exit(1)
		}
	}
}
