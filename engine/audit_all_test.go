package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/memory/save"
)

var brackets = regexp.MustCompile(`\[[^]]*\]`)

// fieldsOf returns the paths of differences without indexes and keys, sorted.
func fieldsOf(found []save.Difference) []string {
	var all []string
	for _, d := range found {
		all = append(all, brackets.ReplaceAllString(d.Path, ""))
	}
	slices.Sort(all)
	return all
}

type auditCell struct {
	X, Y int
	Name string
}

type auditRack struct {
	First *auditCell // one of List, also if it is reached here first
	Early any        // leads to the cell of Late
	Plain int
	In    struct {
		B string
		C struct{ D float32 }
	}
	Same  []auditCell
	Grow  []auditCell
	Lost  []*auditCell // leads to that of Late, too
	Late  *auditCell
	List  []*auditCell
	Keys  map[string]*auditCell
	Many  map[int]auditCell
	Any   any
	Row   [3]auditCell
	Table [2][2]auditCell
	Elem  *auditCell // of Same
	Gone  *auditCell
	Last  int
}

func newRack() *auditRack {
	late := &auditCell{X: 1}
	r := &auditRack{
		Early: &auditCell{}, Late: late, Same: make([]auditCell, 4), Grow: make([]auditCell, 3),
		List: []*auditCell{{X: 1}, {X: 2}, {X: 3}}, Keys: map[string]*auditCell{"a": {}, "b": {}},
		Many: map[int]auditCell{1: {}, 2: {}}, Any: 1, Gone: &auditCell{},
	}
	r.Early = []*auditCell{late, r.List[1]}
	r.Lost = []*auditCell{late, {}}
	r.First, r.Elem = r.List[0], &r.Same[2]
	return r
}

// auditPlants change one field each. Elem leads to an element of Same, so its cell is named there.
var auditPlants = map[string]func(r *auditRack){
	"First":     func(r *auditRack) { r.First = r.List[2] },
	"Early":     func(r *auditRack) { r.Early = 7.5 },
	"Plain":     func(r *auditRack) { r.Plain++ },
	"In.B":      func(r *auditRack) { r.In.B = "b" },
	"In.C.D":    func(r *auditRack) { r.In.C.D++ },
	"Same.X":    func(r *auditRack) { r.Same[1].X++; r.Same[2].X++; r.Same[3].X++ },
	"Same.Name": func(r *auditRack) { r.Same[2].Name = "c" },
	"Grow":      func(r *auditRack) { r.Grow = append(r.Grow, auditCell{}) },
	"Lost":      func(r *auditRack) { r.Lost = r.Lost[:1] },
	"Keys.Y":    func(r *auditRack) { r.Keys["a"].Y++; r.Keys["b"].Y++ },
	"Many":      func(r *auditRack) { r.Many[3] = auditCell{} },
	"Any":       func(r *auditRack) { r.Any = auditCell{} },
	"Row.Y":     func(r *auditRack) { r.Row[2].Y++ },
	"Table.X":   func(r *auditRack) { r.Table[1][0].X++ },
	"Elem":      func(r *auditRack) { r.Elem = &auditCell{} },
	"Gone":      func(r *auditRack) { r.Gone = nil },
	"Last":      func(r *auditRack) { r.Last++ },
	"Late.Name": func(r *auditRack) { r.Late.Name = "late" }, // named by the first equal part that leads to it
	"List.Name": func(r *auditRack) { r.List[1].Name = "list" },
}

// All of k fields that differ are named by one check, and no other field.
func TestFields_NamesAllPlanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	names := slices.Sorted(maps.Keys(auditPlants))
	for k := range 11 {
		for range 60 {
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			r := newRack()
			check := engine.Fields(nil, r)()
			planted := slices.Clone(names[:k])
			for _, name := range planted {
				auditPlants[name](r)
			}
			var want []string
			for _, name := range planted {
				switch has := func(n string) bool { return slices.Contains(planted, n) }; {
				case name == "Late.Name" && !has("Early"):
					name = "Early.Name"
				case name == "Late.Name" && !has("Lost"):
					name = "Lost.Name"
				case name == "List.Name" && !has("Early"):
					name = "Early.Name"
				}
				want = append(want, "engine_test.auditRack."+name)
			}
			slices.Sort(want)
			if got := fieldsOf(check()); !slices.Equal(got, slices.Compact(want)) {
				t.Fatalf("planted %q\n got %q", want, got)
			}
		}
	}
}

