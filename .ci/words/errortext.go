package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
)

// An errorText is a string literal that becomes a text of an error or a panic.
type errorText struct {
	pos  token.Pos
	text string
}

// reasonTakers returns the functions with a parameter of the name reason, and its position.
func reasonTakers(files []file) map[string]int {
	takers := map[string]int{}
	for _, f := range files {
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test {
				continue
			}
			at := 0
			for _, field := range fn.Type.Params.List {
				for _, n := range field.Names {
					if n.Name == "reason" {
						takers[fn.Name.Name] = at
					}
					at++
				}
			}
		}
	}
	return takers
}

// errorTexts returns the literals that are given to errors.New, fmt.Errorf, panic, a field Reason or a
// parameter reason, and those of a method Error.
func errorTexts(f *ast.File, takers map[string]int) (texts []errorText) {
	seen := map[token.Pos]bool{}
	add := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || seen[lit.Pos()] {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil {
				seen[lit.Pos()] = true
				texts = append(texts, errorText{lit.Pos(), s})
			}
			return true
		})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if at, ok := textArgument(n.Fun, takers); ok && at < len(n.Args) {
				add(n.Args[at])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
				add(n.Value)
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if isReason(l) && len(n.Lhs) == len(n.Rhs) {
					add(n.Rhs[i])
				}
			}
		case *ast.FuncDecl:
			if n.Name.Name == "Error" && n.Recv != nil && n.Body != nil {
				addBody(n.Body, add)
			}
		}
		return true
	})
	return texts
}

// addBody adds the expressions of a method Error.
func addBody(body *ast.BlockStmt, add func(ast.Expr)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			add(lit)
		}
		return true
	})
}

func isReason(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "reason"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Reason"
	}
	return false
}

// textArgument returns which argument of a call is the text of an error.
func textArgument(fun ast.Expr, takers map[string]int) (at int, ok bool) {
	switch fun := fun.(type) {
	case *ast.Ident:
		if fun.Name == "panic" {
			return 0, true
		}
		at, ok = takers[fun.Name]
		return at, ok
	case *ast.SelectorExpr:
		x, _ := fun.X.(*ast.Ident)
		if x != nil && (x.Name == "errors" && fun.Sel.Name == "New" || x.Name == "fmt" && fun.Sel.Name == "Errorf") {
			return 0, true
		}
		at, ok = takers[fun.Sel.Name]
		return at, ok
	}
	return 0, false
}

// checkErrorText returns the phrases of an error text, and whether it is too long for one.
func checkErrorText(fset *token.FileSet, name string, e errorText) (found []finding) {
	line := fset.Position(e.pos).Line
	for _, h := range findPhrases(e.text) {
		found = append(found, finding{name, line, fmt.Sprintf("%q in an error text: write %s", h.text, h.phrase.instead)})
	}
	if n := countWords(e.text); n > maxWords {
		found = append(found, finding{name, line, fmt.Sprintf("an error text of %d words: at most %d", n, maxWords)})
	}
	return found
}
