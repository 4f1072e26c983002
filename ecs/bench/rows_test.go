package bench

import (
	"fmt"
	"testing"
	"unsafe"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

type drag struct{ X, Y float64 }
type force struct{ X, Y float64 }

// rows are what TestTable prints.
var rows = slicesOf(
	walks(1), walks(1_000), walks(100_000), walks(1_000_000),
	[]row{three(1_000), three(1_000_000), four(1_000), four(1_000_000), archetypes(), cold(100_000)},
	[]row{gets(1 << 14), gets(100_000), gets(1 << 18), gets(1 << 20)},
	changes(),
)

func slicesOf(groups ...[]row) (all []row) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// filled returns a slice whose memory is there: what was never written is one page of zeros,
// which stays in the cache however long the slice is.
func filled[T any](n int) []T {
	s := make([]T, n)
	for i := range s {
		*(*byte)(unsafe.Pointer(&s[i])) = 1
	}
	return s
}

// walks are loops over two components: by entity, and by column.
func walks(n int) []row {
	ents := row{name: fmt.Sprintf("walk %d by All", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w, _ := strataPair(tb, n)
		f := ecs.NewFilter2[position, velocity](w)
		a, _ := arkPair(n)
		g := ark.NewFilter2[position, velocity](a).Register()
		ps, vs := filled[position](n), filled[velocity](n)
		return []side{
			{"strata", func() { stepAll(f) }}, {"slices", func() { step(ps, vs) }}, {"ark", func() { stepArk(g) }},
			{"Query", func() { stepQuery(f) }},
		}
	}}
	cols := row{name: fmt.Sprintf("walk %d by Chunks", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w, _ := strataPair(tb, n)
		f := ecs.NewFilter2[position, velocity](w)
		a, _ := arkPair(n)
		g := ark.NewFilter2[position, velocity](a).Register()
		ps, vs := filled[position](n), filled[velocity](n)
		return []side{
			{"strata", func() { stepChunks(f) }}, {"slices", func() { step(ps, vs) }}, {"ark", func() { stepArkTables(g) }},
		}
	}}
	return []row{ents, cols}
}

//go:noinline
func stepAll(f *ecs.Filter2[position, velocity]) {
	for _, r := range f.All() {
		p, v := r.A, r.B
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func stepQuery(f *ecs.Filter2[position, velocity]) {
	q := f.Query()
	for q.Next() {
		p, v := q.Get()
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func stepChunks(f *ecs.Filter2[position, velocity]) {
	for _, c := range f.Chunks() {
		step(c.A, c.B)
	}
}

//go:noinline
func stepArk(f *ark.Filter2[position, velocity]) {
	q := f.Query()
	for q.Next() {
		p, v := q.Get()
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func stepArkTables(f *ark.Filter2[position, velocity]) {
	q := f.Query()
	for q.NextTable() {
		ps, vs := q.GetColumns()
		step(ps, vs)
	}
}

func three(n int) row {
	return row{name: fmt.Sprintf("walk %d, 3 components, Chunks", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w := newStrata(tb)
		if err := ecs.NewMap3[position, velocity, drag](w).NewBatch(n, nil); err != nil {
			tb.Fatal(err)
		}
		f := ecs.NewFilter3[position, velocity, drag](w)
		a := ark.NewWorld(n)
		ark.NewMap3[position, velocity, drag](a).NewBatch(n, &position{}, &velocity{}, &drag{})
		g := ark.NewFilter3[position, velocity, drag](a).Register()
		ps, vs, ds := filled[position](n), filled[velocity](n), filled[drag](n)
		return []side{
			{"strata", func() {
				for _, c := range f.Chunks() {
					step3(c.A, c.B, c.C)
				}
			}},
			{"slices", func() { step3(ps, vs, ds) }},
			{"ark", func() {
				q := g.Query()
				for q.NextTable() {
					step3(q.GetColumns())
				}
			}},
			{"All", func() { all3(f) }},
		}
	}}
}

func step3(ps []position, vs []velocity, ds []drag) {
	vs, ds = vs[:len(ps)], ds[:len(ps)]
	for i := range ps {
		p, v, d := &ps[i], &vs[i], &ds[i]
		v.X += d.X
		v.Y += d.Y
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func all3(f *ecs.Filter3[position, velocity, drag]) {
	for _, r := range f.All() {
		p, v, d := r.A, r.B, r.C
		v.X += d.X
		v.Y += d.Y
		p.X += v.X
		p.Y += v.Y
	}
}

func four(n int) row {
	return row{name: fmt.Sprintf("walk %d, 4 components, Chunks", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w := newStrata(tb)
		if err := ecs.NewMap4[position, velocity, drag, force](w).NewBatch(n, nil); err != nil {
			tb.Fatal(err)
		}
		f := ecs.NewFilter4[position, velocity, drag, force](w)
		a := ark.NewWorld(n)
		ark.NewMap4[position, velocity, drag, force](a).NewBatch(n, &position{}, &velocity{}, &drag{}, &force{})
		g := ark.NewFilter4[position, velocity, drag, force](a).Register()
		ps, vs, ds, fs := filled[position](n), filled[velocity](n), filled[drag](n), filled[force](n)
		return []side{
			{"strata", func() {
				for _, c := range f.Chunks() {
					step4(c.A, c.B, c.C, c.D)
				}
			}},
			{"slices", func() { step4(ps, vs, ds, fs) }},
			{"ark", func() {
				q := g.Query()
				for q.NextTable() {
					step4(q.GetColumns())
				}
			}},
			{"All", func() { all4(f) }},
		}
	}}
}

func step4(ps []position, vs []velocity, ds []drag, fs []force) {
	vs, ds, fs = vs[:len(ps)], ds[:len(ps)], fs[:len(ps)]
	for i := range ps {
		p, v, d, f := &ps[i], &vs[i], &ds[i], &fs[i]
		v.X += d.X + f.X
		v.Y += d.Y + f.Y
		p.X += v.X
		p.Y += v.Y
	}
}

//go:noinline
func all4(f *ecs.Filter4[position, velocity, drag, force]) {
	for _, r := range f.All() {
		p, v, d, f := r.A, r.B, r.C, r.D
		v.X += d.X + f.X
		v.Y += d.Y + f.Y
		p.X += v.X
		p.Y += v.Y
	}
}

// archetypes walks 64 archetypes of 100 entities each.
func archetypes() row {
	const n = 100
	return row{name: "walk 64 archetypes of 100 by All", unit: "entity", n: 64 * n, sides: func(tb testing.TB) []side {
		w := newStrata(tb)
		strataMarks(tb, w, n)
		f := ecs.NewFilter2[position, velocity](w)
		a := ark.NewWorld(64 * n)
		arkMarks(a, n)
		g := ark.NewFilter2[position, velocity](a).Register()
		return []side{{"strata", func() { stepAll(f) }}, {"ark", func() { stepArk(g) }}, {"Chunks", func() { stepChunks(f) }}, {"ark tables", func() { stepArkTables(g) }}}
	}}
}

type mark1 struct{}
type mark2 struct{}
type mark3 struct{}
type mark4 struct{}
type mark5 struct{}
type mark6 struct{}

func strataMarks(tb testing.TB, w *ecs.World, n int) {
	m := ecs.NewMap2[position, velocity](w)
	add := []func(ecs.Entity) error{
		strataMark[mark1](tb, w), strataMark[mark2](tb, w), strataMark[mark3](tb, w),
		strataMark[mark4](tb, w), strataMark[mark5](tb, w), strataMark[mark6](tb, w),
	}
	for i := range 64 * n {
		e, err := m.NewEntity(position{}, velocity{1, 1})
		for bit := range add {
			if i>>bit&1 != 0 && err == nil {
				err = add[bit](e)
			}
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func strataMark[T any](tb testing.TB, w *ecs.World) func(ecs.Entity) error {
	c, err := ecs.Register[T](w)
	if err != nil {
		tb.Fatal(err)
	}
	return func(e ecs.Entity) error { return c.Add(e, *new(T)) }
}

func arkMarks(w *ark.World, n int) {
	m := ark.NewMap2[position, velocity](w)
	add := []func(ark.Entity){
		arkMark[mark1](w), arkMark[mark2](w), arkMark[mark3](w), arkMark[mark4](w), arkMark[mark5](w), arkMark[mark6](w),
	}
	for i := range 64 * n {
		e := m.NewEntity(&position{}, &velocity{1, 1})
		for bit := range add {
			if i>>bit&1 != 0 {
				add[bit](e)
			}
		}
	}
}

func arkMark[T any](w *ark.World) func(ark.Entity) {
	m := ark.NewMap1[T](w)
	return func(e ark.Entity) { m.Add(e, new(T)) }
}

var sunk float64

// cold walks two components of entities that have 256 bytes beside them which the walk does not read.
func cold(n int) row {
	type inventory [256]byte
	type actor struct {
		p    position
		v    velocity
		rest inventory
	}
	return row{name: fmt.Sprintf("walk %d beside 256 cold bytes", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w := newStrata(tb)
		if err := ecs.NewMap3[position, velocity, inventory](w).NewBatch(n, nil); err != nil {
			tb.Fatal(err)
		}
		f := ecs.NewFilter2[position, velocity](w)
		bare, _ := strataPair(tb, n)
		g := ecs.NewFilter2[position, velocity](bare)
		actors := filled[actor](n)
		return []side{{"strata", func() { stepAll(f) }}, {"without them", func() { stepAll(g) }}, {"structs", func() {
			for i := range actors {
				a := &actors[i]
				a.p.X += a.v.X
				a.p.Y += a.v.Y
			}
		}}}
	}}
}

// gets looks up every entity in a random order.
func gets(n int) row {
	return row{name: fmt.Sprintf("get of %d at random", n), unit: "entity", n: n, sides: func(tb testing.TB) []side {
		w, _ := strataPair(tb, n)
		c, _ := ecs.Register[position](w)
		es := shuffled(entitiesOf(w))
		a, _ := arkPair(n)
		m := ark.NewMap[position](a)
		as := shuffled(arkEntitiesOf(a))
		return []side{{"strata", func() { sunk += getStrata(c, es) }}, {"ark", func() { sunk += getArk(m, as) }}}
	}}
}

//go:noinline
func getStrata(c ecs.Component[position], es []ecs.Entity) (sum float64) {
	for _, e := range es {
		p, _ := c.Get(e)
		sum += p.X
	}
	return sum
}

//go:noinline
func getArk(m *ark.Map[position], es []ark.Entity) (sum float64) {
	for _, e := range es {
		sum += m.Get(e).X
	}
	return sum
}

// changes are structural: entities and components come and go.
func changes() []row {
	return []row{
		{name: "create and delete", unit: "entity", n: crowd, sides: func(tb testing.TB) []side {
			w, m := strataPair(tb, crowd)
			es := entitiesOf(w)
			a, n := arkPair(crowd)
			as := arkEntitiesOf(a)
			return []side{{"strata", func() {
				for _, e := range es {
					w.Remove(e)
				}
				for i := range es {
					es[i], _ = m.NewEntity(position{1, 2}, velocity{3, 4})
				}
			}}, {"ark", func() {
				for _, e := range as {
					a.RemoveEntity(e)
				}
				for i := range as {
					as[i] = n.NewEntity(&position{1, 2}, &velocity{3, 4})
				}
			}}}
		}},
		{name: "create and delete, batches", unit: "entity", n: crowd, sides: func(tb testing.TB) []side {
			w, m := strataPair(tb, crowd)
			f := ecs.NewFilter2[position, velocity](w)
			a, n := arkPair(crowd)
			g := ark.NewFilter2[position, velocity](a)
			return []side{{"strata", func() {
				w.RemoveAll(f)
				m.NewColumns(crowd, func(_ []ecs.Entity, ps []position, vs []velocity) {
					for i := range ps {
						ps[i], vs[i] = position{1, 2}, velocity{3, 4}
					}
				})
			}}, {"ark", func() {
				a.RemoveEntities(g.Batch(), nil)
				n.NewBatch(crowd, &position{1, 2}, &velocity{3, 4})
			}}}
		}},
		{name: "add and remove a component", unit: "entity", n: crowd, sides: func(tb testing.TB) []side {
			w, es := strataSingles(tb)
			c, _ := ecs.Register[velocity](w)
			a, as := arkSingles()
			m := ark.NewMap1[velocity](a)
			return []side{{"strata", func() {
				for _, e := range es {
					c.Add(e, velocity{1, 1})
				}
				for _, e := range es {
					c.Remove(e)
				}
			}}, {"ark", func() {
				for _, e := range as {
					m.Add(e, &velocity{1, 1})
				}
				for _, e := range as {
					m.Remove(e)
				}
			}}}
		}},
		{name: "new world", unit: "world", n: 1, sides: func(tb testing.TB) []side {
			mem := newHeap(tb)
			return []side{{"strata", func() {
				w, _ := ecs.New(mem, ecs.Config{})
				w.Close()
			}}, {"ark", func() { ark.NewWorld() }}}
		}},
	}
}
