package bench

import (
	"testing"
	"time"

	ark "github.com/mlange-42/ark/ecs"
	"github.com/strata-go/strata/ecs"
)

const crowd = 16384

// BenchmarkLife creates entities with two components in a warm world and removes them.
func BenchmarkLife(b *testing.B) {
	for _, mix := range []bool{false, true} {
		name := map[bool]string{false: "delete=ordered", true: "delete=shuffled"}[mix]
		b.Run(name+"/strata", func(b *testing.B) { lifeStrata(b, mix) })
		b.Run(name+"/ark", func(b *testing.B) { lifeArk(b, mix) })
	}
}

func lifeStrata(b *testing.B, mix bool) {
	w, m := strataPair(b, crowd)
	es := entitiesOf(w)
	create, remove := &phase{name: "create"}, &phase{name: "delete"}
	for b.Loop() {
		if mix {
			shuffled(es)
		}
		remove.time(crowd, func() {
			for _, e := range es {
				w.Remove(e)
			}
		})
		create.time(crowd, func() {
			for i := range es {
				es[i], _ = m.NewEntity(position{1, 2}, velocity{3, 4})
			}
		})
	}
	report(b, create, remove)
}

func lifeArk(b *testing.B, mix bool) {
	w, m := arkPair(crowd)
	es := arkEntitiesOf(w)
	create, remove := &phase{name: "create"}, &phase{name: "delete"}
	for b.Loop() {
		if mix {
			shuffled(es)
		}
		remove.time(crowd, func() {
			for _, e := range es {
				w.RemoveEntity(e)
			}
		})
		create.time(crowd, func() {
			for i := range es {
				es[i] = m.NewEntity(&position{1, 2}, &velocity{3, 4})
			}
		})
	}
	report(b, create, remove)
}

// BenchmarkBatch is BenchmarkLife by batches.
func BenchmarkBatch(b *testing.B) {
	b.Run("fill/strata", func(b *testing.B) {
		batchStrata(b, func(m *ecs.Map2[position, velocity]) {
			m.NewBatch(crowd, func(_ int, p *position, v *velocity) { *p, *v = position{1, 2}, velocity{3, 4} })
		})
	})
	b.Run("columns/strata", func(b *testing.B) {
		batchStrata(b, func(m *ecs.Map2[position, velocity]) {
			m.NewColumns(crowd, func(_ []ecs.Entity, ps []position, vs []velocity) {
				for i := range ps {
					ps[i], vs[i] = position{1, 2}, velocity{3, 4}
				}
			})
		})
	})
	b.Run("fill/ark", func(b *testing.B) {
		batchArk(b, func(m *ark.Map2[position, velocity]) {
			m.NewBatchFn(crowd, func(_ ark.Entity, p *position, v *velocity) { *p, *v = position{1, 2}, velocity{3, 4} })
		})
	})
	b.Run("value/ark", func(b *testing.B) {
		batchArk(b, func(m *ark.Map2[position, velocity]) { m.NewBatch(crowd, &position{1, 2}, &velocity{3, 4}) })
	})
}

func batchStrata(b *testing.B, fill func(*ecs.Map2[position, velocity])) {
	w, m := strataPair(b, crowd)
	f := ecs.NewFilter2[position, velocity](w)
	create, remove := &phase{name: "create"}, &phase{name: "delete"}
	for b.Loop() {
		remove.time(crowd, func() { w.RemoveAll(f) })
		create.time(crowd, func() { fill(m) })
	}
	report(b, create, remove)
}

func batchArk(b *testing.B, fill func(*ark.Map2[position, velocity])) {
	w, m := arkPair(crowd)
	f := ark.NewFilter2[position, velocity](w)
	create, remove := &phase{name: "create"}, &phase{name: "delete"}
	for b.Loop() {
		remove.time(crowd, func() { w.RemoveEntities(f.Batch(), nil) })
		create.time(crowd, func() { fill(m) })
	}
	report(b, create, remove)
}

