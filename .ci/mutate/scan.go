package main

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// A scanner finds the mutants of one file, in the order of its text.
type scanner struct {
	fset    *token.FileSet
	file    string
	src     []byte
	decl    ast.Node
	fn      string
	parents []ast.Node
	joined  map[ast.Node]bool // && and || whose operands a condition has dealt with
	out     []*mutant
}

// scan returns the mutants of a file; none where it is generated.
func scan(name string, src []byte) ([]*mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	s := &scanner{fset: fset, file: name, src: src, joined: map[ast.Node]bool{}}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				s.walk(d, d.Body, funcName(d))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					s.walk(v, v, v.Names[0].Name)
				}
			}
		}
	}
	number(s.out)
	return s.out, nil
}

// funcName is F, or T.F for a method of T or *T.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := ast.Unparen(d.Recv.List[0].Type)
	if star, ok := t.(*ast.StarExpr); ok {
		t = ast.Unparen(star.X)
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

// walk goes through body, which is the part of decl that has values.
func (s *scanner) walk(decl, body ast.Node, fn string) {
	s.decl, s.fn, s.parents = decl, fn, s.parents[:0]
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			s.parents = s.parents[:len(s.parents)-1]
			return false
		}
		into := s.visit(n)
		if into {
			s.parents = append(s.parents, n)
		}
		return into
	})
}

// visit emits the mutants of a node and reports whether to go on to its children.
func (s *scanner) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return !isMessage(n)
	case *ast.BlockStmt:
		s.deletions(n.List)
	case *ast.CaseClause:
		s.deletions(n.Body)
	case *ast.CommClause:
		s.deletions(n.Body)
	case *ast.IfStmt:
		s.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			s.condition(n.Cond)
		}
	case *ast.SwitchStmt:
		s.cases(n)
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.IncDecStmt:
		s.exchange(n.Tok, n.TokPos, n)
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 || !joinsText(n.Rhs[0]) {
			s.exchange(n.Tok, n.TokPos, n)
		}
	case *ast.BasicLit:
		s.constant(n)
	}
	return true
}

func (s *scanner) cases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, clause := range n.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			s.condition(e)
		}
	}
}

func (s *scanner) binary(n *ast.BinaryExpr) {
	if n.Op == token.LAND || n.Op == token.LOR {
		if !s.joined[n] {
			s.condition(n)
		}
		return
	}
	if !joinsText(n) {
		s.exchange(n.Op, n.OpPos, n)
	}
}

// condition forces e both ways and negates it, and so its operands.
func (s *scanner) condition(e ast.Expr) { s.force(e, true, true) }

// force leaves out what another mutant already is: an operand of && that is false makes the
// whole false, and one of || that is true makes it true; a negated == is !=.
//
// The condition stays in the text behind true || or false &&, so that the variables in it
// still count as used.
func (s *scanner) force(e ast.Expr, on, off bool) {
	text := s.text(e)
	if on {
		s.emit(opTrue, e, text, "true", "(true || ("+text+"))")
	}
	if off {
		s.emit(opFalse, e, text, "false", "(false && ("+text+"))")
	}
	inner := ast.Unparen(e)
	b, _ := inner.(*ast.BinaryExpr)
	if b == nil || b.Op != token.EQL && b.Op != token.NEQ {
		s.emit(opNegated, e, text, "!("+text+")", "!("+text+")")
	}
	if not, ok := inner.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		b, _ = ast.Unparen(not.X).(*ast.BinaryExpr)
	}
	if b != nil && (b.Op == token.LAND || b.Op == token.LOR) {
		s.joined[b] = true
		s.force(b.X, b.Op == token.LAND, b.Op == token.LOR)
		s.force(b.Y, b.Op == token.LAND, b.Op == token.LOR)
	}
}

// exchange replaces the token at pos, which is part of n.
func (s *scanner) exchange(tok token.Token, pos token.Pos, n ast.Node) {
	x, ok := exchanges[tok]
	if !ok {
		return
	}
	at := s.offset(pos)
	s.within(x.op, n, at, at+len(tok.String()), x.to.String())
}

// constant moves an integer by one each way. Lengths of arrays are types, not values.
func (s *scanner) constant(lit *ast.BasicLit) {
	if lit.Kind != token.INT {
		return
	}
	parent := s.parents[len(s.parents)-1]
	if array, ok := parent.(*ast.ArrayType); ok && array.Len == lit {
		return
	}
	start, end := s.offset(lit.Pos()), s.offset(lit.End())
	if len(s.text(parent)) > textLimit {
		parent = lit
	}
	for _, text := range neighbours(lit.Value) {
		s.within(opConstant, parent, start, end, text)
	}
}

// deletions puts each statement that can go behind if false: what it mentions still counts as
// used.
func (s *scanner) deletions(list []ast.Stmt) {
	for _, st := range list {
		if deletable(st) {
			text := s.text(st)
			s.emit(opStatement, st, text, "(deleted)", "if false { "+text+" }")
		}
	}
}

// within replaces bytes inside n and describes it by the text of n before and after.
func (s *scanner) within(op string, n ast.Node, start, end int, text string) {
	from := s.text(n)
	lead := start - s.offset(n.Pos())
	to := from[:lead] + text + from[lead+end-start:]
	s.add(op, start, end, from, to, text)
}

func (s *scanner) emit(op string, n ast.Node, from, to, text string) {
	s.add(op, s.offset(n.Pos()), s.offset(n.End()), from, to, text)
}

func (s *scanner) add(op string, start, end int, from, to, text string) {
	at := s.fset.File(s.decl.Pos()).Pos(start)
	pos := s.fset.PositionFor(at, false)
	s.out = append(s.out, &mutant{
		file: s.file, fn: s.fn, op: op, from: oneLine(from), to: oneLine(to),
		line: pos.Line, col: pos.Column, start: start, end: end, text: text,
		declLine: s.fset.PositionFor(s.decl.Pos(), false).Line,
		declEnd:  s.fset.PositionFor(s.decl.End(), false).Line,
		decl:     s.text(s.decl),
	})
}

func (s *scanner) offset(p token.Pos) int { return s.fset.PositionFor(p, false).Offset }

func (s *scanner) text(n ast.Node) string {
	return string(s.src[s.offset(n.Pos()):s.offset(n.End())])
}
