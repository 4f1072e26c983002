package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// scanBody scans a function around the statements and returns "operator: from => to".
func scanBody(t *testing.T, body string) []string {
	t.Helper()
	ms, err := scan("f.go", []byte("package p\n\nfunc f() {\n"+body+"\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%s: %s => %s", m.op, m.from, m.to))
	}
	return out
}

func TestScan_EachOperatorYieldsItsMutants(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
	}{
		{"if a { return }", []string{"condition-true: a => true", "condition-false: a => false", "condition-negated: a => !(a)"}},
		{"for a { }", []string{"condition-true: a => true", "condition-false: a => false", "condition-negated: a => !(a)"}},
		{"switch { case a: default: }", []string{"condition-true: a => true", "condition-false: a => false", "condition-negated: a => !(a)"}},
		{"switch a { case b: }", nil},
		{"x := a && b", []string{
			"condition-true: a && b => true", "condition-false: a && b => false", "condition-negated: a && b => !(a && b)",
			"condition-true: a => true", "condition-negated: a => !(a)", "condition-true: b => true", "condition-negated: b => !(b)",
		}},
		{"x := a || b", []string{
			"condition-true: a || b => true", "condition-false: a || b => false", "condition-negated: a || b => !(a || b)",
			"condition-false: a => false", "condition-negated: a => !(a)", "condition-false: b => false", "condition-negated: b => !(b)",
		}},
		{"if !(a || b) { }", []string{
			"condition-true: !(a || b) => true", "condition-false: !(a || b) => false", "condition-negated: !(a || b) => !(!(a || b))",
			"condition-false: a => false", "condition-negated: a => !(a)", "condition-false: b => false", "condition-negated: b => !(b)",
		}},
		{"if a == b { }", []string{"condition-true: a == b => true", "condition-false: a == b => false", "comparison: a == b => a != b"}},
		{"x := a < b", []string{"comparison: a < b => a <= b"}},
		{"x := a <= b", []string{"comparison: a <= b => a < b"}},
		{"x := a > b", []string{"comparison: a > b => a >= b"}},
		{"x := a >= b", []string{"comparison: a >= b => a > b"}},
		{"x := a != b", []string{"comparison: a != b => a == b"}},
		{"x := a + b - c", []string{"arithmetic: a + b - c => a + b + c", "arithmetic: a + b => a - b"}},
		{"x := a * b", []string{"arithmetic: a * b => a / b"}},
		{"x := a / b", []string{"arithmetic: a / b => a * b"}},
		{"x := a % b", []string{"arithmetic: a % b => a * b"}},
		{"x := a << b", []string{"bits: a << b => a >> b"}},
		{"x := a >> b", []string{"bits: a >> b => a << b"}},
		{"x := a & b", []string{"bits: a & b => a | b"}},
		{"x := a | b", []string{"bits: a | b => a & b"}},
		{"x := a ^ b", []string{"bits: a ^ b => a & b"}},
		{"x := a &^ b", []string{"bits: a &^ b => a & b"}},
		{`x := a + "s" + b`, nil},
		{"a += b", []string{"statement: a += b => (deleted)", "arithmetic: a += b => a -= b"}},
		{"a &^= b", []string{"statement: a &^= b => (deleted)", "bits: a &^= b => a &= b"}},
		{`a += "s"`, []string{`statement: a += "s" => (deleted)`}},
		{"a++", []string{"statement: a++ => (deleted)", "arithmetic: a++ => a--"}},
		{"for ; ; a-- { }", []string{"arithmetic: a-- => a++"}},
		{"x := 7", []string{"constant: x := 7 => x := 8", "constant: x := 7 => x := 6"}},
		{"x := 0", []string{"constant: x := 0 => x := 1", "constant: x := 0 => x := (-1)"}},
		{"x := 0x10", []string{"constant: x := 0x10 => x := (0x10 + 1)", "constant: x := 0x10 => x := (0x10 - 1)"}},
		{"const c = 2", []string{"constant: c = 2 => c = 3", "constant: c = 2 => c = 1"}},
		{"var x [4]int", nil},
		{"g(a)", []string{"statement: g(a) => (deleted)"}},
		{"t.Helper()", nil},
		{"m.tb.Helper()", nil},
		{"m.Helper(a)", []string{"statement: m.Helper(a) => (deleted)"}},
		{"Helper()", []string{"statement: Helper() => (deleted)"}},
		{"defer g()", []string{"statement: defer g() => (deleted)"}},
		{"go g()", []string{"statement: go g() => (deleted)"}},
		{"a = b", []string{"statement: a = b => (deleted)"}},
		{"_ = b", nil},
		{"switch a { case b: g() }", []string{"statement: g() => (deleted)"}},
		{"select { case <-a: g() }", []string{"statement: g() => (deleted)"}},
		{"panic(a + 1)", []string{"statement: panic(a + 1) => (deleted)"}},
		{"x := fmt.Errorf(s, a+1)", nil},
		{"r.say(s, a+1)", []string{"statement: r.say(s, a+1) => (deleted)"}},
		{`fail("%d bytes", a+1)`, []string{`statement: fail("%d bytes", a+1) => (deleted)`}},
	} {
		if got := scanBody(t, c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.body, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

const sample = `package p

const granule, shift = 1 << 4, 2

type heap[T any] struct {
	n int ` + "`size:\"3\"`" + `
}

func (h *heap[T]) grow(n int) bool {
	// A comment with 1 + 1.
	if n > h.n && n < 1<<20 || n == 0 {
		h.n += n
		h.n += n
		return true
	}
	for i := 0; i < n; i++ {
		defer func() { h.n-- }()
	}
	return false
}

func wide[T ~int32 | ~int64](x T, y [2]T) {}
`

func TestScan_EveryMutantParsesAndChangesTheSourceAlone(t *testing.T) {
	ms, err := scan("heap.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if len(ms) < 30 {
		t.Fatalf("%d mutants of the sample", len(ms))
	}
	for _, m := range ms {
		text := string(m.apply([]byte(sample)))
		if text == sample {
			t.Errorf("%s changes nothing", m.key())
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "heap.go", text, 0); err != nil {
			t.Errorf("%s: %v", m.key(), err)
		}
		if strings.Count(text, "\n") != strings.Count(sample, "\n") {
			t.Errorf("%s moves lines", m.key())
		}
		if before, _, _ := strings.Cut(text, "A comment"); m.line > 10 && !strings.HasPrefix(sample, before) {
			t.Errorf("%s is said to be on line %d", m.key(), m.line)
		}
	}
}

func TestScan_KeysAreUniqueAndSurviveLinesAbove(t *testing.T) {
	keys := func(src string) []string {
		ms, err := scan("heap.go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range ms {
			out = append(out, m.key())
		}
		return out
	}
	got := keys(sample)
	if moved := keys(strings.Replace(sample, "const", "\n\n// more\nvar x = y\n\nconst", 1)); !slices.Equal(got, moved) {
		t.Error("lines above change the keys")
	}
	for _, want := range []string{
		"heap.go granule | bits | 1 << 4 => 1 >> 4 | #1",
		"heap.go heap.grow | arithmetic | h.n += n => h.n -= n | #2",
		"heap.go heap.grow | comparison | n > h.n => n >= h.n | #1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s among\n%s", want, strings.Join(got, "\n"))
		}
	}
	slices.Sort(got)
	if n := len(slices.Compact(slices.Clone(got))); n != len(got) {
		t.Errorf("%d keys for %d mutants", n, len(got))
	}
	for _, k := range got {
		if strings.Contains(k, "size:") || strings.Contains(k, "wide") || strings.Contains(k, "comment") {
			t.Errorf("a mutant of a tag, comment or type: %s", k)
		}
	}
}

func TestScan_GeneratedFilesHaveNone(t *testing.T) {
	ms, err := scan("gen.go", []byte("// Code generated by x. DO NOT EDIT.\n\n"+sample))
	if err != nil || len(ms) > 0 {
		t.Errorf("%d mutants, %v", len(ms), err)
	}
}
