// Package bench compares ecs with Ark and with hand-written loops over slices, on the
// same work in the same process. Run all of it with
//
//	go test -bench . -count 6
//
// Every figure is nanoseconds per entity unless its name says otherwise.
package bench

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/strata-go/strata/ecs"
	"github.com/strata-go/strata/memory/page"
)

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }

// blocks hands out equal blocks from one reservation with huge pages, last freed first.
type blocks struct {
	free []unsafe.Pointer
	mem  page.Prefix
	top  uintptr
}

func newBlocks() *blocks {
	p, err := page.NewPrefix(page.OSWith(page.Options{HugePages: true}), 256<<20, 64<<20, 2<<20)
	if err != nil {
		panic(err)
	}
	return &blocks{mem: p}
}

func (m *blocks) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	if n := len(m.free); n > 0 {
		p := m.free[n-1]
		m.free = m.free[:n-1]
		return p, nil
	}
	if err := m.mem.Ensure(m.top + size); err != nil {
		return nil, err
	}
	m.top += size
	return unsafe.Add(m.mem.Base(), m.top-size), nil
}

func (m *blocks) Free(p unsafe.Pointer, _ uintptr) { m.free = append(m.free, p) }

func newStrata(tb testing.TB) *ecs.World {
	w, err := ecs.New(newBlocks(), ecs.Config{MaxEntities: 1 << 21})
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
