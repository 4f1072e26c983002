package engine_test

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/save"
)

type auditDeep struct {
	Name  string
	Link  *auditDeep
	Any   any
	Table map[string]complex64
	List  [][]float32
	F     func()
}

type auditRoot struct {
	deep    auditDeep
	Scratch int
	Times   auditTimes
	text    [2]string
	chest   auditChest
	on      bool
	seed    uint64
}

type auditTimes struct{ A, B int64 }

type auditChest struct{ rows [2]int32 }

func (s *auditChest) SaveState(c *save.Coder) {
	c.Rows("contents", reflect.TypeFor[int32](), unsafe.Pointer(&s.rows), 4, len(s.rows)) // rows, not contents of blocks
}

func TestFields_NamesEveryKindOfValue(t *testing.T) {
	for want, change := range map[string]func(r *auditRoot){
		"":             func(*auditRoot) {},
		".deep.Name: ": func(r *auditRoot) { r.deep.Name = "xY" },
		".deep.Name: a text of length 2, and a text of length 3": func(r *auditRoot) { r.deep.Name = "xyz" },
		".deep.Link.Link: ":     func(r *auditRoot) { r.deep.Link.Link = nil },
		".deep.Link.List[1][0]": func(r *auditRoot) { r.deep.Link.List[1][0] = 3 },
		".deep.Link.List[1]: ":  func(r *auditRoot) { r.deep.Link.List[1] = nil },
		".deep.Any: a value of": func(r *auditRoot) { r.deep.Any = uint(7) },
		".deep.Any: 7, and 8":   func(r *auditRoot) { r.deep.Any = 8 },
		".deep.Table[b]: 2, and 5": func(r *auditRoot) {
			r.deep.Table["b"] = 5
		},
		".deep.Table[c]: a key":             func(r *auditRoot) { delete(r.deep.Table, "b"); r.deep.Table["c"] = 2 },
		".deep.F: an address":               func(r *auditRoot) { r.deep.F = nil },
		".deep.Table[a]: 0, and 2":          func(r *auditRoot) { r.deep.Table["a"] = 1 + 2i },
		".on: 0, and 1":                     func(r *auditRoot) { r.on = true },
		".seed: 0, and 9223372036854775808": func(r *auditRoot) { r.seed = 1 << 63 },
		".text[1]: ":                        func(r *auditRoot) { r.text[1] = "z" },
		".chest: a State with hash":         func(r *auditRoot) { r.chest.rows[1] = 7 },
	} {
		link := &auditDeep{List: [][]float32{{1}, {2}}}
		link.Link = link
		r := &auditRoot{deep: auditDeep{Name: "xy", Link: link, Any: 7, Table: map[string]complex64{"a": 1, "b": 2}, F: func() {}}}
		check := engine.Fields([]string{"engine_test.auditRoot.Scratch", "engine_test.auditTimes"}, r)()
		r.Scratch, r.Times.B = 1, 1
		change(r)
		d := check()
		if len(d) > 0 != (want != "") || !strings.Contains(texts(d), want) {
			t.Errorf("%s, want %q", texts(d), want)
		}
	}
}

func TestFields_SharedElements(t *testing.T) {
	type state struct {
		All, Tail []int
		First     *int
	}
	for want, change := range map[string]func(s *state){
		"state.Tail: ":  func(s *state) { s.Tail = append([]int(nil), s.Tail...) },
		"state.First: ": func(s *state) { n := *s.First; s.First = &n },
	} {
		all := []int{1, 2, 3, 4}
		s := &state{all, all[2:], &all[3]}
		check := engine.Fields(nil, s)()
		change(s)
		if d := check(); len(d) != 1 || !strings.Contains(texts(d), want) {
			t.Errorf("%s, want %q", texts(d), want)
		}
	}
}

// A slice that two fields have is read once, and both must have it after the load.
func TestFields_OneSliceInTwoFields(t *testing.T) {
	all := []int{1, 2, 3}
	s := &struct{ A, B, C []int }{all, all, all}
	check := engine.Fields(nil, s)()
	if d := check(); len(d) > 0 {
		t.Errorf("%s", texts(d))
	}
	s.B = append([]int(nil), all...)
	if d := check(); len(d) != 1 || !strings.Contains(texts(d), "B: the variable of value") {
		t.Errorf("%s", texts(d))
	}
}

// A State that cannot be saved has no number.
func TestFields_StatesThatFailAreEqual(t *testing.T) {
	for want, fail := range map[bool]func(g *fragile){false: func(g *fragile) { g.save = true }, true: func(*fragile) {}} {
		s := &struct{ G fragile }{}
		s.G.set = new(save.Set)
		fail(&s.G)
		check := engine.Fields(nil, s)()
		s.G.n++
		if d := check(); len(d) > 0 != want {
			t.Errorf("%s", texts(d))
		}
		s.G.scan = true // it could be saved before
		if d := check(); len(d) > 0 != want || want && !strings.Contains(texts(d), ", and a State with hash 0") {
			t.Errorf("%s", texts(d))
		}
	}
	s := &struct{ R refuser }{}
	check := engine.Fields(nil, s)()
	s.R.N++
	if d := check(); len(d) > 0 {
		t.Errorf("%s", texts(d))
	}
}

type refuser struct{ N int }

func (r *refuser) SaveState(c *save.Coder) { save.Num(c, &r.N) }
func (*refuser) CanSave() error            { return errFails }

func TestFields_IgnoresPackage(t *testing.T) {
	r := &struct{ T auditTimes }{}
	check := engine.Fields([]string{"engine_test."}, r)()
	r.T.A = 1
	if d := check(); len(d) > 0 {
		t.Errorf("%s", texts(d))
	}
}

func TestFields_RootMustBePointer(t *testing.T) {
	for want, root := range map[string]any{"engine_test.auditTimes": auditTimes{}, "*engine_test.auditTimes": (*auditTimes)(nil)} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "a root is a "+want+", want a pointer") {
					t.Errorf("the panic is %q", s)
				}
			}()
			engine.Fields(nil, root)
			t.Errorf("a %s is accepted", want)
		}()
	}
}

func texts(all []save.Difference) string {
	var s []string
	for _, d := range all {
		s = append(s, d.String())
	}
	return strings.Join(s, "\n")
}
