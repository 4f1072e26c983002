package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// A subject is what an exported comment describes.
type subject struct {
	owner  string // the type that it belongs to, or ""
	params map[string]bool
}

// exportedComments returns the comments that go doc shows: of the package, of exported names, of the
// exported fields and methods of exported types.
func exportedComments(f *ast.File) map[*ast.CommentGroup]subject {
	public := map[*ast.CommentGroup]subject{}
	add := func(s subject, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil {
				public[g] = s
			}
		}
	}
	add(subject{}, f.Doc)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owner := receiver(d)
			if d.Name.IsExported() && (owner == "" || ast.IsExported(owner)) {
				add(subject{owner, params(d)}, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						add(subject{owner: s.Name.Name}, d.Doc, s.Doc, s.Comment)
						addFields(add, subject{owner: s.Name.Name}, s.Type)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							add(subject{}, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
	return public
}

// addFields adds the comments of the exported fields of a struct, and of the exported methods of an
// interface.
func addFields(add func(subject, ...*ast.CommentGroup), s subject, typ ast.Expr) {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return
	}
	for _, field := range list.List {
		exported := len(field.Names) == 0 && ast.IsExported(baseName(field.Type))
		for _, n := range field.Names {
			exported = exported || n.IsExported()
		}
		if exported {
			add(s, field.Doc, field.Comment)
			addFields(add, s, field.Type)
		}
	}
}

// receiver returns the name of the type of a method's receiver, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	return baseName(d.Recv.List[0].Type)
}

// baseName returns the last name of a type: Pool for *pool.Pool[T].
func baseName(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.StarExpr:
		return baseName(typ.X)
	case *ast.ParenExpr:
		return baseName(typ.X)
	case *ast.SelectorExpr:
		return typ.Sel.Name
	case *ast.IndexExpr:
		return baseName(typ.X)
	case *ast.IndexListExpr:
		return baseName(typ.X)
	}
	return ""
}

// params returns the names of the parameters and results of a function.
func params(d *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params, d.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, n := range field.Names {
				names[n.Name] = true
			}
		}
	}
	return names
}

// unexportedFields returns the unexported fields of the exported structs, by type.
func unexportedFields(files []file) map[string][]string {
	fields := map[string][]string{}
	for _, f := range files {
		for _, d := range f.tree.Decls {
			gen, ok := d.(*ast.GenDecl)
			if f.test || !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.TypeSpec)
				if typ, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() {
					fields[spec.Name.Name] = append(fields[spec.Name.Name], unexported(typ)...)
				}
			}
		}
	}
	return fields
}

func unexported(typ *ast.StructType) (names []string) {
	for _, field := range typ.Fields.List {
		for _, n := range field.Names {
			if !n.IsExported() && n.Name != "_" {
				names = append(names, n.Name)
			}
		}
		if base := baseName(field.Type); len(field.Names) == 0 && base != "" && !ast.IsExported(base) {
			names = append(names, base)
		}
	}
	return names
}

// What shows that a word of a comment is code: an operator, an index, a call or a selector at its side.
// An operator has spaces on both sides or on none, which a pointer (a *T) has not.
const operator = `(?:==|!=|<=|>=|\+=|-=|<|>|=|\+|\*)`

var (
	codeAfter  = regexp.MustCompile(`^(?:\[| is (?:nil|true|false)\b|\.[a-z]|(?: ` + operator + ` |` + operator + `)[\w(])`)
	codeBefore = regexp.MustCompile(`(?:[\w)\]](?: ` + operator + ` |` + operator + `)|\b(?:len|cap)\(|\b[A-Za-z]\w*\.)$`)
)

// namedFields returns where a text names a field. A name with a capital letter or a digit in it counts
// wherever it stands. Any other might be a word of the prose, and counts if what stands beside it is code.
func namedFields(s string, fields []string, params map[string]bool) (hits []hit) {
	for _, name := range fields {
		if params[name] {
			continue
		}
		distinct := strings.ToLower(name) != name || strings.ContainsAny(name, "0123456789_")
		for from := 0; ; {
			i := strings.Index(s[from:], name)
			if i < 0 {
				break
			}
			i += from
			from = i + len(name)
			if i > 0 && isWord(s[i-1]) || from < len(s) && isWord(s[from]) {
				continue
			}
			if distinct || codeAfter.MatchString(s[from:]) || codeBefore.MatchString(s[:i]) {
				hits = append(hits, hit{at: i, text: name})
			}
		}
	}
	return hits
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }
