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
)

// promised are the folders whose exported names a version promises.
var promised = []string{"memory", "ecs", "engine", "particles", "render"}

// A source is a package as go list describes it.
type source struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	ImportMap             map[string]string
	Module                *struct {
		Main      bool
		GoVersion string
	}
}

func (s *source) own() bool { return s.Module != nil && s.Module.Main }

// public reports whether a version promises the names of the package.
func (s *source) public() bool {
	return s.own() && s.Name != "main" && !strings.Contains(s.ImportPath+"/", "/internal/")
}

// A loader reads declarations and no function bodies. Packages of other modules are read once for all trees that
// select the same version.
type loader struct {
	fset  *token.FileSet
	byDir map[string]*types.Package
}

// load returns the public packages of the module in root, by import path, as linux/amd64 builds them.
func (l *loader) load(root string) (map[string]*types.Package, error) {
	sources, err := list(root)
	if err != nil {
		return nil, err
	}
	public, done := map[string]*types.Package{}, map[string]*types.Package{"unsafe": types.Unsafe}
	for _, s := range sources {
		if s.ImportPath == "unsafe" {
			continue
		}
		p := l.byDir[s.Dir]
		if p == nil {
			if p, err = l.check(s, done); err != nil {
				return nil, err
			}
			l.byDir[s.Dir] = p
		}
		done[s.ImportPath] = p
		if s.public() {
			public[s.ImportPath] = p
		}
	}
	if len(public) == 0 {
		return nil, fmt.Errorf("%s has no public package", root)
	}
	return public, nil
}

// list returns the packages of the promised folders and what they import, each behind its imports.
func list(root string) (sources []*source, err error) {
	args := []string{"list", "-deps", "-json=ImportPath,Dir,Name,GoFiles,ImportMap,Module"}
	for _, dir := range promised {
		if _, err := os.Stat(filepath.Join(root, dir)); err == nil {
			args = append(args, "./"+dir+"/...")
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("go list: %s", exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		s := new(source)
		if err := d.Decode(s); err == io.EOF {
			return sources, nil
		} else if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
}

// check reads a package, whose imports are in done.
func (l *loader) check(s *source, done map[string]*types.Package) (*types.Package, error) {
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(l.fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importer{s.ImportMap, done}, Sizes: types.SizesFor("gc", "amd64"), IgnoreFuncBodies: true}
	if s.Module != nil && s.Module.GoVersion != "" {
		conf.GoVersion = "go" + s.Module.GoVersion
	}
	return conf.Check(s.ImportPath, l.fset, files, nil)
}

// An importer returns the packages that were read, by the path in an import or the one that replaces it.
type importer struct {
	replaced map[string]string
	done     map[string]*types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.replaced[path]; ok {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed before its importer", path)
}
