package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A file is a parsed Go file.
type file struct {
	name string // relative to the root
	tree *ast.File
	test bool
}

// folder checks the Go files of a folder.
func (t *tree) folder(root, dir string) error {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	var files []file
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".go" {
			continue
		}
		parsed, err := parser.ParseFile(fset, filepath.Join(root, dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file{path.Join(dir, e.Name()), parsed, strings.HasSuffix(e.Name(), "_test.go")})
	}
	if len(files) == 0 {
		return nil
	}
	u := t.unit(dir)
	fields, takers := unexportedFields(files), reasonTakers(files)
	for _, f := range files {
		public := map[*ast.CommentGroup]subject{}
		if !f.test {
			public = exportedComments(f.tree)
			for _, e := range errorTexts(f.tree, takers) {
				u.wrong = append(u.wrong, checkErrorText(fset, f.name, e)...)
			}
		}
		for _, group := range f.tree.Comments {
			subject, exported := public[group]
			for _, b := range commentBlocks(commentLines(fset, group)) {
				found, lengths := checkBlock(f.name, b)
				if !exported {
					u.other = append(u.other, found...)
					continue
				}
				u.wrong = append(u.wrong, found...)
				u.lengths = append(u.lengths, lengths...)
				for _, h := range namedFields(b.text, fields[subject.owner], subject.params) {
					u.wrong = append(u.wrong, finding{f.name, b.lineAt(h.at), fmt.Sprintf(
						"%q is an unexported field of %s: describe what a caller sees, or move the sentence into the struct", h.text, subject.owner)})
				}
			}
		}
		u.wrong = append(u.wrong, longTestNames(fset, f)...)
	}
	return nil
}

// longTestNames returns the tests, benchmarks, fuzz targets and examples whose name is too long.
func longTestNames(fset *token.FileSet, f file) (found []finding) {
	for _, d := range f.tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !f.test || fn.Recv != nil {
			continue
		}
		for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
			if n := len(fn.Name.Name); strings.HasPrefix(fn.Name.Name, prefix) && n > maxTestName {
				found = append(found, finding{f.name, fset.Position(fn.Pos()).Line, fmt.Sprintf(
					"%s has %d characters, at most %d: name the type and the case, and leave the rest to subtests or the comment", fn.Name.Name, n, maxTestName)})
			}
		}
	}
	return found
}
