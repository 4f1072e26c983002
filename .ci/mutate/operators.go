package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Names of the operators, as they stand in keys.
const (
	opTrue      = "condition-true"
	opFalse     = "condition-false"
	opNegated   = "condition-negated"
	opCompare   = "comparison"
	opArith     = "arithmetic"
	opBits      = "bits"
	opConstant  = "constant"
	opStatement = "statement"
)

// An exchange is what a token becomes, and the operator that this counts as.
type exchange struct {
	op string
	to token.Token
}

// exchanges holds one other token each: the neighbour on which tests are wrong by one, or the
// inverse. == and != are each other's negation.
var exchanges = map[token.Token]exchange{
	token.LSS: {opCompare, token.LEQ}, token.LEQ: {opCompare, token.LSS},
	token.GTR: {opCompare, token.GEQ}, token.GEQ: {opCompare, token.GTR},
	token.EQL: {opCompare, token.NEQ}, token.NEQ: {opCompare, token.EQL},

	token.ADD: {opArith, token.SUB}, token.SUB: {opArith, token.ADD},
	token.MUL: {opArith, token.QUO}, token.QUO: {opArith, token.MUL}, token.REM: {opArith, token.MUL},
	token.SHL: {opBits, token.SHR}, token.SHR: {opBits, token.SHL},
	token.AND: {opBits, token.OR}, token.OR: {opBits, token.AND},
	token.XOR: {opBits, token.AND}, token.AND_NOT: {opBits, token.AND},

	token.ADD_ASSIGN: {opArith, token.SUB_ASSIGN}, token.SUB_ASSIGN: {opArith, token.ADD_ASSIGN},
	token.MUL_ASSIGN: {opArith, token.QUO_ASSIGN}, token.QUO_ASSIGN: {opArith, token.MUL_ASSIGN},
	token.REM_ASSIGN: {opArith, token.MUL_ASSIGN},
	token.SHL_ASSIGN: {opBits, token.SHR_ASSIGN}, token.SHR_ASSIGN: {opBits, token.SHL_ASSIGN},
	token.AND_ASSIGN: {opBits, token.OR_ASSIGN}, token.OR_ASSIGN: {opBits, token.AND_ASSIGN},
	token.XOR_ASSIGN: {opBits, token.AND_ASSIGN}, token.AND_NOT_ASSIGN: {opBits, token.AND_ASSIGN},

	token.INC: {opArith, token.DEC}, token.DEC: {opArith, token.INC},
}

// neighbours returns the texts of a literal one more and one less.
func neighbours(literal string) []string {
	n, err := strconv.ParseInt(literal, 10, 62)
	switch {
	case err != nil || strconv.FormatInt(n, 10) != literal:
		return []string{"(" + literal + " + 1)", "(" + literal + " - 1)"}
	case n == 0:
		return []string{"1", "(-1)"}
	}
	return []string{strconv.FormatInt(n+1, 10), strconv.FormatInt(n-1, 10)}
}

// isMessage reports calls whose arguments are words for people: a format and what it prints,
// or a panic. Their exact text is not what mutants ask for.
func isMessage(call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, "%") {
			return true
		}
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic" || f.Name == "say"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return f.Sel.Name == "say" || ok && (x.Name == "fmt" || x.Name == "errors" && f.Sel.Name == "New")
	}
	return false
}

// joinsText reports an addition that a string literal takes part in: strings know no other
// operator.
func joinsText(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (joinsText(e.X) || joinsText(e.Y))
	}
	return false
}

// deletable reports whether a block may lack a statement. An assignment to _ only is not deletable: it does nothing.
// Nor is t.Helper(), which only selects the line that a failure reports, so that no test fails without it.
func deletable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return !isHelper(s.X)
	case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		for _, left := range s.Lhs {
			if id, ok := left.(*ast.Ident); !ok || id.Name != "_" {
				return s.Tok != token.DEFINE
			}
		}
	}
	return false
}

// isHelper reports a call of the Helper of a testing.TB.
func isHelper(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Helper"
}
