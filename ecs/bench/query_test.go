package bench

import (
	"testing"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

func BenchmarkQuery(b *testing.B) {
	for _, s := range sizes {
		b.Run("n="+s.name+"/slices", func(b *testing.B) { querySlices(b, s.n) })
		b.Run("n="+s.name+"/strata", func(b *testing.B) { queryStrata(b, s.n) })
		b.Run("n="+s.name+"/ark", func(b *testing.B) { queryArk(b, s.n) })
		b.Run("n="+s.name+"/columns/strata", func(b *testing.B) { columnsStrata(b, s.n) })
		b.Run("n="+s.name+"/columns/ark", func(b *testing.B) { columnsArk(b, s.n) })
	}
}

func querySlices(b *testing.B, n int) {
	ps, vs := filled[position](n), filled[velocity](n)
	for b.Loop() {
		step(ps, vs)
	}
	perEntity(b, n)
}

// step is the loop that a programmer writes by hand, and that the column queries run.
func step(ps []position, vs []velocity) {
	vs = vs[:len(ps)]
	for i := range ps {
		p, v := &ps[i], &vs[i]
		p.X += v.X
		p.Y += v.Y
	}
}

func queryStrata(b *testing.B, n int) {
	w, _ := strataPair(b, n)
	f := ecs.NewFilter2[position, velocity](w)
	for b.Loop() {
		q := f.Query()
		for q.Next() {
			p, v := q.Get()
			p.X += v.X
			p.Y += v.Y
		}
	}
	perEntity(b, n)
}

func columnsStrata(b *testing.B, n int) {
	w, _ := strataPair(b, n)
	f := ecs.NewFilter2[position, velocity](w)
	for b.Loop() {
		q := f.Query()
		for q.NextChunk() {
			_, ps, vs := q.Columns()
			step(ps, vs)
		}
	}
	perEntity(b, n)
}

func queryArk(b *testing.B, n int) {
	w, _ := arkPair(n)
	f := ark.NewFilter2[position, velocity](w).Register()
	for b.Loop() {
		q := f.Query()
		for q.Next() {
			p, v := q.Get()
			p.X += v.X
			p.Y += v.Y
		}
	}
	perEntity(b, n)
}

func columnsArk(b *testing.B, n int) {
	w, _ := arkPair(n)
	f := ark.NewFilter2[position, velocity](w).Register()
	for b.Loop() {
		q := f.Query()
		for q.NextTable() {
			ps, vs := q.GetColumns()
			step(ps, vs)
		}
	}
	perEntity(b, n)
}

func arkPair(n int) (*ark.World, *ark.Map2[position, velocity]) {
	w := ark.NewWorld(max(n, 1))
	m := ark.NewMap2[position, velocity](w)
	m.NewBatch(n, &position{}, &velocity{1, 1})
	return w, m
}

func arkEntitiesOf(w *ark.World) (es []ark.Entity) {
	q := ark.NewFilter1[position](w).Query()
	for q.Next() {
		es = append(es, q.Entity())
	}
	return es
}

// BenchmarkGet reads one component of every entity in a random order.
func BenchmarkGet(b *testing.B) {
	for _, s := range sizes[2:] {
		b.Run("n="+s.name+"/strata", func(b *testing.B) {
			w, _ := strataPair(b, s.n)
			c, _ := ecs.Register[position](w)
			es := shuffled(entitiesOf(w))
			sum := 0.0
			for b.Loop() {
				for _, e := range es {
					p, _ := c.Get(e)
					sum += p.X
				}
			}
			perEntity(b, s.n)
		})
		b.Run("n="+s.name+"/ark", func(b *testing.B) {
			w, _ := arkPair(s.n)
			m := ark.NewMap[position](w)
			es := shuffled(arkEntitiesOf(w))
			sum := 0.0
			for b.Loop() {
				for _, e := range es {
					sum += m.Get(e).X
				}
			}
			perEntity(b, s.n)
		})
	}
}
