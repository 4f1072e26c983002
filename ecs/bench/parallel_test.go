package bench

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strata-go/strata/ecs"
)

// BenchmarkParallel runs the same work as one loop, as a pass of two workers, and as two loops
// that know nothing of each other, each over its half of the entities on a goroutine that is kept:
// what two cores can do. Sides take turns; the figures are the best of all rounds and their medians, in
// nanoseconds per entity, and what the pass reaches of the two loops.
func BenchmarkParallel(b *testing.B) {
	for _, work := range []struct {
		name string
		step func(ps []position, vs []velocity)
	}{{"add", step}, {"orbit", orbit}} {
		for _, s := range sizes[2:] {
			b.Run(work.name+"/n="+s.name, func(b *testing.B) { parallel(b, s.n, work.step) })
		}
	}
}

// orbit is a system with some arithmetic in it, where step waits for memory.
func orbit(ps []position, vs []velocity) {
	vs = vs[:len(ps)]
	for i := range ps {
		p, v := &ps[i], &vs[i]
		for range 8 {
			r := 1 / (1 + p.X*p.X + p.Y*p.Y)
			v.X -= p.X * r
			v.Y -= p.Y * r
			p.X += v.X * 0.01
			p.Y += v.Y * 0.01
		}
	}
}

func parallel(b *testing.B, n int, step func(ps []position, vs []velocity)) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("needs two cores")
	}
	ws, err := ecs.NewWorkers(ecs.WorkersConfig{Count: 2})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.Close() })
	whole, _ := strataPair(b, n)
	f := ecs.NewFilter2[position, velocity](whole)
	body := func(_ *ecs.Task, _ []ecs.Entity, c ecs.Columns2[position, velocity]) { step(c.A, c.B) }
	first, second := halfLoop(b, n-n/2, step), halfLoop(b, n/2, step)
	start, done := make(chan bool), make(chan bool)
	go func() {
		for range start {
			second()
			done <- true
		}
	}()
	b.Cleanup(sync.OnceFunc(func() { close(start) }))
	sides := []side{
		{"one loop", func() {
			for _, c := range f.Chunks() {
				step(c.A, c.B)
			}
		}},
		{"parallel", func() { f.Parallel(ws, body) }},
		{"two loops", func() {
			start <- true
			first()
			<-done
		}},
	}
	times := make([][]float64, len(sides))
	rounds := 0
	for b.Loop() {
		for i := range sides {
			k := (i + rounds) % len(sides)
			from := time.Now()
			sides[k].run()
			times[k] = append(times[k], float64(time.Since(from).Nanoseconds())/float64(n))
		}
		rounds++
	}
	b.ReportMetric(0, "ns/op")
	for k, name := range []string{"one", "parallel", "two"} {
		b.ReportMetric(slices.Min(times[k]), name+"-ns")
		b.ReportMetric(median(times[k]), name+"-median-ns")
	}
	b.ReportMetric(100*slices.Min(times[2])/slices.Min(times[1]), "%best")
	b.ReportMetric(100*median(times[2])/median(times[1]), "%median")
}

// halfLoop walks a world of its own.
func halfLoop(b *testing.B, n int, step func(ps []position, vs []velocity)) func() {
	w, _ := strataPair(b, n)
	f := ecs.NewFilter2[position, velocity](w)
	return func() {
		for _, c := range f.Chunks() {
			step(c.A, c.B)
		}
	}
}