// A knot is a part of a random graph.
type knot struct {
	N     int
	F     float64
	C     complex128
	On    bool
	S     string
	Part  *auditCell // an element of a List
	Row   [2]auditCell
	List  []auditCell // also that of another knot
	Refs  []*knot
	Link  *knot
	Any   any
	Table map[string]*knot
	Texts map[int]string
}

func newGraph(rng *rand.Rand) *knot {
	all := make([]*knot, 1+rng.IntN(12))
	for i := range all {
		all[i] = &knot{N: rng.IntN(9), Texts: map[int]string{}, Table: map[string]*knot{}, List: make([]auditCell, rng.IntN(3))}
	}
	some := func() *knot { return all[rng.IntN(len(all))] }
	for _, k := range all {
		for i := range rng.IntN(3) {
			k.Refs = append(k.Refs, some())
			k.Table[fmt.Sprint(i)] = some()
			k.Texts[i] = "t"
		}
		if rng.IntN(2) == 0 {
			k.Link = some()
		}
		if rng.IntN(3) == 0 {
			k.List = some().List
		}
		if l := some().List; len(l) > 0 {
			k.Part = &l[rng.IntN(len(l))]
		}
		k.Any = []any{nil, 1, some(), auditCell{}}[rng.IntN(4)]
	}
	return all[0]
}

// A leaf is a scalar variable with the first path to it.
type leaf struct {
	path   string
	change func()
}

// leaves lists the scalar variables in the order of the audit.
type leaves struct {
	all []leaf
	met map[any]bool
}

func (l *leaves) add(path string, p any, change func()) {
	if p == nil || !l.met[p] {
		l.met[p] = true
		l.all = append(l.all, leaf{path, change})
	}
}

func (l *leaves) cell(path string, c *auditCell) {
	l.add(path+".X", &c.X, func() { c.X++ })
	l.add(path+".Y", &c.Y, func() { c.Y-- })
	l.add(path+".Name", &c.Name, func() { c.Name += "x" })
}

func (l *leaves) knot(path string, k *knot) {
	if k == nil || l.met[k] {
		return
	}
	l.met[k] = true
	l.add(path+".N", &k.N, func() { k.N++ })
	l.add(path+".F", &k.F, func() { k.F++ })
	l.add(path+".C", &k.C, func() { k.C += 1i })
	l.add(path+".On", &k.On, func() { k.On = !k.On })
	l.add(path+".S", &k.S, func() { k.S += "x" })
	if k.Part != nil {
		l.cell(path+".Part", k.Part)
	}
	for i := range k.Row {
		l.cell(path+".Row", &k.Row[i])
	}
	for i := range k.List {
		l.cell(path+".List", &k.List[i])
	}
	for _, r := range k.Refs {
		l.knot(path+".Refs", r)
	}
	l.knot(path+".Link", k.Link)
	switch v := k.Any.(type) {
	case int:
		l.add(path+".Any", nil, func() { k.Any = k.Any.(int) + 1 })
	case *knot:
		l.knot(path+".Any", v)
	case auditCell:
		l.add(path+".Any.X", nil, func() { c := k.Any.(auditCell); c.X++; k.Any = c })
		l.add(path+".Any.Name", nil, func() { c := k.Any.(auditCell); c.Name += "x"; k.Any = c })
	}
	for _, key := range slices.Sorted(maps.Keys(k.Table)) {
		l.knot(path+".Table", k.Table[key])
	}
	for key := range k.Texts {
		l.add(path+".Texts", nil, func() { k.Texts[key] += "x" })
	}
}

// knots leads from a knot to another one.
var knots = regexp.MustCompile(`\.(Refs|Link|Table|Any)\.(N|F|C|On|S|Part|Row|List|Refs|Link|Any|Table|Texts)\b`)

// ofKnot returns a path from the last knot on.
func ofKnot(path string) string {
	for next := ""; ; path = next {
		if next = knots.ReplaceAllString(path, ".$2"); next == path {
			return path
		}
	}
}

