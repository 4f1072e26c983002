package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A result is what was found for a port.
type result struct {
	own, all int // packages of the module, and with what they import; a package and its test are two
	errs     []error
	took     time.Duration
}

// A source is a package as go list knows it. Those that are built for a test have its name in brackets.
type source struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

func (s *source) own() bool { return s.Module != nil && s.Module.Main }

// check type-checks the module in root for a port.
func check(root, port string) (r result) {
	_, arch, _ := strings.Cut(port, "/")
	sizes := types.SizesFor("gc", arch)
	if sizes == nil {
		return result{errs: []error{fmt.Errorf("the compiler knows no processor %s", arch)}}
	}
	sources, err := list(root, port)
	if err != nil {
		return result{errs: []error{err}}
	}
	c := checker{
		root: root, fset: token.NewFileSet(), sizes: sizes,
		done: map[string]*types.Package{"unsafe": types.Unsafe},
	}
	for _, s := range sources {
		// The main package of a test is written by go test itself.
		if s.ImportPath == "unsafe" || strings.HasSuffix(s.ImportPath, ".test") {
			continue
		}
		if r.all++; s.own() {
			r.own++
		}
		c.check(s)
	}
	r.errs = c.errs
	if r.own == 0 {
		r.errs = append(r.errs, errors.New("the module has no package there"))
	}
	return r
}

// list asks the go command for the packages, their tests and all that these import, in an order in
// which each comes behind what it imports.
func list(root, port string) (sources []*source, err error) {
	system, arch, _ := strings.Cut(port, "/")
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Standard,Module", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		s := new(source)
		switch err := d.Decode(s); {
		case err == io.EOF:
			return sources, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		sources = append(sources, s)
	}
}

type checker struct {
	root  string
	fset  *token.FileSet
	sizes types.Sizes
	done  map[string]*types.Package
	errs  []error
}

// fail notes an error, with its file as it is called from the root, and once: a package that is built
// for several tests has it several times.
func (c *checker) fail(err error) {
	said := strings.ReplaceAll(err.Error(), c.root+string(filepath.Separator), "")
	for _, e := range c.errs {
		if e.Error() == said {
			return
		}
	}
	c.errs = append(c.errs, errors.New(said))
}

// check type-checks a package. Of what is not the module's it takes the declarations alone: they are
// published, and their bodies do not depend on who imports them.
func (c *checker) check(s *source) {
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.fail(err)
			return
		}
		files = append(files, f)
		if s.own() && len(s.SFiles) == 0 {
			c.wantBodies(f)
		}
	}
	conf := types.Config{
		Importer: importer{c, s}, Sizes: c.sizes, IgnoreFuncBodies: !s.own(), Error: c.fail,
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		conf.GoVersion = "go" + s.Module.GoVersion
	}
	path, _, _ := strings.Cut(s.ImportPath, " ")
	c.done[s.ImportPath], _ = conf.Check(path, c.fset, files, nil)
}

// wantBodies is the compiler's own rule: a function without a body must be in an assembly file.
func (c *checker) wantBodies(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body == nil {
			c.fail(fmt.Errorf("%v: %s has no body", c.fset.Position(d.Pos()), d.Name.Name))
		}
	}
}

// An importer finds what a package means by an import: the copy that is vendored, or built for its test.
type importer struct {
	c *checker
	s *source
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.s.ImportMap[path]; ok {
		path = to
	}
	if p := i.c.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed before %s", path, i.s.ImportPath)
}
