package tiers

import (
	"sync"
	"testing"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/pool"
)

func BenchmarkFrame(b *testing.B) {
	m := newManager(b, Config{})
	must(b, m.BeginLevel())
	for b.Loop() {
		must(b, m.BeginFrame())
		must(b, m.EndFrame())
	}
}

func BenchmarkSnapshot(b *testing.B) {
	m := newManager(b, Config{})
	var s Snapshot
	for b.Loop() {
		m.Snapshot(&s)
	}
}

// BenchmarkManager is a pair of Alloc and free through the manager, by tier, and the Go heap.
func BenchmarkManager(b *testing.B) {
	b.Run("slab/FreeAny", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.FreeAny(p)
		}
	})
	b.Run("slab/Free", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(64, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 64)
		}
	})
	b.Run("large/Free", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginLevel())
		for b.Loop() {
			p, err := m.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 10_000)
		}
	})
	b.Run("frame", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		must(b, m.BeginFrame())
		mark := m.Frame().Mark()
		for n := 0; b.Loop(); n++ {
			if n%10_000 == 0 {
				m.Frame().Rewind(mark)
				mark = m.Frame().Mark()
			}
			if _, err := m.Frame().Alloc(64, 16); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("worker", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		w := m.Worker(0)
		for b.Loop() {
			p, err := w.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			w.Free(p, 10_000)
		}
	})
	b.Run("worker/home", func(b *testing.B) {
		m := newManager(b, Config{GC: gcpace.Config{Keep: true}})
		w := m.Worker(0)
		must(b, m.BeginFrame())
		for b.Loop() {
			p, err := w.Alloc(10_000, 16)
			if err != nil {
				b.Fatal(err)
			}
			*(*uint64)(p) = 1
			m.Free(p, 10_000)
		}
	})
	b.Run("goheap", func(b *testing.B) {
		for b.Loop() {
			garbage = make([]byte, 64)
			garbage[0] = 1
		}
	})
}

type body struct{ Pos, Vel, Acc, Spin [4]float32 }

// BenchmarkTyped is the typed functions through a manager: a slice of a frame, a block, and an object of a pool of 1,024,
// the oldest of which is freed first. All are zeroed. The Go heap and sync.Pool do the same.
func BenchmarkTyped(b *testing.B) {
	const live = 1024
	m := newManager(b, Config{})
	must(b, m.BeginLevel())
	b.Run("scratch/Strata", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if i%live == 0 {
				must(b, m.NextFrame())
			}
			s, err := memory.MakeSlice[body](m.Frame(), 1)
			if err != nil {
				b.Fatal(err)
			}
			s[0].Pos[0] = 1
		}
		must(b, m.EndFrame())
	})
	b.Run("scratch/GoHeap", func(b *testing.B) {
		for b.Loop() {
			bodies = make([]body, 1)
			bodies[0].Pos[0] = 1
		}
	})
	b.Run("object/Strata", func(b *testing.B) {
		p, err := NewPool[body](m, pool.Config{Capacity: live})
		must(b, err)
		var q [live]memory.Handle[body]
		for i := 0; b.Loop(); i++ {
			p.Free(q[i%live])
			h, v, err := p.New()
			if err != nil {
				b.Fatal(err)
			}
			v.Pos[0], q[i%live] = 1, h
		}
	})
	b.Run("object/syncPool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(body) }}
		q := make([]*body, live)
		for i := 0; b.Loop(); i++ {
			if q[i%live] != nil {
				p.Put(q[i%live])
			}
			v := p.Get().(*body)
			*v = body{}
			v.Pos[0], q[i%live] = 1, v
		}
	})
	b.Run("object/GoHeap", func(b *testing.B) {
		q := make([]*body, live)
		for i := 0; b.Loop(); i++ {
			v := new(body)
			v.Pos[0], q[i%live] = 1, v
		}
	})
	b.Run("block/Strata", func(b *testing.B) {
		var q [live][]body
		for i := 0; b.Loop(); i++ {
			memory.FreeSlice(m, q[i%live])
			s, err := memory.MakeSlice[body](m, 1)
			if err != nil {
				b.Fatal(err)
			}
			s[0].Pos[0], q[i%live] = 1, s
		}
	})
	b.Run("block/GoHeap", func(b *testing.B) {
		q := make([][]body, live)
		for i := 0; b.Loop(); i++ {
			s := make([]body, 1)
			s[0].Pos[0], q[i%live] = 1, s
		}
	})
}

var bodies []body // escapes
