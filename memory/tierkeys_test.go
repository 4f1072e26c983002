package memory_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// An array by tier without keys shifts when a tier is added, and no compiler notices. The test reads the
// syntax trees of all files: of every build, of nested modules, and tests.
func TestHouse_TierArraysHaveKeys(t *testing.T) {
	packages := map[string][]string{}
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			packages[filepath.Dir(name)] = append(packages[filepath.Dir(name)], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	arrays := 0
	for dir, names := range packages {
		inTiers := strings.HasSuffix(filepath.ToSlash(dir), "memory/tiers")
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		found, bad := tierArrays(files, inTiers)
		for arrays += found; len(bad) > 0; bad = bad[1:] {
			t.Errorf("%s: an array by tier without keys: write [tiers.Count]T{tiers.Slab: x}", fset.Position(bad[0]))
		}
	}
	if arrays < 20 {
		t.Errorf("%d arrays by tier: the test looks at the wrong thing", arrays)
	}
}

// tierArrays counts the literals of arrays by tier in a package, and returns where those have elements
// without a tier as their key. inTiers says that it is package tiers, whose Count has no qualifier.
func tierArrays(files []*ast.File, inTiers bool) (found int, bad []token.Pos) {
	named := map[string]ast.Expr{} // types that the package declares
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				named[s.Name.Name] = s.Type
			}
			return true
		})
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if ok && lit.Type != nil {
				f, b := literal(lit, lit.Type, named, inTiers)
				found, bad = found+f, append(bad, b...)
			}
			return true
		})
	}
	return found, bad
}

// literal is tierArrays of a literal of type typ and of those within it that leave their type out.
func literal(lit *ast.CompositeLit, typ ast.Expr, named map[string]ast.Expr, inTiers bool) (found int, bad []token.Pos) {
	typ = underlying(typ, named)
	var element, key ast.Expr
	switch x := typ.(type) {
	case *ast.ArrayType:
		element = x.Elt
		if isCount(x.Len, inTiers) {
			found++
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); !ok || isNumber(kv.Key) {
					bad = append(bad, e.Pos())
				}
			}
		}
	case *ast.MapType:
		element, key = x.Value, x.Key
	}
	inner := func(e, typ ast.Expr) {
		if l, ok := e.(*ast.CompositeLit); ok && l.Type == nil && typ != nil {
			f, b := literal(l, typ, named, inTiers)
			found, bad = found+f, append(bad, b...)
		}
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			inner(kv.Key, key)
			e = kv.Value
		}
		inner(e, element)
	}
	return found, bad
}

// underlying resolves pointers, parentheses and the names of the package's own types.
func underlying(typ ast.Expr, named map[string]ast.Expr) ast.Expr {
	for range 100 { // a type may be declared by itself
		switch x := typ.(type) {
		case *ast.Ident:
			if named[x.Name] == nil {
				return typ
			}
			typ = named[x.Name]
		case *ast.StarExpr:
			typ = x.X
		case *ast.ParenExpr:
			typ = x.X
		default:
			return typ
		}
	}
	return typ
}

// isCount reports whether the length of an array is the number of tiers.
func isCount(length ast.Expr, inTiers bool) bool {
	switch x := length.(type) {
	case *ast.Ident:
		return inTiers && x.Name == "Count"
	case *ast.SelectorExpr:
		of, ok := x.X.(*ast.Ident)
		return ok && of.Name == "tiers" && x.Sel.Name == "Count"
	}
	return false
}

func isNumber(key ast.Expr) bool { _, ok := key.(*ast.BasicLit); return ok }

func TestTierArrays_PlantedArraysAreFound(t *testing.T) {
	for src, want := range map[string][2]int{ // arrays by tier, elements without a key
		`var x = [tiers.Count]int{1, 2}`:                                       {1, 2},
		`var x = [tiers.Count]int{tiers.Slab: 1, 2}`:                           {1, 1},
		`var x = [tiers.Count]int{tiers.Slab: 1}`:                              {1, 0},
		`var x = [tiers.Count]int{4: 1}`:                                       {1, 1},
		`var x = [tiers.Count]int{}`:                                           {1, 0},
		`var x = [3]int{1, 2, 3}`:                                              {0, 0},
		`var x = [other.Count]int{1, 2, 3}`:                                    {0, 0},
		`var x = [...]int{tiers.Slab: 1}`:                                      {0, 0},
		"type a [tiers.Count]int; var x = a{1}":                                {1, 1},
		"type a = b; type b [tiers.Count]int; var x = &a{1}":                   {1, 1},
		"func f() { type a [tiers.Count]int; g(a{1}) }":                        {1, 1},
		"var x = [][tiers.Count]int{{1}, {tiers.Slab: 2}}":                     {2, 1},
		"var x = []*[tiers.Count]int{{1}}":                                     {1, 1},
		`var x = map[string][tiers.Count]int{"a": {1, 2}}`:                     {1, 2},
		`var x = map[[tiers.Count]int]int{{1}: 2}`:                             {1, 1},
		"var x = [tiers.Count][]int{tiers.Slab: {1, 2}}":                       {1, 0},
		"var x = [tiers.Count][tiers.Count]int{tiers.Slab: {1}}":               {2, 1},
		"var x = C{Reserve: [tiers.Count]uintptr{1 << 20, 2}}":                 {1, 2},
		"//go:build js\npackage p\nvar x = [tiers.Count]int{1}":                {1, 1},
		"type a struct { b [tiers.Count]int }; var x = a{[tiers.Count]int{7}}": {1, 1},
	} {
		if !strings.Contains(src, "package") {
			src = "package p\n" + src
		}
		for inTiers, src := range map[bool]string{false: src, true: strings.ReplaceAll(src, "tiers.", "")} {
			f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if found, bad := tierArrays([]*ast.File{f}, inTiers); found != want[0] || len(bad) != want[1] {
				t.Errorf("in package tiers %v: %d arrays, %d without keys, want %d:\n%s", inTiers, found, len(bad), want, src)
			}
		}
	}
}
