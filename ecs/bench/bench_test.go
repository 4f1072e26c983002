// Package bench compares ecs with Ark and with hand-written loops over slices, on the
// same work in the same process. TestTable has the sides of a row take turns and prints ratios:
//
//	go test -run Table -v -cpu 1
//
// TestSpikes prints the worst moments while a world grows, and TestMarking what a collection
// costs beside one. The benchmarks are there to look into one side:
//
//	go test -bench . -count 6
//
// Every figure of theirs is nanoseconds per entity unless its name says otherwise.
package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/page"
	"github.com/strata-go/strata/memory/tlsf"
)

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }

// newHeap is the configuration that ships: a TLSF heap over the system's pages as they come.
func newHeap(tb testing.TB) *tlsf.Heap {
	h, err := tlsf.New(page.OS(), tlsf.Config{Reserve: 256 << 20, Granule: 1 << 10})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { h.Close() })
	return h
}

func newStrata(tb testing.TB) *ecs.World {
	w, err := ecs.New(newHeap(tb), ecs.Config{MaxEntities: 1 << 21})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.Close() })
	return w
}

// strataPair makes a world of n entities with both components.
func strataPair(tb testing.TB, n int) (*ecs.World, *ecs.Map2[position, velocity]) {
	w := newStrata(tb)
	m := ecs.NewMap2[position, velocity](w)
	if err := m.NewBatch(n, func(_ int, _ *position, v *velocity) { *v = velocity{1, 1} }); err != nil {
		tb.Fatal(err)
	}
	return w, m
}

// entitiesOf returns all entities in storage order.
func entitiesOf(w *ecs.World) (es []ecs.Entity) {
	q := ecs.NewFilter1[position](w).Query()
	for q.Next() {
		es = append(es, q.Entity())
	}
	return es
}

// perEntity reports the time of one loop divided by n.
func perEntity(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
	b.ReportMetric(0, "ns/op")
}

// A phase sums the time of one part of a loop.
type phase struct {
	name  string
	total time.Duration
	units int
}

func (p *phase) time(n int, f func()) {
	start := time.Now()
	f()
	p.total += time.Since(start)
	p.units += n
}

func report(b *testing.B, phases ...*phase) {
	b.ReportMetric(0, "ns/op")
	for _, p := range phases {
		b.ReportMetric(float64(p.total.Nanoseconds())/float64(p.units), "ns/"+p.name)
	}
}

func shuffled[T any](s []T) []T {
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// sizes names the worlds that queries and look-ups are measured on.
var sizes = []struct {
	name string
	n    int
}{{"1", 1}, {"1k", 1000}, {"16k", 16384}, {"256k", 1 << 18}, {"1M", 1 << 20}}