// BenchmarkAddRemove gives every entity a second component and takes it away.
func BenchmarkAddRemove(b *testing.B) {
	b.Run("single/strata", func(b *testing.B) {
		w, es := strataSingles(b)
		c, _ := ecs.Register[velocity](w)
		for b.Loop() {
			for _, e := range es {
				c.Add(e, velocity{1, 1})
			}
			for _, e := range es {
				c.Remove(e)
			}
		}
		perEntity(b, crowd)
	})
	b.Run("single/ark", func(b *testing.B) {
		w, es := arkSingles()
		m := ark.NewMap1[velocity](w)
		for b.Loop() {
			for _, e := range es {
				m.Add(e, &velocity{1, 1})
			}
			for _, e := range es {
				m.Remove(e)
			}
		}
		perEntity(b, crowd)
	})
	b.Run("batch/strata", func(b *testing.B) {
		w, _ := strataSingles(b)
		m := ecs.NewMap1[velocity](w)
		f := ecs.NewFilter1[position](w)
		for b.Loop() {
			m.AddAll(f, velocity{1, 1})
			m.RemoveAll(f)
		}
		perEntity(b, crowd)
	})
	b.Run("batch/ark", func(b *testing.B) {
		w, _ := arkSingles()
		m := ark.NewMap1[velocity](w)
		with := ark.NewFilter2[position, velocity](w)
		without := ark.NewFilter1[position](w).Without(ark.C[velocity]())
		for b.Loop() {
			m.AddBatch(without.Batch(), &velocity{1, 1})
			m.RemoveBatch(with.Batch(), nil)
		}
		perEntity(b, crowd)
	})
}

func strataSingles(tb testing.TB) (*ecs.World, []ecs.Entity) {
	w := newStrata(tb)
	if err := ecs.NewMap1[position](w).NewBatch(crowd, nil); err != nil {
		tb.Fatal(err)
	}
	return w, entitiesOf(w)
}

func arkSingles() (*ark.World, []ark.Entity) {
	w := ark.NewWorld(crowd)
	ark.NewMap1[position](w).NewBatch(crowd, &position{})
	return w, arkEntitiesOf(w)
}

func BenchmarkNewWorld(b *testing.B) {
	b.Run("strata", func(b *testing.B) {
		m := newHeap(b)
		for b.Loop() {
			w, _ := ecs.New(m, ecs.Config{})
			w.Close()
		}
	})
	b.Run("ark", func(b *testing.B) {
		for b.Loop() {
			ark.NewWorld(1024)
		}
	})
}

// BenchmarkGrow creates a million entities in a new world by steps of 64, and reports the
// worst step in microseconds.
func BenchmarkGrow(b *testing.B) {
	const million, step = 1 << 20, 64
	b.Run("strata", func(b *testing.B) {
		m := newHeap(b)
		worst := time.Duration(0)
		for b.Loop() {
			w, _ := ecs.New(m, ecs.Config{})
			pair := ecs.NewMap2[position, velocity](w)
			for range million / step {
				start := time.Now()
				for range step {
					pair.NewEntity(position{}, velocity{})
				}
				worst = max(worst, time.Since(start))
			}
			w.Close()
		}
		perEntity(b, million)
		b.ReportMetric(float64(worst.Nanoseconds())/1e3, "µs/worst64")
	})
	for _, c := range []struct {
		name     string
		capacity int
	}{{"ark", 1024}, {"ark-presized", million}} {
		b.Run(c.name, func(b *testing.B) {
			worst := time.Duration(0)
			for b.Loop() {
				w := ark.NewWorld(c.capacity)
				pair := ark.NewMap2[position, velocity](w)
				for range million / step {
					start := time.Now()
					for range step {
						pair.NewEntity(&position{}, &velocity{})
					}
					worst = max(worst, time.Since(start))
				}
			}
			perEntity(b, million)
			b.ReportMetric(float64(worst.Nanoseconds())/1e3, "µs/worst64")
		})
	}
}