// In random graphs of values exactly the changed scalar variables are named, and counted. A field of several knots is
// named once.
func TestFields_RandomGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	counted := 0
	for range 400 {
		g := newGraph(rng)
		l := leaves{met: map[any]bool{}}
		l.knot("engine_test.knot", g)
		check := engine.Fields(nil, g)()
		var want []string
		rng.Shuffle(len(l.all), func(i, j int) { l.all[i], l.all[j] = l.all[j], l.all[i] })
		changed := min(len(l.all), rng.IntN(12)*rng.IntN(12))
		for _, x := range l.all[:changed] {
			x.change()
			want = append(want, ofKnot(x.path))
		}
		found := check()
		var got []string
		for _, path := range fieldsOf(found) {
			got = append(got, ofKnot(path))
		}
		slices.Sort(got)
		slices.Sort(want)
		sum := len(found)
		for _, d := range found {
			sum += d.More
		}
		if want = slices.Compact(want); !slices.Equal(got, want) || sum != changed {
			t.Fatalf("changed %q\n  got %q, %d variables of %d", want, got, sum, changed)
		}
		counted = max(counted, sum)
	}
	if counted < 70 {
		t.Errorf("at most %d variables have differed", counted)
	}
}

// Roots are apart, also those of one type. There are at most 64 differences, in the order of the roots.
func TestFields_NamesAtMost64(t *testing.T) {
	var n [70]int
	var roots []any
	for i := range n {
		roots = append(roots, &n[i])
	}
	check := engine.Fields(nil, roots...)()
	for i := 3; i < len(n); i++ {
		n[i] = i
		if found := check(); len(found) != min(i-2, 64) || found[0].B != "3" || found[len(found)-1].B != fmt.Sprint(min(i, 66)) {
			t.Fatalf("%d roots differ: %s", i-2, texts(found))
		}
	}
}

// Slices of one array are compared up to the end of each.
func TestFields_SlicesOfTwoLengths(t *testing.T) {
	all := []int{1, 2, 3, 4}
	s := &struct{ Short, Long []int }{all[:2], all}
	check := engine.Fields(nil, s)()
	if found := check(); len(found) > 0 {
		t.Error(texts(found))
	}
	all[0], all[3] = 5, 5
	if found := check(); len(found) != 2 || !strings.Contains(texts(found), "Short[0]: 1, and 5") || !strings.Contains(texts(found), "Long[3]: 4, and 5") {
		t.Error(texts(found))
	}
}

// A State that is a root at the save, but not after the load, differs.
func TestFields_RootIsReplaced(t *testing.T) {
	s := &struct {
		Chest *auditChest
		Last  int
	}{Chest: new(auditChest)}
	check := engine.Fields(nil, s, s.Chest)()
	s.Chest, s.Last = new(auditChest), 1
	if found := check(); len(found) != 2 || !strings.Contains(texts(found), "Chest: ") || !strings.Contains(texts(found), "Last: 0, and 1") {
		t.Error(texts(found))
	}
}

// If one of several overlapping references is replaced, this one is named, and not those to the same elements.
func TestFields_OverlappingReferences(t *testing.T) {
	type lists struct {
		Apart, Mid, Short []int
		First             *int
		All               []int
		Last              *int
		Tail              []int
		Pair              *[2]int
		Head              []int
	}
	for name, change := range map[string]func(s *lists){
		"Mid":   func(s *lists) { s.Mid = slices.Clone(s.Mid) },
		"Short": func(s *lists) { s.Short = slices.Clone(s.Short) },
		"Tail":  func(s *lists) { s.Tail = slices.Clone(s.Tail) },
		"First": func(s *lists) { n := *s.First; s.First = &n },
		"Last":  func(s *lists) { n := *s.Last; s.Last = &n },
		"Apart": func(s *lists) { s.Apart = s.All[3:5] },
		"Pair":  func(s *lists) { p := *s.Pair; s.Pair = &p },
		"Head":  func(s *lists) { s.Head = slices.Clone(s.Head) },
	} {
		all := make([]int, 6)
		s := &lists{make([]int, 2), all[1:3], all[:2], &all[2], all, &all[4], all[3:], (*[2]int)(all[4:]), all[:3]}
		check := engine.Fields(nil, s)()
		if found := check(); len(found) > 0 {
			t.Fatal(texts(found))
		}
		change(s)
		if got := fieldsOf(check()); len(got) != 1 || got[0] != "engine_test.lists."+name {
			t.Errorf("%s is replaced: %q", name, got)
		}
	}
}

// Maps without entries are equal, whether or not they exist.
func TestFields_EmptyMaps(t *testing.T) {
	s := &struct{ A, B map[int]int }{}
	check := engine.Fields(nil, s)()
	s.A, s.B = map[int]int{}, map[int]int{}
	if found := check(); len(found) > 0 {
		t.Error(texts(found))
	}
}

// A pointer still refers to its element if a wider slice now contains it, and not to that of a slice that ends before it.
func TestFields_ReferencesThatStay(t *testing.T) {
	array := make([]int, 6)
	wide := &struct {
		Wide  []int
		First *int
		All   []int
	}{make([]int, 6), &array[2], array[1:5]}
	check := engine.Fields(nil, wide)()
	wide.Wide = array
	if found := check(); len(found) != 1 || !strings.Contains(texts(found), ".All: a part") {
		t.Error(texts(found))
	}
	next := &struct {
		Before, Next []int
		First        *int
	}{array[:3], array[2:4], &array[3]}
	check = engine.Fields(nil, next)()
	next.Before = slices.Clone(next.Before)
	if found := check(); len(found) != 1 || !strings.Contains(texts(found), ".Next: a part") {
		t.Error(texts(found))
	}
}

// A load may exchange two variables with all that refers to them. Then only their fields differ.
func TestFields_VariablesMayMove(t *testing.T) {
	s := &struct{ A, B *auditCell }{&auditCell{X: 1}, &auditCell{X: 2}}
	check := engine.Fields(nil, s)()
	s.A, s.B = s.B, s.A
	s.A.X, s.B.X = 1, 2
	if found := check(); len(found) > 0 {
		t.Error(texts(found))
	}
	s.A.X, s.A.Y = 5, 5
	if got := strings.Join(fieldsOf(check()), " "); !strings.HasSuffix(got, ".A.Y") || strings.Count(got, ".A.") != 2 {
		t.Error(got)
	}
}

// A root is read field by field, also if it is a State that forgets a field.
func TestFields_RootIsReadByField(t *testing.T) {
	g := newFragile(t)
	check := engine.Fields(nil, g)()
	g.hidden++
	if got := fieldsOf(check()); len(got) != 1 || got[0] != "engine_test.fragile.hidden" {
		t.Error(got)
	}
}

// A field that every node of a list or a tree has is named once, with the number of nodes, so that the 64 lines show
// others.
func TestFields_NodesAreOneField(t *testing.T) {
	type node struct {
		N, Heat     int
		Left, Right *node
		Kids        []*node
		Box         struct{ Up, Down *node }
	}
	type game struct {
		List, Other *node
		Tree        node
		Any         map[string]any
		Last        int
	}
	for _, n := range []int{1, 2, 100, 3000} {
		g := &game{Any: map[string]any{}}
		var all []*node
		add := func() *node { all = append(all, new(node)); return all[len(all)-1] }
		g.List, g.Other = add(), add()
		end := g.List
		for range n {
			end.Right = add()
			end = end.Right
			end.Kids, end.Box.Up = []*node{add(), add()}, add()
		}
		g.Tree.Left, g.Tree.Right, g.Any["a"] = add(), add(), add()
		check := engine.Fields(nil, g)()
		for _, x := range all {
			x.N++
		}
		end.Heat, g.Last = 1, 1
		found := check()
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprint(brackets.ReplaceAllString(d.Path, ""), " ", d.More))
		}
		heat := "engine_test.game.List" + strings.Repeat(".Right", n) + ".Heat 0"
		want := []string{fmt.Sprint("engine_test.game.List.N ", 4*n), heat, "engine_test.game.Other.N 0", "engine_test.game.Tree.Left.N 1", "engine_test.game.Any.N 0", "engine_test.game.Last 0"}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d nodes: got %.2000q, want %.2000q", n, got, want)
		}
		if text := texts(found); strings.Contains(text, fmt.Sprintf("(and %d more of this field)", 4*n)) != true || strings.Count(text, "more") != 2 {
			t.Errorf("%.2000s", text)
		}
	}
}
